"""Copies with one planted defect each, and copies with a harmless change: who notices, and how.

Three families: counters (a tree fed a stream whose first answer differs), the bandit with trees, the G-optimal one.
A twin replaces one step, the mechanism or the counters; the product has no switch for any of them. `caught` lists

    audit       the lower bound of `case` exceeds the claim
    condition   a run reports a violated side-condition
    accountant  the declaration is refuted
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from algorithms._dueling.voters import RecordedVoters
from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.cases import Script, arms_case, audit_plan, counters_case
from algorithms.dp_ebs.cases import cases_of as dp_ebs_cases
from algorithms.dp_ebs.plan import Counters, ExactCounters
from algorithms.g_optimal_dueling import GOptimalDueling
from algorithms.g_optimal_dueling.cases import FEATURES, FixedLengths, wins_of
from algorithms.g_optimal_dueling.cases import arms_case as g_arms_case
from algorithms.g_optimal_dueling.cases import audit_plan as g_audit_plan
from algorithms.g_optimal_dueling.phases import play_phases
from dpaudit import AuditCase, Claim, Mechanism, Recorder, Streams
from dpaudit.model.mechanism import Array
from mechanisms import Laplace, TreeAggregation
from tests.cases import case_of

RUNS = 20_000


@dataclass(frozen=True)
class Twin:
    """One planted defect, or a harmless change; `case()` is ready for any audit of `claim`."""

    name: str
    text: str
    claim: Claim
    case: Callable[..., Any]
    caught: tuple[Any, ...] = ("audit",)
    runs: int = RUNS


def claim_of(epsilon: float) -> Claim:
    return Claim(epsilon=epsilon, neighbours="replace_one")


# --- single counters ---------------------------------------------------------------------------------------------


def stream(length: int, first: int) -> Array:
    """Answers 0, 1, 0, 1, ... with the first one given."""
    answers = np.arange(length) % 2
    answers[0] = first
    return answers.astype(float)


def tree_of(length: int, scale: float) -> TreeAggregation:
    leaf = Laplace(scale=scale, l1_sensitivity=1.0, neighbours="replace_one")
    return TreeAggregation(horizon=length, leaf=leaf)


def node_ratio(tree: TreeAggregation, low: Array, high: Array, key: str = "outputs") -> Callable[..., Array]:
    """The likelihood ratio of outputs under the tree's own noise: monotone in the true one if only the scale is off."""
    return lambda view: tree.log_density(view[key], high) - tree.log_density(view[key], low)


def counter_case(
    name: str,
    text: str,
    length: int,
    run: Callable[..., Any],
    score: Callable[..., Any] | None = None,
    honest_scale: float = 1.0,
) -> AuditCase:
    """An audit of one counter over `length` answers; `run(answers, rng, n_runs)` returns its outputs."""
    low, high = stream(length, 0), stream(length, 1)
    tree = tree_of(length, honest_scale)
    return case_of(
        name,
        lambda data, rng, n: {"outputs": run(data, rng, n)},
        (low, high),
        view="counter",
        description=text,
        score=score or node_ratio(tree, low, high),
    )


def scaled_counter(scale: float) -> Callable[..., Array]:
    def run(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
        return tree_of(len(answers), scale).release(np.tile(answers, (n_runs, 1)), rng)

    return run


def skips_losses(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """The counter is called on wins only; before the first it shows exactly 0 (R0)."""
    ticks = np.cumsum(answers).astype(int)
    shown = tree_of(max(ticks[-1], 1), 5.0).release(np.ones((n_runs, max(ticks[-1], 1))), rng)
    return np.column_stack([np.zeros(n_runs), shown])[:, ticks]


def bare_leaves(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """Nodes of size 1 carry no noise."""
    length = len(answers)
    noise = tree_of(length, 5.0).leaf.release(np.zeros((n_runs, length)), rng)
    noise[:, ::2] = 0.0
    from mechanisms._matrices.fenwick import prefix_sums

    return np.cumsum(answers) + prefix_sums(noise.T).T


def fresh_reads(answers: Array, rng: np.random.Generator, n_runs: int) -> Any:
    """The same prefix, asked 64 times with fresh noise each time."""
    total = answers[:8].sum()
    return total + rng.laplace(0, 5.0, (n_runs, 64)) + rng.laplace(0, 5.0, (n_runs, 64))


def mean_of_reads(view: dict[str, Array]) -> Any:
    return view["outputs"].mean(axis=1)


def signed(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """Answers coded -1 and +1: they move by 2."""
    return scaled_counter(5.0)(2 * answers - 1, rng, n_runs)


def too_few_levels(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """17 elements in a tree whose levels, 4, were counted for 15."""
    return tree_of(17, 4.0).release(np.tile(answers, (n_runs, 1)), rng)


def gaussian_nodes(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """Normal noise of Laplace's variance where a pure claim is made: one element, one node."""
    return np.cumsum(answers) + rng.normal(0, np.sqrt(2), (n_runs, len(answers)))


def seeded_by_time(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """Noise from a seed that is public."""
    return tree_of(len(answers), 5.0).release(np.tile(answers, (n_runs, 1)), np.random.default_rng(17))


def renoised(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """After eight answers the exact count starts a new tree."""
    first = tree_of(16, 5.0).release(np.tile(answers[:8], (n_runs, 1)), rng)
    rest = np.concatenate([[answers[:8].sum()], answers[9:]])
    return np.column_stack([first, tree_of(16, 5.0).release(np.tile(rest, (n_runs, 1)), rng)])


def renoised_ratio(view: dict[str, Array]) -> Array:
    low, high = stream(16, 0), stream(16, 1)
    parts = []
    for answers, part in ((slice(0, 8), slice(0, 8)), (None, slice(8, 16))):
        tree = tree_of(16, 5.0)
        a, b = (
            (low[answers], high[answers]) if answers else (np.concatenate([[x[:8].sum()], x[9:]]) for x in (low, high))
        )
        parts.append(tree.log_density(view["outputs"][:, part], b) - tree.log_density(view["outputs"][:, part], a))
    total: Array = parts[0] + parts[1]
    return total


def same_seed(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """Two counters with one seed: their difference has no noise."""
    seeds = rng.integers(2**31)
    first = tree_of(16, 5.0).release(np.tile(answers, (n_runs, 1)), np.random.default_rng(seeds))
    second = tree_of(16, 5.0).release(np.zeros((n_runs, 16)), np.random.default_rng(seeds))
    return first - second


def seeded_score(view: dict[str, Array]) -> Array:
    """Return 1 where the first output is none of the public seed's noises: the first answer was 1."""
    shown = view["outputs"][:, 0]
    known = np.sort(tree_of(16, 5.0).release(np.zeros((len(shown), 16)), np.random.default_rng(17))[:, 0])
    places = np.clip(np.searchsorted(known, shown - 1e-9), 0, len(known) - 1)
    result: Array = (np.abs(known[places] - shown) > 1e-9) * 1.0
    return result


def first_output(view: dict[str, Array]) -> Array:
    return np.round(view["outputs"][:, 0], 6)


def counter_twin(
    name: str,
    text: str,
    epsilon: float,
    length: int,
    run: Callable[..., Any],
    score: Callable[..., Any] | None = None,
    **settings: Any,
) -> Twin:
    case = lambda: counter_case(name, text, length, run, score)  # noqa: E731
    return Twin(name=name, text=text, claim=claim_of(epsilon), case=case, **settings)


COUNTERS = (
    counter_twin("C1", "scale ln T / eps, T = 16", 1.0, 16, scaled_counter(np.log(16)), runs=200_000),
    counter_twin("C2 T=2", "scale ceil(log2 T) / eps at T = 2", 1.0, 2, scaled_counter(1.0)),
    counter_twin("C2 T=4", "scale ceil(log2 T) / eps at T = 4", 1.0, 4, scaled_counter(2.0)),
    counter_twin("C3", "scale 1 / eps: the levels are forgotten", 1.0, 16, scaled_counter(1.0)),
    counter_twin("C4", "half the noise", 1.0, 4, scaled_counter(1.5)),
    counter_twin(
        "C5", "a clock that skips losses (R0)", 1.0, 16, skips_losses, score=lambda v: (v["outputs"][:, 0] != 0) * 1.0
    ),
    counter_twin("C6", "leaves without noise", 1.0, 16, bare_leaves, score=first_output),
    counter_twin("C7", "fresh noise at every read", 1.0, 16, fresh_reads, score=mean_of_reads, runs=100_000),
    counter_twin(
        "C8",
        "answers coded -1 and +1",
        1.0,
        16,
        signed,
        score=node_ratio(tree_of(16, 5.0), 2 * stream(16, 0) - 1, 2 * stream(16, 1) - 1),
    ),
    counter_twin("C9", "capacity for 15 answers, 17 come", 1.0, 17, too_few_levels, runs=400_000),
    counter_twin(
        "C10",
        "normal noise, delta = 0 claimed",
        1.0,
        1,
        gaussian_nodes,
        score=lambda v: v["outputs"][:, 0],
        runs=200_000,
    ),
    counter_twin("C11", "noise from a public seed", 1.0, 16, seeded_by_time, score=seeded_score),
    counter_twin("C12", "the exact count starts a new tree", 1.0, 16, renoised, score=renoised_ratio, runs=100_000),
    counter_twin("C13", "two counters with one seed", 1.0, 16, same_seed, score=first_output),
)


# --- the bandit with trees ---------------------------------------------------------------------------------------

R0 = DpEbs(epsilon=1, horizon=200, arms=3, removal="R0")
R4 = DpEbs(epsilon=1, horizon=200, arms=3, removal="R4")
R1 = DpEbs(epsilon=1, horizon=200, arms=3, removal="R1", calibration="tight")
R2 = DpEbs(epsilon=1, horizon=200, arms=3)
R3 = DpEbs(epsilon=1, horizon=200, arms=3, removal="R3", credit="both", calibration="tight")


def exact_decisions() -> AuditCase:
    """Removals decided on exact means: what is shown carries noise that nothing reads."""
    small = replace(R2, horizon=16, arms=3, width="tight", width_factor=1e-4)
    script = Script(opponent=2, removal=10**9)
    plan = replace(
        small.plan(), opponents=script.opponents, counters=lambda p, size, rng: ExactCounters(n_counters=size)
    )
    return arms_case(R2, plan)


@dataclass
class HalfNoised:
    """A bank in which only pushes of the option on the left get noise."""

    bank: Any
    calls: int = field(default=0)

    @property
    def clocks(self) -> Any:
        return self.bank.clocks

    def keep(self, counters: Any) -> None:
        self.bank.keep(counters)

    def push(self, counters: Any, elements: Array) -> Any:
        self.calls += 1
        noisy = self.bank.push(counters, elements)
        return noisy if self.calls % 2 else self.bank.sums[counters].copy()


def raw_second_counter() -> AuditCase:
    """R3 with the right-hand counter shown as it is."""
    plan = audit_plan(R3)
    broken = replace(plan, counters=lambda p, size, rng: cast("Counters", HalfNoised(plan.counters(p, size, rng))))
    return replace(counters_case(R3, broken), score=lambda view: -np.round(view["outputs"][:, 1], 6))


def bandit_case(config: DpEbs) -> Callable[..., AuditCase]:
    return lambda: dp_ebs_cases(config)[0]


def half_noise() -> AuditCase:
    plan = audit_plan(R1)
    return counters_case(R1, replace(plan, tree=plan.tree.scaled(0.3)))


BANDITS = (
    Twin("B1", "R0: the counter ticks on wins", R0.claim(), bandit_case(R0), ("audit", "accountant", "condition")),
    Twin(
        "B2",
        "R4: one element for each win taken back",
        R4.claim(),
        bandit_case(R4),
        ("audit", "accountant", "condition"),
    ),
    Twin("B3", "removals decided on exact means", R2.claim(), exact_decisions),
    Twin("B4", "R3 with the second counter un-noised", R3.claim(), raw_second_counter),
    Twin("B5", "a third of the noise", R1.claim(), half_noise, runs=100_000),
)


# --- the G-optimal bandit ----------------------------------------------------------------------------------------


def g_config(epsilon: float = 1.0) -> GOptimalDueling:
    return GOptimalDueling(epsilon=epsilon, horizon=1000, arms=2, dimension=1)


def half_scale(epsilon: float) -> Callable[..., AuditCase]:
    plan = g_audit_plan(g_config(epsilon))
    return lambda: g_arms_case(replace(plan, mechanism=plan.mechanism.scaled(0.5)))


def released(
    name: str,
    release: Callable[..., Any],
    *,
    phases: int = 1,
    wins: tuple[int, int] = (291, 292),
    score: Callable[..., Any] | None = None,
    horizon: int = 400,
    voters: "Callable[..., SharedBoundary | Cumulative] | None" = None,
) -> AuditCase:
    """The sums of every phase under a broken release step, summed as the attack's score."""
    plan = g_audit_plan(g_config())
    lengths = PhasedLengths(
        preset="practical", epsilon=1.0, horizon=horizon, arms=2, dimension=1, kappa=0.25, fail_prob=None, count=phases
    )
    plan = replace(plan, lengths=lengths, horizon=horizon, eliminate=lambda scores, alive, margin: alive)

    def run(data: Any, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        seen: list[Array] = []

        def watched(recorder: Recorder, label: str, mechanism: Mechanism, sums: Array) -> Any:
            seen.append(release(recorder, label, mechanism, sums, seen))
            return seen[-1]

        play_phases(replace(plan, release=watched), FEATURES, data, streams, n_runs, Recorder(streams.noise))
        return {"sums": np.stack([held[:, 0] for held in seen], axis=1)}

    first, second = (wins_of(k) if voters is None else voters(k) for k in wins)
    return case_of(
        name,
        run,
        (first, second),
        view="sums",
        description=name,
        score=score or (lambda view: (np.abs(view["sums"] - wins[0]) - np.abs(view["sums"] - wins[1])).sum(axis=1)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasedLengths(FixedLengths):
    count: int

    def total(self, phase: int) -> float:
        return 400.0 if self.count == 1 else 8.0

    def phases(self) -> int:
        return self.count


def honest(recorder: Recorder, label: str, mechanism: Mechanism, sums: Array, seen: list[Array]) -> Array:
    return recorder.release(label, mechanism, sums)


@dataclass(frozen=True)
class SharedBoundary:
    """Closed phases: every phase after the first starts with the last person of the one before."""

    answers: np.ndarray

    def wins(self, start: Array, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        moved = max(0, start - start // 8)
        return RecordedVoters(answers=self.answers).wins(moved, first, second, plays, rng)


@dataclass(frozen=True)
class Cumulative:
    """Every phase sums all people from the first on."""

    answers: np.ndarray

    def wins(self, start: Array, first: Array, second: Array, plays: Array, rng: np.random.Generator) -> Array:
        return np.full(plays.shape, self.answers[: start + int(plays[0].sum())].sum())


def boundary_case() -> AuditCase:
    """Two phases of eight people, the eighth in both."""
    answers = np.zeros((2, 32))
    answers[1, 7] = 1.0
    return released(
        "closed phases", honest, phases=2, horizon=16, wins=(0, 1), voters=lambda k: SharedBoundary(answers[k])
    )


def cumulative_case() -> AuditCase:
    answers = np.zeros((2, 64))
    answers[1, 0] = 1.0
    return released("cumulative", honest, phases=4, horizon=32, wins=(0, 1), voters=lambda k: Cumulative(answers[k]))


def exact_release(recorder: Recorder, label: str, mechanism: Mechanism, sums: Array, seen: list[Array]) -> Array:
    return sums * 1.0


def both_orders_case() -> AuditCase:
    """The sums of (x, y) and of (y, x) hold the same people; both are shown, here as their likelihood ratio."""

    def ratio(shown: Array) -> Array:
        result: Array = np.abs(shown - 291) - np.abs(shown - 292)
        return result

    def release(recorder: Recorder, label: str, mechanism: Mechanism, sums: Array, seen: list[Array]) -> Array:
        one, other = recorder.release(label, mechanism, sums), recorder.release(label, mechanism, 400 - sums)
        return ratio(one) + ratio(400 - other)

    return released("both orders", release, score=lambda view: view["sums"][:, 0])


def wrong_mean(recorder: Recorder, label: str, mechanism: Mechanism, sums: Array, seen: list[Array]) -> Array:
    """Noise on the mean, for twice as many plays as there were."""
    return 400 * recorder.release(label, mechanism.scaled(1 / 800), sums / 400)


def data_dependent_length(
    recorder: Recorder, label: str, mechanism: Mechanism, sums: Array, seen: list[Array]
) -> Array:
    """The phase stops early on raw wins, and its length is public."""
    noisy = recorder.release(label, mechanism, sums)
    return np.where(sums >= 292, noisy + 1e6, noisy)


def data_dependent_range(recorder: Recorder, label: str, mechanism: Mechanism, sums: Array, seen: list[Array]) -> Array:
    """Noise in proportion to the range that the data shows."""
    result: Array = sums + mechanism.release(np.zeros_like(sums), recorder.rng) * np.maximum(sums, 0.0)
    return result


def retried(recorder: Recorder, label: str, mechanism: Mechanism, sums: Array, seen: list[Array]) -> Array:
    """Drawn again until the solver likes it: a sum outside 0 .. 400 is redrawn."""
    noisy = recorder.release(label, mechanism, sums)
    while (bad := (noisy < 0) | (noisy > 400)).any():
        noisy = np.where(bad, mechanism.release(sums, recorder.rng), noisy)
    return noisy


def two_sided(name: str, release: Callable[..., Any]) -> Callable[..., AuditCase]:
    """Wins 0 against 1, where the edge of the range is; scored by the distance to it."""
    return lambda: released(name, release, wins=(0, 1), score=lambda view: np.minimum(view["sums"][:, 0], 5.0))


def clipped_after(recorder: Recorder, label: str, mechanism: Mechanism, sums: Array, seen: list[Array]) -> Array:
    return np.clip(recorder.release(label, mechanism, sums), 0.0, 400.0)


def g_twin(
    name: str,
    text: str,
    case: Callable[..., AuditCase],
    caught: tuple[Any, ...] = ("audit",),
    epsilon: float = 1.0,
    **settings: Any,
) -> Twin:
    return Twin(name=name, text=text, claim=claim_of(epsilon), case=case, caught=caught, **settings)


OPTIMAL = (
    *(g_twin(f"G1 eps={e}", "half the noise", half_scale(e), epsilon=e, runs=100_000) for e in (0.5, 1.0, 4.0)),
    g_twin("G2", "the wins of the random plays are not noised", lambda: released("raw", exact_release)),
    g_twin("G3", "closed phases: a person in two of them", boundary_case),
    g_twin("G4", "cumulative sums with fresh noise each phase", cumulative_case),
    g_twin("G5", "a person in both orders of a pair", both_orders_case),
    g_twin("G6", "noise on the mean for another number of plays", lambda: released("mean", wrong_mean)),
    g_twin(
        "G7",
        "a length that raw wins decide",
        lambda: released("length", data_dependent_length, score=lambda v: np.round(v["sums"][:, 0] / 1e6)),
    ),
    g_twin("G8", "noise in proportion to the data's range", two_sided("range", data_dependent_range)),
    g_twin("G9", "noise drawn again when the solver fails", two_sided("retry", retried), runs=60_000),
)

BROKEN = (*COUNTERS, *BANDITS, *OPTIMAL)


# --- harmless changes --------------------------------------------------------------------------------------------


def reread(answers: Array, rng: np.random.Generator, n_runs: int) -> Array:
    """Outputs read twice: memoised, so nothing new."""
    outputs = scaled_counter(5.0)(answers, rng, n_runs)
    return np.repeat(outputs, 2, axis=1)


def other_width() -> AuditCase:
    small = replace(R2, horizon=16, arms=3, width="tight", width_factor=0.05)
    return arms_case(R2, small.plan())


def r2_half_noise() -> AuditCase:
    plan = audit_plan(R2)
    return counters_case(R2, replace(plan, tree=plan.tree.scaled(0.5)))


BENIGN = (
    counter_twin("P1", "the faithful counter", 1.0, 16, scaled_counter(5.0)),
    counter_twin(
        "P2",
        "memoised counters read twice",
        1.0,
        16,
        reread,
        score=lambda v: node_ratio(tree_of(16, 5.0), stream(16, 0), stream(16, 1))({"outputs": v["outputs"][:, ::2]}),
    ),
    Twin("P3", "half the noise under R2's printed budget: still within epsilon", R2.claim(), r2_half_noise),
    Twin("P4", "another width", R2.claim(), other_width),
    g_twin("P5", "sums clipped after the noise", two_sided("clip", clipped_after)),
    g_twin("P6", "an approximate design", lambda: g_arms_case(replace(g_audit_plan(g_config()), tolerance=0.5))),
)
