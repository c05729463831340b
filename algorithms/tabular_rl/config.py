"""The two tabular baselines' configs: PUCB in the joint model, LDP-OBI in the local one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from algorithms.problems.finite_mdp import FiniteMdp
from algorithms.tabular_rl.counting import TablePlan, run_table
from dpaudit import (
    AuditCase,
    Billboard,
    Claim,
    Condition,
    Declaration,
    Local,
    PostProcess,
    Recorder,
    Release,
    Repeat,
    Sequential,
    Streams,
    Transcript,
)
from dpaudit.checks import count, open_probability, positive
from dpaudit.model.mechanism import Array
from mechanisms import Laplace

_LONGEST = 8
_ONE_CELL = Condition(
    kind="one_contribution",
    about=("steps of a user",),
    text="Every user added one to exactly one cell of each step's table.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """What both baselines are set up with: pure epsilon, episodes K, steps H, and how optimism is scaled."""

    epsilon: float
    episodes: int
    steps: int
    bonus_scale: float = 1.0
    fail_prob: float = 0.05
    planning_period: int = 1

    def __post_init__(self) -> None:
        for name in ("episodes", "steps", "planning_period"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        for name in ("epsilon", "bonus_scale"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        object.__setattr__(self, "fail_prob", open_probability("fail_prob", self.fail_prob))


def _plan(settings: _Settings, *, local: bool) -> TablePlan:
    """Return the plan: a replaced user moves two cells a step by one, in one message or in every node they are in."""
    nodes = 1 if local else settings.episodes.bit_length()
    scale = 2.0 * settings.steps * nodes / settings.epsilon
    return TablePlan(
        labels=tuple(f"transitions of step {h + 1}" for h in range(settings.steps)),
        mechanism=Laplace(scale=scale, l1_sensitivity=2.0, neighbours="replace_one"),
        episodes=settings.episodes,
        local=local,
        noise_in_sum=nodes,
        bonus_scale=settings.bonus_scale,
        fail_prob=settings.fail_prob,
        planning_period=settings.planning_period,
    )


def _transcript(plan: TablePlan, mdp: FiniteMdp, streams: Streams, n_runs: int) -> Transcript:
    """Return `regret` (n_runs, K) after every episode, `gap` (n_runs,) of the last policy, and the counts released."""
    recorder = Recorder(streams.noise)
    best, gap, total = mdp.optimum(), np.zeros(n_runs), np.zeros(n_runs)
    kept: list[Array] = []
    released, message, single = np.zeros(0), np.zeros(0), True
    for episode in run_table(plan, mdp, streams, recorder, n_runs):
        if episode.fresh:
            ties = (episode.actions == episode.values[:, :-1, :, None]).astype(float)
            gap = best - mdp.policy_values(ties / ties.sum(axis=-1, keepdims=True))
        total = total + gap
        kept.append(total)
        single &= bool((episode.counts.sum(axis=(2, 3, 4)) == 1).all())
        message = episode.released if episode.number == 1 else message
        released = episode.released
    return Transcript(
        n_runs=n_runs,
        arrays={"regret": np.stack(kept, axis=1), "gap": gap, "released": released, "message": message},
        views={"message": ("message",)} if plan.local else {"billboard": ("released",)},
        trace=recorder.trace(),
        conditions=(_ONE_CELL.seen(holds=single),),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Ratio:
    """The log likelihood ratio of all nodes that hold the first user, or of their message."""

    mechanism: Laplace
    pair: tuple[Array, Array]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run. Shape: (n_runs,)."""
        own = view["released"] - view["others"]
        total: Any = 0.0
        for level in range(own.shape[1].bit_length()):
            node = own[:, 2**level - 1]
            low, high = (self.mechanism.log_density(node, held) for held in self.pair)
            total = total + (high - low).sum(axis=tuple(range(1, node.ndim)))
        result: Array = total
        return result


def _case(plan: TablePlan, mdp: FiniteMdp, name: str) -> AuditCase:
    """Return the audit: the first user stays at one cell or at another, through all steps."""
    steps, states, actions = mdp.shape
    pair = np.zeros((2, steps, states, actions, states))
    pair[0, :, 0, 0, 0] = 1.0
    pair[1, :, -1, -1, -1] = 1.0
    length = 1 if plan.local else min(plan.episodes, _LONGEST)

    def run(data: Array, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        released, others = [], []
        total: Any = np.zeros((n_runs, *data.shape))
        for episode in run_table(plan, mdp, streams, Recorder(streams.noise), n_runs, data):
            total = total + (0.0 if episode.number == 1 else episode.counts)
            released.append(episode.released)
            others.append(total)
            if episode.number == length:
                break
        return {"released": np.stack(released, axis=1), "others": np.stack(others, axis=1)}

    return AuditCase(
        name=f"{name} {'message' if plan.local else 'billboard'}",
        view="message" if plan.local else "billboard",
        description="Noisy counts of transitions; the first user stays at the first cell or at the last.",
        neighbours=(pair[0], pair[1]),
        relation="replace_one",
        run=run,
        score=_Ratio(mechanism=plan.mechanism, pair=(pair[0], pair[1])),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pucb(_Settings):
    """PUCB: optimism from counts that come out of Laplace trees; pure joint privacy.

    Parameters: `epsilon`; `episodes` K and `steps` H; `bonus_scale`, `fail_prob` and `planning_period` as for UCRL-VTR.
    Guarantee: a replaced user moves two cells of each of H tables by one, in floor(log2 K) + 1 nodes each, so noise of
    scale 2 H m / epsilon gives epsilon, exactly. Rewards are known, so nothing else is released.
    Source: Vietri, Balle, Krishnamurthy and Wu (2020), with the bonus reduced to its two terms.

    >>> from dpaudit import certify
    >>> config = Pucb(epsilon=1.0, episodes=100, steps=3)
    >>> certify(config.declaration(), config.claim()).verdict
    'certified'
    """

    name: ClassVar[str] = "pucb"

    def claim(self) -> Claim:
        """Return (epsilon, 0)-joint privacy."""
        return Claim(epsilon=self.epsilon, neighbours="replace_one", model="joint", unit="one user's whole episode")

    def declaration(self) -> Declaration:
        """Return every step's nodes, as often as one user is in them."""
        plan = _plan(self, local=False)
        parts = tuple(
            Repeat(part=Release(label=label, mechanism=plan.mechanism), times=plan.noise_in_sum)
            for label in plan.labels
        )
        steps = ("prefix sums of the nodes", "optimistic values and policies")
        return Billboard(part=PostProcess(part=Sequential(parts=parts), steps=steps), reads=("their own states",))

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs on any problem with a finite process."""
        return _transcript(_plan(self, local=False), problem.mdp, streams, n_runs)

    def cases(self, problem: Any) -> tuple[AuditCase, ...]:
        """Return the audit of the released counts."""
        return (_case(_plan(self, local=False), problem.mdp, self.name),)

    def notes(self, problem: Any) -> tuple[str, ...]:
        """Return nothing."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LdpObi(_Settings):
    """LDP-OBI: optimism from counts that every user noises themselves; pure local privacy.

    Parameters: as for `Pucb`. Guarantee: a user's H tables differ from another's by two cells each, so noise of scale
    2 H / epsilon gives epsilon, exactly.
    Source: Garcelon, Perchet, Pike-Burke and Pirotta (2021), with the bonus reduced to its two terms.

    >>> from dpaudit import certify
    >>> config = LdpObi(epsilon=1.0, episodes=100, steps=3)
    >>> certify(config.declaration(), config.claim()).verdict
    'certified'
    """

    name: ClassVar[str] = "ldp_obi"

    def claim(self) -> Claim:
        """Return (epsilon, 0)-local privacy."""
        return Claim(epsilon=self.epsilon, neighbours="replace_one", model="local", unit="one user's whole episode")

    def declaration(self) -> Declaration:
        """Return one user's message: a table a step."""
        plan = _plan(self, local=True)
        return Local(
            part=Sequential(parts=tuple(Release(label=label, mechanism=plan.mechanism) for label in plan.labels))
        )

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs on any problem with a finite process."""
        return _transcript(_plan(self, local=True), problem.mdp, streams, n_runs)

    def cases(self, problem: Any) -> tuple[AuditCase, ...]:
        """Return the audit of one message."""
        return (_case(_plan(self, local=True), problem.mdp, self.name),)

    def notes(self, problem: Any) -> tuple[str, ...]:
        """Return nothing."""
        return ()
