"""Audit procedures: fixed size, anytime, with prior evidence; refutation files, neighbour search."""
