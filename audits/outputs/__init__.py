"""Outputs of any kind as columns of numbers: one documented conversion, and outcomes of runs that return nothing."""
