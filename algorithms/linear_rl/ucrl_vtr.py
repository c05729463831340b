"""UCRL-VTR's config: what it promises, what it declares, and what it runs."""

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from algorithms.linear_rl import mixture_cases as _cases
from algorithms.linear_rl.confidence import confidence_of, ridge_of
from algorithms.linear_rl.episodes import transcript_of
from algorithms.linear_rl.fields import require_fit, validate
from algorithms.linear_rl.mixture_declaration import declaration_of
from algorithms.linear_rl.mixture_noise import noisy_regressions, regressions_of, value_ranges
from algorithms.linear_rl.notes import mixture_notes
from algorithms.linear_rl.plan import MixturePlan, Open
from algorithms.linear_rl.planning import Domain
from algorithms.linear_rl.regressions import Regression, Symmetry
from algorithms.linear_rl.sums import open_exact, open_messages, open_trees
from algorithms.problems.linear_mixture import LinearMixture
from dpaudit import AuditCase, Claim, Declaration, Model, Streams, Transcript
from dpaudit.checks import count, one_of, positive

MODELS = ("joint", "local")
BONUSES = ("hoeffding", "bernstein")


@dataclass(frozen=True, slots=True, kw_only=True)
class UcrlVtr:
    """Optimistic value-targeted regression for linear-mixture processes, private by noise on its statistics.

    Parameters: `model` "joint" (trees that the learner keeps) or "local" (every user's own noise); `epsilon` in nats
    and `delta`; `episodes` K, `steps` H, `dimension` d; `bonus` "hoeffding" (Algorithm 1) or "bernstein" (Algorithm
    3); `calibration` see `mixture_noise.noisy_regressions`; `clipping` of values at H or at the steps left;
    `symmetry` of matrix noise; `weight_bound` C_w; `fail_prob` p; `bonus_scale` and `shift_scale` shrink radius and
    shift, which changes nothing in privacy; `planning_period`, how many episodes a policy is kept.
    Guarantee: one user's whole episode replaced changes the released statistics at most as the declaration says, for
    users who choose by them, at any epsilon. Values, features and targets are clipped, so it needs no optimism, which
    the paper's own argument does. Proof: order releases by time; a completed node is one Gaussian query, chosen
    adaptively, and one user is in at most floor(log2 K) + 1 nodes a step; squared ratios add up.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    Source: Luyo, Garcelon, Lazaric and Pirotta (2021), Corollaries 5, 6, 10 and 11.

    >>> config = UcrlVtr(model="joint", epsilon=1, delta=1e-5, episodes=1000, steps=5, dimension=5)
    >>> round(config.plan().regressions[0].noises[0][1].matrix_stddev, 2)
    1251.29
    """

    name: ClassVar[str] = "ucrl_vtr"

    model: str
    epsilon: float
    episodes: int
    steps: int
    dimension: int
    delta: float = 0.0
    bonus: str = "hoeffding"
    calibration: str = "tight"
    clipping: str = "horizon"
    symmetry: Symmetry = "half"
    weight_bound: float = 1.0
    fail_prob: float = 0.05
    bonus_scale: float = 1.0
    shift_scale: float = 1.0
    planning_period: int = 1

    def __post_init__(self) -> None:
        one_of("model", self.model, MODELS)
        one_of("bonus", self.bonus, BONUSES)
        validate(self)
        object.__setattr__(self, "steps", count("steps", self.steps, at_least=2))
        object.__setattr__(self, "planning_period", count("planning_period", self.planning_period))
        object.__setattr__(self, "weight_bound", positive("weight_bound", self.weight_bound))

    def claim(self) -> Claim:
        """Return what the paper promises for these parameters."""
        return Claim(
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours="replace_one",
            model=cast("Model", self.model),
            unit="one user's whole episode",
        )

    def declaration(self) -> Declaration:
        """Return the nodes that one user is in, for every regression (joint), or their message (local)."""
        return declaration_of(self)

    def plan(self) -> MixturePlan:
        """Return the calibrated algorithm; it depends on nothing but the config."""
        return self._plan(noisy_regressions(self), open_trees if self.model == "joint" else open_messages)

    def plan_without_noise(self) -> MixturePlan:
        """Return the same algorithm without noise, and so without privacy: UCRL-VTR or UCRL-VTR+ itself."""
        return self._plan(regressions_of(self), open_exact)

    def run(self, problem: LinearMixture, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` independent runs; see `episodes.transcript_of` for the arrays.

        Raises: ValueError: a problem of other steps or dimension than the config's.
        """
        return transcript_of(self.plan(), domain_of(self, problem), streams, n_runs)

    def run_without_noise(self, problem: LinearMixture, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs of the algorithm without privacy, for comparison."""
        return transcript_of(self.plan_without_noise(), domain_of(self, problem), streams, n_runs)

    def cases(self, problem: Any = None) -> tuple[AuditCase, ...]:
        """Return the audits of this config, with a first user who contributes as much as the bounds allow."""
        return _cases.cases_of(self, problem)

    def notes(self, problem: LinearMixture) -> tuple[str, ...]:
        """Return what the radius amounts to on `problem`."""
        domain_of(self, problem)
        return mixture_notes(self)

    def _plan(self, regressions: tuple[Regression, ...], opened: Open) -> MixturePlan:
        """Return the plan with these regressions."""
        return MixturePlan(
            model=self.model,
            episodes=self.episodes,
            ridge=ridge_of(self),
            regressions=regressions,
            ranges=value_ranges(self.steps, self.clipping),
            confidence=confidence_of(self, regressions),
            planning_period=self.planning_period,
            open=opened,
        )


def domain_of(config: UcrlVtr, problem: LinearMixture) -> Domain:
    """Return the problem laid out, or say where it does not fit the config."""
    require_fit(problem, LinearMixture, "a linear mixture, such as random_mixture", config)
    return Domain.of(problem)
