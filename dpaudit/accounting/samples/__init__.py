"""Samples of several releases whose record is replaced: what their three laws give together."""
