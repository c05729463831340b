"""What several mechanisms draw: the nodes of trees, and whole numbers without rounding."""
