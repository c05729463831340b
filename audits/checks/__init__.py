"""Checks without an attack: paired replay of neighbours, the law of the noise."""
