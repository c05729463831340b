"""The audit as a user meets it: verdicts, guarantees, power, reproducibility."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import audits
from audits import Settings, audit, ceiling, function_case, when_refuted
from audits.bounds import guessing_bound
from audits.examples import CLAIM, HALF_NOISE
from dpaudit import AuditCase, AuditResult, Claim
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array
from tests.cases import case_of

PURE = Claim(epsilon=1.0, neighbours="replace_one")


def laplace(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + rng.laplace(0.0, 1.0, n_runs)


def half_noise(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + rng.laplace(0.0, 0.5, n_runs)


def ratio(view: Array) -> Array:
    return np.abs(view) - np.abs(view - 1.0)


def run(
    function: Callable[..., Any], runs: int = 2000, seed: int = 0, score: Score | None = None, **more: Any
) -> AuditResult:
    case = function_case(function, (0.0, 1.0), PURE, score=score)
    return audit(case, claim=PURE, runs=runs, rng=np.random.default_rng(seed), **more)


@pytest.mark.parametrize("seeds", [5, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("score", [ratio, None])
def test_half_the_noise_is_a_violation(score: Callable[..., Any] | None, seeds: int) -> None:
    """Laplace noise of scale 1/2 has epsilon 2: a claim of 1 falls, with and without a likelihood ratio."""
    results = [run(half_noise, seed=seed, score=score) for seed in range(seeds)]
    assert {result.verdict for result in results} == {"violation"}
    assert all(1 < result.epsilon_lower < 2.2 for result in results)


def test_too_few_runs_are_inconclusive_and_enough_are_not_refuted() -> None:
    """The verdict says whether a pair twice as far apart would have been seen."""
    assert run(laplace, runs=20).verdict == "inconclusive"
    enough = run(laplace, seed=3)
    assert enough.verdict == "not_refuted"
    assert enough.power.epsilon == 2
    high = Claim(epsilon=10.0, neighbours="replace_one")
    unreachable = audit(laplace, neighbours=(0.0, 1.0), claim=high, runs=2000, rng=np.random.default_rng(0))
    assert unreachable.verdict == "inconclusive"
    assert unreachable.power.epsilon == math.inf
    assert unreachable.ceiling < 10


def test_a_bound_above_the_certificate_is_a_violation_of_a_slack_claim() -> None:
    """Claim 3, certified 1, true 2: the claim holds and the declaration does not."""
    slack = Claim(epsilon=3.0, neighbours="replace_one")
    case = function_case(half_noise, (0.0, 1.0), slack, score=ratio)
    loose, proved = (
        audit(case, claim=slack, runs=4000, rng=np.random.default_rng(1), how=Settings(certified=certified)).verdict
        for certified in (np.inf, 1.0)
    )
    assert loose != "violation"
    assert proved == "violation"


@pytest.mark.parametrize("number", [120, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("score", [ratio, None])
def test_an_exact_claim_is_refuted_as_rarely_as_promised(score: Callable[..., Any] | None, number: int) -> None:
    """Audits of Laplace at its boundary: false alarms at most the 1 - 1e-6 quantile of Bin(number, 0.05).

    Audits that are wrong in a quarter of all cases go beyond in 95 of 100; of 400, those that are so in 15 of 100.
    """
    wrong = sum(run(laplace, runs=500, seed=seed, score=score).verdict == "violation" for seed in range(number))
    limit = stats.binom.isf(1e-6, number, 0.05)
    assert wrong <= limit
    assert stats.binom.sf(limit, number, 0.25 if number < 400 else 0.15) > 0.95


@pytest.mark.parametrize(
    ("runs", "score", "floor", "audits_run"),
    [
        (2000, ratio, 0.87, 40),
        (2000, None, 0.82, 40),
        pytest.param(20_000, ratio, 0.96, 40, marks=pytest.mark.slow),
        pytest.param(20_000, None, 0.945, 40, marks=pytest.mark.slow),
    ],
)
def test_the_power_floors_hold_on_laplace(
    runs: int, score: Callable[..., Any] | None, floor: float, audits_run: int
) -> None:
    """Mean bound at true epsilon 1 and significance 0.05; the oracle's own mean is 0.900 and 0.968."""
    found = [
        run(laplace, runs=runs, seed=seed, score=score, significance=0.05).epsilon_lower for seed in range(audits_run)
    ]
    assert floor <= np.mean(found) <= 1


def test_randomised_response_audited_as_gaussian_breaks_its_declaration_and_never_its_claim() -> None:
    """(1, 1e-5)-private code of another law: without a certificate no violation; with one, the assumption is told."""
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    truth = 1 / (1 + np.exp(-1.0))
    case = case_of(
        "response",
        lambda data, rng, n_runs: np.where(rng.random(n_runs) < truth, data, not data).astype(float),
        (False, True),
        description="one bit",
        score=lambda view: 2 * view - 1,
        gaussian=True,
    )
    arguments: dict[str, Any] = {"runs": 20_000, "significance": 0.01}
    alone = audit(case, claim=claim, rng=np.random.default_rng(1), **arguments)
    assert (alone.verdict, alone.assumption) == ("not_refuted", "")
    against = audit(case, claim=claim, rng=np.random.default_rng(1), how=Settings(certified=1.0), **arguments)
    assert (against.verdict, against.exceeds_claim) == ("violation", False)
    assert against.epsilon_lower > 5
    assert against.assumption == "the output laws are Gaussian, as declared"
    assert alone.ceiling == pytest.approx(ceiling(guessing_bound, alone.counts.runs, 1e-5, 0.01), rel=1e-7)
    assert alone.counts.runs < alone.runs


def test_the_numbers_depend_on_the_seed_and_never_on_the_jobs() -> None:
    """One and two jobs give the same scores; another seed gives others."""
    one = run(laplace, runs=3000, seed=7, how=Settings(chunk_runs=500))
    two = run(laplace, runs=3000, seed=7, how=Settings(chunk_runs=500, jobs=2))
    assert (one.counts, one.bounds, one.roc) == (two.counts, two.bounds, two.roc)
    assert one.counts != run(laplace, runs=3000, seed=8, how=Settings(chunk_runs=500)).counts
    assert one.seed == 7


@pytest.mark.parametrize("number", [200, pytest.param(600, marks=pytest.mark.slow)])
def test_counted_runs_choose_nothing(number: int) -> None:
    """Flat likelihood ratio: every threshold is optimal, so choosing on counted runs would certify too often.

    P is uniform on [0, 1] with probability 1 - s and on [1, 2] else, Q mirrored, epsilon = ln((1-s)/s). Where the event
    is chosen on the counted runs themselves, the harness of tests/attacks/test_audit_coverage.py fails on this law.
    """
    share = 0.3
    claim = Claim(epsilon=math.log((1 - share) / share), neighbours="replace_one")

    def flat(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
        far = rng.random(n_runs) < (share if data == 0 else 1 - share)
        return rng.random(n_runs) + far

    case = function_case(flat, (0, 1), claim, score=lambda view: view)
    audits = (audit(case, claim=claim, runs=300, rng=np.random.default_rng(seed)) for seed in range(number))
    assert sum(result.verdict == "violation" for result in audits) <= stats.binom.isf(1e-6, number, 0.05)


def test_what_cannot_be_judged_is_refused() -> None:
    """Each refusal names the value and the rule."""
    with pytest.raises(ValueError, match="runs=2"):
        run(laplace, runs=2)
    with pytest.raises(ValueError, match=r"n_runs=.* the function returned 3"):
        run(lambda data, rng, n_runs: np.zeros(3))
    with pytest.raises(ValueError, match="without NaN"):
        run(laplace, score=lambda view: view * np.nan)
    with pytest.raises(ValueError, match="below it nothing is claimed"):
        audit(
            laplace,
            neighbours=(0.0, 1.0),
            claim=Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one"),
            runs=100,
            rng=np.random.default_rng(0),
            how=Settings(delta=0.0),
        )
    case = AuditCase(
        name="c", view="v", description="", neighbours=(0.0, 1.0), relation="add_remove", run=laplace, score=ratio
    )
    with pytest.raises(ValueError, match="replace_one"):
        audit(case, claim=PURE, runs=100, rng=np.random.default_rng(0))


def leaks_nan(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    out = rng.standard_normal(n_runs)
    if data:
        out[rng.random(n_runs) < 0.5] = np.nan
    return out


def leaks_type(data: Array, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
    return {"action": np.array(["left", "right"])[(rng.random(n_runs) < (0.9 if data else 0.1)).astype(int)]}


def leaks_length(data: Array, rng: np.random.Generator, n_runs: int) -> list[list[int]]:
    return [[1] * int(rng.integers(1, 4) + (2 if data else 0)) for _ in range(n_runs)]


def leaks_by_cancelling(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    noise = rng.standard_normal(n_runs) * 100
    return np.column_stack([noise, noise + data])


def leaks_infinity(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    out = rng.standard_normal(n_runs)
    return np.where(rng.random(n_runs) < (0.6 if data else 0.05), np.inf, out)


@pytest.mark.parametrize("leak", [leaks_nan, leaks_type, leaks_length, leaks_by_cancelling, leaks_infinity])
def test_the_learned_attack_reads_every_kind_of_output(leak: Callable[..., Any]) -> None:
    """NaN, categories, lengths, reused noise and infinities are all evidence."""
    assert run(leak).verdict == "violation"


def test_the_result_is_plain_json_with_the_published_names() -> None:
    """Verdict, bound, ceiling, power, counts and what it is held against."""
    data = json.loads(run(laplace).to_json())
    names = {
        "verdict", "epsilon_lower", "delta", "significance", "runs", "ceiling", "power", "view", "attack", "bound",
        "counts", "seed", "against",
    }  # fmt: skip
    assert names <= data.keys()
    assert set(data["against"]) == {"claim", "certificate"}
    assert data["against"]["certificate"] == "inf"


def test_progress_counts_up_to_all_runs() -> None:
    """The last report says that every run is done."""
    seen: list[tuple[int, int]] = []
    how = Settings(chunk_runs=500, progress=lambda done, total: seen.append((done, total)))
    run(laplace, runs=3000, how=how)
    assert seen[-1] == (3000, 3000)
    assert seen == sorted(seen)


def test_every_name_loads() -> None:
    """NAMES lists what `load` finds, and every public name resolves."""
    assert all(callable(audits.load(name)) for name in audits.NAMES)
    assert all(getattr(audits, name) is not None for name in dir(audits))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"data": [1.0]}, "Expected a case alone: 'half noise' names its neighbours"),
        ({"neighbours": (0.0, 1.0)}, "leave out data and unit"),
        ({"how": Settings(unit="person")}, "Expected a case alone"),
        ({"stop": when_refuted, "how": Settings(learner=np.asarray)}, "Expected learner to be left out"),  # type: ignore[arg-type]
        ({"stop": when_refuted, "how": Settings(delta=1e-5)}, "Expected delta to be left out"),
        ({"stop": when_refuted, "claim": Claim(rho=0.1, neighbours="replace_one")}, "Expected a claim in epsilon"),
    ],
)
def test_a_case_takes_no_data_and_an_early_end_no_setting_of_a_fixed_size(given: dict[str, Any], words: str) -> None:
    """Each is refused before a run is made."""
    calls: list[int] = []
    case = replace(HALF_NOISE, run=lambda data, rng, n_runs: calls.append(n_runs))
    arguments: dict[str, Any] = {"claim": CLAIM, "runs": 100, "rng": np.random.default_rng(0)} | given
    with pytest.raises(ValueError, match=words):
        audit(case, **arguments)
    if "stop" in given:
        with pytest.raises(ValueError, match=words):
            audit(case.run, [0.0, 1.0], **arguments)
    assert calls == []


def test_a_function_with_a_score_of_its_own_is_replayed_as_the_function_is() -> None:
    """The score reads nothing; the replay confirms that numbers come out exactly as they are."""
    case = function_case(lambda data, rng, n_runs: np.full(n_runs, data), (0.0, 1.0), PURE, score=np.zeros_like)
    result = audit(case, claim=PURE, runs=400, rng=np.random.default_rng(0), how=Settings(control_runs=0))
    assert (result.verdict, result.attack) == ("violation", "replay")
