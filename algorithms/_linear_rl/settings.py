"""The settings that UCRL-VTR and LSVI-UCB have in common, their claim, and whether a problem fits."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypedDict

from algorithms._claims import EPISODE, claim_of
from algorithms._linear_rl.checks import attained_by_construction
from dpaudit import Claim, Condition
from dpaudit.checks import Count, OneOf, OpenProbability, Positive, ProbabilityBelowOne, open_probability, settle

Symmetry = Literal["half", "mirror", "sqrt2"]
"""How a noisy matrix is made symmetric; see `mechanisms.SymmetricGaussian`."""

CALIBRATIONS = ("paper", "tight", "pure_paper", "pure_repaired")
PURE = ("pure_paper", "pure_repaired")
CLIPPINGS = ("horizon", "range_aware")
MODELS = ("joint", "local")


class Sizes(TypedDict):
    """The numbers from which the papers' scales follow: K, H, d and p."""

    episodes: int
    steps: int
    d: int
    fail_prob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearRlSettings:
    """Everything that a user chooses about either algorithm.

    Fields that matter for privacy: `epsilon` in nats and `delta`; `episodes` K, `steps` H of each, `dimension` d;
    `model` and `calibration` as each algorithm says; `clipping` of values at H ("horizon") or at the steps left
    ("range_aware"); `symmetry` of matrix noise, see `mechanisms.SymmetricGaussian`.
    Fields that matter for usefulness only: `fail_prob` p of the regret analysis; `bonus_scale` and `shift_scale`, which
    shrink radius and shift.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # These fields decide what is released and how much noise it carries.
    model: Annotated[str, OneOf(MODELS)]
    epsilon: Positive
    delta: ProbabilityBelowOne = 0.0
    episodes: Count
    steps: Count
    dimension: Count
    calibration: Annotated[str, OneOf(CALIBRATIONS)] = "tight"
    clipping: Annotated[str, OneOf(CLIPPINGS)] = "horizon"
    symmetry: Symmetry = "half"

    # These fields act on released statistics only: no value of theirs changes the privacy of a run.
    fail_prob: OpenProbability = 0.05
    bonus_scale: Positive = 1.0
    shift_scale: Positive = 1.0

    def __post_init__(self) -> None:
        settle(self)
        if self.calibration not in PURE:
            open_probability("delta", self.delta)
        elif self.delta != 0:
            raise ValueError(
                f"Expected delta={self.delta!r} to be 0 for calibration={self.calibration!r}; leave it out."
            )
        if self.calibration != "tight" and self.clipping != "horizon":
            raise ValueError(
                f"Expected clipping={self.clipping!r} to be 'horizon' for calibration={self.calibration!r}: the "
                "paper clips at H. Use calibration='tight' for smaller ranges."
            )

    def conditions(self) -> tuple[Condition, ...]:
        """Return that one pair of records moves all releases at once; known of the pure calibrations.

        Of mixtures: where optimistic values are 0 or their bound R, the features of squares are R times those of
        values, so that one pair of directions moves both most.
        """
        return (attained_by_construction(()),) if self.calibration in PURE else ()

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one user an episode."""
        return self.episodes

    def sizes(self, episodes: int | None = None) -> Sizes:
        """Return the sizes of the problem, at another number of episodes where one is given."""
        number = self.episodes if episodes is None else episodes
        return {"episodes": number, "steps": self.steps, "d": self.dimension, "fail_prob": self.fail_prob}

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return claim_of(EPISODE, self.model, self.epsilon, self.delta)


class Shaped(Protocol):
    """Settings that say how many steps an episode has, and how many features a cell."""

    @property
    def steps(self) -> int: ...
    @property
    def dimension(self) -> int: ...


def require_fit(problem: Any, kind: type, description: str, settings: Shaped) -> None:
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
