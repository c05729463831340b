"""Broken twins: for each node a rule with a wrong premise, whose bound a seed's game exceeds; the right one holds.

Bounds are worked out from laws of two or more answers by hand: h is a curve at x, `rare` the map of a record that is in
a sample with some probability, against none.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import comb, prod

import pytest

import dpaudit as dp
from dpaudit.model.declaration import Filtered
from dpaudit.model.losses import ApproximateLoss
from dpaudit.model.losses.concentrated import concentrated_delta
from dpaudit.semantics import Move, Record, Table, UndefinedInstanceError, geometric, pairs, value
from dpaudit.semantics.game import View
from dpaudit.semantics.seeds import TABLES as SEED_TABLES
from dpaudit.semantics.seeds import WAYS, both, leaf, parallel, sample, truncated
from dpaudit.semantics.tables import Law
from tests.semantics.replays import Algorithm, replay
from tests.semantics.seeds import seeds

Curve = Callable[[Fraction], Fraction]
X = Fraction(3, 2)
SHARP, TWO, SKEW, SIDED = (leaf(name) for name in ("sharp", "two", "skew", "sided"))
LINE = geometric(Fraction(1, 2), 4)
"""Geometric noise on four answers, of which one record moves an answer by one step, and another record by two."""
THIRDS = SEED_TABLES["response"].laws
TABLES = SEED_TABLES | {
    "step": Table(LINE, {"remove": 1}),
    "change": Table(LINE, {"replace": 1}),
}
STEP, CHANGED = (dp.Stated(epsilon=3.0, source=name) for name in ("step", "change"))
SECRET = dp.Parallel(parts=(SHARP, SHARP), key="an order", visibility="secret")


def poisson(part: dp.Declaration, rate: float) -> dp.Subsample:
    """Return a part on a Poisson sample."""
    return dp.Subsample(part=part, rate=rate)


def h(x: Fraction, *factors: tuple[Law, Law]) -> Fraction:
    """Return the curve at x of independent releases, each with its two laws."""
    first, second = ([prod(cell, start=Fraction(1)) for cell in product(*side)] for side in zip(*factors, strict=True))
    return sum((max(p - x * q, Fraction(0)) for p, q in zip(first, second, strict=True)), start=Fraction(0))


def named(name: str) -> tuple[Law, Law]:
    """Return the laws of a table with a record and without it."""
    without, with_record = TABLES[name].laws
    return with_record, without


def orders(name: str) -> tuple[tuple[Law, Law], tuple[Law, Law]]:
    """Return both orders of the laws of a table."""
    return named(name), back(named(name))


def back(pair: tuple[Law, Law]) -> tuple[Law, Law]:
    """Return a pair in the other order."""
    return pair[1], pair[0]


def steps(count: int) -> tuple[Law, Law]:
    """Return the laws of geometric noise on answers that are so many steps apart."""
    return LINE[count], LINE[0]


def rare(rate: Fraction, x: Fraction, *factors: tuple[Law, Law]) -> Fraction:
    """Return the curve of a record that is there with probability `rate`, against none."""
    return 1 - x if x <= 1 - rate else rate * h(1 + (x - 1) / rate, *factors)


def either(x: Fraction, *names: str) -> Fraction:
    """Return the larger curve of both orders of tables."""
    return max(h(x, *(named(name) for name in names)), h(x, *(back(named(name)) for name in names)))


def chained(x: Fraction, one: Curve, other: Curve) -> Fraction:
    """Return the bound for one move after another, from the best of many splits; each split is a bound."""
    return min(one(u) + u * other(x / u) for u in (Fraction(n, 200) for n in range(100, 400)))


def allocated(x: Fraction, pair: tuple[Law, Law], places: int) -> Fraction:
    """Return the curve of a record at one secret place of several, against no record."""
    total = Fraction(0)
    for outputs in product(range(len(pair[0])), repeat=places):
        without = prod(pair[1][o] for o in outputs)
        mixed = sum(prod(pair[0 if i == at else 1][o] for i, o in enumerate(outputs)) for at in range(places))
        total += max(Fraction(mixed) / places - x * without, Fraction(0))
    return total


def beside(x: Fraction, own: tuple[Law, Law], other: Law) -> Fraction:
    """Return the curve of one report beside that of one other user, whose order is secret."""
    counts: dict[tuple[int, ...], list[Fraction]] = {}
    for side, law in enumerate(own):
        for (one, p), (two, q) in product(enumerate(law), enumerate(other)):
            counts.setdefault(tuple(sorted((one, two))), [Fraction(0), Fraction(0)])[side] += p * q
    return sum((max(p - x * q, Fraction(0)) for p, q in counts.values()), start=Fraction(0))


def weighted(x: Fraction, weights: list[Fraction], move: Callable[[int], tuple[Law, Law]]) -> Fraction:
    """Return the curve of a mixture of moves of 0, 1, 2, ... records, against no move."""
    first, second = [Fraction(0)] * len(LINE[0]), move(0)[1]
    for count, weight in enumerate(weights):
        first = [p + weight * more for p, more in zip(first, move(count)[0], strict=True)]
    return h(x, (tuple(first), second))


@dataclass(frozen=True, kw_only=True)
class Twin:
    """A tree with a move, the bound of a rule that forgets something, and a bound that holds."""

    forgets: str
    tree: dp.Declaration
    move: Move
    broken: Fraction
    sound: Fraction
    x: Fraction = X


TWINS = (
    Twin(forgets="the other order", tree=SKEW, move="remove", broken=h(X, named("skew")), sound=either(X, "skew")),
    Twin(
        forgets="a count",
        tree=dp.Repeat(part=SHARP, times=2),
        move="remove",
        broken=either(X, "sharp"),
        sound=either(X, "sharp", "sharp"),
    ),
    Twin(
        forgets="that each step may have its own order",
        tree=both(SKEW, SKEW),
        move="replace",
        broken=either(X, "skew", "skew"),
        sound=max(
            sum((p * either(X * q / p, "skew") for p, q in zip(*order, strict=True)), start=Fraction(0))
            for order in orders("skew")
        ),
    ),
    Twin(
        forgets="all steps of a budget but the first",
        tree=Filtered(parts=(TWO,), rho=1.2),
        move="remove",
        broken=either(X, "two"),
        sound=Fraction(concentrated_delta(1.2, math.log(X))),
    ),
    Twin(
        forgets="that the epsilons of steps add up",
        tree=Filtered(parts=(TWO,), epsilon=2.2),
        move="remove",
        broken=either(X, "two"),
        sound=Fraction(ApproximateLoss(epsilon=2.2).hockey_stick(math.log(X))),
    ),
    Twin(
        forgets="that a record in the place of another one pays an epsilon of its own",
        tree=Filtered(parts=(TWO,), epsilon=1.1, per="record"),
        move="replace",
        broken=Fraction(ApproximateLoss(epsilon=1.1).hockey_stick(math.log(X))),
        sound=either(X, "two", "two"),
    ),
    Twin(
        forgets="that a record in the place of another one pays from a budget of its own",
        tree=Filtered(parts=(TWO,), rho=0.55, per="record"),
        move="replace",
        broken=Fraction(concentrated_delta(0.55, math.log(X))),
        sound=either(X, "two", "two"),
    ),
    Twin(
        forgets="the runs that were not the best",
        tree=dp.BestOf(part=SHARP, law="fixed", runs=2),
        move="remove",
        broken=either(X, "sharp"),
        sound=either(X, "sharp", "sharp"),
    ),
    Twin(
        forgets="the dearer part",
        tree=parallel(TWO, SHARP),
        move="replace",
        broken=either(X, "two"),
        sound=either(X, "sharp"),
    ),
    Twin(
        forgets="that an exchange leaves one part and enters another",
        tree=parallel(SHARP, SHARP),
        move="exchange",
        broken=either(X, "sharp"),
        sound=either(X, "sharp", "sharp"),
    ),
    Twin(
        forgets="that no secret key is drawn again",
        tree=SECRET,
        move="replace",
        broken=either(X, "sharp") / 2,
        sound=either(X, "sharp"),
    ),
    Twin(
        forgets="that a replaced value leaves one cell and enters another",
        tree=WAYS["cells"](SHARP),
        move="replace",
        broken=either(X, "sharp"),
        sound=either(X, "sharp", "sharp"),
    ),
    Twin(
        forgets="the second message of an exchange",
        tree=dp.Local(part=SHARP),
        move="exchange",
        broken=either(X, "sharp"),
        sound=either(X, "sharp", "sharp"),
    ),
    Twin(
        forgets="that two records move twice as far",
        tree=dp.Group(part=STEP, size=2),
        move="remove",
        broken=h(X, steps(1)),
        sound=h(X, steps(2)),
    ),
    Twin(
        forgets="the zeroed record in the sample, which is not absent",
        tree=poisson(both(leaf("size"), TWO), 0.1),
        move="zero",
        broken=rare(Fraction(1, 10), Fraction(11, 10), named("two")),
        sound=Fraction(1, 10) * h(Fraction(11, 10), named("two")),
        x=Fraction(11, 10),
    ),
    Twin(
        forgets="the record that is put in place of the replaced one",
        tree=poisson(STEP, 0.3),
        move="replace",
        broken=rare(Fraction(3, 10), X, steps(1)),
        sound=Fraction(3, 10) * h(X, steps(2)),
    ),
    Twin(
        forgets="that a person's records are drawn without replacement",
        tree=dp.Group(part=sample(SHARP, 3, 1), size=2),
        move="remove",
        broken=rare(1 - Fraction(2, 3) ** 2, X, named("sharp")),
        sound=rare(Fraction(2, 3), X, named("sharp")),
    ),
    Twin(
        forgets="that the second record is removed from one record less",
        tree=dp.Group(part=sample(SHARP, 3, 1), size=2),
        move="remove",
        broken=chained(
            X, lambda u: rare(Fraction(1, 3), u, named("sharp")), lambda u: rare(Fraction(1, 3), u, named("sharp"))
        ),
        sound=chained(
            X, lambda u: rare(Fraction(1, 3), u, named("sharp")), lambda u: rare(Fraction(1, 2), u, named("sharp"))
        ),
    ),
    Twin(
        forgets="that another record takes the place of a removed one",
        tree=sample(STEP, 2, 1),
        move="remove",
        broken=rare(Fraction(1, 2), X, steps(1)),
        sound=rare(Fraction(1, 2), X, steps(2)),
    ),
    Twin(
        forgets="that another record fills a cut sample",
        tree=truncated(STEP, 1.0, 3, 1),
        move="remove",
        broken=rare(Fraction(1, 3), X, steps(1)),
        sound=rare(Fraction(1, 3), X, steps(2)),
    ),
    Twin(
        forgets="that a record is drawn more than once",
        tree=sample(CHANGED, 2, 2, "with_replacement"),
        move="remove",
        broken=weighted(X, [Fraction(1, 4), Fraction(3, 4)], steps),
        sound=weighted(X, [Fraction(comb(2, j), 4) for j in range(3)], steps),
    ),
    Twin(
        forgets="that a step at which a zeroed record is placed is seen",
        tree=dp.Allocate(part=both(leaf("size"), TWO), steps=2),
        move="zero",
        broken=allocated(X, named("two"), 2),
        sound=h(X, named("two")),
    ),
    Twin(
        forgets="that places are not drawn for each step",
        tree=dp.Allocate(part=SHARP, steps=2),
        move="remove",
        broken=rare(Fraction(1, 2), X, named("sharp")),
        sound=allocated(X, named("sharp"), 2),
    ),
    Twin(
        forgets="that a shuffle hides nothing of one user",
        tree=dp.Shuffle(part=SHARP, users=1),
        move="replace",
        broken=either(X, "two"),
        sound=either(X, "sharp"),
    ),
    Twin(
        forgets="that others may all hold the value that hides less",
        tree=dp.Shuffle(part=SKEW, users=2),
        move="replace",
        broken=min(max(beside(X, pair, other) for pair in orders("skew")) for other in named("skew")),
        sound=max(beside(X, pair, other) for pair in orders("skew") for other in named("skew")),
    ),
    Twin(
        forgets="that others may hold a third value",
        tree=dp.Shuffle(part=leaf("response"), users=2),
        move="replace",
        broken=max(beside(X, (THIRDS[0], THIRDS[1]), other) for other in THIRDS[:2]),
        sound=max(beside(X, (THIRDS[0], THIRDS[1]), other) for other in THIRDS),
    ),
)


@pytest.mark.parametrize("twin", TWINS, ids=[twin.forgets for twin in TWINS])
def test_the_game_exceeds_a_rule_that_forgets_something(twin: Twin) -> None:
    """The broken bound lies below what an adversary reaches on a pair; the right one does not."""
    assert twin.broken < best(twin.tree, twin.move, twin.x) <= twin.sound


def best(tree: dp.Declaration, move: Move, x: Fraction = X) -> Fraction:
    """Return the largest value over the pairs of a move of which the tree says something."""
    found = [Fraction(0)]
    for pair in pairs(move):
        with suppress(UndefinedInstanceError):
            found.append(value(tree, TABLES, pair, x))
    return max(found)


def curve(views: Mapping[View, tuple[Fraction, Fraction]], x: Fraction = X) -> Fraction:
    """Return what the two laws of a stated algorithm attain."""
    return sum((max(p - x * q, Fraction(0)) for p, q in views.values()), start=Fraction(0))


def test_keys_decided_by_the_view_exceed_fixed_keys() -> None:
    """After the first part's output the adversary picks which of two unlike parts the other record enters."""
    tree = seeds()["unlike parts decided by the view"]
    found = best(tree, "exchange")
    fixed = [
        h(X, first, second)
        for one, other in combinations(("two", "sided", "mirrored"), 2)
        for first, second in product(orders(one), orders(other))
    ]
    assert found > max(fixed)


def test_a_choice_made_by_the_view_exceeds_each_part_repeated() -> None:
    """Which of two parts a record enters may depend on the first output."""
    each = (product(orders(name), repeat=2) for name in ("skew", "sided"))
    repeated = max(h(X, first, second) for pair in each for first, second in pair)
    assert best(seeds()["choice repeated"], "replace") > repeated


def test_samples_of_everybody_say_nothing_about_a_removed_record() -> None:
    """Of n records n are drawn; of n - 1 they cannot be: the pair is none of the declaration, for any curve of it."""
    for records in (1, 2, 3):
        for pair in (*pairs("remove"), *pairs("add")):
            with pytest.raises(UndefinedInstanceError, match=r"batch|population"):
                value(seeds()[f"fixed {records} of {records}"], TABLES, pair)


@pytest.mark.parametrize(
    "name", ["poisson over fixed 1 of 2", "fixed 2 of 3 over fixed 1 of 3", "parallel over fixed 2 of 3"]
)
def test_a_population_that_is_not_what_is_passed_on_is_undefined(name: str) -> None:
    """A sample of two of three records is given three records, never about three."""
    for pair in pairs("remove"):
        with pytest.raises(UndefinedInstanceError):
            value(seeds()[name], TABLES, pair)


def test_a_sample_is_given_a_whole_number_of_records() -> None:
    """A rate that is no batch of a whole population says nothing of a removed record."""
    tree = dp.Subsample(part=SHARP, rate=0.5, scheme="without_replacement")
    for pair in pairs("remove"):
        with pytest.raises(UndefinedInstanceError):
            value(tree, TABLES, pair)


def test_a_claim_below_that_counts_the_touched_cell_twice_is_not_attained() -> None:
    """A query that tells records apart in one cell alone attains one cell's curve, not the product of two."""
    one, two = Record(0, 1), Record(0, 2)
    query = {(): 0, (one,): 1, (two,): 0}
    stated = Algorithm(queries=(query, query), keys=(((1, 0), (2, 1)),))
    attained = curve(replay(seeds()["cells over sharp"], TABLES, ((one,), (two,)), stated))
    assert attained == h(X, named("sharp")) < h(X, named("sharp"), back(named("sharp")))


def test_a_claim_below_that_takes_linked_keys_as_independent_is_not_attained() -> None:
    """With one key for both nodes a record meets the first or the second parts, never the dearest of each."""
    tree = both(parallel(SHARP, TWO), parallel(TWO, SHARP, key="a phase"))
    pair = next(pairs("remove"))
    answers = {(): 0, (Record(0, pair[0][0].value),): 1}
    for part in (0, 1):
        stated = Algorithm(queries=(answers,) * 4, keys=(((0, part),),) * 2)
        attained = curve(replay(tree, TABLES, pair, stated))
        assert attained == h(X, named("sharp"), named("two")) < h(X, named("sharp"), named("sharp"))


def test_a_claim_below_that_counts_others_as_alike_is_not_attained() -> None:
    """A secret key hides which part a record meets; only a key that is seen attains the part's whole curve."""
    assert best(SECRET, "remove") < h(X, named("sharp"))


def test_a_claim_below_by_the_sensitivity_alone_is_not_attained_on_a_sample() -> None:
    """Whether there are two records has sensitivity 1; on a Poisson sample its pair is met at the rate squared."""
    rate = Fraction(3, 10)
    second = next(pair for pair in pairs("remove") if len(pair[0]) == 2)
    stated = Algorithm(queries=({data: int(len(data) >= 2) for data in subsets(second[0])},))
    attained = curve(replay(seeds()["poisson over sharp"], TABLES, second, stated))
    assert attained == rare(rate**2, X, named("sharp")) < rare(rate, X, named("sharp"))


def subsets(data: tuple[Record, ...]) -> list[tuple[Record, ...]]:
    """Return all sets of records, without slots."""
    return [tuple(Record(0, r.value) for r in chosen) for size in range(3) for chosen in combinations(data, size)]


def test_a_sampled_loss_that_cancels_lies_below_the_game() -> None:
    """L + log(q + p e^-L) loses all digits of a small rate; its curve is below what an adversary reaches."""
    rate, loss = 1e-17, math.log(6.0)
    cancelled = loss + math.log(rate + (1 - rate) * math.exp(-loss))
    found = best(seeds()["poisson at 1e-17 over skew"], "remove", Fraction(1))
    assert 0.6 * (1 - math.exp(-cancelled)) < float(found) <= Fraction(rate) * either(Fraction(1), "skew")


def test_a_removal_chained_with_itself_lies_below_the_game() -> None:
    """Two removals from three records pass a data set of two, whose samples hold a record more often."""
    tree = dp.Group(part=seeds()["fixed 1 of 3 over sharp"], size=2)
    found = best(tree, "remove")
    second = {n: partial(rare_sharp, Fraction(1, n)) for n in (3, 2)}
    same, falling = (chained(X, second[3], second[n]) for n in (3, 2))
    assert same < Fraction("0.41") < found <= falling
    assert float(found) == pytest.approx(0.483, abs=5e-4)


def rare_sharp(rate: Fraction, x: Fraction) -> Fraction:
    """Return the curve of a record that is there with probability `rate`, of the sharp table."""
    return rare(rate, x, named("sharp"))
