"""`audit_scores`: verdicts, refusals, ties, what is described, and its JSON."""

import json
import math

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from audits import audit_scores
from audits.bounds import GaussianTradeOff, PrivateTradeOff
from audits.scores import Band, Guesses, Rank, Split
from audits.scores.cuts import Cuts, Scores
from audits.scores.description import hull, randomised_rate, raw_epsilon
from dpaudit import Claim, schemas
from dpaudit.model.mechanism import Array
from dpaudit.model.scores_result import Sampling, ScoresResult

ADD = Claim(epsilon=1.0, neighbours="add_remove")
REPLACE = Claim(epsilon=1.0, neighbours="replace_one")
VALIDATOR = Draft202012Validator(schemas.load("scores"))


def normal(mu: float, ins: int, outs: int, seed: int = 0) -> tuple[Array, Array]:
    """Return scores of members and others at distance `mu`."""
    rng = np.random.default_rng(seed)
    return rng.normal(mu, 1, ins), rng.normal(0, 1, outs)


def audited(scores: tuple[object, object], claim: Claim, sampling: Sampling, **options: object) -> ScoresResult:
    """Return the audit with a fixed generator."""
    return audit_scores(*scores, claim, sampling=sampling, rng=np.random.default_rng(1), **options)  # type: ignore[arg-type]


EVERY = [
    (ADD, "runs", Split()),
    (ADD, "runs", Rank(rank=20)),
    (ADD, "runs", Band()),
    (ADD, "canaries", Guesses()),
    (REPLACE, "paired", Guesses()),
]


@pytest.mark.parametrize(("claim", "sampling", "rule"), EVERY)
def test_a_strong_leak_is_a_violation_and_equal_laws_show_nothing(
    claim: Claim, sampling: Sampling, rule: object
) -> None:
    """Scores at distance 4 refute epsilon 1; the twin without a leak is inconclusive with bound 0."""
    leak = audited(normal(4.0, 800, 800), claim, sampling, rule=rule)
    assert leak.verdict == "violation"
    assert leak.exceeds_claim
    assert leak.epsilon_lower <= leak.ceiling
    nothing = audited(normal(0.0, 800, 800), claim, sampling, rule=rule)
    assert nothing.verdict == "inconclusive"
    assert nothing.epsilon_lower == 0


@pytest.mark.parametrize(("claim", "sampling", "rule"), EVERY)
def test_every_result_meets_its_schema(claim: Claim, sampling: Sampling, rule: object) -> None:
    """JSON is strict, with infinite scores and a declaration too; limits stand where scores are independent."""
    ins, outs = normal(1.0, 300, 300)
    ins[0], outs[0] = math.inf, -math.inf
    result = audited((ins, outs), claim, sampling, rule=rule, declared=GaussianTradeOff(mu=0.3))
    data = json.loads(result.to_json(), parse_constant=pytest.fail)
    VALIDATOR.validate(data)
    assert ("lower" in data["auroc"]) == (sampling == "runs")
    assert data["against"]["declared"]["refuted"] is True
    assert not VALIDATOR.is_valid(data | {"verdict": "consistent"})


def test_a_leak_within_the_claim_is_not_refuted_and_never_consistent() -> None:
    """At epsilon 5 scores at distance 1 say that there is a leak, and that the claim stands."""
    result = audited(normal(1.0, 3000, 3000), Claim(epsilon=5.0, neighbours="add_remove"), "runs")
    assert result.verdict == "not_refuted"
    assert 0.5 < result.epsilon_lower < 5


def test_too_few_scores_for_any_refutation_are_inconclusive() -> None:
    """Ten perfect scores a side cannot reach epsilon 5, whatever they show."""
    result = audited(normal(9.0, 10, 10), Claim(epsilon=5.0, neighbours="add_remove"), "runs")
    assert result.ceiling < 5
    assert result.verdict == "inconclusive"


def test_a_declared_shape_is_refuted_where_the_claim_is_not() -> None:
    """mu = 1 is refuted by scores at distance 2 in 400 runs; the claim at delta 1e-5 is not."""
    claim = Claim(epsilon=4.377, delta=1e-5, neighbours="add_remove")
    scores = normal(2.0, 200, 200)
    for rule in (Split(), Band()):
        wrong = audited(scores, claim, "runs", rule=rule, declared=GaussianTradeOff(mu=1.0))
        assert wrong.verdict == "violation"
        assert not wrong.exceeds_claim
        right = audited(scores, claim, "runs", rule=rule, declared=GaussianTradeOff(mu=2.0))
        assert right.verdict == "not_refuted"


def test_claim_and_declaration_share_the_significance() -> None:
    """With a declaration the bound is the one of half the level."""
    scores = normal(1.0, 500, 500)
    declared = audited(scores, ADD, "runs", rule=Band(), declared=PrivateTradeOff.of(9.0), significance=0.02)
    alone = audited(scores, ADD, "runs", rule=Band(), significance=0.01)
    assert declared.epsilon_lower == alone.epsilon_lower
    assert declared.declared is not None
    assert declared.declared.significance == 0.01


@pytest.mark.parametrize(("claim", "sampling", "rule"), EVERY)
def test_ties_count_against_the_attack(claim: Claim, sampling: Sampling, rule: object) -> None:
    """A constant score shows nothing, and no order of the files matters."""
    ones = np.ones(400)
    result = audited((ones, ones), claim, sampling, rule=rule)
    assert result.epsilon_lower == 0
    assert result.counts.correct <= result.counts.guesses / 2
    assert result.auroc.value == 0.5


def test_paired_scores_are_compared_line_by_line() -> None:
    """A common offset of each pair is no leak between pairs: large offsets change nothing."""
    ins, outs = normal(2.0, 500, 500)
    offset = 100 * np.random.default_rng(3).normal(size=500)
    plain = audited((ins, outs), REPLACE, "paired")
    moved = audited((ins + offset, outs + offset), REPLACE, "paired")
    assert plain.counts == moved.counts


@pytest.mark.parametrize(
    ("scores", "claim", "options", "words"),
    [
        (([1.0, math.nan], [0.0]), ADD, {"sampling": "runs"}, "number 2 is NaN"),
        (([], [0.0]), ADD, {"sampling": "runs"}, "at least one score"),
        (([1.0], [0.0]), ADD, {"sampling": "runs"}, "two scores or more"),
        (([[1.0, 2.0], [3.0, 4.0]], [0.0]), ADD, {"sampling": "runs"}, "not independent"),
        ((["a"], [0.0]), ADD, {"sampling": "runs"}, "to be numbers"),
        (([1.0], [0.0]), ADD, {"sampling": "pooled"}, "not independent"),
        (([1.0], [0.0]), ADD, {"sampling": "shadow"}, "runs, canaries, paired"),
        (([1.0], [0.0]), ADD, {"sampling": "paired"}, "replace_one"),
        (([1.0, 2.0], [0.0]), REPLACE, {"sampling": "paired"}, "as many scores out as in"),
        (([1.0], [0.0]), ADD, {"sampling": "canaries", "rule": Band()}, "Guesses"),
        (([1.0], [0.0]), ADD, {"sampling": "canaries", "rule": Guesses(number=5)}, "at most the number of canaries"),
        (([1.0], [0.0]), ADD, {"sampling": "runs", "rule": Guesses(number=1)}, "Split, Rank or Band"),
        (([1.0], [0.0]), ADD, {"sampling": "runs", "rule": Rank(rank=2)}, "at most the number of the others"),
        (([1.0], [0.0]), ADD, {"sampling": "runs", "significance": 1.0}, "strictly between 0 and 1"),
    ],
)
def test_what_has_no_valid_reading_is_refused(
    scores: tuple[object, object], claim: Claim, options: dict[str, object], words: str
) -> None:
    """One line each, with the rule."""
    with pytest.raises(ValueError, match=words) as caught:
        audit_scores(*scores, claim, rng=np.random.default_rng(0), **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_the_frontier_the_hull_and_raw_counts_are_those_of_a_slow_search() -> None:
    """Against all thresholds one by one: no frontier point is beaten, every other is; the hull is the best mixture."""
    rng = np.random.default_rng(4)
    ins, outs = rng.integers(0, 12, 90) + 2.0, rng.integers(0, 12, 80) * 1.0
    cuts = Cuts.of(Scores.of(ins, outs))
    pairs = [(int((outs >= t).sum()), int((ins >= t).sum())) for t in cuts.thresholds]
    beaten = [any(f <= a and t >= b and (f, t) != (a, b) for f, t in pairs) for a, b in pairs]
    assert [pairs[i] for i in cuts.frontier] == [pair for pair, lost in zip(pairs, beaten, strict=True) if not lost]
    points = [(0.0, 0.0), *((f / 80, t / 90) for f, t in pairs), (1.0, 1.0)]
    for rate in (0.0, 0.01, 0.1, 0.37, 1.0):
        mixtures = [
            b + (d - b) * (rate - a) / (c - a) for a, b in points for c, d in points if a <= rate <= c and a < c
        ]
        best = max([*mixtures, *(t for f, t in points if f == rate)])
        assert randomised_rate(cuts, rate) == pytest.approx(best)
    false, true = hull(cuts)
    with np.errstate(divide="ignore"):  # a vertical first edge has an infinite slope
        slopes = np.diff(true) / np.diff(false)
    assert (slopes[1:] <= slopes[:-1]).all()
    logs = [
        math.log(max((1 - (90 - t) / 90) / (f / 80), (1 - f / 80) / ((90 - t) / 90)))
        for f, t in pairs
        if f >= 10 and 90 - t >= 10
    ]
    assert raw_epsilon(cuts, 0.0, 10).epsilon == pytest.approx(max(logs))
    assert raw_epsilon(cuts, 0.0, 81).threshold is None


@pytest.mark.parametrize(
    ("ins", "words"),
    [
        (np.ma.masked_array([1.0, 2.0], [True, False]), "without masked entries"),
        (np.array([1 + 2j, 3.0]), "to be numbers"),
        (["1.0", "2.0"], "to be numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "to be numbers"),
        ([2**53, 2**53 + 1], "number 2 is 9007199254740993"),
        ([2**70 + 1, 1.5], "number 1 is 1180591620717411303425"),
        ([10**400, 1], "to be numbers"),
        (np.array([1, 1 + np.finfo(np.longdouble).eps], dtype=np.longdouble), "number 2 is 1"),
    ],
)
def test_numbers_that_a_double_would_merge_are_refused(ins: object, words: str) -> None:
    """Masks, imaginary parts and digits beyond a double may tell members from others: none is dropped in silence."""
    claim = Claim(epsilon=1.0, neighbours="add_remove")
    with pytest.raises(ValueError, match=words):
        audit_scores(ins, [0.0, 1.0], claim, sampling="runs", rng=np.random.default_rng(0))
