"""Attacks and statistics: lower bounds on what an implementation really delivers."""
