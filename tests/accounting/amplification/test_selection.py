"""The best of a secret number of runs: published values, exact laws of small tables, and a checker of its own."""

import json
import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.accounting.run_counts import RunCount
from dpaudit.accounting.selection import best_above
from dpaudit.errors import UnsupportedError
from dpaudit.model.certificate import digest_of
from dpaudit.model.codec import decode_declaration, encode
from dpaudit.model.losses import Composition, DiscreteLoss, GaussianLoss
from dpaudit.verifier import verify
from mechanisms import Finite, Gaussian
from tests.accounting.nesting.best_scores import best_attained

LAWS = {
    "geometric": RunCount(gamma=0.1, eta=1.0),
    "rare": RunCount(gamma=0.01, eta=1.0),
    "logarithmic": RunCount(gamma=0.1),
    "poisson": RunCount(mean=10.0),
}
TABLE = {
    ("geometric", 0.5): (3.0096, 3.0098),
    ("rare", 0.5): (3.9841, 3.9843),
    ("logarithmic", 0.5): (2.5275, 2.5276),
    ("poisson", 0.5): (3.8430, 3.8439),
    ("geometric", 1.0): (6.4243, 6.4244),
    ("poisson", 1.0): (8.1613, 8.1616),
}
"""By the law and mu of one run: the bracket of epsilon at 1e-5 that an own program found, on both sides."""


def told(epsilon: float) -> dp.Stated:
    return dp.Stated(epsilon=epsilon, source="a vendor")


def noisy(stddev: float = 2.0) -> dp.Release:
    return dp.Release(label="run", mechanism=Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove"))


def epsilon_of(loss: DiscreteLoss, delta: float) -> tuple[float, float]:
    sides = (Composition.of(loss),)
    bracket = dp.bracket_epsilon(NormalForm(upper=sides, lower=sides), delta)
    return bracket.lower, bracket.upper


@pytest.mark.parametrize(("law", "mu"), TABLE)
def test_gaussian_runs_are_bracketed_as_published(law: str, mu: float) -> None:
    """Both ends lie within 0.1 % of the bracket, on their safe sides."""
    low, high = TABLE[law, mu]
    part = Composition.of(GaussianLoss(mu=mu))
    above = epsilon_of(best_above((part,), LAWS[law]), 1e-5)[1]
    assert low <= above <= high * 1.001
    assert low * 0.999 <= epsilon_of(best_attained(part, LAWS[law]), 1e-5)[0] <= high


@pytest.mark.parametrize(
    ("node", "largest"),
    [
        (dp.BestOf(part=told(1.0), law="geometric", gamma=0.1), 2.591344),
        (dp.BestOf(part=told(1.0), law="logarithmic", gamma=0.1), 1.795672),
        (dp.BestOf(part=told(1.0), law="poisson", mean=10.0), 5.621172),
        (dp.BestOf(part=told(0.1), law="fixed", runs=10), 1.0),
    ],
)
def test_a_pure_run_has_its_closed_form(node: dp.BestOf, largest: float) -> None:
    """Published values to their last digit; a fixed number is the decimal of its composition, and not above it."""
    upper = dp.bracket_epsilon(dp.fold(node, "add_remove"), 0.0).upper
    assert upper == pytest.approx(largest, abs=6e-7)
    assert node.law != "fixed" or upper == largest
    assert dp.bracket_delta(dp.fold(node, "add_remove"), largest * 0.99).upper > 0, "the twin: less is not enough"


def slope(count: RunCount, above: Fraction) -> Fraction:
    """Return f(1 - above), exactly where it is a fraction."""
    below = 1 - above
    if count.runs:
        return below**count.runs
    gamma = Fraction(repr(count.gamma))
    return gamma * below / (1 - (1 - gamma) * below)


def best_law(law: tuple[Fraction, ...], order: tuple[int, ...], count: RunCount) -> list[Fraction]:
    """Return the law of the best run where `order` has outputs from the best to the worst."""
    found, above = list(law), Fraction(0)
    for output in order:
        found[output] = slope(count, above) - slope(count, above + law[output])
        above += law[output]
    return found


def drawn(rng: np.random.Generator, outputs: int) -> tuple[Fraction, ...]:
    weights = [int(weight) for weight in rng.integers(1, 40, outputs) ** 2]
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def worst_order(laws: tuple[tuple[Fraction, ...], ...], count: RunCount, x: Fraction) -> Fraction:
    """Return the largest P(S) - x Q(S) over orders of outputs and of the laws."""
    values = []
    for one, other in (laws, laws[::-1]):
        for order in permutations(range(len(one))):
            p, q = (best_law(law, order, count) for law in (one, other))
            values.append(sum((max(a - x * b, Fraction(0)) for a, b in zip(p, q, strict=True)), start=Fraction(0)))
    return max(values)


def loss_of(laws: tuple[tuple[Fraction, ...], ...]) -> DiscreteLoss:
    pairs = zip(*laws, strict=True)
    return DiscreteLoss(atoms=tuple((math.log(p / q), float(p)) for p, q in pairs))


def test_no_order_of_outputs_passes_the_bound() -> None:
    """25 random tables of 2 to 4 outputs, all orders in exact fractions, three x: never above, and often close."""
    rng, closest = np.random.default_rng(20_26), 0.0
    for _ in range(25):
        outputs = int(rng.integers(2, 5))
        laws = drawn(rng, outputs), drawn(rng, outputs)
        count = RunCount(runs=int(rng.integers(2, 6))) if rng.random() < 0.5 else RunCount(gamma=0.2, eta=1.0)
        loss = best_above((Composition.of(loss_of(laws)),), count)
        for x in (Fraction(1), Fraction(3, 2), Fraction(4)):
            exact = float(worst_order(laws, count, x))
            bound = loss.hockey_stick(math.log(x)) * (1 + 1e-12) + 1e-15
            assert exact <= bound, (laws, count, x)
            closest = max(closest, exact / bound)
    assert closest > 0.9


def test_a_bound_that_forgets_the_runs_is_passed() -> None:
    """The twin: the curve of one run is below what an order shows."""
    laws = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))
    count = RunCount(runs=4)
    exact = float(worst_order(laws, count, Fraction(2)))
    part = (Composition.of(loss_of(laws)),)
    assert loss_of(laws).hockey_stick(math.log(2)) < exact <= best_above(part, count).hockey_stick(math.log(2))


RUN = Finite(first=(0.5, 0.3, 0.2), second=(0.2, 0.2, 0.6), neighbours="add_remove")


@pytest.mark.parametrize(
    "part",
    [
        noisy(),
        pytest.param(dp.Release(label="run", mechanism=RUN), marks=pytest.mark.slow),
        pytest.param(dp.Subsample(part=noisy(), rate=0.1), marks=pytest.mark.slow),
    ],
    ids=["noise", "a table", "a sample"],
)
def test_nothing_is_attained_as_nobody_says_that_the_score_is_the_worst(part: dp.Declaration) -> None:
    """There is an upper end alone, so that no claim is refuted."""
    tuned = dp.BestOf(part=part, law="geometric", gamma=0.2)
    assert dp.bracket_epsilon(dp.fold(tuned, "add_remove"), 1e-4).lower == 0
    assert dp.certify(tuned, dp.Claim(epsilon=0.01, delta=1e-4, neighbours="add_remove")).verdict == "not_proved"


def test_repeats_compose_and_other_nests_are_refused_by_name() -> None:
    """Twice the best run costs more than once; a group over it has no rule."""
    once = dp.BestOf(part=noisy(), law="poisson", mean=3.0)
    one, two = (dp.bracket_epsilon(dp.fold(tree, "add_remove"), 1e-5) for tree in (once, dp.Repeat(part=once, times=2)))
    assert one.upper < two.upper < 2 * one.upper
    with pytest.raises(UnsupportedError, match="'group' over 'best_of' under remove: no rule"):
        dp.fold(dp.Group(part=once, size=2), "add_remove")


def test_a_law_needs_its_own_parameters() -> None:
    """Missing and foreign parameters are named, and so is a number of runs that no grid holds."""
    with pytest.raises(ValueError, match="Expected gamma to be given for law='geometric'"):
        dp.BestOf(part=told(1.0), law="geometric")
    with pytest.raises(ValueError, match=r"Expected mean=2.0 to be left out for law='fixed'"):
        dp.BestOf(part=told(1.0), law="fixed", runs=3, mean=2.0)
    with pytest.raises(UnsupportedError, match="runs on average at most"):
        dp.fold(dp.BestOf(part=told(1.0), law="poisson", mean=1e9), "add_remove").upper  # noqa: B018
    node = dp.BestOf(part=told(1.0), law="negative_binomial", gamma=0.2, eta=0.5, score="accuracy")
    assert decode_declaration(json.loads(json.dumps(encode(node))), "add_remove") == node


def forged(certificate: dp.Certificate, **ends: float) -> str:
    data = json.loads(certificate.to_json())
    data["tight"]["epsilon"] |= ends
    data["verdict"] = "certified"
    data["digest"] = digest_of(data)
    return json.dumps(data)


def test_the_checker_confirms_the_bound_and_refuses_a_smaller_one() -> None:
    """Geometric and Poisson runs are confirmed; an upper end that is 2 % smaller is not accepted."""
    claim = dp.Claim(epsilon=3.2, delta=1e-5, neighbours="add_remove")
    certificate = dp.certify(dp.BestOf(part=noisy(), law="geometric", gamma=0.1), claim)
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
    upper = certificate.tight.epsilon.upper
    assert not verify(forged(certificate, upper=upper * 0.98, lower=0.0)).accepted
