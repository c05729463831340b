"""The noise of DP-EBS: calibrated mechanisms, and the leaks of the two literal readings."""
