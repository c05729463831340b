"""Audit procedures: fixed size, anytime, with prior evidence; witnesses, neighbour search, missing noise."""
