"""The config of LPLR: what it promises, what it declares, and what it runs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from algorithms.lplr.leaves import THIRDS, UNEVEN, Leaves, gaussian_leaves, printed_leaves, repaired_leaves
from algorithms.lplr.plan import (
    Plan,
    as_given,
    at_most_one,
    clipped_residual,
    printed_residual,
    unit_ball,
    within_unit,
)
from algorithms.lplr.schedule import Resolution, epochs_of, first_length, phases_of, resolution_of
from dpaudit import AuditCase, Claim, Declaration, Neighbours, Streams, Transcript
from dpaudit.checks import count, one_of, open_probability, positive, probability_below_one

if TYPE_CHECKING:
    from algorithms.problems.linear_bandit import LinearBandit

VARIANTS = ("paper", "fixed")
WIDTHS = ("theory", "calibrated")
NOISES = ("pure", "gaussian")
SPLITS = {"tight": THIRDS, "uneven": UNEVEN}
_LONGEST = 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class Lplr:
    """Action elimination by layered principal-component regression on messages that are private one by one.

    Parameters: `epsilon` in nats (the paper's alpha); `horizon`, the number of users; `dimension` of the features and
    number of `actions`; `variant` "paper", exactly as printed and not private, or "fixed", repaired; `ci` "calibrated",
    widths of `quantile` standard deviations of the noise, or "theory", the printed constants, under which nothing is
    eliminated at any feasible horizon; `noise` "pure", or "gaussian" with a `delta` for comparison, which the paper
    does not have; `calibration`, how the repaired message shares epsilon: "tight" in thirds, "uneven" 0.2, 0.4, 0.4
    (both cost exactly epsilon); `beta` and `fail_prob` as in `schedule.resolution_of`. `model` is always "local".
    Guarantee: in the "fixed" variant one user's context, action and reward replaced by any others changes what this
    user sends by a likelihood ratio of at most e^epsilon, at any horizon, dimension, number of actions and history.
    Proof: a user is in one phase. In it the message is an array of cells, one a bin of every action, that are noise
    but for the one cell of the record. Two records in one cell differ there by at most 2 in the residual's vector
    and by nuclear norm 2 in the matrix; in two cells, each is against nothing. Laplace noise of 6 / epsilon,
    6 sqrt(d) / epsilon and the difference of two Wishart matrices of scale 3 / epsilon give at most epsilon / 6 a leaf
    and cell, so epsilon in all. The action reads the public state and the user's own context.
    Raises: ValueError: a field outside its range, or a horizon at which no epoch is long enough for an estimate.
    Source: Li, Simchi-Levi and Wang (2024), Algorithms 1 to 6.

    >>> Lplr(epsilon=1, horizon=10**6, dimension=2, actions=2).plan().resolution.depth
    7
    """

    name: ClassVar[str] = "lplr"

    epsilon: float
    horizon: int
    dimension: int
    actions: int
    variant: str = "fixed"
    ci: str = "calibrated"
    noise: str = "pure"
    delta: float = 0.0
    model: str = "local"
    calibration: str = "tight"
    quantile: float = 4.0
    beta: float | None = None
    fail_prob: float | None = None

    def __post_init__(self) -> None:
        for field in ("epsilon", "quantile"):
            object.__setattr__(self, field, positive(field, getattr(self, field)))
        for field in ("horizon", "dimension", "actions"):
            object.__setattr__(self, field, count(field, getattr(self, field)))
        object.__setattr__(self, "delta", probability_below_one("delta", self.delta))
        one_of("variant", self.variant, VARIANTS)
        one_of("ci", self.ci, WIDTHS)
        one_of("noise", self.noise, NOISES)
        one_of("model", self.model, ("local",))
        one_of("calibration", self.calibration, tuple(SPLITS))
        for field in ("beta", "fail_prob"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, open_probability(field, getattr(self, field)))
        self._require_noise()
        self._require_epoch()

    def claim(self) -> Claim:
        """Return what is promised: (epsilon, 0), or (epsilon, delta) with Gaussian noise."""
        return Claim(
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours="replace_one",
            model="local",
            unit="one user's context, action and reward",
        )

    def leaves(self, neighbours: Neighbours = "replace_one") -> Leaves:
        """Return the mechanisms of one message: for two records in the same cell, or for one against none."""
        if self.noise == "gaussian":
            return gaussian_leaves(self.claim(), neighbours)
        if self.variant == "paper":
            return printed_leaves(self.epsilon, self.dimension, neighbours)
        return repaired_leaves(self.epsilon, self.dimension, neighbours, SPLITS[self.calibration])

    def plan(self) -> Plan:
        """Return everything that is settled before any data is seen."""
        printed = self.variant == "paper"
        resolution = self._resolution()
        return Plan(
            dimension=self.dimension,
            actions=self.actions,
            epochs=epochs_of(self.horizon, first_length(self.dimension, resolution)),
            resolution=resolution,
            phases=phases_of(self.dimension, first_confidence=printed),
            first_confidence=printed,
            leaves=self.leaves(),
            ci=self.ci,
            quantile=self.quantile,
            strength=self.epsilon,
            deep_bound=1.0 if printed else 2.0,
            residual=printed_residual if printed else clipped_residual,
            normalise=as_given if printed else unit_ball,
            clamp=at_most_one if printed else within_unit,
        )

    def declaration(self) -> Declaration:
        """Return what one user's message releases; with variant "paper" the nodes carry the paper's own argument."""
        from algorithms.lplr.declaration import declaration_of

        return declaration_of(self)

    def run(self, problem: "LinearBandit", streams: Streams, n_runs: int) -> Transcript:
        """Return the transcript of `n_runs` independent runs on `problem`; see `elimination.run_protocol`.

        Raises: ValueError: a problem of another dimension or number of actions.
        """
        from algorithms.lplr.elimination import run_protocol

        return run_protocol(self.plan(), problem, streams, n_runs)

    def cases(self, problem: Any = None) -> tuple[AuditCase, ...]:
        """Return the audits of single messages; `problem` does not matter, as each is against a worst pair."""
        from algorithms.lplr.cases import cases_of

        return cases_of(self)

    def notes(self, problem: "LinearBandit") -> tuple[str, ...]:
        """Return what the printed constants amount to, from which horizon on the method pays, and what is false."""
        from algorithms.lplr.notes import notes_of

        return notes_of(self, problem)

    def _resolution(self) -> Resolution:
        """Return how finely the ball is cut."""
        return resolution_of(self.horizon, self.beta, self.fail_prob)

    def _require_noise(self) -> None:
        """Refuse noise that does not fit the claim."""
        if (self.noise == "gaussian") != (self.delta > 0):
            raise ValueError(
                f"Expected delta={self.delta!r} to be positive for noise='gaussian' and absent for noise='pure', "
                f"which is private without it; noise is {self.noise!r}."
            )
        if self.noise == "gaussian" and self.variant == "paper":
            raise ValueError("Expected variant='paper' with noise='pure': the paper has no Gaussian noise.")

    def _require_epoch(self) -> None:
        """Refuse horizons too short for one estimate, and too long for counting."""
        if not 2 <= self.horizon <= _LONGEST:
            raise ValueError(f"Expected horizon={self.horizon} between 2 and 10^18.")
        needed = 2 * first_length(self.dimension, self._resolution())
        if self.horizon < needed:
            raise ValueError(
                f"Expected horizon={self.horizon} at or above {needed}, the length of the first epoch in "
                f"dimension={self.dimension}: below it nothing is ever estimated."
            )
