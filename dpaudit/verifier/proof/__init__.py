"""The derivation of a certificate: tested row by row, and concluded row by row."""
