"""Rules of losses: each has a line on the page, a test that plays it, and twins that forget one of its premises.

A broken bound from above lies below what one pair or strategy reaches; a broken claim from below lies above what all
strategies of the game reach. Numbers are fractions, or have 30 digits.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeAlias

import mpmath
import pytest

from dpaudit import certify
from dpaudit.accounting.curves.renyi_divergence import renyi_of_loss
from dpaudit.engines.bounded_range import RANGE
from dpaudit.model.declaration import Declaration, Filtered, Group, Repeat, Stated, Subsample
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss, ThresholdLoss
from dpaudit.model.measures.claims import MuClaim, RhoClaim
from mechanisms import AboveThreshold, AboveThresholdAnswers, Exponential, NoisyPlurality, PermuteAndFlip
from mechanisms.above_threshold import Queries
from mechanisms.permute_and_flip import Scores

ROOT = Path(__file__).parents[2]
THEORY = ROOT / "docs" / "theory"
SECTION = (THEORY / "rules.md").read_text(encoding="utf-8").split("## Rules of losses\n")[1].split("\n## ")[0]
E, X = Fraction(4), Fraction(3, 2)
"""The exponential of a range or of an epsilon, and where curves are asked."""
PLACES = tuple(1 + (E - 1) * Fraction(n, 12) for n in range(13))
"""The exponentials of losses t among which a game of choices lets an adversary choose: 12 even shares u."""
VENDOR = Stated(rho=0.5, source="a vendor")
"""Stated of one record; Gaussian noise of mu = 1 is such a part."""

Number: TypeAlias = Fraction | float | mpmath.mpf
Side = Callable[[], Number]


def choice(e_t: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return (p, p / q) of both outputs of a pair with the losses t and t - r."""
    share = (E - e_t) / (E - 1)
    return (share, e_t), (1 - share, e_t / E)


@cache
def played(x: Fraction, left: int) -> Fraction:
    """Return what the best strategy reaches with so many choices, each from what was seen."""
    if not left:
        return max(1 - x, Fraction(0))
    return max(sum((p * played(x / ratio, left - 1) for p, ratio in choice(t)), Fraction(0)) for t in PLACES)


def fixed(x: Fraction, *places: Fraction) -> Fraction:
    """Return what choices reach that are fixed in advance."""
    outputs = product(*map(choice, places))
    rows = ((math.prod(p for p, _ in cells), math.prod(ratio for _, ratio in cells)) for cells in outputs)
    return sum((p * max(1 - x / ratio, Fraction(0)) for p, ratio in rows), Fraction(0))


def at_once(x: float, span: float) -> mpmath.mpf:
    """Return the curve of one choice of a bounded range."""
    gap = mpmath.exp(mpmath.mpf(span) / 2) - mpmath.sqrt(x)
    return gap**2 / mpmath.expm1(span) if gap > 0 else mpmath.mpf(0)


def proved_for_two() -> float:
    """Return what the accountant proves of two choices of range ln 4."""
    noise = Exponential(epsilon=math.log(E), linf_sensitivity=1.0, neighbours="replace_one")
    return RANGE.delta(Composition.of(noise.attained_loss()) * 2, math.log(X)).upper


def laplace(x: mpmath.mpf) -> mpmath.mpf:
    """Return the curve of Laplace noise of epsilon ln 4, which each point of a single permute-and-flip reaches."""
    return max(1 - x, 1 - mpmath.sqrt(x / 4)) if x < 4 else mpmath.mpf(0)


def two_laplace(x: float) -> mpmath.mpf:
    """Return the curve of two releases with Laplace noise: the first one's loss is ln 4 - 2 z, or one of both ends."""
    ends = laplace(mpmath.mpf(x) / 4) / 2 + laplace(mpmath.mpf(x) * 4) / 8
    bends = (0, mpmath.log(16 / mpmath.mpf(x)) / 2, mpmath.log(4))
    inside = mpmath.quad(lambda z: mpmath.exp(-z) / 2 * laplace(x * mpmath.exp(2 * z) / 4), bends)
    return ends + inside


def two_flips(x: float) -> mpmath.mpf:
    """Return the most of two choices between two candidates: the first by one of 301 gaps, the second by any."""
    best = mpmath.mpf(0)
    for n in range(301):
        ahead = mpmath.mpf(4) ** (mpmath.mpf(n) / 300)
        p, q = 1 - 1 / (2 * ahead), ahead / 8
        best = max(best, p * laplace(x * q / p) + (1 - p) * laplace(x * (1 - q) / (1 - p)))
    return best


def normal(mu: float) -> mpmath.mpf:
    """Return the delta at epsilon 0 of Gaussian noise of that mu."""
    return 2 * mpmath.ncdf(mpmath.mpf(mu) / 2) - 1


def pattern(below: float, many: int, above: float, cutoff: int) -> mpmath.mpf:
    """Return the chance of so many queries below a threshold of scale 2 at 0, then so many above; queries have 4."""

    def under(x: mpmath.mpf) -> mpmath.mpf:
        return 1 - mpmath.exp(-x) / 2 if x > 0 else mpmath.exp(x) / 2

    def at(z: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(-abs(z) / 2) / 4 * under((z - below) / 4) ** many * under((above - z) / 4) ** cutoff

    return mpmath.quad(at, sorted({-200, -40, -10, 0, below, above, 10, 20, 40, 80, 200}))


def sparse(cutoff: int, falling: float) -> mpmath.mpf:
    """Return the loss of twelve queries below that rise by 1, and then above, of which each falls by `falling`."""
    return mpmath.log(pattern(0.5, 12, 0.5, cutoff) / pattern(1.5, 12, 0.5 - falling, cutoff))


def sparse_vector(cutoff: int, queries: Queries, query_scale: float = 4.0) -> ApproximateLoss | DiscreteLoss:
    """Return the loss that the mechanism states; without noise on queries it hides nothing."""
    return AboveThreshold(
        threshold_scale=2.0,
        query_scale=query_scale,
        linf_sensitivity=1.0,
        neighbours="replace_one",
        cutoff=cutoff,
        horizon=12 + cutoff,
        queries=queries,
    ).loss()


def printed() -> mpmath.mpf:
    """Return the loss of twelve queries below and then an answer of 0 or less, where all thirteen rise by 1."""

    def chance(query: int) -> mpmath.mpf:
        def at(z: mpmath.mpf) -> mpmath.mpf:
            below, above = (mpmath.exp((end - query) / mpmath.mpf(4)) / 2 for end in (z, 0))
            return mpmath.exp(z / 2) / 4 * below**12 * (above - below)

        return mpmath.quad(at, [-80, -20, -5, -1, 0])

    return mpmath.log(chance(0) / chance(1))


def flipped(scores: Scores) -> float:
    """Return what permute-and-flip of scale 1 / ln 4 states at epsilon 0."""
    scale = 1 / math.log(4)
    noise = PermuteAndFlip(scale=scale, linf_sensitivity=1.0, neighbours="replace_one", scores=scores)
    return noise.loss().hockey_stick(0.0)


def divergence(behind: Fraction, after: Fraction) -> Fraction:
    """Return the chi-square divergence of two candidates: the one behind wins so rarely, and then the other."""
    return (1 - behind) ** 2 / after + behind**2 / (1 - after) - 1


def gapped() -> float:
    """Return what permute-and-flip of epsilon ln 4 states as the chi-square divergence: that of order 2."""
    return math.expm1(renyi_of_loss(ThresholdLoss(shift=math.log(4)), 2.0)[1])


def votes(voters: int) -> float:
    """Return what a noisy plurality of stddev 2 states at epsilon 0."""
    ((loss, times),) = NoisyPlurality(stddev=2.0, neighbours="replace_one", voters=voters).loss().parts
    return float(normal(loss.mu * math.sqrt(times)))


def swapped(voters: int) -> mpmath.mpf:
    """Return how far two labels that swap places, under noise of stddev 2, move at epsilon 0."""
    return 2 * mpmath.ncdf(mpmath.mpf(voters) / mpmath.sqrt(8)) - 1


def rho_of(tree: Declaration) -> float:
    """Return the rho that is proved of a declaration."""
    return certify(tree, RhoClaim(rho=0.5, neighbours="add_remove")).tight.rows[0].upper


def budget(rho: float) -> Filtered:
    """Return a budget that pays for coin flips of epsilon ln 3, of rho .5493 each, and for others."""
    return Filtered(parts=(Stated(epsilon=math.log(3), source="a coin"),), rho=rho)


def mu_of(tree: Declaration) -> float:
    """Return the mu that is proved of a declaration."""
    return certify(tree, MuClaim(mu=1.0, neighbours="add_remove")).tight.rows[0].upper


def drawn(mu: int, order: int) -> mpmath.mpf:
    """Return what a Gaussian release shows of rho at an order, on a sample that a record is in half of the time.

    E[(1/2 + e^L / 2)^a] is at least e^(a (a - 1) mu^2 / 2) / 2^a.
    """
    return mpmath.mpf(mu) ** 2 / 2 - mpmath.log(2) / (order - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Above:
    """A bound of a rule that forgets something, what is reached all the same, and what the rule proves."""

    rule: str
    forgets: str
    broken: Side
    reached: Side
    proved: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A claim that a rule makes from below when it forgets something, and the most that is reached."""

    rule: str
    forgets: str
    broken: Side
    most: Side


TWINS = (
    Above(
        rule="choices of a range",
        forgets="that each choice may follow what was seen",
        broken=lambda: max(fixed(X, *places) for places in product(PLACES, repeat=2)),
        reached=lambda: played(X, 2),
        proved=proved_for_two,
    ),
    Below(
        rule="choices of a range",
        forgets="that two ranges are no one range of their sum",
        broken=lambda: at_once(float(X), 2 * math.log(E)),
        most=proved_for_two,
    ),
    Below(
        rule="choices of a range",
        forgets="that a pair which moves both has no free t",
        broken=lambda: played(X, 2),
        most=lambda: max(fixed(X, *places) for places in product(PLACES, repeat=2)),
    ),
    Below(
        rule="met once",
        forgets="that a composition has one pair",
        broken=lambda: two_laplace(1.5),
        most=lambda: two_flips(1.5),
    ),
    Above(
        rule="rho alone",
        forgets="that two records have four times the rho",
        broken=lambda: rho_of(Repeat(part=VENDOR, times=2)),
        reached=lambda: Fraction(2**2, 2),
        proved=lambda: rho_of(Group(part=VENDOR, size=2)),
    ),
    Above(
        rule="rho alone",
        forgets="that rare outputs of a sample show the whole part",
        broken=lambda: rho_of(VENDOR) / 2,
        reached=lambda: drawn(1, 101),
        proved=lambda: rho_of(Subsample(part=VENDOR, rate=0.5)),
    ),
    Above(
        rule="rho alone",
        forgets="that rho bounds no mu: randomised response of epsilon 1 has rho 1/2 at most",
        broken=lambda: normal(1.0),
        reached=lambda: mpmath.tanh(mpmath.mpf(1) / 2),
        proved=lambda: mu_of(VENDOR),
    ),
    Above(
        rule="rho alone",
        forgets="that the last step of a budget is paid before it is made",
        broken=lambda: rho_of(budget(0.6)),
        reached=lambda: 2 * mpmath.log(3) * mpmath.tanh(mpmath.log(3) / 2),
        proved=lambda: rho_of(budget(1.1)),
    ),
    Above(
        rule="sparse vector",
        forgets="that general queries move both ways",
        broken=lambda: sparse_vector(1, "monotone").supremum,
        reached=lambda: sparse(1, 1.0),
        proved=lambda: sparse_vector(1, "general").supremum,
    ),
    Above(
        rule="sparse vector",
        forgets="that each answer above is paid",
        broken=lambda: sparse_vector(1, "general").supremum,
        reached=lambda: sparse(2, 1.0),
        proved=lambda: sparse_vector(2, "general").supremum,
    ),
    Above(
        rule="sparse vector",
        forgets="that queries need noise",
        broken=lambda: 0.0,
        reached=lambda: -mpmath.expm1(-mpmath.mpf(1) / 2) / 2,
        proved=lambda: sparse_vector(1, "general", query_scale=0.0).hockey_stick(0.5),
    ),
    Above(
        rule="printed sparse vector",
        forgets="that a printed answer bounds the threshold's noise",
        broken=lambda: sparse_vector(1, "general").supremum,
        reached=printed,
        proved=lambda: (
            AboveThresholdAnswers(
                threshold_scale=2.0, query_scale=4.0, linf_sensitivity=1.0, neighbours="replace_one", horizon=13
            )
            .loss()
            .supremum
        ),
    ),
    Above(
        rule="noisy plurality",
        forgets="that a vote leaves one label and enters another",
        broken=lambda: normal(0.5),
        reached=lambda: swapped(1),
        proved=lambda: votes(1),
    ),
    Above(
        rule="noisy plurality",
        forgets="that several voters change",
        broken=lambda: votes(1),
        reached=lambda: swapped(2),
        proved=lambda: votes(2),
    ),
    Above(
        rule="permute-and-flip",
        forgets="that it has no bounded range: two candidates win with 7/8 and 1/8",
        broken=lambda: at_once(1.0, math.log(16)),
        reached=lambda: Fraction(7, 8) - Fraction(1, 8),
        proved=lambda: flipped("general"),
    ),
    Above(
        rule="permute-and-flip",
        forgets="that general scores may change places",
        broken=lambda: flipped("monotone"),
        reached=lambda: Fraction(7, 8) - Fraction(1, 8),
        proved=lambda: flipped("general"),
    ),
    Above(
        rule="worst gap",
        forgets="that the gap is the adversary's: equal scores show less",
        broken=lambda: divergence(Fraction(1, 2), Fraction(1, 8)),
        reached=lambda: divergence(Fraction(1, 4), Fraction(1, 4)),
        proved=gapped,
    ),
)


def lines() -> dict[str, list[str]]:
    """Return the cells of each line of the table of losses, by the name of the rule."""
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")] for line in SECTION.splitlines() if line[:2] == "| "
    ]
    return {row[0]: row[1:] for row in rows if row[0] != "rule"}


@pytest.mark.parametrize("twin", TWINS, ids=[f"{twin.rule} forgets {twin.forgets}" for twin in TWINS])
def test_a_rule_of_losses_that_forgets_a_premise_is_wrong(twin: Above | Below) -> None:
    """Differences are beyond a thousandth; what is proved may round in the last places."""
    with mpmath.workdps(30):
        if isinstance(twin, Below):
            assert 0 < _exact(twin.most()) < _exact(twin.broken()) - 1e-3
        else:
            reached = _exact(twin.reached())
            assert _exact(twin.broken()) + 1e-3 < reached <= _exact(twin.proved()) * (1 + mpmath.mpf("1e-12"))


def test_the_page_has_a_line_for_each_rule_of_losses_and_no_other() -> None:
    """The twins that a line names are those of its rule."""
    named = {(rule, forgets) for rule, cells in lines().items() for forgets in cells[4].split("; ")}
    assert named == {(twin.rule, twin.forgets.split(":")[0]) for twin in TWINS}


@pytest.mark.parametrize("rule", sorted({twin.rule for twin in TWINS}))
def test_a_rule_of_losses_has_a_statement_premises_a_source_and_a_test(rule: str) -> None:
    """Links lead to a section of a page, a publication is cited, and the test exists in the file that is named."""
    statement, premises, source, test, _ = lines()[rule]
    assert statement
    assert premises
    assert re.search(r"\b(?:19|20)\d\d\b|by definition", source) or "](" in source
    for file, section in re.findall(r"\]\(([\w.]+)#([\w-]+)\)", source):
        headings = re.findall(r"^#+ (.*)$", (THEORY / file).read_text(encoding="utf-8"), re.MULTILINE)
        assert section in {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}
    path, name = test.strip("`").split("::")
    assert f"\ndef {name}(" in (ROOT / "tests" / path).read_text(encoding="utf-8")


def _exact(value: Number) -> mpmath.mpf:
    """Return a number of 30 digits."""
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mpmath.mpf(value)
