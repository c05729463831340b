"""Rates and sizes of samples in the checker's own arithmetic."""
