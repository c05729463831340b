"""The best of a secret number of runs: published values, exact laws of small tables, and a checker of its own."""

import json
import math
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import dpaudit as dp
from dpaudit.accounting.run_counts import RunCount
from dpaudit.accounting.selection import best_above
from dpaudit.accounting.worst_scores import best_attained, epsilon_of
from dpaudit.errors import UnsupportedError
from dpaudit.model.certificate import digest_of
from dpaudit.model.codec import decode_declaration, encode
from dpaudit.model.losses import Composition, DiscreteLoss, GaussianLoss, LaplaceLoss
from dpaudit.model.measures.claims import RenyiClaim, RhoClaim
from dpaudit.model.mechanism import Array
from dpaudit.verifier import verify
from mechanisms import Finite, Gaussian, RandomisedResponse

LAWS: dict[str, dict[str, Any]] = {
    "geometric": {"law": "geometric", "gamma": 0.1},
    "rare": {"law": "geometric", "gamma": 0.01},
    "logarithmic": {"law": "logarithmic", "gamma": 0.1},
    "poisson": {"law": "poisson", "mean": 10.0},
    "many": {"law": "poisson", "mean": 40.0},
    "ten": {"law": "fixed", "runs": 10},
}
TABLE = {
    ("geometric", 0.5): (3.0096, 3.0098),
    ("rare", 0.5): (3.9841, 3.9843),
    ("logarithmic", 0.5): (2.5275, 2.5276),
    ("poisson", 0.5): (3.8430, 3.8439),
    ("many", 0.5): (7.977, 8.412),
    ("ten", 0.5): (6.083, 6.798),
    ("geometric", 1.0): (6.4243, 6.4244),
    ("poisson", 1.0): (8.1613, 8.1616),
    ("many", 1.0): (17.845, 17.970),
    ("ten", 1.0): (14.590, 16.039),
}
"""By the law and mu of one run: the bracket of epsilon at 1e-5 that an own program found, on both sides."""

FIRST, *OTHERS = TABLE
RNG = np.random.default_rng(36)


def told(epsilon: float) -> dp.Stated:
    return dp.Stated(epsilon=epsilon, source="a vendor")


def noisy(stddev: float = 2.0) -> dp.Release:
    return dp.Release(label="run", mechanism=Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove"))


@pytest.mark.parametrize(("law", "mu"), [FIRST, *(pytest.param(*key, marks=pytest.mark.slow) for key in OTHERS)])
def test_gaussian_runs_are_bracketed_as_closely_as_published(law: str, mu: float) -> None:
    """The upper end is at most the published one but for .05 %, the lower end at least it less 1.5 %; 1.1 % apart."""
    low, high = TABLE[law, mu]
    tuned = dp.BestOf(part=noisy(1 / mu), scores="any", **LAWS[law])
    bracket = dp.bracket_epsilon(dp.fold(tuned, "add_remove"), 1e-5)
    assert low <= bracket.upper <= high * 1.0005
    assert low * 0.985 <= bracket.lower <= high
    assert bracket.upper <= bracket.lower * 1.011


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


def test_a_bound_that_forgets_the_runs_is_passed() -> None:
    """The twin: the curve of one run is below what an order shows."""
    laws = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))
    count = RunCount(runs=4)
    exact = float(worst_order(laws, count, Fraction(2)))
    part = (Composition.of(loss_of(laws)),)
    assert loss_of(laws).hockey_stick(math.log(2)) < exact <= best_above(part, count).hockey_stick(math.log(2))


RUN = Finite(first=(0.5, 0.3, 0.2), second=(0.2, 0.2, 0.6), neighbours="add_remove")


def test_no_worst_score_passes_the_bound() -> None:
    """Of noise and of tables in both orders: what a worst score shows is never above; of noise it is close."""
    losses = (GaussianLoss(mu=0.5), LaplaceLoss(shift=1.0), loss_of((drawn(RNG, 3), drawn(RNG, 3))))
    parts = [Composition.of(loss) for loss in losses]
    closest = []
    for part, count in product(parts, (RunCount(runs=3), RunCount(mean=8.0))):
        above = best_above((part,), count)
        for score, way in product((12, 22), (part, part.reversed())):
            for loss, _ in best_attained(way, count, score).parts:
                shown, most = (held.hockey_stick(epsilon_of(score)) for held in (loss, above))
                assert shown <= most * (1 + 1e-9)
                closest += [shown / most] if way is part and not isinstance(part.parts[0][0], DiscreteLoss) else []
    assert min(closest) > 0.97


RUN = Finite(first=(0.5, 0.3, 0.2), second=(0.2, 0.2, 0.6), neighbours="add_remove")


def test_fresh_coins_find_no_score_above_the_bound() -> None:
    """Tables of which coins split every output: what the worst score shows is never above, and close."""
    rng, closest = np.random.default_rng(36), []
    for runs in (3, 0):
        part = Composition.of(loss_of((drawn(rng, 3), drawn(rng, 3))))
        count = RunCount(runs=runs) if runs else RunCount(mean=8.0)
        above = best_above((part,), count)
        for score in (12, 22):
            for way in (part, part.reversed()):
                for loss, _ in best_attained(way, count, score).parts:
                    epsilon = epsilon_of(score)
                    shown, most = loss.hockey_stick(epsilon), above.hockey_stick(epsilon)
                    assert shown <= most * (1 + 1e-9)
                    closest += [shown / most] if most else []
    assert max(closest) > 0.99


RUN = Finite(first=(0.5, 0.3, 0.2), second=(0.2, 0.2, 0.6), neighbours="add_remove")
SMALL = dp.Claim(epsilon=0.1, delta=1e-4, neighbours="add_remove")


@pytest.mark.parametrize(
    ("law", "found"),
    [("geometric", (1.7957, 2.0656, 2.2755, 2.4150)), ("poisson", (4.6908, 4.8969, 5.1603, 5.3622))],
)
def test_the_settings_that_runs_draw_take_a_table_from_the_lower_end_to_the_upper_one(
    law: str, found: tuple[float, ...]
) -> None:
    """Of runs that draw one of 1, 2, 4 or 8 settings and show it, by all orders of their outputs at epsilon 1.

    Where whoever runs the part picks settings, both ends are within 1 %. The twin: whole outcomes stay below.
    """
    part = dp.Release(label="run", mechanism=RandomisedResponse(epsilon=1.0, neighbours="replace_one"))
    whole, drawn_anew = (dp.BestOf(part=part, scores=scores, **LAWS[law]) for scores in ("any", "any_setting"))
    ends, close = (dp.bracket_epsilon(dp.fold(node, "replace_one"), 0.0) for node in (whole, drawn_anew))
    largest = [best_of_pieces(RunCount.of(whole), pieces) for pieces in (1, 2, 4, 8)]
    assert largest == pytest.approx(found, abs=5e-5)
    assert largest[0] == pytest.approx(ends.lower, rel=1e-6)
    assert largest == sorted(largest)
    assert largest[-1] < close.lower <= close.upper == ends.upper <= 1.01 * close.lower
    assert ends.upper > 1.15 * ends.lower


def test_the_checker_finds_settings_that_refute_and_not_those_of_one_setting() -> None:
    """A claim between both lower ends is refuted where settings may be picked; the witness is none of a run without."""
    part = dp.Release(label="run", mechanism=RandomisedResponse(epsilon=1.0, neighbours="replace_one"))
    claim = dp.Claim(epsilon=2.2, neighbours="replace_one")
    refuted, open_claim = (
        dp.certify(dp.BestOf(part=part, scores=scores, **LAWS["geometric"]), claim) for scores in ("any_setting", "any")
    )
    assert (refuted.verdict, open_claim.verdict) == ("refuted", "not_proved")
    assert verify(refuted.to_json()).accepted
    assert verify(open_claim.to_json()).accepted
    data = json.loads(refuted.to_json())
    for scores in ("any", "named", "others"):
        forged = data | {"declaration": data["declaration"] | {"scores": scores}}
        forged["digest"] = digest_of(forged)
        assert not verify(json.dumps(forged)).accepted


def best_of_pieces(count: RunCount, pieces: int) -> float:
    """Return the largest loss of the best run, where each of two outcomes falls into so many equal pieces."""
    likely, rare = math.e / (1 + math.e) / pieces, 1 / (1 + math.e) / pieces
    losses = []
    for chosen in combinations(range(2 * pieces), pieces):
        first = np.isin(np.arange(2 * pieces), chosen)
        p, q = np.where(first, likely, rare), np.where(first, rare, likely)
        one, two = (count.reached(np.append(0.0, np.cumsum(m)[:-1]), np.cumsum(m[::-1])[::-1], m) for m in (p, q))
        losses.append(float(np.abs(np.log(one / two)).max()))
    return max(losses)


def test_nothing_is_attained_where_an_author_names_the_score() -> None:
    """There is an upper end alone, so that no claim is refuted."""
    named = dp.BestOf(part=noisy(), law="geometric", gamma=0.2, score="validation loss")
    assert dp.bracket_epsilon(dp.fold(named, "add_remove"), 1e-4).lower == 0
    assert dp.certify(named, SMALL).verdict == "not_proved"


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(noisy(), marks=pytest.mark.slow, id="noise"),
        pytest.param(dp.Release(label="run", mechanism=RUN), id="a table"),
    ],
)
def test_a_score_that_anybody_picks_refutes_and_the_checker_finds_it(part: dp.Release) -> None:
    """The witness names a score, of which the checker finds the law again; not one beyond those that are known."""
    refuted = dp.certify(dp.BestOf(part=part, law="geometric", gamma=0.2, scores="any"), SMALL)
    assert refuted.verdict == "refuted"
    assert verify(refuted.to_json()).accepted
    data = json.loads(refuted.to_json())
    for changed in (
        {"witnesses": [w | {"plan": [w["plan"][0] | {"part": 162}]} for w in data["witnesses"]]},
        {"declaration": data["declaration"] | {"scores": "named"}},
    ):
        forged = data | changed
        forged["digest"] = digest_of(forged)
        assert not verify(json.dumps(forged)).accepted


@pytest.mark.slow
def test_the_best_of_many_responses_is_known_in_each_measure() -> None:
    """Two answers of epsilon 1, the better one of a geometric number with gamma .1: by hand from their two scores.

    The answer that is likelier under P is scored first: it is shown with P-probability 1 - f(1 - p). Divergences of the
    best of 5 are within 2 % of the upper end.
    """
    part = dp.Release(label="run", mechanism=RandomisedResponse(epsilon=1.0))
    p, gamma = 1 / (1 + math.exp(-1)), 0.1

    def first(above: float) -> float:
        return 1 - gamma * (1 - above) / (1 - (1 - gamma) * (1 - above))

    laws = [np.array([first(a), 1 - first(a)]) for a in (p, 1 - p)]
    shown = max(float(one @ np.log(one / two)) for one, two in (laws, laws[::-1]))
    cases: tuple[tuple[dict[str, Any], RhoClaim | RenyiClaim], ...] = (
        ({"law": "geometric", "gamma": gamma}, RhoClaim(rho=0.7, neighbours="replace_one")),
        ({"law": "fixed", "runs": 5}, RenyiClaim(renyi=((2.0, 1.0), (8.0, 3.0)), neighbours="replace_one")),
    )
    for law, claim in cases:
        certificate = dp.certify(dp.BestOf(part=part, scores="any", **law), claim)
        assert verify(certificate.to_json()).accepted
        for row in certificate.tight.rows:
            if row.at is None:
                assert shown * (1 - 1e-6) <= row.lower <= row.upper <= 0.7
            else:
                assert row.upper * 0.98 <= row.lower <= row.upper


def test_the_curve_of_one_run_bounds_that_of_the_best_where_outputs_are_counted() -> None:
    """h(x) <= r h_0(c x) for x >= 1, of 40 random tables and all orders of their outputs; f(z) = g z / (1 - (1 - g) z).

    The twin: with c = 1, which forgets that the outputs of the other law may count less, it is exceeded.
    """
    rng, gamma, exceeded = np.random.default_rng(5), 0.3, 0

    def shown(law: Array, order: tuple[int, ...]) -> Array:
        below = np.append(np.cumsum(law[list(order)][::-1])[::-1], 0.0)
        return -np.diff(gamma * below / (1 - (1 - gamma) * below))

    r, c = 1 / gamma, gamma**2  # f'(1), and f'(0) over it
    for _ in range(40):
        p, q = rng.dirichlet(np.ones(4), 2)
        for order, x in product(permutations(range(4)), (1.0, 1.5, 3.0)):
            h = np.maximum(shown(p, order) - x * shown(q, order), 0).sum()
            assert h <= r * np.maximum(p - c * x * q, 0).sum() * (1 + 1e-12)
            exceeded += h > r * np.maximum(p - x * q, 0).sum() * (1 + 1e-12)
    assert exceeded


@pytest.mark.parametrize(("law", "apart"), [("geometric", 1.03), pytest.param("poisson", 1.04, marks=pytest.mark.slow)])
def test_divergences_of_gaussian_runs_have_an_upper_end(law: str, apart: float) -> None:
    """A score that is the output itself shows less at each order, by a sum of its own; 3 or 4 % apart at order 8.

    The twin: an end below what a score attains is never accepted, nor one a hundredth below the checker's own.
    """
    part = noisy(2.0)
    orders = (1.5, 2.0, 4.0, 8.0)
    claim = RenyiClaim(renyi=tuple((order, 1.0) for order in orders), neighbours="add_remove")
    certificate = dp.certify(dp.BestOf(part=part, scores="any", **LAWS[law]), claim)
    assert verify(certificate.to_json()).accepted
    at = np.linspace(-12.0, 14.0, 200_001)
    count = RunCount.of(dp.BestOf(part=part, **LAWS[law]))
    logs = [norm.logpdf(at, mean) + count.log_slope(norm.sf(at, mean), norm.cdf(at, mean)) for mean in (0.5, 0.0)]
    for row, order in zip(certificate.tight.rows, orders, strict=True):
        shown = np.logaddexp.reduce(order * logs[0] + (1 - order) * logs[1] + math.log(at[1] - at[0])) / (order - 1)
        assert row.at == order
        assert max(shown, row.lower) <= row.upper
    assert certificate.tight.rows[-1].upper <= certificate.tight.rows[-1].lower * apart
    forged = json.loads(certificate.to_json())
    for row in forged["tight"]["renyi"]:
        row["upper"] *= 0.99
    forged["digest"] = digest_of(forged)
    assert not verify(json.dumps(forged)).accepted


def test_the_rho_of_gaussian_runs_is_finite_and_composes() -> None:
    """Twice the best run has twice its rho, at least that of one run."""
    once = dp.BestOf(part=noisy(2.0), **LAWS["geometric"])
    one, two = (
        dp.certify(tree, RhoClaim(rho=1.1, neighbours="add_remove")) for tree in (once, dp.Repeat(part=once, times=2))
    )
    assert one.verdict == two.verdict == "certified"
    assert 1 / 8 < one.tight.rows[0].upper < 0.502
    assert two.tight.rows[0].upper == pytest.approx(2 * one.tight.rows[0].upper)
    assert verify(two.to_json()).accepted


def test_a_corner_beside_a_knot_costs_nothing() -> None:
    """A corner at a distance of rounding from a knot made every slope rounding, and lost mass."""
    loss = 1.25
    even = np.linspace(0.0, loss, 300)[150]
    for corner in (even, even * (1 + 2.0**-52), even + 1e-12):
        masses = np.array([0.2, 0.1, 0.1 * math.exp(-corner), 0.2 * math.exp(-loss)])
        rest = 1 - 0.01 - float(masses.sum())
        atoms = tuple(zip((loss, corner, -corner, -loss, 0.0), (*masses.tolist(), rest), strict=True))
        once = DiscreteLoss(atoms=atoms, infinite_mass=0.01, reverse_infinite_mass=0.01, symmetric=True)
        best = best_above((Composition.of(once),), RunCount(gamma=0.6, eta=1.0))
        assert best.infinite_mass < 0.05
    nearly = DiscreteLoss(atoms=((0.0, 1e-10),), infinite_mass=1 - 1e-10, reverse_infinite_mass=1 - 1e-10)
    assert best_above((Composition.of(nearly),), RunCount(gamma=0.6, eta=1.0)).infinite_mass == 1


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


def with_ends(certificate: dp.Certificate, **ends: float) -> str:
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
    assert not verify(with_ends(certificate, upper=upper * 0.98, lower=0.0)).accepted
