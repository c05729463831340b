"""The catalogue: correct and broken mechanisms whose privacy is known, on which audits are measured.

No other room of `audits` imports it.
"""
