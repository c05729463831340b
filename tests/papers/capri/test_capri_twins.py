"""Every planted defect is noticed in the way its table entry says, and no harmless change is."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, norm

from algorithms.capri import Capri
from algorithms.capri.cases import audit_geometry
from algorithms.capri.domain import domain_of
from algorithms.capri.run import run_epochs
from algorithms.capri.users import SimulatedUsers
from algorithms.problems.synthetic import grid
from dpaudit import AuditCase, Streams, Transcript, bracket_epsilon, fold
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import admit
from tests.narrowing import present
from tests.papers.capri.twins import BENIGN, BROKEN, Twin

CONFIG = Capri(model="joint", epsilon=1, delta=1e-5, horizon=1000)
SIGNIFICANCE = 1e-7
QUANTILE = 5.2  # standard normal, one-sided 1e-7


def config_of(twin: Twin) -> Capri:
    return replace(CONFIG, model=twin.model)


def ordinary_run(twin: Twin, config: Capri, seed: int = 0) -> Transcript:
    """A whole run on simulated users of a 3 x 3 squared-exponential grid, with the twin planted."""
    config = replace(config, length_scale=1.0)
    plan, wrap = twin.plant(config.plan())
    problem = grid(contexts=3, actions=3, length_scale=1.0)
    streams = Streams.spawn(np.random.default_rng(seed))
    return run_epochs(plan, domain_of(config, problem), wrap(SimulatedUsers(problem=problem)), streams, 8)


def worst_run(twin: Twin, config: Capri) -> Transcript:
    """A run on the data that the twin's own case uses, as far as that data reaches."""
    if twin.case is None:
        return ordinary_run(twin, config)
    plan, wrap = twin.plant(config.plan())
    data = twin.case(config).neighbours[1]
    short = replace(plan, epochs=tuple(e for e in plan.epochs if e.stop <= len(data.contexts)))
    streams = Streams.spawn(np.random.default_rng(1))
    return run_epochs(short, audit_geometry(config, config.plan()), wrap(data), streams, 8)


def scores_of(case: AuditCase, runs: int, seed: int = 0) -> list[Array]:
    rngs = np.random.default_rng(seed).spawn(2)
    return [present(case.score)(case.run(data, rng, runs)) for data, rng in zip(case.neighbours, rngs, strict=True)]


def standardised_shift(low: Array, high: Array) -> tuple[Any, float]:
    """The difference of means in standard deviations, and its standard error."""
    shift = (high.mean() - low.mean()) / math.sqrt((low.var() + high.var()) / 2)
    return shift, math.sqrt(2 / len(low)) * math.sqrt(1 + shift**2 / 8)


def epsilon_lower(low: Array, high: Array, delta: float) -> float:
    """A distribution-free lower bound: threshold by the first half, Clopper-Pearson on the second.

    Both tails and both orders are tried with a quarter of the significance each.
    """
    best = 0.0
    half = len(low) // 2
    for first, second in ((low, high), (high, low)):
        for sign in (1, -1):
            p, q = sign * first, sign * second
            cut = max(
                np.unique(np.concatenate([p[:half], q[:half]])[:400]),
                key=lambda t: estimate(p[:half], q[:half], t, delta),
            )
            hits, alarms, n = (p[half:] >= cut).sum(), (q[half:] >= cut).sum(), len(p) - half
            true = beta.ppf(SIGNIFICANCE / 8, hits, n - hits + 1) if hits else 0.0
            false = beta.ppf(1 - SIGNIFICANCE / 8, alarms + 1, n - alarms) if alarms < n else 1.0
            best = max(best, math.log(max(true - delta, 1e-300) / false))
    return best


def estimate(p: Array, q: Array, cut: Any, delta: float) -> float:
    return math.log(max((p >= cut).mean() - delta, 1e-9) / ((q >= cut).mean() + 20 / len(q)))


@pytest.mark.parametrize("twin", [t for t in BROKEN if "trace" in t.caught], ids=lambda t: t.name)
def test_the_trace_of_a_twin_is_not_admitted(twin: Twin) -> None:
    """A run that samples other noise than declared, or the same noise twice, has findings after one run."""
    config = config_of(twin)
    assert admit(config.declaration(), ordinary_run(twin, config).trace)


@pytest.mark.parametrize("twin", [t for t in BROKEN if "condition" in t.caught], ids=lambda t: t.name)
def test_a_run_of_a_twin_reports_a_violated_condition(twin: Twin) -> None:
    """Side-conditions are looked at in the code that runs, so breaking one shows in the transcript."""
    statuses = {c.text: c.status for c in worst_run(twin, config_of(twin)).conditions}
    assert "violated" in statuses.values()


@pytest.mark.parametrize("twin", [t for t in BROKEN if "statistics" in t.caught], ids=lambda t: t.name)
def test_the_scores_of_a_twin_exceed_what_the_noise_allows(twin: Twin) -> None:
    """At 2 x 20,000 runs every statistical twin separates its neighbours beyond the declared noise.

    False alarms: 1e-7 a twin. A shift 1.3 times the allowed one is caught with probability 0.99.
    """
    config = config_of(twin)
    low, high = scores_of(present(twin.case)(config), twin.runs)
    allowed = 1 / config.plan().noise_multiplier
    if twin.gaussian:
        shift, error = standardised_shift(low, high)
        assert norm.sf(QUANTILE) <= SIGNIFICANCE
        assert norm.cdf(0.3 * allowed / math.sqrt(2 / twin.runs) - QUANTILE) > 0.99
        assert shift - QUANTILE * error > allowed
    else:
        assert epsilon_lower(low, high, config.delta) > 1.05 * config.epsilon


@pytest.mark.parametrize("twin", BENIGN, ids=lambda t: t.name)
def test_nothing_notices_a_benign_twin(twin: Twin) -> None:
    """Trace, conditions and statistics all stay silent on a harmless change."""
    config = config_of(twin)
    run = ordinary_run(twin, config)
    assert not admit(config.declaration(), run.trace)
    assert {c.status for c in run.conditions} == {"checked"}
    assert {c.status for c in worst_run(twin, config).conditions} == {"checked"}
    low, high = scores_of(present(twin.case)(config), 20_000)
    shift, error = standardised_shift(low, high)
    assert shift - QUANTILE * error < 1 / config.plan().noise_multiplier
    assert epsilon_lower(low, high, config.delta) <= config.epsilon


def test_the_honest_plan_passes_what_the_twins_fail() -> None:
    """The same three looks find nothing on the honest algorithm, in both models."""
    for model in ("joint", "local"):
        config = replace(CONFIG, model=model)
        streams = Streams.spawn(np.random.default_rng(5))
        run = replace(config, length_scale=1.0).run(grid(contexts=3, actions=3), streams, 8)
        assert not admit(config.declaration(), run.trace)
        assert {c.status for c in run.conditions} == {"checked"}
        for case in config.cases():
            shift, error = standardised_shift(*scores_of(case, 20_000))
            assert shift - QUANTILE * error < 1 / config.plan().noise_multiplier


def test_log_ten_slots_are_too_few_for_the_epochs_but_the_claim_still_holds() -> None:
    """B19: five epochs of epsilon / 3 exceed the printed budget, while parallel composition stays far below it."""
    twin = next(t for t in BROKEN if t.name == "B19")
    config = replace(CONFIG, calibration="paper")
    plan, _ = twin.plant(config.plan())
    released = sum(epoch.complete for epoch in plan.epochs)
    assert released / math.log10(config.horizon) > 1 >= released / math.log(config.horizon)
    leaf = replace(config.declaration().part.part.parts[0], mechanism=plan.mechanism)
    assert bracket_epsilon(fold(leaf, "replace_one"), config.delta).upper < config.epsilon


def test_every_entry_of_the_table_is_there() -> None:
    """B1 to B21, each with at least one way in which it is caught."""
    assert {t.name.split()[0] for t in BROKEN} == {f"B{k}" for k in range(1, 22)}
    assert all(t.caught for t in BROKEN)
