"""Curves of a declaration, each with both sides proved: trade-off, Gaussian, Renyi, concentrated, tail, group."""
