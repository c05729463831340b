"""From outputs to a decision: preparation of attacks, choice of events, calibration of scores, power."""
