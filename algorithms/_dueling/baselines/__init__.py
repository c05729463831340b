"""Dueling bandits without privacy, to compare with: RUCB, double Thompson sampling and RMED1.

They read every answer as it is, and promise nothing. Each is a policy with its own state; `simulate` runs one.
"""
