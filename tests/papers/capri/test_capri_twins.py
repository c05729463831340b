"""Every planted defect is noticed in the way its table entry says, and no harmless change is."""

import math
from dataclasses import replace

import numpy as np
import pytest

from algorithms.capri import Capri
from algorithms.capri.cases import audit_geometry
from algorithms.capri.domain import domain_of
from algorithms.capri.run import run_epochs
from algorithms.capri.users import SimulatedUsers
from algorithms.problems.synthetic import grid
from dpaudit import Streams, Transcript, bracket_epsilon, fold
from dpaudit.model.trace import admit
from tests.papers.capri.twins import BENIGN, BROKEN, Twin

CONFIG = Capri(model="joint", epsilon=1, delta=1e-5, horizon=1000)


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


@pytest.mark.parametrize("twin", BENIGN, ids=lambda t: t.name)
def test_nothing_notices_a_benign_twin(twin: Twin) -> None:
    """Trace and conditions stay silent on a harmless change, as audits do (`test_capri_audits`)."""
    config = config_of(twin)
    run = ordinary_run(twin, config)
    assert not admit(config.declaration(), run.trace)
    assert {c.status for c in run.conditions} == {"checked"}
    assert {c.status for c in worst_run(twin, config).conditions} == {"checked"}


def test_the_honest_plan_passes_what_the_twins_fail() -> None:
    """Trace and conditions are silent on the honest algorithm, in both models."""
    for model in ("joint", "local"):
        config = replace(CONFIG, model=model)
        streams = Streams.spawn(np.random.default_rng(5))
        run = replace(config, length_scale=1.0).run(grid(contexts=3, actions=3), streams, 8)
        assert not admit(config.declaration(), run.trace)
        assert {c.status for c in run.conditions} == {"checked"}


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
