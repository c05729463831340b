"""Honest declarations at the ends of what they may say: each has an answer or a refusal, and none is rejected."""

import math
import re
import resource
import sys
import types
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
import mechanisms
from dpaudit.accounting.schemes import kept_rate, truncated_shares
from dpaudit.accounting.shuffling import Clones
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses.binomial import binomial_groups, binomial_pmf
from dpaudit.model.measures.claims import RhoClaim
from dpaudit.verifier import curve, verify
from dpaudit.verifier.best_of import below
from dpaudit.verifier.numerics.sizes import cut_sizes
from mechanisms import (
    BallLaplace,
    DiscreteLaplace,
    Exponential,
    Finite,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    RandomisedResponse,
)
from tests.checker import forging

VAULT = 519168 / 12_695_312_500
LAPLACE = Laplace(scale=10.0, l1_sensitivity=1.0, neighbours="add_remove")


def gaussian(stddev: float, neighbours: Neighbours = "add_remove") -> dp.Release:
    return dp.Release(label="sum", mechanism=Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours))


def finite(*laws: tuple[float, ...]) -> dp.Release:
    return dp.Release(label="table", mechanism=Finite(first=laws[0], second=laws[1], neighbours="replace_one"))


def claim(epsilon: float, delta: float, neighbours: Neighbours = "add_remove") -> dp.Claim:
    return dp.Claim(epsilon=epsilon, delta=delta, neighbours=neighbours, unit="one person")


def shuffled(users: int, categories: int = 2) -> dp.Shuffle:
    response = dp.Release(label="answer", mechanism=RandomisedResponse(epsilon=1.0, categories=categories))
    return dp.Shuffle(part=dp.Local(part=response), users=users)


def cut(rate: float, population: int, bound: int, part: dp.Declaration | None = None) -> dp.Subsample:
    part = part or gaussian(0.614)
    return dp.Subsample(part=part, rate=rate, scheme="truncated_poisson", population=population, batch_bound=bound)


def nested(times: int, depth: int) -> dp.Declaration:
    tree: dp.Declaration = gaussian(1e30)
    for _ in range(depth):
        tree = dp.Repeat(part=tree, times=times)
    return tree


BALL = dp.Release(
    label="ball", mechanism=BallLaplace(scale=1e6, l2_sensitivity=1.0, dimension=4, neighbours="add_remove")
)
ONE = dp.Subsample(part=gaussian(1, "replace_one"), rate=1.0, scheme="with_replacement", population=1, batch_size=1)
HONEST: dict[str, tuple[dp.Declaration, dp.Claim]] = {
    "5,000 tables at delta 0": (
        dp.Repeat(part=dp.Local(part=finite((160, 611, 636, 592), (344, 364, 939, 515))), times=5000),
        claim(1.242, 0.0, "replace_one"),
    ),
    "a million ball releases at delta 0": (dp.Repeat(part=BALL, times=10**6), claim(2.0, 0.0)),
    "a rule that does not fit its release": (
        dp.Release(label="count", mechanism=LAPLACE, printed=dp.Printed(rule="basic", epsilon=0.1)),
        claim(0.1, 0.0),
    ),
    "a sample of 12,695,312,500 records that is cut": (cut(VAULT, 12_695_312_500, 521_000), claim(2.0, 1.1e-10)),
    "draws from one record": (ONE, claim(1.0, 1e-5, "replace_one")),
    "counts as large as a float": (finite((1.0, 1e300), (1e300, 1.0)), claim(1.0, 1e-5, "replace_one")),
    "a cut sample of nested repeats": (
        cut(0.01, 200, 8, dp.Repeat(part=dp.Repeat(part=gaussian(20.0), times=3), times=4)),
        claim(1.0, 1e-5),
    ),
    "repeats of repeats": (nested(10**18, 3), claim(1.0, 1e-5)),
}
WIDE: dict[str, tuple[dp.Declaration, dp.Claim]] = {
    "ten million stated parts": (
        dp.Repeat(part=dp.Stated(epsilon=1e-3, source="a vendor"), times=10**7),
        claim(1.0, 1e-5),
    ),
    "a shuffle of 10^15 users": (shuffled(10**15), claim(1.0, 1e-6, "replace_one")),
    "10^36 Laplace releases": (
        dp.Repeat(part=dp.Repeat(part=dp.Release(label="x", mechanism=LAPLACE), times=10**18), times=10**18),
        claim(1.0, 1e-5),
    ),
}


LATTICE = dp.Release(
    label="count",
    mechanism=DiscreteLaplace(scale=3.0, l1_sensitivity=3, neighbours="add_remove"),
    printed=dp.Printed(rule="tree", epsilon=0.5, slots=4.0),
)
HONEST |= {
    "a printed rule that no noise of a range meets": (
        replace(LATTICE, printed=dp.Printed(rule="laplace", epsilon=0.5)),
        claim(1e-17, 0.0),
    ),
    "slots printed on a release": (LATTICE, claim(1.0, 1e-6)),
    "a delta next to the largest loss": (
        dp.Repeat(
            part=dp.Release(
                label="choice",
                mechanism=Exponential(epsilon=0.6137608038988214, linf_sensitivity=1.0, neighbours="add_remove"),
            ),
            times=3,
        ),
        claim(1.8389486902882524, 1.4841951010356797e-12),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_certificate_of_an_extreme_declaration_is_accepted(name: str) -> None:
    verified = verify(dp.certify(*HONEST[name], effort="quick").to_json())
    assert (verified.complaints, verified.unconfirmed) == ((), ())


@pytest.mark.parametrize("name", WIDE)
def test_what_is_beyond_the_checker_is_unconfirmed_and_never_rejected(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = dp.certify(*WIDE[name], effort="quick").to_json()
    verified = verify(text)
    assert verified.complaints == ()
    assert verified.verdict in ("certified", "not_proved")


def test_a_training_of_published_size_is_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends of 100,000 rare steps, as VaultGemma takes. With the rare large losses in a window they stay open."""
    steps = dp.Repeat(part=dp.Subsample(part=gaussian(0.614), rate=VAULT), times=100_000)
    certificate = dp.certify(steps, claim(2.0, 1.1e-10))
    ends = certificate.tight.epsilon
    assert 1.71 < ends.lower <= ends.upper <= ends.lower * 1.001
    assert verify(certificate.to_json()).accepted
    forged: dict[str, Any] = certificate.to_dict()
    forged["tight"]["epsilon"]["upper"] = ends.lower * 0.999
    assert not verify(forging.resealed(forged)).accepted
    monkeypatch.setattr(curve, "_SELDOM", 0.0)
    assert not verify(certificate.to_json()).accepted


def test_a_release_that_is_met_too_often_is_refused_by_name() -> None:
    with pytest.raises(dp.UnsupportedError, match=r"met 1\.00e\+162 times is not covered; the most is 1e\+150"):
        dp.certify(nested(10**18, 24), claim(1.0, 1e-5))
    data: dict[str, Any] = dp.certify(nested(10**8, 9), claim(1.0, 1e-5)).to_dict()
    for _ in range(2):  # the forgery: more of them in the file
        data["declaration"] = {"node": "repeat", "times": 10**18, "part": data["declaration"]}
        for _ in range(4):
            data["declaration"]["part"] = {"node": "repeat", "times": 10**18, "part": data["declaration"]["part"]}
    assert not verify(forging.resealed(data)).accepted


def test_a_mechanism_by_itself_is_one_release_of_its_name() -> None:
    released = dp.Release(label="laplace", mechanism=LAPLACE)
    assert dp.certify(LAPLACE, claim(0.1, 0.0)) == dp.certify(released, claim(0.1, 0.0))


def test_a_mechanism_of_the_how_to_page_states_its_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page puts it among the shipped ones, whose losses the checker derives: it does not know this one."""
    page = Path(mechanisms.__file__).parents[1] / "docs" / "how_to" / "add_a_mechanism.md"
    (source,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    module = types.ModuleType("mechanisms.logistic_noise")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, "add_a_mechanism.md", "exec"), module.__dict__)  # noqa: S102 - our own page
    certificate = dp.certify(module.EXAMPLES[1], claim(2.0, 0.0))
    verified = verify(certificate.to_json())
    assert verified.accepted
    assert "mechanism logistic_noise states of itself" in verified.notes[0]
    data: dict[str, Any] = certificate.to_dict()
    data["declaration"]["mechanism"].pop("stated")
    assert not verify(forging.resealed(data)).accepted


def test_the_memory_of_a_cut_sample_does_not_grow_with_its_population() -> None:
    """Both readings are near the binomial's own numbers; 10^9 records take about as long as a thousand."""
    for population, bound in ((1000, 512), (10**9, 5 * 10**8 + 10**4)):
        shares = truncated_shares(cut(0.5, population, bound))
        kept, room, replaced = cut_sizes(population - 1, 0.5, bound)
        assert math.fsum(weight for weight, _, _ in shares) == pytest.approx(1.0, abs=1e-12)
        assert shares[0][0] == pytest.approx(room, rel=1e-6)
        assert room + math.fsum(weight for weight, _ in replaced) == pytest.approx(1.0, abs=1e-12)
        assert kept_rate(cut(0.5, population, bound)) == pytest.approx(kept, rel=1e-6)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 * 2**20  # kilobytes


def test_a_cut_sample_is_an_average_over_all_sizes() -> None:
    """From below the chance to be kept, and from above no less, in both readings."""
    others, rate, bound = 60, 0.3, 17
    exact = [math.comb(others, k) * rate**k * (1 - rate) ** (others - k) for k in range(others + 1)]
    kept = math.fsum(p * rate * min(1.0, bound / (k + 1)) for k, p in enumerate(exact))
    found, room, replaced = cut_sizes(others, rate, bound)
    shares = truncated_shares(cut(rate, others + 1, bound))
    assert found == pytest.approx(kept, rel=1e-8)
    assert found <= kept
    assert kept_rate(cut(rate, others + 1, bound)) == pytest.approx(kept, rel=1e-8)
    assert room == pytest.approx(math.fsum(exact[:bound]), rel=1e-12)
    for told in ([share[:2] for share in shares[1:]], replaced):
        mean = math.fsum(weight * share for weight, share in told)
        assert mean >= math.fsum(p * rate * bound / (k + 1) for k, p in enumerate(exact) if k >= bound) * (1 - 1e-12)


def test_a_cut_that_hardly_ever_happens_counts_where_nothing_may_be_lost() -> None:
    """At delta 0 the largest loss decides: that of a replaced record, however rare a cut is."""
    tree = cut(1e-3, 10**4, 9000, dp.Release(label="count", mechanism=LAPLACE))
    certificate = dp.certify(tree, claim(1e-3, 0.0))
    rate = 1e-3 * 9000 / 9001
    assert certificate.tight.epsilon.upper >= math.log1p(rate * math.expm1(0.2)) * (1 - 1e-9)
    assert verify(certificate.to_json()).accepted


def test_groups_of_a_binomial_number_have_its_probabilities() -> None:
    first, last, weights = binomial_groups(300, 700, 1000, 0.5, 40)
    masses = [binomial_pmf(np.arange(a, b + 1), 1000, 0.5).sum() for a, b in zip(first, last, strict=True)]
    assert len(first) <= 40
    assert weights.tolist() == pytest.approx(masses, rel=1e-9)


def test_coins_that_are_taken_together_hide_no_more() -> None:
    """Above the pair with each number told apart, and by less than a thousandth; nothing is known from below."""
    users, rate = 10**5, math.exp(-1)
    many = Clones(epsilon=1.0, users=users, rate=rate)
    for at in (0.0, 0.005, 0.012):
        low, high = many.delta(at)
        assert low == 0.0
        assert high >= _exact_delta(many, at) * (1 - 1e-9)
        assert high <= _exact_delta(many, at) * (1 + 2e-3)


def _exact_delta(clones: Clones, at: float) -> float:
    """Return the pair's delta by the probabilities of heads, row by row."""
    from scipy.stats import binom

    p, x = math.exp(clones.epsilon), math.exp(at)
    mean = clones.users * clones.rate
    coins = np.arange(round(mean - 12 * math.sqrt(mean)), round(mean + 12 * math.sqrt(mean)))
    weights = binom.pmf(coins, clones.users - 1, clones.rate)
    threshold = np.floor((coins + 1) * (x * p - 1) / ((p - 1) * (1 + x))) + 1
    above, least = binom.sf(threshold - 2, coins, 0.5), binom.sf(threshold - 1, coins, 0.5)
    return float(weights @ ((p - x) * above - (p * x - 1) * least) / (p + 1))


def test_the_largest_laplace_noise_of_parallel_parts_stands_for_a_group() -> None:
    """Both sides keep its law; a black box in its place made the checker contradict an honest certificate."""
    parts = tuple(
        dp.Release(label=name, mechanism=Laplace(scale=scale, l1_sensitivity=1.0, neighbours="add_remove"))
        for name, scale in (("one", 20.0), ("other", 50.0))
    )
    shared = dp.Release(label="all", mechanism=DiscreteLaplace(scale=8.0, l1_sensitivity=1, neighbours="add_remove"))
    tree = dp.Group(part=dp.Sequential(parts=(shared, dp.Parallel(parts=parts, key="the region"))), size=4)
    verified = verify(dp.certify(tree, claim(0.6999, 1e-6)).to_json())
    assert (verified.complaints, verified.unconfirmed) == ((), ())


def test_what_the_checker_cannot_follow_in_a_verdict_is_no_complaint() -> None:
    """Whether two sampled records suffice was asked where a limit of the checker counted as a fault."""
    choice = Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours="add_remove", utilities="monotone")
    sample = dp.Subsample(part=dp.Release(label="choice", mechanism=choice), rate=0.1)
    tree = dp.Subsample(part=sample, rate=0.25)
    verified = verify(dp.certify(tree, RhoClaim(rho=7e-5, neighbours="replace_one")).to_json())
    assert verified.complaints == ()
    assert "over a sample of this kind" in " ".join(verified.unconfirmed)


def test_a_score_of_the_reversed_pair_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law that is smaller in the worst event comes first. A twin that reads the pair in its own order sees less."""
    table = Finite(first=(0.05, 0.15, 0.8), second=(0.3, 0.3, 0.4), neighbours="add_remove")
    best = dp.BestOf(part=dp.Release(label="run", mechanism=table), scores="any", law="geometric", gamma=0.3)
    refuted = dp.certify(best, claim(1.0, 0.05, "add_remove"))
    assert max(entry.part for witness in refuted.witnesses for entry in witness.plan) >= below.SCORES // 2
    assert verify(refuted.to_json()).accepted
    monkeypatch.setattr(below, "reversed_all", lambda part: part)
    assert not verify(refuted.to_json()).accepted


@pytest.mark.parametrize("law", [{"law": "geometric", "gamma": 0.3}, {"law": "fixed", "runs": 2}])
def test_the_best_run_is_followed_of_a_choice_and_of_a_table_that_one_law_has_alone(law: Any) -> None:
    """From below anybody picks the score: of two candidates, and of an outcome that is impossible for the other law."""
    flip = PermuteAndFlip(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one")
    alone = Finite(first=(1.0, 0.0), second=(0.6, 0.4), neighbours="replace_one")
    for mechanism in (flip, alone):
        best = dp.BestOf(part=dp.Release(label="run", mechanism=mechanism), scores="any", **law)
        verified = verify(dp.certify(best, claim(0.5, 0.1, "replace_one"), effort="quick").to_json())
        assert (verified.verdict, verified.complaints, verified.unconfirmed) == ("refuted", (), ())
