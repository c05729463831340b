"""The derivation of a declaration: one judgement for each node and move, each by a row of one table."""
