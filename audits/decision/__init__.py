"""From outputs to a decision: attack preparation, choice of events, calibration of scores, power, coverage of bounds."""
