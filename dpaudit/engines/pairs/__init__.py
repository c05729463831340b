"""Pairs of laws on finitely many outputs, above and below losses whose own law has no closed form."""
