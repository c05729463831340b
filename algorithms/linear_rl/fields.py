"""Checks that both configs share: their common fields, and whether a problem fits."""

from typing import Any

from algorithms.linear_rl.mixture_noise import CALIBRATIONS, PURE
from dpaudit.checks import count, one_of, open_probability, positive

CLIPPINGS = ("horizon", "range_aware")
SYMMETRIES = ("half", "mirror", "sqrt2")


def validate(config: Any) -> None:
    """Refuse what neither algorithm can run with, and turn numbers into their types."""
    one_of("calibration", config.calibration, CALIBRATIONS)
    one_of("clipping", config.clipping, CLIPPINGS)
    one_of("symmetry", config.symmetry, SYMMETRIES)
    for name in ("episodes", "steps", "dimension"):
        object.__setattr__(config, name, count(name, getattr(config, name)))
    for name in ("epsilon", "bonus_scale", "shift_scale"):
        object.__setattr__(config, name, positive(name, getattr(config, name)))
    object.__setattr__(config, "fail_prob", open_probability("fail_prob", config.fail_prob))
    if config.calibration not in PURE:
        object.__setattr__(config, "delta", open_probability("delta", config.delta))
    elif config.delta != 0:
        raise ValueError(
            f"Expected delta={config.delta!r} to be 0 for calibration={config.calibration!r}; leave it out."
        )
    if config.calibration != "tight" and config.clipping != "horizon":
        raise ValueError(
            f"Expected clipping={config.clipping!r} to be 'horizon' for calibration={config.calibration!r}: the paper "
            "clips at H. Use calibration='tight' for smaller ranges."
        )


def require_fit(problem: Any, kind: type, what: str, config: Any) -> None:
    """Refuse a problem of another kind, number of steps or dimension."""
    if not isinstance(problem, kind):
        raise ValueError(f"Expected the problem to be {what}, got {type(problem).__name__}.")
    found = (problem.mdp.shape[0], problem.dimension)  # type: ignore[attr-defined]
    if found != (config.steps, config.dimension):
        raise ValueError(
            f"Expected steps={config.steps} and dimension={config.dimension} to be the problem's, {found[0]} and "
            f"{found[1]}."
        )
