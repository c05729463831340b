"""Words, numerals and escaping: one place for the text of every node, claim, certificate and audit."""
