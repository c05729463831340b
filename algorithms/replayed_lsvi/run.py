"""Runs of the replayed LSVI-UCB, all in lock-step: main episodes, and fresh users who replay them step by step.

At the end of a stage, for steps H, ..., 1: as many fresh users as there were main episodes each play the policy of a
main episode drawn uniformly, and send one noisy (phi phi^T, phi (r + V_h+1(s'))) of step h. V_h+1 is fixed before they
come, so no old target is ever looked at again, which is what Remark 5 has no way around.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from algorithms._conditions import FRESH, conditions_of, nobody_twice, noise_is_fresh
from algorithms._linear_rl.least_squares import floored_inverses, symmetric
from algorithms._linear_rl.values import largest
from algorithms.lsvi_ucb.planning import BatchDomain, BatchPolicy, domain_of, plan_backwards
from algorithms.lsvi_ucb.run import transitions
from algorithms.problems.linear_mdp import LinearMdp
from algorithms.replayed_lsvi.plan import ReplayPlan, Stage, label_of
from algorithms.replayed_lsvi.settings import ReplayedLsviSettings
from dpaudit import Condition, Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array

ONE_MESSAGE = Condition(
    kind="one_contribution",
    about=("users of all phases",),
    text="The numbers of the users who were asked about one step of one stage were in no other phase.",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Canary:
    """One user with features (d,) and a target of their own, in the phase of a step of a stage; both count from 0."""

    features: Array
    target: float
    stage: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """What a stage played and learned. Shape: rewards (n_runs,), sums over `length` main and over replayed episodes.

    `sums` (n_runs, H, d, d + 1) are what was released for each step.
    """

    played: BatchPolicy
    policy: BatchPolicy
    stage: Stage
    main_reward: Array
    replayed_reward: Array
    sums: Array


def contribution(features: Array, targets: Array) -> Array:
    """Return x x^T, and y x as last column, with |x| at most 1 and y in [0, 1]; what is not a number becomes 0.

    Shape: (..., d) and (...) to (..., d, d + 1). This is what a device computes before it adds noise.
    """
    x = np.nan_to_num(features, posinf=0.0, neginf=0.0)
    x = x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1.0)
    y = np.clip(np.nan_to_num(targets, posinf=0.0, neginf=0.0), 0.0, 1.0)
    return x[..., :, None] * np.concatenate([x, y[..., None]], axis=-1)[..., None, :]


def run_stages(
    plan: ReplayPlan,
    domain: BatchDomain,
    streams: Streams,
    recorder: Recorder,
    n_runs: int,
    canary: Canary | None = None,
) -> Iterator[Learned]:
    """Yield every stage in order; `canary` takes the place of one of the users who replay."""
    policy, past = immediate(domain, n_runs), list[tuple[int, BatchPolicy]]()
    for number, stage in enumerate(plan.stages):
        counts = transitions(domain, policy, stage.length, streams.environment)
        past.append((stage.length, policy))
        replay = _Replay(
            plan=plan, domain=domain, number=number, past=past, streams=streams, recorder=recorder, canary=canary
        )
        learned = plan_backwards(domain, n_runs, replay.solved, stage.radius, plan.bounds)
        yield Learned(
            played=policy,
            policy=learned,
            stage=stage,
            main_reward=_rewards(domain, counts),
            replayed_reward=replay.reward,
            sums=replay.sums,
        )
        policy = learned


def immediate(domain: BatchDomain, n_runs: int) -> BatchPolicy:
    """Return the policy before anything is known, which plays for the immediate reward."""
    actions = np.broadcast_to(domain.mdp.rewards, (n_runs, *domain.mdp.shape))
    after = np.zeros((n_runs, 1, domain.mdp.shape[1]))
    return BatchPolicy(values=np.concatenate([largest(actions), after], axis=1), actions=actions)


@dataclass(slots=True, kw_only=True, eq=False)
class _Replay:
    """The fresh users at the end of stage `number`, step by step from the last one; `canary` may be one of them.

    Shape: `reward` (n_runs,) of all so far, `sums` (n_runs, H, d, d + 1) of their messages.
    """

    plan: ReplayPlan
    domain: BatchDomain
    number: int
    past: list[tuple[int, BatchPolicy]]
    streams: Streams
    recorder: Recorder
    canary: Canary | None
    reward: Array = field(init=False)
    sums: Array = field(init=False)

    def __post_init__(self) -> None:
        n_runs, d = len(self.past[0][1].values), self.domain.features.shape[1]
        self.reward, self.sums = np.zeros(n_runs), np.zeros((n_runs, len(self.plan.bounds), d, d + 1))

    def solved(self, h: int, values: Array) -> tuple[Array, Array]:
        """Return the inverse matrices and the weights of step `h`, from fresh users' messages. Shape: see `Solved`."""
        plan, stage, canary = self.plan, self.plan.stages[self.number], self.canary
        own = canary if canary is not None and (canary.stage, canary.step) == (self.number, h) else None
        met = replayed(self.domain, self.past, stage.users - (own is not None), self.streams)
        self.reward += _rewards(self.domain, met)
        targets = (self.domain.mdp.rewards[h][None, :, :, None] + values[:, None, None, :]) / plan.bounds[h]
        exact = _sums(self.domain, plan.enter(met[:, h]), np.clip(targets, 0.0, 1.0))
        if own is not None:
            exact = exact + contribution(own.features, np.asarray(own.target))
        self.recorder.people.append(fresh_users(sum(map(len, self.recorder.people)), stage.users))
        noisy = plan.release(self.recorder, label_of(h), plan.mechanism, exact, stage.users)
        self.sums[:, h] = noisy
        # Lambda~_h = Lambda_h + (lambda + c_K + Upsilon) I + noise, as in Algorithm 2
        matrices = symmetric(noisy[..., :-1]) + (plan.ridge + stage.shift) * np.eye(noisy.shape[1])
        inverses = floored_inverses(matrices, plan.ridge)
        return inverses, plan.bounds[h] * (inverses @ noisy[..., -1:])[..., 0]


def fresh_users(asked: int, users: int) -> range:
    """Return the numbers of the next `users` users, of whom nobody is among the `asked` ones before."""
    return range(asked, asked + users)


def replayed(domain: BatchDomain, past: list[tuple[int, BatchPolicy]], users: int, streams: Streams) -> Array:
    """Return the transitions of fresh users who each play the policy of a main episode drawn uniformly from the past.

    Shape: (n_runs, H, S, A, S), drawn as counts, which is exact in law.
    """
    lengths = np.array([length for length, _ in past], dtype=np.float64)
    n_runs = len(past[0][1].values)
    shares = streams.public.multinomial(users, lengths / lengths.sum(), size=n_runs)
    met = [transitions(domain, policy, shares[:, index], streams.environment) for index, (_, policy) in enumerate(past)]
    return np.sum(met, axis=0)


def _rewards(domain: BatchDomain, counts: Array) -> Array:
    """Return the rewards of all users together, from their transitions."""
    return np.einsum("nhsat,hsa->n", counts, domain.mdp.rewards)


def _sums(domain: BatchDomain, counts: Array, targets: Array) -> Array:
    """Return the sums of all users' messages about one step, before noise. Shape: counts (n_runs, S, A, S)."""
    x = domain.features
    visits = counts.sum(axis=-1).reshape(len(counts), -1)
    gram = np.tensordot(visits, x[:, :, None] * x[:, None, :], axes=(1, 0))
    vector = (counts * targets).sum(axis=-1).reshape(len(counts), -1) @ x
    return np.concatenate([gram, vector[..., None]], axis=-1)


def run_plan(
    settings: ReplayedLsviSettings, plan: ReplayPlan, problem: LinearMdp, streams: Streams, n_runs: int
) -> Transcript:
    """Return the transcript of `n_runs` runs of `plan`.

    Shape, with D stages: `regret` (n_runs, D + 1), what the users of all stages so far lose in expectation, those who
    replay included, and at last those of the last policy; `gap` (n_runs,), what that policy loses; `main_loss` and
    `replay_loss` (n_runs, D), what main episodes and those that replay them lost in fact, on average; `sums`, as
    released in the last stage; `policies` (n_runs, H, S, A), the values of actions of the last policy.
    Raises: ValueError: a problem of another kind, or of other steps or dimension than the settings'.
    """
    domain, recorder = domain_of(settings, problem), Recorder(streams.noise)
    course = list(run_stages(plan, domain, streams, recorder, n_runs))
    latest = course[-1]
    gap = problem.mdp.optimum() - domain.mdp.policy_values(latest.policy.policies())
    observed = {
        ONE_MESSAGE: nobody_twice(recorder.people),
        FRESH: noise_is_fresh(streams, recorder.trace()),
    }
    losses = _losses(domain, course)
    regret = losses.pop("regret")
    return Transcript(
        n_runs=n_runs,
        arrays={
            "regret": np.column_stack([regret, regret[:, -1] + gap * plan.last]),
            "gap": gap,
            **losses,
            "sums": latest.sums,
            "policies": latest.policy.actions,
        },
        views={"sums": ("sums",), "policies": ("policies",)},
        trace=tuple({line.label: line for line in reversed(recorder.trace())}.values()),
        conditions=conditions_of(observed),
    )


def _losses(domain: BatchDomain, course: list[Learned]) -> dict[str, Array]:
    """Return what all users so far lose in expectation, and what main episodes and replays lost in fact, by stage."""
    best, steps, main = domain.mdp.optimum(), domain.mdp.shape[0], 0
    lost, earned, total = np.zeros((3, len(course[0].main_reward)))
    losses: dict[str, list[Array]] = {"regret": [], "main_loss": [], "replay_loss": []}
    for learned in course:
        stage = learned.stage
        gap = best - domain.mdp.policy_values(learned.played.policies())
        lost, earned, main = lost + gap * stage.length, earned + learned.main_reward, main + stage.length
        # the users of a step replay n_b main episodes, and lose their average in expectation
        total = total + gap * stage.length + steps * stage.users * lost / main
        losses["regret"].append(total)
        losses["main_loss"].append(best - earned / main)
        losses["replay_loss"].append(best - learned.replayed_reward / (steps * stage.users))
    return {name: np.stack(stages, axis=1) for name, stages in losses.items()}
