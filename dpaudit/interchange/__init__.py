"""Formats of other tools, one file each; what a format cannot express is refused by name."""
