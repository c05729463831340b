"""DP-SGD through Opacus itself: reviewed, run and watched."""

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from algorithms.dp_sgd import DpSgd, TrainingRecord, read_engine, review
from algorithms.problems.affairs import affairs
from audits import replay_program
from dpaudit import Claim, Streams, Transcript
from dpaudit.model.trace import admit
from tests.narrowing import present

pytestmark = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("opacus") is None, reason="not run: the extra 'opacus' is not installed"
)

GIVEN: dict[str, Any] = {
    "epsilon": 0.75,
    "delta": 1e-5,
    "noise_multiplier": 4.0,
    "sample_rate": 0.1,
    "steps": 20,
    "max_grad_norm": 0.1,
}
CLAIM = Claim(epsilon=8.0, delta=1e-5, neighbours="add_remove")


def transcript(config: DpSgd, records: int = 605) -> Transcript:
    return config.run(affairs(records=records), Streams.spawn(np.random.default_rng(2)), 1)


@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_a_run_is_what_it_declares(mode: str) -> None:
    """Opacus' own history is admitted, and everything the watch looked at is checked."""
    config = DpSgd(**GIVEN, grad_sample_mode=mode)
    done = transcript(config)
    assert admit(config.declaration(), done.trace) == ()
    assert {condition.status for condition in done.conditions} == {"checked"}
    assert len(done.conditions) == 10


@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_replays_of_a_run_are_clean_and_its_conditions_are_checked(mode: str) -> None:
    """Nothing is found; what a run can show is checked: on the tape of the loop, and on its sampler's draws."""
    algorithm = DpSgd(**GIVEN, grad_sample_mode=mode)
    replayed = replay_program(algorithm, affairs(records=605), algorithm.declaration(), ())
    assert replayed.findings == ()
    kinds = [c.kind for c in replayed.conditions if c.status == "checked"]
    assert sorted(kinds) == ["fresh_noise", "implementation", "secret_sample", "sensitivity"]
    assert len(kinds) == len(replayed.conditions)


def test_a_number_of_records_whose_neighbour_has_another_divisor_violates_a_condition() -> None:
    """600 records in 10 batches are divided by 60, and 599 by 59; 605 and their neighbours by 60."""
    text = next(c.text for c in transcript(DpSgd(**GIVEN), 600).conditions if c.status == "violated")
    assert "by 60 for 600 records and by 59 for 599" in text


def test_a_loop_with_other_noise_than_declared_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin that tells Opacus 0.9 of the declared noise: the trace and the chi-square both say so."""
    from algorithms.dp_sgd import loop

    train = loop.train

    def with_less_noise(features: Any, labels: Any, settings: loop.Settings, step: loop.Step) -> dict[str, Any]:
        less = replace(settings, noise_multiplier=0.9 * settings.noise_multiplier)
        return train(features, labels, less, step)

    monkeypatch.setattr(loop, "train", with_less_noise)
    config = DpSgd(**GIVEN)
    done = transcript(config)
    assert {finding.rule for finding in admit(config.declaration(), done.trace)} == {"DPA212"}
    violated = next(condition.text for condition in done.conditions if condition.status == "violated")
    assert violated.startswith("The noise has standard deviation")


def test_shuffled_batches_are_seen_for_what_they_are() -> None:
    """Declared as shuffled they are admitted; sampled so under a declaration of Poisson they are a violation."""
    shuffled = DpSgd(**GIVEN | {"epsilon": 9.0}, neighbours="replace_one", sampling="shuffled")
    done = transcript(shuffled)
    assert admit(shuffled.declaration(), done.trace) == ()
    assert "violated" not in {condition.status for condition in done.conditions}


def test_every_accountant_of_opacus_is_explained() -> None:
    """RDP above the truth, PRV above by its own error, GDP below: each with its reason."""
    held = review(TrainingRecord(history=((1.1, 1 / 12, 240),), accountant="gdp"), CLAIM)
    said = {row.accountant: row for row in held.rows}
    assert {name: round(present(row.epsilon), 3) for name, row in said.items()} == {
        "rdp": 8.33,
        "prv": 7.558,
        "gdp": 6.847,
    }
    assert "below the truth" in said["gdp"].explanation
    assert said["rdp"].explanation.startswith("above the truth")
    assert "DPA313" in held.text()


def test_an_engine_is_read_with_its_loader() -> None:
    """Poisson sampling, rate, mode and noise, from the objects that make_private returned."""
    from algorithms.dp_sgd.run import run_watched
    from dpaudit.training import plant

    problem, rng = affairs(records=600), np.random.default_rng(0)
    planted = plant(problem.features, problem.labels, outputs=2, canaries=4, rng=rng)
    _, done = run_watched(DpSgd(**GIVEN).plan(), planted, rng)
    record = read_engine(done["engine"], optimizer=done["optimizer"], data_loader=done["loader"], tuning_runs=1)
    assert record.history == ((4.0, 0.1, 20),)
    assert (record.poisson, record.weighted, record.secure_mode) == (True, False, False)
    assert record.max_grad_norm == 0.1
    assert [f.rule for f in review(record, CLAIM).findings] == ["DPA314"]


def test_a_case_separates_canaries_only_as_far_as_the_noise_allows() -> None:
    """The real loop's projections: mean rate x norm a step where the canary is in, none where it is out."""
    gradients, model = DpSgd(**GIVEN).cases(affairs(records=600))
    inside, outside = (gradients.run(data, np.random.default_rng(1), 300) for data in (1, 0))
    assert inside.shape == (300, 20)
    assert inside.std() == pytest.approx(0.4, rel=0.05)
    assert inside.mean() - outside.mean() == pytest.approx(0.1 * 0.1, abs=5 * 0.4 * np.sqrt(2 / 6000))
    assert model.run(1, np.random.default_rng(1), 30).shape == (30,)
