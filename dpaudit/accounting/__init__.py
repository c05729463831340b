"""Accounting: declarations folded into compositions of privacy losses, bracketed by engines, and calibrated."""
