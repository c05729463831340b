"""From outputs to a decision: preparation of the attack, choice of its event, power, verdict."""
