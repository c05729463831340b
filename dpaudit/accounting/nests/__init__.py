"""Which nodes may lie inside which ones."""
