"""One set of probes at every entrance: plug-ins, declared cases, curves and rates see what `audit` sees."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import dpaudit
from audits import Settings, audit, audit_curve, when_refuted
from audits.bounds.trade_offs import PrivateTradeOff
from audits.experiment.probes import probe
from audits.testing import algorithm_checks
from benchmarks.wall.two_rates import audit_rates
from dpaudit import AuditCase, Claim, Declaration, Recorder, Release, Streams, Transcript
from dpaudit.configuration.config import read_config
from dpaudit.model.mechanism import Array
from dpaudit.workflow import cases_of
from mechanisms import Laplace


class Plain(Laplace):
    """Laplace noise under a name of its own, so that no replay tests its law."""

    name: ClassVar[str] = "plain"


CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
NOISE = Plain(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")
Noisy = Callable[[Array, np.random.Generator], Array]


def honest(exact: Array, rng: np.random.Generator) -> Array:
    return exact + rng.laplace(0, 2.0, exact.shape)


def of_a_constant_seed(exact: Array, rng: np.random.Generator) -> Array:
    return honest(exact, np.random.default_rng(7))


def of_one_seed_a_call(exact: Array, rng: np.random.Generator) -> Array:
    seed = int(rng.integers(2**31))
    return exact + np.array([np.random.default_rng(seed).laplace(0, 2.0) for _ in exact])


def single_on_one_side(exact: Array, rng: np.random.Generator) -> Array:
    noisy = honest(exact, rng)
    return noisy.astype(np.float32) if exact[0] > 0 else noisy


def rounded_on_one_side(exact: Array, rng: np.random.Generator) -> Array:
    noisy = honest(exact, rng)
    return np.where(exact > 0, noisy.astype(np.float32), noisy)


def coarse_on_both_sides(exact: Array, rng: np.random.Generator) -> Array:
    return honest(exact, rng).astype(np.float32)


def on_a_grid(exact: Array, rng: np.random.Generator) -> Array:
    return np.round(honest(exact, rng) * 2**20) / 2**20


def seeded_by_its_stream(exact: Array, rng: np.random.Generator) -> Array:
    """Noise of numpy's global generator, which the stream has seeded: the stream repeats it."""
    np.random.seed(int(rng.integers(2**31)))  # noqa: NPY002 - as a library may need it
    return exact + np.random.laplace(0, 2.0, exact.shape)  # noqa: NPY002 - as a library may need it


BROKEN: dict[str, tuple[Noisy, str]] = {
    "constant seed": (of_a_constant_seed, "ignores its random generator"),
    "one seed a call": (of_one_seed_a_call, "once a call"),
    "float32 on one side": (single_on_one_side, "The data show in the type of sum"),
    "rounded on one side": (rounded_on_one_side, "The data show in how many bits the numbers use"),
}
HONEST: dict[str, Noisy] = {
    "Laplace": honest,
    "float32": coarse_on_both_sides,
    "a grid": on_a_grid,
    "seeded global generator": seeded_by_its_stream,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PluggedIn:
    """One noisy sum, written down by hand as a plug-in may do it, so that no tape sees its noise."""

    noisy: Noisy
    scored: bool = False

    def claim(self) -> Claim:
        return CLAIM

    def declaration(self) -> Declaration:
        return Release(label="sum", mechanism=NOISE)

    def publish(self, exact: Array, rng: np.random.Generator) -> tuple[dict[str, Array], Recorder]:
        recorder, noisy = Recorder(rng), self.noisy(exact, rng)
        recorder.record("sum", NOISE, np.zeros(0), noisy)
        return {"sum": noisy}, recorder

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        exact = streams.environment.integers(0, 2, n_runs).astype(float)
        arrays, recorder = self.publish(exact, streams.noise)
        return Transcript(n_runs=n_runs, arrays=arrays, views={"all": ("sum",)}, trace=recorder.trace())

    def cases(self, problem: Any) -> tuple[AuditCase, ...]:
        def run(data: float, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
            return self.publish(np.full(n_runs, data), Streams.spawn(rng).noise)[0]

        return (
            AuditCase(
                name="one answer",
                view="all",
                description="One answer is 0 or 1.",
                neighbours=(0.0, 1.0),
                relation="replace_one",
                run=run,
                score=(lambda view: np.asarray(view["sum"], dtype=float)) if self.scored else None,
            ),
        )


def case_of(noisy: Noisy, *, scored: bool = False) -> AuditCase:
    return PluggedIn(noisy=noisy, scored=scored).cases(None)[0]


@pytest.mark.parametrize("name", BROKEN)
def test_a_plug_in_whose_runs_are_no_independent_draws_fails_its_check(name: str) -> None:
    """The check says what an audit of the same function says."""
    noisy, sentence = BROKEN[name]
    (draws,) = (check for check in algorithm_checks(PluggedIn(noisy=noisy), None) if check.what == "draws")
    assert draws.failed
    assert sentence in draws.says


@pytest.mark.parametrize("name", HONEST)
def test_honest_plug_ins_pass_the_probes(name: str) -> None:
    (draws,) = (check for check in algorithm_checks(PluggedIn(noisy=HONEST[name]), None) if check.what == "draws")
    assert draws.outcome == "ok", draws.says
    assert probe(case_of(HONEST[name]), 4_000).remarks == ()


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("name", BROKEN)
def test_audits_of_a_declared_case_see_it_too(name: str, scored: bool) -> None:
    """Of fixed size and sequential, with the score of the algorithm or a learned one: a sentence, and never a pass."""
    noisy, sentence = BROKEN[name]
    case, rng = case_of(noisy, scored=scored), np.random.default_rng
    for result in (
        audit(case, claim=CLAIM, runs=1_000, rng=rng(1), how=Settings(control_runs=0)),
        audit(case, claim=CLAIM, runs=600, rng=rng(1), stop=when_refuted, how=Settings(control_runs=0)),
    ):
        assert any(sentence in remark for remark in result.remarks), result.remarks
        assert result.verdict in ("inconclusive", "violation")


def test_curves_and_rates_are_probed() -> None:
    """Both say so where runs are no independent draws; the honest twin has no remark."""
    rng, trade_off = np.random.default_rng, PrivateTradeOff.of(1.0)
    broken, right = case_of(of_a_constant_seed), case_of(honest)
    found = audit_curve(broken, trade_off, runs=300, rng=rng(1))
    assert not found.sound
    assert "ignores its random generator" in found.remarks[0]
    assert (audit_curve(right, trade_off, runs=300, rng=rng(1)).remarks) == ()
    assert audit_rates(case_of(rounded_on_one_side), CLAIM, runs=300, rng=rng(1)).verdict != "not_refuted"


def test_one_draw_a_call_is_audited_run_by_run_by_a_given_score_as_well() -> None:
    """Otherwise thousands of equal runs would count as independent ones."""
    probed = probe(case_of(of_one_seed_a_call, scored=True), 4_000)
    assert (probed.case.alone, probed.shared) == (True, True)
    result = audit(probed.case, claim=CLAIM, runs=400, rng=np.random.default_rng(0), how=Settings(control_runs=0))
    assert result.counts.guesses > 0
    assert result.epsilon_lower < 1


def test_the_users_of_a_local_audit_have_designs_of_their_own() -> None:
    """Runs that shared one public design were not independent: no case of the shipped configuration does."""
    configuration = read_config(Path(dpaudit.__file__).parents[1] / "examples" / "capri_local.toml")
    for _, case in cases_of(configuration, None):
        probed = probe(case, 4_000)
        assert (probed.remarks, probed.case.alone) == ((), False)
