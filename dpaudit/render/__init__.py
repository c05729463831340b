"""Terminal text and Markdown of each result."""
