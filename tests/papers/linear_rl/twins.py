"""Copies of UCRL-VTR and LSVI-UCB with one planted defect each, and harmless copies: who notices, and how.

A twin replaces steps or noise of an honest plan; the product has no switch for any of them. `caught` lists what
notices it:

    trace         `admit(declaration, trace)` has findings on one ordinary run
    condition     the run itself reports a violated side-condition
    ratio         the likelihood ratio separates the neighbours further than the claim allows
    discriminant  the whitened discriminant does, on runs it was not trained on
    accountant    the declared noise is refuted

`multiplier` is the predicted mu over the allowed one, for the ratio; infinity where something is released exactly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algorithms.lsvi_ucb import LsviUcb
from algorithms.lsvi_ucb import canaries as batch_canaries
from algorithms.lsvi_ucb import cases as batch_cases
from algorithms.lsvi_ucb.canaries import BatchCanary
from algorithms.lsvi_ucb.planning import BatchDomain
from algorithms.problems.linear_mdp import LinearMdp
from algorithms.ucrl_vtr import UcrlVtr, likelihood_ratio
from algorithms.ucrl_vtr import canaries as mixture_canaries
from algorithms.ucrl_vtr import cases as mixture_cases
from algorithms.ucrl_vtr.canaries import Canary
from algorithms.ucrl_vtr.plan import MixturePlan
from algorithms.ucrl_vtr.planning import Domain
from dpaudit import AuditCase
from dpaudit.model.mechanism import Array
from tests.narrowing import matrix_stddev_of
from tests.papers.linear_rl import broken
from tests.papers.linear_rl.predicted import batches_mu, mixture_mu

JOINT = UcrlVtr(model="joint", epsilon=1, delta=1e-5, episodes=8, steps=3, dimension=2)
LOCAL = replace(JOINT, model="local")
BATCHED = LsviUcb(epsilon=1, delta=1e-5, episodes=16, steps=2, dimension=2, least_batches=4)
SWITCHING = LsviUcb(
    epsilon=1,
    delta=1e-5,
    episodes=4,
    steps=1,
    dimension=2,
    schedule="switching",
    switches=2,
    threshold=0.75,
    regret_unproved=True,
)


@dataclass(frozen=True)
class Twin:
    """One planted defect: `plant(plan)` returns the broken plan, `config` the honest one that it is run as."""

    name: str
    text: str
    plant: Callable[..., Any]
    caught: tuple[Any, ...] = ()
    config: Any = JOINT
    multiplier: float = math.nan
    build: Callable[..., AuditCase] | None = None

    def plan(self) -> Any:
        return self.plant(self.config.plan())

    def case(self) -> AuditCase:
        return (self.build or BUILDERS[self.config])(self)

    def predicted(self) -> float:
        """The mu that the ratio should measure, for Gaussian noise of another scale."""
        plan = self.plan()
        if self.config == BATCHED:
            return batches_mu(plan, batch_canaries.worst_cosine(self.config.plan()))
        pair = mixture_canaries.canaries(self.config.plan(), self.config.dimension)
        nodes = 1 if self.config.model == "local" else 8 if self.name == "T9" else 4
        return mixture_mu(plan.regressions, pair, nodes)


# --- cases -------------------------------------------------------------------------------------------------


def domain_of(config: Any) -> Any:
    if config in (BATCHED, SWITCHING):
        return BatchDomain.of(batch_cases.audit_problem(config))
    return Domain.of(mixture_cases.audit_problem(config))


def billboard(twin: Twin, pair: tuple[Canary, Canary] | None = None) -> AuditCase:
    """The ordinary audit of the joint model, scored by the ratio that the broken noise itself implies."""
    plan = twin.plan()
    honest = twin.config.plan()
    return mixture_cases.billboard_case(
        plan, domain_of(twin.config), pair or mixture_canaries.canaries(honest, 2), plan.regressions
    )


def message(twin: Twin) -> AuditCase:
    plan = twin.plan()
    return mixture_cases.message_case(plan, mixture_canaries.canaries(twin.config.plan(), 2))


def batched(twin: Twin) -> AuditCase:
    plan = twin.plan()
    return batch_cases.billboard_case(plan, domain_of(twin.config), batch_canaries.canaries(twin.config.plan(), 2))


def first_step_only(config: UcrlVtr) -> tuple[Canary, Canary]:
    """The worst pair at the first step, and one contribution of both neighbours at the others."""
    first, second = mixture_canaries.canaries(config.plan(), 2)
    features = first.features.copy()
    features[0] = second.features[0]
    return first, Canary(features=features, targets=first.targets)


def every_node(view: dict[str, Array]) -> Array:
    """All nodes less what others put in, one row a run: what a discriminant is trained on."""
    own = view["released"] - view["others"]
    padded = np.concatenate([np.zeros_like(own[:, :1]), own], axis=1)
    parents = [k & (k - 1) for k in range(1, own.shape[1] + 1)]
    result: Array = (own - padded[:, parents]).reshape(len(own), -1)
    return result


def restless(config: LsviUcb) -> tuple[BatchCanary, BatchCanary]:
    """First users whose targets are 0 and the bound by turns, one more of them than the other."""
    plan = config.plan()
    first, second = batch_canaries.canaries(plan, 2)
    turns = np.arange(plan.releases)[:, None] % 2
    return replace(first, targets=first.targets * (turns == 0)), replace(second, targets=second.targets * (turns == 1))


def every_vector(view: dict[str, Array]) -> Array:
    """All vectors less what others put in, one row a run."""
    own = view["vectors"] - view["own_vectors"]
    return own.reshape(len(own), -1)


def averaged(twin: Twin) -> AuditCase:
    """T9: the ratio of every prefix that holds the target, as if each were a node of its own."""
    case = billboard(twin)
    plan = twin.plan()

    def score(view: dict[str, Array]) -> Array:
        own = view["released"] - view["others"]
        result: Array = likelihood_ratio.ratio(plan.regressions, case.neighbours, own).sum(axis=1)
        return result

    return replace(case, score=score)


def with_rewards(twin: Twin) -> AuditCase:
    """T19: the server is also sent the sum of rewards, here 1 or 2."""
    case = message(twin)
    first, _ = case.neighbours

    def run(data: Any, rng: np.random.Generator, n_runs: int) -> dict[Any, Any]:
        view = case.run(data, rng, n_runs)
        return {**view, "rewards": np.full(n_runs, 1.0 if data is first else 2.0)}

    return replace(case, run=run, score=lambda view: view["rewards"] + 1e-6 * view["message"][:, 0, 0, 0])


def one_direction() -> LinearMdp:
    """A process whose users all show the same features: an exact determinant doubles when the first user does not."""
    return LinearMdp(
        name="one_direction",
        description="one feature for everybody",
        features=np.tile([1.0, 0.0], (2, 1, 1)),
        measures=np.full((1, 2, 2), 0.5),
        reward_weights=np.full((1, 2), 0.5),
        initial=np.array([1.0, 0.0]),
    )


def switch_times(twin: Twin) -> AuditCase:
    """T16: when policies change, for a first user like everybody else and for one who is not."""
    plan = twin.plan()
    first, second = (
        BatchCanary(features=np.array([features]), targets=np.ones((2, 1))) for features in ([1.0, 0.0], [0.0, 1.0])
    )
    case = batch_cases.billboard_case(plan, BatchDomain.of(one_direction()), (first, second))
    jitter = 1e-6
    return replace(
        case, score=lambda view: view["released"][:, 1].astype(float) + jitter * view["vectors"][:, 1, 0, 0] * 1e-3
    )


def restless_vectors(twin: Twin) -> AuditCase:
    return batch_cases.billboard_case(twin.plan(), domain_of(twin.config), restless(twin.config))


BUILDERS: dict[UcrlVtr | LsviUcb, Callable[[Twin], AuditCase]] = {
    JOINT: billboard,
    LOCAL: message,
    BATCHED: batched,
    SWITCHING: switch_times,
}


# --- plants ------------------------------------------------------------------------------------------------


def scaled(factor: Callable[[Any], float]) -> Callable[..., Any]:
    """All noise times `factor(plan)`."""
    return lambda plan: replace(plan, regressions=tuple(held.scaled(factor(plan)) for held in plan.regressions))


def each(change: Callable[..., Any]) -> Callable[..., Any]:
    """Every regression changed."""
    return lambda plan: replace(plan, regressions=tuple(change(held) for held in plan.regressions))


def step(**steps: int | Callable[..., Any]) -> Callable[..., Any]:
    """Steps of the plan replaced."""
    return lambda plan: replace(plan, **steps)


def one_sided(plan: MixturePlan, shift_scale: float = 0.02, bonus_scale: float = 1e-9) -> MixturePlan:
    """T13: as printed, no floor, and a shift that only just covers the noise."""
    return replace(
        plan,
        clip=broken.upper_clip,
        enter=broken.unclipped,
        solve=broken.solve_without_floor,
        confidence=replace(plan.confidence, shift_scale=shift_scale, bonus_scale=bonus_scale),
    )


_H, _M = 3, 4
_ROOT_STDDEV = matrix_stddev_of(JOINT.plan().regressions[0].noises[0][1]) ** 0.5

BROKEN = (
    Twin("T1", "a sensitivity of 2 for 2 H^2", scaled(lambda _: _H**-2), ("trace", "ratio"), multiplier=9),
    Twin("T2", "a sensitivity of 2 H for 2 H^2", scaled(lambda _: 1 / _H), ("trace", "ratio"), multiplier=3),
    Twin("T3", "the tree's levels forgotten", scaled(lambda _: _M**-0.5), ("trace", "ratio"), multiplier=2),
    Twin(
        "T4",
        "composition over steps forgotten",
        scaled(lambda p: len(p.regressions) ** -0.5),
        ("trace", "ratio"),
        multiplier=math.sqrt(2),
    ),
    Twin(
        "T5",
        "matrix and vector each given the whole budget",
        lambda plan: replace(plan, regressions=broken.full_budget_each(plan.regressions)),
        ("trace", "ratio"),
        multiplier=math.nan,
    ),
    Twin("T6", "the vector's noise halved", each(broken.vector_scaled(0.5)), ("trace", "ratio")),
    Twin(
        "T6 missing",
        "next to no noise on the vector",
        each(broken.vector_scaled(1e-6)),
        ("trace", "ratio"),
        multiplier=math.inf,
    ),
    Twin("T7", "noise on the leaves only", step(open=broken.tree(broken.leaves_only)), ("discriminant",)),
    Twin(
        "T8 steps",
        "the same noise at every step",
        lambda plan: replace(plan, open=broken.shared_over_steps()),
        ("trace", "discriminant"),
    ),
    Twin("T8 nodes", "one draw for all nodes", step(open=broken.tree(broken.one_draw)), ("trace", "discriminant")),
    Twin(
        "T8 parts",
        "the vector's noise is a column of the matrix's",
        step(open=broken.tree(broken.vector_from_matrix)),
        ("discriminant",),
    ),
    Twin(
        "T9",
        "fresh noise on every exact prefix",
        step(open=broken.tree(broken.honest, broken.fresh_prefixes)),
        ("ratio",),
        multiplier=math.sqrt(8 / _M),
        build=averaged,
    ),
    Twin("T10", "no noise on the diagonal", step(open=broken.tree(broken.no_diagonal)), ("discriminant",)),
    Twin(
        "T11",
        "symmetry half with the noise of sqrt2",
        each(broken.matrix_scaled(0.5**0.5)),
        ("trace", "ratio"),
        config=LOCAL,
    ),
    Twin(
        "T12",
        "the square root of the standard deviation",
        scaled(lambda _: 1 / _ROOT_STDDEV),
        ("trace", "ratio"),
        multiplier=_ROOT_STDDEV,
    ),
    Twin("T13", "clipped from above only, with a small shift", one_sided, ("condition",)),
    Twin(
        "T14",
        "a shift that is read off the exact matrix",
        step(open=broken.tree(broken.honest, broken.clean_shift)),
        ("discriminant",),
    ),
    Twin(
        "T15",
        "the number of releases forgotten",
        broken.scaled_vectors(lambda plan: plan.releases**-0.5),
        ("trace", "ratio"),
        config=BATCHED,
    ),
    Twin(
        "T16",
        "the switching rule on exact matrices",
        lambda plan: replace(plan, rule_reads=broken.exact_rule, shift=0.0),
        ("ratio",),
        config=SWITCHING,
        multiplier=math.inf,
    ),
    Twin(
        "T17",
        "one draw of vector noise for all releases",
        step(draw=broken.one_vector_draw),
        ("trace", "discriminant"),
        config=BATCHED,
        build=restless_vectors,
    ),
    Twin(
        "T18",
        "the budget a step, not a user",
        scaled(lambda p: len(p.regressions) ** -0.5),
        ("trace", "ratio"),
        config=LOCAL,
        multiplier=math.sqrt(2),
    ),
    Twin(
        "T19",
        "the sum of rewards sent along",
        lambda plan: plan,
        ("ratio",),
        config=LOCAL,
        multiplier=math.inf,
        build=with_rewards,
    ),
    Twin(
        "T20",
        "the noise of the prefix before",
        step(open=broken.tree(broken.honest, broken.late_noise)),
        ("discriminant",),
    ),
    Twin(
        "T21",
        "Laplace noise by Euclidean sensitivity",
        lambda plan: plan,
        ("accountant",),
        config=UcrlVtr(model="local", epsilon=1, episodes=8, steps=3, dimension=5, calibration="pure_paper"),
    ),
)
"""Every broken twin."""


BENIGN = (
    Twin(
        "mirror",
        "mirrored noise for half",
        lambda plan: replace(JOINT, symmetry="mirror").plan(),
        config=replace(JOINT, symmetry="mirror"),
        build=billboard,
    ),
    Twin("shift", "a larger shift", lambda plan: replace(plan, confidence=replace(plan.confidence, shift_scale=5.0))),
    Twin("levels", "the paper's nodes for the tree's", scaled(lambda _: math.sqrt(5 / _M))),
    Twin("period", "one policy for four episodes", step(planning_period=4)),
)
"""Every harmless twin: nothing may notice it."""
