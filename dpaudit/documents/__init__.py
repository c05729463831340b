"""A result as one neutral document, and its writers: a terminal, Markdown, and an HTML page."""
