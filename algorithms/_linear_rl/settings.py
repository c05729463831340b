"""Checks of the settings that UCRL-VTR and LSVI-UCB have in common, their claim, and whether a problem fits."""

from typing import Any, Literal, Protocol

from dpaudit.checks import count, one_of, open_probability, positive

Symmetry = Literal["half", "mirror", "sqrt2"]
"""How a noisy matrix is made symmetric; see `mechanisms.SymmetricGaussian`."""

CALIBRATIONS = ("paper", "tight", "pure_paper", "pure_repaired")
PURE = ("pure_paper", "pure_repaired")
CLIPPINGS = ("horizon", "range_aware")
SYMMETRIES = ("half", "mirror", "sqrt2")


class SharedSettings(Protocol):
    """The settings that both algorithms have and that a check here reads by name."""

    @property
    def steps(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def delta(self) -> float: ...
    @property
    def calibration(self) -> str: ...
    @property
    def clipping(self) -> str: ...
    @property
    def symmetry(self) -> Symmetry: ...
    @property
    def fail_prob(self) -> float: ...


def check_shared_settings(settings: SharedSettings) -> None:
    """Refuse values that neither algorithm can run with, and convert numbers to their types.

    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """
    one_of("calibration", settings.calibration, CALIBRATIONS)
    one_of("clipping", settings.clipping, CLIPPINGS)
    one_of("symmetry", settings.symmetry, SYMMETRIES)
    for name in ("episodes", "steps", "dimension"):
        object.__setattr__(settings, name, count(name, getattr(settings, name)))
    for name in ("epsilon", "bonus_scale", "shift_scale"):
        object.__setattr__(settings, name, positive(name, getattr(settings, name)))
    object.__setattr__(settings, "fail_prob", open_probability("fail_prob", settings.fail_prob))
    if settings.calibration not in PURE:
        object.__setattr__(settings, "delta", open_probability("delta", settings.delta))
    elif settings.delta != 0:
        raise ValueError(
            f"Expected delta={settings.delta!r} to be 0 for calibration={settings.calibration!r}; leave it out."
        )
    if settings.calibration != "tight" and settings.clipping != "horizon":
        raise ValueError(
            f"Expected clipping={settings.clipping!r} to be 'horizon' for calibration={settings.calibration!r}: the "
            "paper clips at H. Use calibration='tight' for smaller ranges."
        )


def require_fit(problem: Any, kind: type, description: str, settings: SharedSettings) -> None:
    """Refuse a problem of another kind, number of steps or dimension.

    Raises: ValueError: the problem does not fit; the message names what it has and what the settings expect.
    """
    if not isinstance(problem, kind):
        raise ValueError(f"Expected the problem to be {description}, got {type(problem).__name__}.")
    steps, dimension = problem.mdp.shape[0], problem.dimension  # type: ignore[attr-defined]
    if (steps, dimension) != (settings.steps, settings.dimension):
        raise ValueError(
            f"Expected steps={settings.steps} and dimension={settings.dimension} to be the problem's, {steps} and "
            f"{dimension}."
        )
