"""The sparse vector technique: right variants are certified, and the wrong ones that it can say are refuted.

Variants are those of Lyu, Su and Li (2017), Figure 1, at a claim of 1: the threshold's and the queries' scales of each.
"""

from dataclasses import fields, replace
from typing import Any

import mpmath
import numpy as np
import pytest

from audits import audit
from dpaudit import Claim, Release, Repeat, certify, verify
from dpaudit.model.measures.claims import RhoClaim
from dpaudit.model.mechanism import Array
from dpaudit.verifier.mechanisms import sides_of
from mechanisms import AboveThreshold, AboveThresholdAnswers
from mechanisms.above_threshold import Queries

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")


def noise_of(threshold: float, query: float, moved: float = 1.0, **more: Any) -> AboveThreshold:
    """Return noise of two scales for queries that one record moves by at most `moved`."""
    return AboveThreshold(
        threshold_scale=threshold, query_scale=query, linf_sensitivity=moved, neighbours="replace_one", **more
    )


def asked(threshold: float, query: float, **more: Any) -> Release:
    return Release(label="answers", mechanism=noise_of(threshold, query, **more))


@pytest.mark.parametrize(
    ("cutoff", "horizon", "least"), [(1, 2, 0.4215), (1, 11, 0.9979), (1, 62, 0.999999), (5, 62, 0.99999)]
)
def test_the_right_variant_is_certified_and_tight(cutoff: int, horizon: int, least: float) -> None:
    """Laplace(2) on the threshold, Laplace(4 c) on queries: pure with epsilon 1, however many queries there are."""
    certificate = certify(asked(2.0, 4.0 * cutoff, cutoff=cutoff, horizon=horizon), CLAIM)
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.lower >= least
    assert verify(certificate.to_json()).accepted


def test_monotone_queries_need_half_the_noise() -> None:
    """Laplace(2 c) on queries; twin: the same noise for queries that move both ways is refuted at 1.5."""
    noise = {"cutoff": 2, "horizon": 62}
    assert certify(asked(2.0, 4.0, queries="monotone", **noise), CLAIM).verdict == "certified"
    both = certify(asked(2.0, 4.0, **noise), CLAIM)
    assert both.verdict == "refuted"
    assert both.tight.epsilon.lower == pytest.approx(1.5, abs=1e-6)
    assert verify(both.to_json()).accepted


@pytest.mark.parametrize(("cutoff", "horizon", "attained"), [(1, 11, 1.7499), (2, 62, 3.2499), (5, 62, 7.7499)])
def test_noise_on_queries_without_the_cutoff_is_refuted(cutoff: int, horizon: int, attained: float) -> None:
    """Variant 4, Laplace(4) and Laplace(4/3) whatever the cutoff: (1 + 6 c) / 4."""
    certificate = certify(asked(4.0, 4 / 3, cutoff=cutoff, horizon=horizon), CLAIM)
    assert certificate.verdict == "refuted"
    assert attained <= certificate.tight.epsilon.lower <= (1 + 6 * cutoff) / 4
    assert verify(certificate.to_json()).accepted


@pytest.mark.parametrize(("half", "attained"), [(2, 1.68), (5, 4.45), (10, 9.22)])
def test_answers_without_a_cutoff_are_refuted(half: int, attained: float) -> None:
    """Variant 6, Laplace(2) on both and no end: the pattern below^m above^m."""
    certificate = certify(asked(2.0, 2.0, cutoff=2 * half, horizon=2 * half), CLAIM)
    assert certificate.verdict == "refuted"
    assert certificate.tight.epsilon.lower >= attained
    assert verify(certificate.to_json()).accepted


def printing(horizon: int, cutoff: int = 1, query_scale: float = 2.0) -> AboveThresholdAnswers:
    return AboveThresholdAnswers(
        threshold_scale=2.0,
        query_scale=query_scale,
        linf_sensitivity=1.0,
        neighbours="replace_one",
        cutoff=cutoff,
        horizon=horizon,
    )


@pytest.mark.parametrize(("horizon", "cutoff"), [(4, 1), (21, 3), (62, 62)])
def test_answers_that_were_tested_cost_as_much_as_all_noisy_answers(horizon: int, cutoff: int) -> None:
    """Variant 3, Laplace(2) on both: horizon / 2, exactly. Twin: with noise for all answers it is certified."""
    certificate = certify(Release(label="answers", mechanism=printing(horizon, cutoff)), CLAIM)
    assert certificate.verdict == "refuted"
    assert certificate.tight.epsilon.lower == pytest.approx(horizon / 2, rel=1e-12)
    assert certificate.tight.epsilon.upper == horizon / 2
    assert verify(certificate.to_json()).accepted
    enough = Release(label="answers", mechanism=printing(horizon, cutoff, query_scale=float(horizon)))
    assert certify(enough, CLAIM).verdict == "certified"


def test_the_printed_answer_is_no_larger_than_zero_as_often_as_is_said() -> None:
    """With three queries below and then an answer: 2^-3 / (4 4 5); 2,000,000 runs are within 6 deviations."""
    assert max(printing(4).attained_loss().atoms)[1] == pytest.approx(1 / 640, rel=1e-9)
    several = printing(4, cutoff=2, query_scale=3.0)
    loss, chance = max(several.attained_loss().atoms)
    seen = []
    for queries in several.worst_pair():
        told = several.release(np.broadcast_to(queries, (2_000_000, 4)), np.random.default_rng(3))
        printed = np.isfinite(told)
        tested = (printed.sum(axis=1) < 2) | printed[:, 3]
        seen.append((tested & printed.any(axis=1) & (told.max(axis=1) <= 0)).mean())
    for share, expected in zip(seen, (chance, chance * np.exp(-loss)), strict=True):
        assert abs(share - expected) < 6 * np.sqrt(expected / 2_000_000)


def test_a_threshold_drawn_again_after_each_answer_is_a_repetition() -> None:
    """Variant 2, Laplace(2 c) on each threshold and Laplace(4 c) on queries: pure with epsilon 1."""
    certificate = certify(Repeat(part=asked(6.0, 12.0, horizon=20), times=3), CLAIM)
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.lower >= 0.99


@pytest.mark.parametrize(
    ("noise", "runs"),
    [
        (printing(4), 400_000),
        (asked(4.0, 4 / 3, cutoff=5, horizon=10).mechanism, 100_000),
        (asked(2.0, 0.0, horizon=2).mechanism, 2_000),
        (asked(2.0, 2.0, cutoff=6, horizon=6).mechanism, 100_000),
    ],
    ids=["variant 3", "variant 4", "variant 5", "variant 6"],
)
def test_an_audit_refutes_each_broken_variant(noise: Any, runs: int) -> None:
    def run(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
        return np.asarray(noise.release(np.broadcast_to(data, (n_runs, *np.shape(data))), rng))

    claim = replace(CLAIM, unit="one person, who may move every answer")
    found = audit(run, neighbours=noise.worst_pair(), claim=claim, runs=runs, rng=np.random.default_rng(4))
    assert found.verdict == "violation"


def test_it_is_counted_in_rho_and_repeated() -> None:
    for claim in (RhoClaim(rho=0.4622, neighbours="replace_one"), Claim(epsilon=1.0, neighbours="replace_one")):
        assert certify(asked(2.0, 4.0), claim).verdict == "certified"
        assert verify(certify(asked(2.0, 4.0), claim).to_json()).accepted
    thrice = certify(Repeat(part=asked(2.0, 4.0, horizon=20), times=3), Claim(epsilon=3.0, neighbours="replace_one"))
    assert thrice.verdict == "certified"
    assert verify(thrice.to_json()).accepted


def test_the_chances_of_all_patterns_sum_to_one() -> None:
    noise = noise_of(1.0, 2.0, cutoff=2, horizon=5)
    queries = np.array([0.3, -1.0, 2.0, 0.0, 0.7])
    logs = noise.log_density(np.arange(32), np.broadcast_to(queries, (32, 5)))
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isneginf(logs[0b111])


def test_an_answer_after_the_last_one_is_never_given() -> None:
    noise = noise_of(1.0, 1.0, cutoff=2, horizon=6)
    told = noise.release(np.full((1000, 6), 50.0), np.random.default_rng(0))
    assert (told == 0b11).all()


def test_more_answers_than_queries_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="cutoff=3 to be at most horizon=2"):
        asked(1.0, 1.0, cutoff=3, horizon=2)
    with pytest.raises(ValueError, match="horizon=63 to be at most 62"):
        asked(1.0, 1.0, horizon=63)


@pytest.mark.parametrize("queries", ["general", "monotone"])
@pytest.mark.parametrize(
    ("threshold", "query", "moved", "cutoff", "horizon"),
    [
        (1e3, 1.0, 1.0, 1, 2),
        (1e5, 1.0, 5.0, 2, 10),
        (1e4, 1.0, 3.0, 5, 62),
        (1e9, 1.0, 1.0, 1, 2),
        (1.0, 1e4, 3.0, 5, 62),
        (1.0, 1e6, 1.0, 1, 2),
        (1e6, 1.0, 0.01, 1, 2),
        (1.0, 0.01, 0.05, 1, 3),
    ],
)
def test_what_a_pattern_attains_is_right_for_noise_of_any_two_scales(
    threshold: float, query: float, moved: float, cutoff: int, horizon: int, queries: Queries
) -> None:
    """Both ends below lie under the integral of 30 digits, by less than 1e-9 of the chances.

    Panels of one width, at most 20,000 of them, gave 20.018 for 19.9991 in the second row: above what is proved.
    """
    noise = noise_of(threshold, query, moved, cutoff=cutoff, horizon=horizon, queries=queries)
    attained = max(loss for loss, _ in noise.attained_loss().atoms)
    known = {field.name: getattr(noise, field.name) for field in fields(noise)} | {"name": noise.name}
    (checked,) = sides_of(known, "replace_one")[1]
    told = min(cutoff, horizon // 2)
    rising = moved if queries == "general" else 0.0
    with mpmath.workdps(30):
        before = _pattern(noise, moved / 2, horizon - told, moved / 2, told)
        truth = mpmath.log(before / _pattern(noise, 1.5 * moved, horizon - told, moved / 2 - rising, told))
        for found in (attained, max(loss for loss, _ in checked[1])):
            assert truth - 1e-9 <= found <= truth


def _pattern(noise: AboveThreshold, below: float, many: int, above: float, told: int) -> mpmath.mpf:
    """Return the chance of so many queries below the noisy threshold, and then so many above."""

    def at(z: mpmath.mpf) -> mpmath.mpf:
        chance = mpmath.exp(-abs(z) / noise.threshold_scale) / (2 * noise.threshold_scale)
        return (
            chance * _below((z - below) / noise.query_scale) ** many * _below((above - z) / noise.query_scale) ** told
        )

    away = [scale * 2**k for scale in (noise.threshold_scale, noise.query_scale) for k in range(-2, 7)]
    breaks = {mpmath.mpf(near + sign * d) for near in (0.0, below, above) for d in (0.0, *away) for sign in (-1, 1)}
    return mpmath.quad(at, sorted(breaks))


def _below(x: mpmath.mpf) -> mpmath.mpf:
    return 1 - mpmath.exp(-x) / 2 if x > 0 else mpmath.exp(x) / 2


def test_nothing_is_attained_where_chances_are_no_doubles() -> None:
    noise = noise_of(1e-3, 1.0)
    assert noise.attained_loss().atoms == ((0.0, 1.0),)
    vast = certify(Release(label="answers", mechanism=noise), CLAIM)
    assert vast.verdict == "not_proved"
    assert verify(vast.to_json()).accepted


@pytest.mark.parametrize("queries", ["general", "monotone"])
def test_no_noise_on_queries_is_refuted(queries: Queries) -> None:
    """Variant 5: two queries change places, and the threshold lies between them with probability .1967."""
    certificate = certify(asked(2.0, 0.0, horizon=2, queries=queries), CLAIM)
    assert certificate.verdict == "refuted"
    assert certificate.tight.delta.lower == pytest.approx(-np.expm1(-0.5) / 2, rel=1e-9)
    assert verify(certificate.to_json()).accepted
    mechanism = noise_of(2.0, 0.0, horizon=2, queries=queries)
    first, second = (np.exp(mechanism.log_density(np.arange(4), answers)) for answers in mechanism.worst_pair())
    assert first.sum() == pytest.approx(1.0)
    assert max(np.where(second == 0, first, 0.0)) == pytest.approx(-np.expm1(-0.5) / 2)
    seen = np.bincount(mechanism.release(np.tile(mechanism.worst_pair()[0], (20_000, 1)), np.random.default_rng(1)))
    assert np.allclose(seen[:3] / 20_000, first[:3], atol=0.03)


def test_nothing_is_attained_of_one_query_without_noise() -> None:
    """Its answer is private by the threshold's noise alone; the bound knows nothing of it."""
    alone = certify(asked(2.0, 0.0, horizon=1), CLAIM)
    assert alone.verdict == "not_proved"
    assert verify(alone.to_json()).accepted


@pytest.mark.parametrize(
    ("threshold", "query", "moved", "cutoff", "horizon", "off"),
    [(22.2232, 15.5563, 10.0, 2, 4, 1e-4), (0.3, 2.0, 1.5, 3, 40, 1e-3), (5.0, 0.7, 0.9, 9, 30, -1e-4)],
)
def test_two_integrals_that_differ_by_their_rounding_do_not_contradict(
    threshold: float, query: float, moved: float, cutoff: int, horizon: int, off: float
) -> None:
    """Next to the attained loss delta is a difference of nearly equal numbers: the stated one is the smaller one."""
    noise = noise_of(threshold, query, moved, cutoff=cutoff, horizon=horizon, queries="monotone")
    attained = max(loss for loss, _ in noise.attained_loss().atoms)
    claim = Claim(epsilon=attained * (1 - off), delta=1e-9, neighbours="replace_one")
    assert verify(certify(Release(label="answers", mechanism=noise), claim).to_json()).accepted
