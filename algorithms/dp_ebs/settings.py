"""The settings of DP-EBS: fields, their limits, and the privacy claim."""

from dataclasses import dataclass
from typing import Annotated

from algorithms._dueling.claim import answer_claim
from dpaudit import Claim
from dpaudit.checks import OneOf, OpenProbability, Positive, ProbabilityBelowOne, TwoOrMore, Within, count, settle

CALIBRATIONS = ("paper", "tight")
"""The calibrations by name, see `noise.tree_of`."""

NOISES = ("laplace", "discrete")
"""What a node's noise is drawn from: Laplace in floating point, or integers with exact probabilities."""

READINGS = ("R0", "R1", "R2", "R3", "R4")
"""The readings of a removal by name, see `noise.calibrated`."""

BROKEN = ("R0", "R4")
"""The readings that no noise makes private."""

WIDTHS = ("paper", "paper_typo", "paper_K", "tight")
"""The confidence widths by name, see `widths.intervals`."""

SCHEDULES = ("own", "planned")
"""The schedules of batches by name, see `batch_plan`."""

_MODELS = ("central", "local", "shuffle")
_VARIANTS = ("tree", "batched", "champion")
_CREDITS = ("left", "both")
_LONGEST = 10**7  # one run takes seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class DpEbsSettings:
    """The public parameters of DP-EBS.

    Parameters: `epsilon` in nats; `horizon`, the number of rounds and people; `arms`, the number of options;
    `model` "central" (trees), "local" (each person randomises their answer) or "shuffle" (so does each person, and
    the server reads the votes of a batch together, in an order that nobody learns); `delta`, of a shuffle alone;
    `variant` "tree", or without trees "batched" for doubling batches and "champion" for one option against all
    others; `calibration` of the trees: "paper" (epsilon / 4 each) or "tight" (by the nodes that one answer shifts);
    `removal` of an option, the reading R0 to R4 of the paper's step, of which R0 and R4 are not private, see
    `noise.calibrated`; `credit` "left", or "both" exactly for R3; `noise` of a node, "laplace" or "discrete";
    `width` of the confidence intervals: "paper", "paper_K" or "paper_typo" as printed in three places, "tight" by
    exact bounds, see `widths.intervals`; `width_factor`, which scales the widths; `fail_prob` of the widths (1 /
    horizon if absent; of a champion see `widths.stages`); `schedule` of the batches, see `widths.batches`.
    Defaults: where neither `removal` nor `credit` is given, tight trees are read as R3, everything else as R2, and the
    fields hold the reading. The default width is "tight": the printed ones remove nobody at the horizons allowed here.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # What the privacy loss depends on.
    epsilon: Positive
    horizon: Annotated[int, Within(at_least=4, at_most=_LONGEST)]
    arms: TwoOrMore
    model: Annotated[str, OneOf(_MODELS)] = "central"
    delta: ProbabilityBelowOne = 0.0
    variant: Annotated[str, OneOf(_VARIANTS)] = "tree"
    calibration: Annotated[str, OneOf(CALIBRATIONS)] = "paper"
    credit: Annotated[str, OneOf(_CREDITS)] = ""
    removal: Annotated[str, OneOf(READINGS)] = ""
    noise: Annotated[str, OneOf(NOISES)] = "laplace"

    # What only the usefulness depends on.
    width: Annotated[str, OneOf(WIDTHS)] = "tight"
    width_factor: Positive = 1.0
    fail_prob: OpenProbability | None = None
    schedule: Annotated[str, OneOf(SCHEDULES)] = "own"

    def __post_init__(self) -> None:
        self._read_removals()
        settle(self)
        object.__setattr__(self, "horizon", count("horizon", self.horizon, at_least=self.arms + 1))
        self._require_reading()

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one answer a round."""
        return self.horizon

    def claim(self) -> Claim:
        """Return what is promised of one answer, for everybody who sees every duel; pure unless votes are shuffled."""
        return answer_claim(self.epsilon, self.model, self.delta)

    def _read_removals(self) -> None:
        """Write down the reading of a removal, and who is credited, where they are not given."""
        tight = (self.calibration, self.model, self.variant) == ("tight", "central", "tree")
        both = tight and not self.removal and not self.credit
        object.__setattr__(self, "removal", self.removal or ("R3" if both else "R2"))
        object.__setattr__(self, "credit", self.credit or ("both" if both else "left"))

    def _require_reading(self) -> None:
        """Refuse readings of a removal that do not fit the other fields."""
        if (self.credit == "both") != (self.removal == "R3"):
            raise ValueError(
                f"Expected credit={self.credit!r} to go with removal={self.removal!r}: crediting both options is the "
                "reading R3. Set removal = 'R3' with credit = 'both', or another reading with credit = 'left'."
            )
        if self.removal == "R4" and self.arms == 2:
            raise ValueError(
                "Expected arms=2 to be 3 or more for removal='R4': with two, the first removal is the end."
            )
        if self.model == "local" and (self.variant, self.removal) != ("tree", "R2"):
            raise ValueError(
                f"Expected variant={self.variant!r} and removal={self.removal!r} at their defaults in the local model, "
                "where the counters are exact sums of what people sent."
            )
        self._require_shuffle()

    def _require_shuffle(self) -> None:
        """Refuse a delta that nothing needs, and shuffles of votes that are not read together."""
        if (self.model == "shuffle") != (self.delta > 0):
            raise ValueError(
                f"Expected delta={self.delta!r} to be positive for model='shuffle', whose guarantee needs it, and "
                f"absent for the others, which are private without it; model is {self.model!r}."
            )
        if self.model == "shuffle" and (self.variant, self.removal, self.schedule) != ("batched", "R2", "own"):
            raise ValueError(
                f"Expected variant={self.variant!r}, removal={self.removal!r} and schedule={self.schedule!r} to be "
                "'batched', 'R2' and 'own' for model='shuffle': a vote that is read before the next person is asked "
                "has not been shuffled."
            )
