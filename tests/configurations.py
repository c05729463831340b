"""Sections of configurations that several folders write."""

CLAIM = """\
[claim]
epsilon = 1.0
delta = 1e-5
neighbours = "replace_one"
unit = "one customer"
"""

CAPRI = """\
[algorithm]
name = "capri"
model = "joint"
epsilon = 1.0
delta = 1e-5
horizon = 1000
"""
