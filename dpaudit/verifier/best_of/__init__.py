"""The best of a secret number of runs, derived again: what every score shows at most, and one score at least."""
