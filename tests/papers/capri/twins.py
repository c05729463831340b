"""Copies of CAPRI with one planted defect each, and copies with a harmless change: who notices, and how.

A twin plants its defect by replacing one step, the mechanism, or the users of an honest plan; the product has
no switch for any of them. `caught` lists what notices it:

    trace       `admit(declaration, transcript.trace)` has findings on one ordinary run
    condition   the run itself reports a violated side-condition
    statistics  the scores of `case` separate its two neighbours further than the declared noise allows
    accountant  the paper's own arithmetic fails

`case(config)` is an ordinary `dpaudit.AuditCase`, ready for any audit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from algorithms.capri.algorithm import Capri
from algorithms.capri.cases import LikelihoodRatio, audit_geometry, first_action_share, message_case, neighbours_of
from algorithms.capri.design import Design, factorise
from algorithms.capri.plan import Domain, Plan
from algorithms.capri.run import run_epochs
from algorithms.capri.users import RecordedUsers
from dpaudit import AuditCase, Streams
from dpaudit.model.mechanism import Array
from tests.papers.capri.defects import (
    HalfPrecisionNoise,
    NoNoise,
    OneSidedNoise,
    ScalarNoise,
    carried_over,
    data_covariance,
    data_covariance_throughout,
    eager_users,
    exact_elimination,
    fixed_seed,
    gram_inverse,
    large_basis,
    log_ten_multiplier,
    other_noise,
    rescaled,
    reused_noise,
    scaled_mechanism,
    steps,
    symmetric_root,
    unclipped,
    unique_basis,
    users_as_basis,
    watched,
)


@dataclass(frozen=True)
class Twin:
    """One planted defect. `plant(plan)` returns the broken plan and a wrapper of the users."""

    name: str
    text: str
    plant: Callable[..., Any]
    caught: tuple[Any, ...] = ()
    model: str = "joint"
    case: Callable[[Capri], AuditCase] | None = None
    runs: int = 20_000
    gaussian: bool = True


# --- cases -------------------------------------------------------------------------------------------------


def case_of(
    twin: Any,
    config: Capri,
    *,
    epochs: int = 1,
    view: str = "transcript",
    score: "SummedRatio | Callable[..., Any] | None" = None,
    neighbours: tuple[RecordedUsers, RecordedUsers] | None = None,
    elimination: str = "practical",
) -> AuditCase:
    """The ordinary audit case with a twin's plan and users, over the first `epochs` epochs."""
    plan, wrap = twin.plant(config.plan())
    domain = audit_geometry(replace(config, elimination=elimination), config.plan())

    def run(data: RecordedUsers, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        short = replace(plan, epochs=plan.epochs[:epochs])
        arrays = run_epochs(short, domain, wrap(data), Streams.spawn(rng), n_runs).arrays
        return dict(arrays)

    return AuditCase(
        name=f"capri twin {twin.name}",
        view=view,
        description=twin.text,
        neighbours=neighbours or neighbours_of(config.plan()),
        relation="replace_one",
        run=run,
        score=score or LikelihoodRatio(domain=domain, plan=plan),
        gaussian=twin.gaussian,
    )


def contexts_differ(config: Capri) -> tuple[RecordedUsers, RecordedUsers]:
    """Neighbours whose first user stands at context 0 or 1, all else equal and at context 2."""
    rounds = config.plan().epochs[1].stop
    first, second = np.full(rounds, 2), np.full(rounds, 2)
    first[0], second[0] = 1, 0
    rewards = np.zeros(rounds)
    return RecordedUsers(contexts=first, rewards=rewards), RecordedUsers(contexts=second, rewards=rewards)


def others_elsewhere(config: Capri) -> tuple[RecordedUsers, RecordedUsers]:
    """The usual neighbours, with all other users on the other feature."""
    first, second = (
        RecordedUsers(contexts=np.where(np.arange(len(data.contexts)) == 0, 0, 2), rewards=data.rewards)
        for data in neighbours_of(config.plan())
    )
    return first, second


@dataclass(frozen=True)
class SummedRatio:
    """The sum over epochs of the projection on the target's direction, each in units of its noise."""

    domain: Domain
    plan: Plan

    def __call__(self, view: dict[str, Array]) -> Any:
        total = 0.0
        for epoch in range(view["release"].shape[1]):
            design = Design(covariance=view["covariance"][:, epoch], basis=view["basis"][:, epoch])
            maps = factorise(self.domain.features, design, view["active"][:, epoch], self.plan.ridge).maps
            total = total + (maps[:, :, 0] * view["release"][:, epoch]).sum(axis=1) / view["scale"][:, epoch]
        return total


def cancelled(view: dict[str, Array]) -> Array:
    """The difference of the first two normalised releases: their common noise is gone."""
    return (view["release"][:, 0] - view["release"][:, 1])[:, 0]


def half_precision_score(view: dict[str, Array]) -> Array:
    """Whether the first coordinate less 0.3 lies on the 16-bit grid."""
    residual = view["release"][:, 0, 0] - 0.3
    return (np.abs(residual - residual.astype(np.float16).astype(np.float64)) < 1e-9).astype(float)


def asymmetric_rewards(config: Capri) -> tuple[RecordedUsers, RecordedUsers]:
    low, high = neighbours_of(config.plan())
    low.rewards[0], high.rewards[0] = -0.6, 0.3
    return low, high


def local_case(twin: Twin, config: Capri) -> AuditCase:
    """One user's message under a twin's plan; the mechanism as the twin runs it for a single user."""
    plan, _ = twin.plant(config.plan())
    return message_case(config, plan)


def uploaded_action_case(twin: Twin, config: Capri) -> AuditCase:
    """The message of B15: the action goes along, after elimination left context 0 and 1 different actions."""
    plan = config.plan()
    active = np.array([[True, False], [False, True], [True, True]])

    def run(data: int, rng: np.random.Generator, n_runs: int) -> dict[str, Any]:
        actions = rng.choice(np.flatnonzero(active[data]), size=n_runs)
        noise = plan.mechanism.release(np.zeros((n_runs, 2)), rng)
        return {"release": noise, "action": actions}

    return AuditCase(
        name=f"capri twin {twin.name}",
        view="message",
        description=twin.text,
        neighbours=(0, 1),
        relation="replace_one",
        run=run,
        score=lambda view: view["action"].astype(float),
    )


def twin(
    name: str,
    text: str,
    plant: Callable[..., tuple[Any, ...]],
    caught: tuple[str, ...],
    case: Callable[[Twin, Capri], AuditCase] | None = case_of,
    **options: Any,
) -> Twin:
    made = Twin(name=name, text=text, plant=plant, caught=caught, **options)
    return replace(made, case=partial(case, made)) if case else made


def _large_reward(made: Twin, config: Capri) -> AuditCase:
    return case_of(made, config, neighbours=neighbours_of(config.plan(), reward=10.0))


def _summed(made: Twin, config: Capri) -> AuditCase:
    plan, _ = made.plant(config.plan())
    return case_of(
        made,
        config,
        epochs=3,
        score=SummedRatio(domain=audit_geometry(config, plan), plan=plan),
        neighbours=long_neighbours(config),
    )


def long_neighbours(config: Capri) -> tuple[Any, ...]:
    """The usual neighbours, for the whole horizon."""
    rounds = config.horizon
    contexts = np.full(rounds, 1)
    contexts[0] = 0
    made = []
    for reward in (-1.0, 1.0):
        rewards = np.zeros(rounds)
        rewards[0] = reward
        made.append(RecordedUsers(contexts=contexts, rewards=rewards))
    return tuple(made)


def _actions_now(made: Twin, config: Capri) -> AuditCase:
    return case_of(made, config, view="actions", score=lambda v: first_action_share({"actions": v["actions"][:, 0]}))


def _actions_next(made: Twin, config: Capri) -> AuditCase:
    return case_of(
        made,
        config,
        epochs=2,
        view="actions",
        elimination="argmax",
        score=lambda v: first_action_share({"actions": v["actions"][:, 1]}),
    )


def _known_noise(made: Twin, config: Capri) -> AuditCase:
    """Subtract the noise that the fixed seed gives; what is left is the reward's sign."""
    noise = config.plan().stddev * np.random.default_rng(7).standard_normal((1, 2))
    return case_of(made, config, score=lambda view: (view["release"][:, 0] - noise)[:, 0])


def _first_coordinate(view: dict[str, Array]) -> Array:
    return view["release"][:, 0, 0]


BROKEN = (
    twin(
        "B1", "sensitivity reward_bound instead of twice that", scaled_mechanism(lambda _: 0.5), ("trace", "statistics")
    ),
    twin(
        "B2",
        "the squared bound used for the bound",
        steps(factorise=rescaled(lambda f, *_: f.scale**2)),
        ("condition", "statistics"),
    ),
    twin(
        "B3",
        "the bound averaged over cells",
        steps(factorise=rescaled(lambda f, *_: np.sqrt((f.maps**2).sum(axis=1)).mean(axis=1))),
        ("condition", "statistics"),
    ),
    twin(
        "B4",
        "the bound of the next epoch",
        steps(
            factorise=rescaled(
                lambda _, features, d, a, t: factorise(features, replace(d, covariance=2 * d.covariance), a, t).scale
            )
        ),
        ("condition", "statistics"),
    ),
    twin(
        "B5",
        "rewards are not clipped",
        steps(collect=lambda _: unclipped),
        ("condition", "statistics"),
        case=_large_reward,
    ),
    twin(
        "B6",
        "the square root of the standard deviation",
        scaled_mechanism(lambda p: p.stddev**-0.5),
        ("trace", "statistics"),
    ),
    twin(
        "B7",
        "the same noise in every epoch",
        reused_noise,
        ("trace", "condition", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(made, config, epochs=2, score=cancelled),
        runs=1_000,  # no two runs share a call, and noise that cancels shows in a few hundred
    ),
    twin(
        "B8",
        "one scalar of noise for all coordinates",
        other_noise(ScalarNoise),
        ("trace", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(made, config, score=lambda v: v["release"][:, 0, 0] - v["release"][:, 0, 1]),
    ),
    twin(
        "B9",
        "noise from a fixed seed",
        fixed_seed,
        ("trace", "condition", "statistics"),
        gaussian=False,
        case=_known_noise,
    ),
    twin(
        "B10",
        "one-sided noise",
        other_noise(OneSidedNoise),
        ("trace", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(made, config, score=_first_coordinate),
    ),
    twin(
        "B11",
        "the data's covariance in place of R's",
        watched(data_covariance),
        ("condition", "statistics"),
        case=lambda made, config: case_of(made, config, neighbours=others_elsewhere(config), score=_first_coordinate),
    ),
    twin(
        "B12",
        "S built from the users' contexts",
        watched(users_as_basis),
        ("condition", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(
            made,
            config,
            neighbours=contexts_differ(config),
            score=lambda v: (v["basis"][:, 0, :2].sum(axis=1) > 0).astype(float),
        ),
    ),
    twin(
        "B13",
        "sums carried over into later epochs",
        watched(carried_over),
        ("condition", "statistics"),
        case=_summed,
    ),
    twin(
        "B14",
        "local noise divided by the root of the epoch's length",
        scaled_mechanism(lambda p: p.epochs[0].length ** -0.5),
        ("trace", "statistics"),
        model="local",
        case=local_case,
    ),
    twin(
        "B14 server",
        "local noise left to the server",
        other_noise(NoNoise),
        ("trace", "statistics"),
        model="local",
        gaussian=False,
        case=lambda made, config: replace(local_case(made, config), score=_first_coordinate),
    ),
    twin(
        "B15",
        "the action is uploaded with the message",
        steps(),
        ("statistics",),
        model="local",
        gaussian=False,
        case=uploaded_action_case,
    ),
    twin("B16", "M^-1 in place of M^-1/2", steps(factorise=lambda _: gram_inverse), ("condition",), case=None),
    twin(
        "B17",
        "elimination on the estimates before noise",
        exact_elimination,
        ("statistics",),
        gaussian=False,
        case=_actions_next,
    ),
    twin("B18", "actions that react within the epoch", eager_users, ("statistics",), gaussian=False, case=_actions_now),
    twin(
        "B19",
        "log10 for the natural logarithm",
        scaled_mechanism(log_ten_multiplier),
        ("trace", "accountant"),
        case=None,
    ),
    twin(
        "B20",
        "the bound computed with another ridge than the map",
        steps(factorise=rescaled(lambda _, features, d, a, t: factorise(features, d, a, 1.5 * t).scale)),
        ("condition",),
        case=None,
    ),
    twin(
        "B21",
        "noise rounded to 16 bits",
        other_noise(HalfPrecisionNoise),
        ("trace", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(
            made, config, neighbours=asymmetric_rewards(config), score=half_precision_score
        ),
    ),
)
"""Every broken twin of the table."""


def iid_users(config: Capri) -> tuple[RecordedUsers, RecordedUsers]:
    """Neighbours whose other users arrive by the context law, spread as evenly as it allows."""
    share = audit_geometry(config, config.plan()).context_probabilities
    low, high = neighbours_of(config.plan())
    order = np.random.default_rng(0).choice(3, size=len(low.contexts) - 1, p=share)
    contexts = np.concatenate([[0], order])
    return RecordedUsers(contexts=contexts, rewards=low.rewards), RecordedUsers(contexts=contexts, rewards=high.rewards)


BENIGN = (
    twin(
        "cholesky or symmetric root", "another root of the same matrix", steps(factorise=lambda _: symmetric_root), ()
    ),
    twin("S without duplicates", "only the span of S matters", steps(draw=lambda _: unique_basis), ()),
    twin("S of another size", "S may have any size", steps(draw=lambda _: large_basis), ()),
    twin(
        "reach in place of scale",
        "the tighter of two valid bounds",
        steps(factorise=rescaled(lambda factors, *_: factors.reach)),
        (),
    ),
    twin("larger ridge", "the ridge is neutral to privacy", steps(ridge=lambda _: 4.0), ()),
    twin(
        "data covariance, reward-only neighbours",
        "map and bound from the data's covariance, which the neighbours share",
        watched(data_covariance_throughout),
        (),
        case=lambda made, config: case_of(made, config, neighbours=iid_users(config), score=_first_coordinate),
    ),
)
"""Every harmless twin: nothing may notice it."""
