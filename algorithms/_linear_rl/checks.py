"""Texts of the conditions that runs of both algorithms check.

Each text says what the run saw and no more, so that a checked run does not discharge a general condition of the
declaration. The exception is the sensitivity, which follows from the bounds alone.
"""

VALUES = "Every optimistic value lay in [0, R] of its step."
FEATURES = "Every feature vector had norm at most R where it entered the statistics."
TARGETS = "Every regression target lay between 0 and its bound where it entered the statistics."
SENSITIVITY = "No pair of neighbouring data sets moves a query further than its stated sensitivity."

TOLERANCE = 1e-9
