"""Words, numerals and escaping: one place for the text of every node, verdict and relation."""
