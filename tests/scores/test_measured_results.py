"""What audits and audits of scores say of mu and rho: in their results, their JSON, their text and their report."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scipy import stats
from scipy.integrate import quad
from typer.testing import CliRunner

from audits import audit, audit_scores, when_refuted
from audits.bounds import GaussianTradeOff, RhoTradeOff, rank_sum_mu
from audits.examples import CLAIM, HALF_NOISE
from audits.scores import Band, Rank, Split
from dpaudit import Claim, schemas, workflow
from dpaudit.cli.app import app
from dpaudit.configuration.configuration import AuditSettings
from dpaudit.configuration.scores_document import decode_scores
from dpaudit.model.audit_result import MeasuredBound
from dpaudit.model.mechanism import Array
from dpaudit.wording.audits import measured_phrase

ADD = Claim(epsilon=1.0, neighbours="add_remove")
LOOSE = Claim(epsilon=6.0, delta=1e-5, neighbours="add_remove")


def gaussian(data: float, rng: np.random.Generator, n_runs: int) -> Array:
    """Return outputs with standard normal noise: mu is 1 and rho 1/2."""
    return rng.normal(data, 1.0, n_runs)


def bound_on(measure: str, measured: tuple[MeasuredBound, ...]) -> MeasuredBound:
    """Return the only bound on a measure."""
    (bound,) = (bound for bound in measured if bound.measure == measure)
    return bound


def test_an_audit_bounds_mu_by_rank_sums_and_rho_by_one_event() -> None:
    """The share of mu of 7,500 scores a side; the measured curve lies within the true one and above the diagonal."""
    claim = replace(CLAIM, epsilon=6.0, delta=1e-5)
    result = audit(gaussian, neighbours=(0.0, 1.0), claim=claim, runs=20_000, rng=np.random.default_rng(0))
    mu, rho = (bound_on(measure, result.measured) for measure in ("mu", "rho"))
    assert (mu.statistic, rho.statistic) == ("rank sums", "one event")
    assert 0.85 < mu.value <= 1.0
    assert 0.2 < rho.value <= 0.5
    assert 7_000 < mu.samples == min(result.counts.positives, result.counts.negatives) // 4 * 4
    assert mu.significance == result.significance
    rates = np.array(result.curve)
    assert (rates[:, 1] <= GaussianTradeOff(mu=1.0)(rates[:, 0]) + 1e-12).all()
    assert (rates[1:-1, 1] > rates[1:-1, 0]).all()
    Draft202012Validator(schemas.load("audit")).validate(json.loads(result.to_json()))


def test_an_anytime_audit_bounds_mu_whenever_it_stops() -> None:
    """The runs of an audit that a violation stopped, and those of one that used them all."""
    stopped = audit(
        gaussian, neighbours=(0.0, 1.0), claim=CLAIM, runs=4_000, rng=np.random.default_rng(1), stop=when_refuted
    )
    mu = bound_on("mu", stopped.measured)
    assert (mu.statistic, mu.samples) == ("cells at any time", stopped.counts.runs)
    assert 0.3 < mu.value <= 1.0
    Draft202012Validator(schemas.load("audit")).validate(json.loads(stopped.to_json()))


def test_outputs_without_difference_show_nothing_in_any_measure() -> None:
    """Zero, not a negative number, and no corner above the diagonal."""
    result = audit(gaussian, neighbours=(0.0, 0.0), claim=CLAIM, runs=4_000, rng=np.random.default_rng(2))
    assert [bound.value for bound in result.measured] == [0.0, 0.0]
    assert result.curve == ((0.0, 0.0), (1.0, 1.0))


def test_the_bounds_of_a_confirmed_violation_are_those_of_the_first_audit() -> None:
    """A choice between two audits would double the error of a bound: the first one alone speaks."""
    settings = AuditSettings(runs=2_000)
    rng = np.random.default_rng([3, 0])
    first = workflow.attack(HALF_NOISE, CLAIM, float("inf"), settings, 3, rng)
    both = workflow.confirmed_attack((0, HALF_NOISE), CLAIM, float("inf"), settings, 3)
    assert both.verdict == "violation"
    assert both.counts != first.counts
    assert (both.measured, both.curve) == (first.measured, first.curve)


@pytest.mark.parametrize(("rule", "statistic"), [(Split(), "one event"), (Rank(rank=9), "all thresholds")])
def test_only_an_event_that_other_scores_chose_is_counted(rule: object, statistic: str) -> None:
    """The threshold of a rank follows the scores that it counts, so rho comes from all thresholds at once."""
    rng = np.random.default_rng(4)
    ins, outs = rng.normal(1.0, 1.0, 3_000), rng.normal(0.0, 1.0, 2_000)
    result = audit_scores(ins, outs, LOOSE, sampling="runs", rng=rng, rule=rule)  # type: ignore[arg-type]
    assert bound_on("rho", result.measured).statistic == statistic
    assert 0.0 < bound_on("rho", result.measured).value <= 0.5
    assert (bound_on("mu", result.measured).samples, len(result.curve) > 3) == (2_000, True)


@pytest.mark.parametrize("rule", [None, Rank(rank=5), Band()])
def test_no_rule_refutes_equal_laws_more_often_than_stated(rule: object) -> None:
    """Files in sorted order, 30 audits at significance .01, for mu and for rho."""
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(30):
        ins, outs = np.sort(rng.normal(size=60)), np.sort(rng.normal(size=80))
        result = audit_scores(ins, outs, ADD, sampling="runs", rng=rng, rule=rule)  # type: ignore[arg-type]
        wrong += any(bound.value > 0 for bound in result.measured)
    assert wrong <= stats.binom.isf(1e-9, 30, 0.02)


def test_one_run_bounds_mu_by_its_guesses_and_has_no_curve() -> None:
    """Canaries share a run: neither rank sums nor a curve are valid."""
    rng = np.random.default_rng(6)
    ins, outs = rng.normal(2.0, 1.0, 500), rng.normal(0.0, 1.0, 500)
    result = audit_scores(ins, outs, LOOSE, sampling="canaries", rng=rng)
    (mu,) = result.measured
    assert (mu.measure, mu.statistic, mu.samples, result.curve) == ("mu", "one run", 1_000, ())
    assert 0.3 < mu.value < 2.0


def test_scores_are_audited_against_a_declared_rho() -> None:
    """Permute-and-flip at rho 1/2, which its (epsilon, delta) never contradict; the true .7275 stands."""
    rng = np.random.default_rng(7)
    ins, outs = (rng.random(6_000) < 0.5) * 1.0, (rng.random(6_000) < np.exp(-2) / 2) * 1.0
    for rho, verdict in ((0.5, "violation"), (0.728, "not_refuted")):
        result = audit_scores(ins, outs, LOOSE, sampling="runs", rng=rng, declared=RhoTradeOff(rho=rho))
        assert (result.verdict, result.exceeds_claim) == (verdict, False)
        assert result.declared is not None
        assert result.declared.text == f"a trade-off with rho = {rho:g}"


def test_the_words_of_a_bound_name_statistic_number_and_significance() -> None:
    """Rounded downwards; nothing is said of another measure."""
    bound = MeasuredBound(measure="mu", value=1.03007, statistic="rank sums", samples=60_000, significance=0.05)
    said = measured_phrase(bound)
    assert said == "mu is at least 1.03 (rank sums, n = 60,000; significance 0.05)"
    assert "rho" not in said


def test_the_command_shows_mu_emp_and_takes_a_declared_rho(tmp_path: Path) -> None:
    """Terminal, Markdown and JSON; the file is read back, and so is one of the version before."""
    rng = np.random.default_rng(8)
    files = tmp_path / "in.npy", tmp_path / "out.npy"
    for file, shift in zip(files, (1.0, 0.0), strict=True):
        np.save(file, rng.normal(shift, 1.0, 2_000))
    settings = ("--sampling", "runs", "--epsilon", "6", "--neighbours", "add_remove", "--seed", "1")
    command = ("scores", *map(str, files), *settings, "--rho", "0.1")
    for style in ("text", "md"):
        said = CliRunner().invoke(app, [*command, "--format", style]).stdout
        assert "mu_emp" in said.replace("\\", "")
        assert "n = 2,000" in said
    data = json.loads(CliRunner().invoke(app, [*command, "--format", "json"]).stdout)
    assert data["against"]["declared"]["refuted"] is True
    result = decode_scores(data)
    mu = bound_on("mu", result.measured)
    assert 0.8 < mu.value <= 1.0
    older = {k: v for k, v in data.items() if k not in ("measured", "curve")}
    assert decode_scores(older | {"schema": "urn:dpaudit:schema:scores:2"}).measured == ()


def test_a_bound_at_a_larger_error_than_its_audit_is_a_contradiction() -> None:
    """A file that gives its bound on mu a larger error probability than the audit is refused."""
    rng = np.random.default_rng(9)
    data = audit_scores(rng.normal(size=50), rng.normal(size=50), ADD, sampling="runs", rng=rng).to_dict()
    data["measured"][0]["significance"] = 0.5
    with pytest.raises(Exception, match="another measure"):
        decode_scores(json.loads(json.dumps(data)))


def test_scores_that_always_win_give_a_finite_mu() -> None:
    """A release without noise: 250 blocks show 4.2, and no more; the law of the top is an integral."""
    mu = rank_sum_mu(4_000, 250, 0.01)
    outs, ins = stats.norm(), stats.norm(mu)
    top = quad(lambda x: 4 * outs.pdf(x) * outs.cdf(x) ** 3 * ins.sf(x) ** 4, -9, mu + 9, epsabs=1e-14, limit=400)[0]
    assert top**250 == pytest.approx(0.01, rel=1e-3)
