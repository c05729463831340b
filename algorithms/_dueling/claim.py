"""The privacy claim of the dueling bandits, and the steps that their paper prints."""

from algorithms._claims import ANSWER, claim_of
from dpaudit import Claim, Printed


def answer_claim(epsilon: float, model: str, delta: float = 0.0) -> Claim:
    """Return what the paper promises: privacy of one answer, for everybody who sees every duel; pure without `delta`.

    Source: Saha and Asi (2024), Definition 1.
    """
    return claim_of(ANSWER, "local" if model == "local" else "central", epsilon, delta)


def printed_step(
    calibration: str, rule: str, epsilon: float, slots: float | None = None, largest_epsilon: float | None = None
) -> Printed | None:
    """Return the paper's own step with its budget, where the paper's noise is what runs."""
    if calibration != "paper":
        return None
    return Printed(rule=rule, epsilon=epsilon, slots=slots, largest_epsilon=largest_epsilon)
