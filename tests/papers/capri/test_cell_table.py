"""The cell table: its certificate, its audit with a broken twin, its run, and when it loses less than CAPRI."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms import Capri, CellTable
from algorithms.capri.domain import effective_dimension_of
from algorithms.capri.users import Played, RecordedUsers
from algorithms.cell_table.elimination import at_least_one, survivors
from algorithms.cell_table.plan import Plan, table_of
from algorithms.cell_table.run import run_epochs
from algorithms.problems import load
from audits import Settings, audit
from dpaudit import Streams, certify
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import admit

_CONFIG = CellTable(epsilon=1.0, delta=1e-5, horizon=4000)


def test_the_claim_is_certified_and_the_run_is_what_was_declared() -> None:
    """The certificate's epsilon is the claim's from below, and the declaration admits the trace of a run."""
    certificate = certify(_CONFIG.declaration(), _CONFIG.claim())
    assert certificate.verdict == "certified"
    assert 0.999 < certificate.tight.epsilon.upper <= 1.0
    transcript = _CONFIG.run(load("rand_hie")(), Streams.spawn(np.random.default_rng(0)), 3)
    assert admit(_CONFIG.declaration(), transcript.trace) == ()
    assert {condition.status for condition in transcript.conditions} == {"checked"}


@pytest.mark.parametrize(
    ("first", "second"), [((0, 1.0), (1, -1.0)), ((0, 1.0), (0, -1.0)), ((0, np.nan), (1, 1e300)), ((0, 0.3), (1, 0.1))]
)
def test_no_pair_of_records_moves_a_table_by_more_than_two(first: tuple[int, float], second: tuple[int, float]) -> None:
    """Two contexts, opposite rewards, or rewards that are no numbers: the distance is at most the sensitivity."""
    tables = [table_of(_played(at, reward), 1.0) for at, reward in (first, second)]
    distance = float(np.linalg.norm(tables[0] - tables[1]))
    assert distance <= 2.0 + 1e-12
    assert distance == pytest.approx(2.0) or abs(first[1]) < 1 or np.isnan(first[1])


def _played(context: int, reward: float) -> Played:
    counts = np.zeros((1, 2, 1), dtype=np.int64)
    counts[0, context] = 1
    return Played(groups=((reward, counts),))


def test_the_audit_agrees_with_the_claim_and_finds_half_the_noise() -> None:
    """The likelihood ratio at (4, 1e-5) finds no violation; with half the noise the lower bound exceeds the claim."""
    config = CellTable(epsilon=4.0, delta=1e-5, horizon=100)

    class Half(CellTable):
        def plan(self) -> Plan:
            plan = CellTable.plan(self)
            return replace(plan, mechanism=plan.mechanism.scaled(0.5))

    verdicts: list[str] = []
    for broken in (False, True):
        case = config.cases(None)[0]
        if broken:
            short = replace(Half.plan(config), epochs=config.plan().epochs[:1])  # type: ignore[arg-type]

            def run(
                data: RecordedUsers, rng: np.random.Generator, n_runs: int, short: Plan = short
            ) -> dict[str, Array]:
                return run_epochs(short, (2, 1), data, Streams.spawn(rng), n_runs).view("transcript")

            case = replace(case, run=run)
        result = audit(
            case, claim=config.claim(), runs=20_000, rng=np.random.default_rng(3), how=Settings(certified=4.0)
        )
        verdicts.append(result.verdict)
    assert verdicts == ["not_refuted", "violation"]


def test_an_action_goes_only_below_the_best_lower_end_and_the_best_one_stays() -> None:
    """With means 1, 0.9 and 0 over many users the last action goes; with few users all stay."""
    plan = _CONFIG.plan()
    active = np.ones((1, 1, 3), dtype=bool)
    means = np.array([1.0, 0.9, 0.0])
    kept = [
        survivors(table, active, plan.half_width.of(at_least_one(table), 1))[0, 0].tolist()
        for table in (np.stack([np.full(3, size), size * means], axis=1)[None] for size in (1e9, 1e3, 10.0))
    ]
    assert kept == [[True, False, False], [True, True, False], [True, True, True]]


@pytest.mark.parametrize(("side", "length_scale", "wins"), [(3, 1.0, "table"), (6, 1.0, "table"), (20, 1.0, "capri")])
def test_a_table_of_cells_wins_where_the_kernel_leaves_almost_as_many_numbers_as_cells(
    side: int, length_scale: float, wins: str
) -> None:
    """T = 1e6, epsilon 1, eight draws: below four cells for each effective dimension the table, above ten CAPRI.

    The paired difference is beyond four standard errors. The rule reads public geometry only.
    """
    shape: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-5, "horizon": 10**6}
    kernel = Capri(model="joint", length_scale=length_scale, **shape)
    lost: list[list[float]] = []
    for seed in range(8):
        problem = load("grid")(contexts=side, actions=side, length_scale=length_scale, seed=seed)
        runs = [one.run(problem, Streams.spawn(np.random.default_rng(seed)), 6) for one in (kernel, CellTable(**shape))]
        lost.append([float(run.arrays["regret"].sum(axis=1).mean()) for run in runs])
    difference = np.log(np.array(lost)) @ np.array([1.0, -1.0])
    error = difference.std(ddof=1) / np.sqrt(8)
    ratio = side**2 / effective_dimension_of(kernel, problem)
    assert (ratio < 4) == (wins == "table")
    assert (difference.mean() - 4 * error > 0) if wins == "table" else (difference.mean() + 4 * error < 0)


def test_the_effective_dimension_is_that_of_the_eigenvalues() -> None:
    """Features of their own: as many as cells, less what a ridge takes; a long horizon leaves nothing of the ridge."""
    problem = load("hardest_bandit")(actions=5)
    short, long = (
        Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=horizon, kernel="features") for horizon in (20, 10**9)
    )
    assert effective_dimension_of(short, problem) == pytest.approx(5 / (1 + 5 / 10))
    assert effective_dimension_of(long, problem) == pytest.approx(5.0, abs=1e-6)
