"""Checks that need no attack: paired replay, the law of the noise, equality of values."""
