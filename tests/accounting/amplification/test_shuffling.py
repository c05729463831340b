"""Shuffled reports: known numbers, every data set of a few users counted out, the trap of the hidden null."""

import json
import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import TypeAlias

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit as dp
from dpaudit.accounting.few_reports import counts_beside, heights_of_few
from dpaudit.accounting.reports import counted_out, pairs_of, two_outcomes, values_of
from dpaudit.accounting.shuffling import Clones, _cloned, clones_of
from dpaudit.model.certificate import digest_of
from dpaudit.model.losses import Composition, DiscreteLoss
from dpaudit.semantics.tables import geometric
from mechanisms import DiscreteLaplace, Finite, Gaussian, Laplace, RandomisedResponse, SubsetSelection, UnaryEncoding
from tests.mutation.planting import Source, planted

Law = dict[tuple[int, ...], float]


def report(epsilon: float = 1.0, categories: int = 2) -> dp.Release:
    """Return one user's randomised response."""
    return dp.Release(label="answer", mechanism=RandomisedResponse(epsilon=epsilon, categories=categories))


@lru_cache(maxsize=512)
def counts_of(answers: tuple[int, ...], epsilon: float, categories: int) -> tuple[tuple[tuple[int, ...], float], ...]:
    """Return the law of the vector of counts, user by user."""
    lie = 1 / (math.exp(epsilon) + categories - 1)
    law: Law = {(0,) * categories: 1.0}
    for answer in answers:
        longer: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for counts, mass in law.items():
            for said in range(categories):
                more = tuple(n + (i == said) for i, n in enumerate(counts))
                longer[more] += mass * lie * (math.exp(epsilon) if said == answer else 1.0)
        law = dict(longer)
    return tuple(law.items())


def delta_of(first: tuple[int, ...], second: tuple[int, ...], epsilon0: float, categories: int, at: float) -> float:
    """Return delta between two data sets, summed over all counts."""
    p, q = (dict(counts_of(answers, epsilon0, categories)) for answers in (first, second))
    return sum(max(0.0, mass - math.exp(at) * q[counts]) for counts, mass in p.items())


@pytest.mark.parametrize(
    ("users", "at", "any_randomiser", "binary"),
    [(3, 0.3, 0.2457029347, 0.1980040617), (1000, 0.1, 3.527657e-4, 8.201166e-5)],
)
def test_the_pair_has_known_deltas(users: int, at: float, any_randomiser: float, binary: float) -> None:
    """epsilon0 1: c = 1/p for any randomiser, 2/(p + 1) for binary response."""
    for rate, known in ((math.exp(-1), any_randomiser), (2 / (math.e + 1), binary)):
        low, high = Clones(epsilon=1.0, users=users, rate=rate).delta(at)
        digits = 2e-10 if users == 3 else known * 3e-7
        assert known - digits <= low <= high <= known + digits
        assert high - low <= 2e-9 * high + 1e-30


@pytest.mark.parametrize(("rate", "epsilon"), [(math.exp(-1), 0.0530055), (2 / (math.e + 1), 0.0432062)])
def test_ten_thousand_users_have_known_epsilons(rate: float, epsilon: float) -> None:
    """delta 1e-6 is reached at .0530055 for any randomiser, at .0432062 for binary response."""
    clones = Clones(epsilon=1.0, users=10_000, rate=rate)
    assert clones.delta(epsilon - 2e-7)[0] > 1e-6 > clones.delta(epsilon + 2e-7)[1]


@pytest.mark.parametrize(("epsilon", "categories"), [(1.0, 2), (1.0, 3), (1.0, 10), (2.0, 4), (3.0, 3), (3.0, 20)])
def test_forty_responses_are_known_within_two_percent(epsilon: float, categories: int) -> None:
    """At every delta. Twin: the clones alone are more than four percent wide for the same reports at 1e-2."""
    node = dp.Shuffle(part=report(epsilon, categories), users=40)
    form = dp.fold(node, "replace_one")
    for delta in (3e-2, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8):
        bracket = dp.bracket_epsilon(form, delta)
        assert bracket.upper <= 1.02 * bracket.lower
    assert clones_of(epsilon, 40, categories).delta(dp.bracket_epsilon(form, 1e-2).lower * 1.04)[1] > 1e-2


@pytest.mark.parametrize(("epsilon", "categories", "users"), [(1.0, 3, 4), (2.0, 4, 4), (3.0, 5, 3)])
def test_the_worst_data_set_of_few_users_is_counted_out(epsilon: float, categories: int, users: int) -> None:
    """The largest delta of all data sets, as each is enumerated; others may hold several third answers.

    Twin: others who all hold one third answer are not the worst ones at large epsilons.
    """
    at = np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97]) * epsilon
    others = list(combinations_with_replacement(range(categories), users - 1))
    worst = [max(delta_of((0, *o), (1, *o), epsilon, categories, float(e)) for o in others) for e in at]
    counted = heights_of_few(epsilon=epsilon, users=users, answers=categories, at=at)
    assert counted == pytest.approx(worst, rel=1e-7)
    p, q = counts_beside(epsilon=epsilon, users=users, answers=categories, held=2)
    assert np.maximum(p - math.exp(at[-1]) * q, 0.0).sum() < 0.9 * counted[-1]


def test_a_witness_names_a_data_set_that_is_known() -> None:
    """Twin: of three answers the others hold a third one, the second or the first; an entry beyond is rejected."""
    node = dp.Shuffle(part=dp.Local(part=report(2.0, 3)), users=6)
    data = json.loads(dp.certify(node, dp.Claim(epsilon=1.9, delta=1e-5, neighbours="replace_one")).to_json())
    (entry,) = data["witnesses"][0]["plan"]
    assert entry == {"path": "root", "part": 2}
    assert dp.verify(json.dumps(data)).accepted
    entry["part"] = 3
    data["digest"] = digest_of(data)
    assert any("a data set that is not known" in line for line in dp.verify(json.dumps(data)).complaints)


def test_the_lower_side_is_the_explicit_data_set() -> None:
    """Three categories: others on the third one, or on the first; binary: some of the others hold the first one."""
    for categories, users in ((3, 5), (2, 6)):
        form = dp.fold(dp.Shuffle(part=report(1.0, categories), users=users), "replace_one")
        tried = [(2,) * 4, (0,) * 4] if categories == 3 else [(0,) * n + (1,) * (5 - n) for n in range(3)]
        for at in (0.1, 0.3):
            pairs = [((x, *o), (y, *o)) for o in tried for x, y in ((0, 1), (1, 0))]
            shown = max(delta_of(*pair, 1.0, categories, at) for pair in pairs)
            assert dp.bracket_delta(form, at).lower == pytest.approx(shown, rel=2e-4)


def test_the_pair_with_a_hidden_null_is_no_upper_bound() -> None:
    """Trap: four categories, five users, epsilon 1, at .3: .0795752976 claimed, .0795803699 seen with others elsewhere.

    The upper side that is folded lies above both; who hides the null among the rest is caught.
    """
    epsilon, categories, users, at = 1.0, 4, 5, 0.3
    p, lie = math.e, 1 / (math.e + 3)
    hidden = hidden_null(p, lie, users, at)
    assert hidden == pytest.approx(0.0795752976, abs=2e-10)
    truth = delta_of((0, 3, 3, 3, 3), (1, 3, 3, 3, 3), epsilon, categories, at)
    assert truth == pytest.approx(0.0795803699, abs=2e-10)
    assert hidden < truth
    assert dp.bracket_delta(dp.fold(dp.Shuffle(part=report(1.0, 4), users=5), "replace_one"), at).upper > truth
    published = lie * (p + 1) * Clones(epsilon=1.0, users=5, rate=2 * lie).delta(at)[1]
    assert published == pytest.approx(0.115793, abs=2e-6)


def hidden_null(p: float, lie: float, users: int, at: float) -> float:
    """Return delta of the pair that hides whether the user named a third category."""
    total = 0.0
    for a, b in product(range(users + 1), repeat=2):
        law = {}
        for turned in (False, True):
            one, two = (p * lie, lie) if not turned else (lie, p * lie)
            rest = 1 - (p + 1) * lie
            law[turned] = one * both(a - 1, b, lie, users) + two * both(a, b - 1, lie, users)
            law[turned] += rest * both(a, b, lie, users)
        total += max(0.0, law[False] - math.exp(at) * law[True])
    return total


def both(a: int, b: int, lie: float, users: int) -> float:
    """Return the probability that of the others a and b give the two answers."""
    rest = users - 1 - a - b
    if min(a, b, rest) < 0:
        return 0.0
    ways = math.comb(users - 1, a) * math.comb(users - 1 - a, b)
    return float(ways * lie ** (a + b) * (1 - 2 * lie) ** rest)


@pytest.mark.parametrize("points", [8, pytest.param(57, marks=pytest.mark.slow)])
def test_the_atoms_lie_above_the_pair_at_and_between_knots(points: int) -> None:
    """The dominating atoms are nowhere below the pair, for few and for many users; beyond 1e-12 knots are sparser."""
    for users in (2, 41, 2000):
        node = dp.Shuffle(part=report(1.0, 3), users=users)
        ((loss, _),) = dp.fold(node, "replace_one").upper[0].parts
        assert isinstance(loss, DiscreteLoss)
        (pair,) = pairs_of([RandomisedResponse(epsilon=1.0, categories=3).report_laws()])
        places = np.linspace(0.0, 1.0, points)
        heights = [pair.height(users, float(at)) for at in places]
        if users <= 41:  # all data sets are counted
            heights = heights_of_few(epsilon=1.0, users=users, answers=3, at=places).tolist()
        for at, proved in zip(places, heights, strict=True):
            above = 1.03 if proved > 1e-12 else 1.2
            assert proved * (1 - 1e-6) - 1e-19 <= loss.hockey_stick(float(at)) <= proved * above + 1e-14


Reporting: TypeAlias = Finite | UnaryEncoding | SubsetSelection

REPORTS: dict[str, Reporting] = {
    "basic RAPPOR": UnaryEncoding(epsilon=1.5, categories=3),
    "optimised unary encoding": UnaryEncoding(epsilon=2.0, categories=4, encoding="optimised"),
    "subset selection": SubsetSelection(epsilon=2.0, categories=4, subset_size=2),
    "a table of two outcomes": Finite(first=(0.9, 0.1), second=(0.6, 0.4), neighbours="replace_one"),
    "a table of three outcomes": Finite(first=(0.7, 0.2, 0.1), second=(0.3, 0.3, 0.4), neighbours="replace_one"),
}


def whole_laws(mechanism: Reporting) -> list[list[Fraction]]:
    """Return the law of a report for every value, over all outcomes, from its densities as fractions."""
    if isinstance(mechanism, Finite):
        values, outcomes = 2, np.arange(len(mechanism.first))
    else:
        values, outcomes = mechanism.categories, np.array(list(product((0, 1), repeat=mechanism.categories)))
    rows = [np.exp(mechanism.log_density(outcomes, np.full(len(outcomes), value))) for value in range(values)]
    possible = [row[rows[0] > 0] for row in rows]
    return [[Fraction(p) for p in row] for row in possible]


def largest_delta(laws: list[list[Fraction]], users: int, at: float, pair: tuple[int, int] = (0, 1)) -> float:
    """Return the largest delta of all data sets, in both orders of a pair of values, in fractions."""
    x, worst = Fraction(math.exp(at)), Fraction(0)
    for others in combinations_with_replacement(range(len(laws)), users - 1):
        both = []
        for own in pair:
            counts: dict[tuple[int, ...], Fraction] = {(0,) * len(laws[0]): Fraction(1)}
            for value in (own, *others):
                longer: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
                for seen, mass in counts.items():
                    for place, chance in enumerate(laws[value]):
                        longer[(*seen[:place], seen[place] + 1, *seen[place + 1 :])] += mass * chance
                counts = longer
            both.append(counts)
        for p, q in (both, both[::-1]):
            worst = max(worst, sum((max(Fraction(0), mass - x * q[seen]) for seen, mass in p.items()), Fraction(0)))
    return float(worst)


@pytest.mark.parametrize("users", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", REPORTS)
def test_no_data_set_of_a_few_reports_exceeds_the_upper_side(kind: str, users: int) -> None:
    """All data sets in fractions, all values and outcomes. Twin: the next larger number of users is below the truth."""
    mechanism = REPORTS[kind]
    part = dp.Release(label="report", mechanism=mechanism)
    laws = whole_laws(mechanism)
    form, more = (dp.fold(dp.Shuffle(part=part, users=n), "replace_one") for n in (users, users + 2))
    pairs = pairs_of([mechanism.report_laws()])
    for at in (0.0, 0.3, 0.7):
        truth = largest_delta(laws, users, at)
        bracket = dp.bracket_delta(form, at)
        assert bracket.lower <= truth * (1 + 1e-9)
        assert truth <= bracket.upper * (1 + 1e-9)
        assert bracket.lower >= 0.98 * truth
        assert truth <= max(pair.height(users, at) for pair in pairs) * (1 + 1e-9)
        assert dp.bracket_delta(more, at).lower < truth


def test_a_second_question_may_depend_on_the_first_answer() -> None:
    """Two responses of unlike epsilons: eight values, and all 28 changes of one. Twin: one user more hides more."""
    parts = [RandomisedResponse(epsilon=epsilon) for epsilon in (0.5, 1.2)]
    laws = [[Fraction(p) for p in law] for law in values_of([part.report_laws() for part in parts]).tolist()]
    assert len(laws) == 8
    releases = tuple(dp.Release(label=str(n), mechanism=part) for n, part in enumerate(parts))
    forms = [dp.fold(dp.Shuffle(part=dp.Sequential(parts=releases), users=n), "replace_one") for n in (2, 3)]
    for at in (0.3, 1.0):
        truth = max(largest_delta(laws, 2, at, pair) for pair in combinations(range(8), 2))
        assert truth <= dp.bracket_delta(forms[0], at).upper * (1 + 1e-9) <= truth * (1 + 1e-2)
        assert dp.bracket_delta(forms[1], at).upper < truth


@pytest.mark.parametrize("refuted", [False, True])
@pytest.mark.parametrize(
    ("kind", "users"),
    [
        ("basic RAPPOR", 50),
        ("a table of three outcomes", 12),
        pytest.param("subset selection", 50, marks=pytest.mark.slow),
        pytest.param("optimised unary encoding", 400, marks=pytest.mark.slow),
        pytest.param("a table of two outcomes", 400, marks=pytest.mark.slow),
    ],
)
def test_certificates_of_known_reports_are_verified(kind: str, users: int, refuted: bool) -> None:
    """The checker derives both sides. Twin: a certificate for more users than were declared is rejected."""
    node = dp.Shuffle(part=dp.Local(part=dp.Release(label="report", mechanism=REPORTS[kind])), users=users)
    bracket = dp.bracket_epsilon(dp.fold(node, "replace_one"), 1e-5)
    epsilon = bracket.lower * 0.98 if refuted else bracket.upper * 1.001
    certificate = dp.certify(node, dp.Claim(epsilon=epsilon, delta=1e-5, neighbours="replace_one"))
    assert certificate.verdict == ("refuted" if refuted else "certified")
    found = dp.verify(certificate.to_json())
    assert found.accepted, found.complaints
    assert not dp.verify(certificate.to_json().replace(f'"users": {users}', f'"users": {users * 2}')).accepted


def test_a_shuffled_table_rests_on_its_two_values() -> None:
    """The derivation names the rule, and a violated premise proves nothing. Twin: without the condition."""
    node = dp.Shuffle(part=dp.Release(label="report", mechanism=REPORTS["a table of three outcomes"]), users=12)
    claim = dp.Claim(epsilon=1.0, delta=1e-2, neighbours="replace_one")
    certificate = dp.certify(node, claim)
    assert certificate.verdict == "certified"
    assert certificate.derivation[-1].rule == "shuffled table"
    (held,) = [condition for condition in certificate.conditions if condition.kind == "two_values"]
    broken = dp.certify(node, claim, conditions=(held.seen(holds=False),))
    assert (broken.verdict, broken.tight.delta.upper) == ("not_proved", 1.0)
    assert dp.verify(broken.to_json()).accepted
    data = json.loads(certificate.to_json())
    data["conditions"] = [row for row in data["conditions"] if row["kind"] != "two_values"]
    data["digest"] = digest_of(data)
    assert any("only two values" in line for line in dp.verify(json.dumps(data)).complaints)


def test_more_users_of_two_answers_are_counted_in_blocks() -> None:
    """Each data set of 400 users lies below the blocks, and the worst within one percent of epsilon."""
    mechanism = Finite(first=(0.8, 0.2), second=(0.5, 0.5), neighbours="replace_one")
    node = dp.Shuffle(part=dp.Release(label="answer", mechanism=mechanism), users=400)
    bracket = dp.bracket_epsilon(dp.fold(node, "replace_one"), 1e-6)
    assert bracket.lower <= bracket.upper <= 1.01 * bracket.lower
    pair, back = pairs_of([mechanism.report_laws()])
    at = np.array([0.1, 0.2])
    for way in (pair, back):
        exact = counted_out(way, 60, at)
        assert two_outcomes(way, 60, at) == pytest.approx(exact, rel=1e-6)
        assert (two_outcomes(way, 400, at) < exact).all()


@pytest.mark.parametrize("kind", ["basic RAPPOR", "subset selection", "a table of three outcomes"])
def test_reports_of_many_users_lie_between_a_data_set_and_the_blanket(kind: str) -> None:
    """Far below the clones of any randomiser (Feldman et al. 2021). Twin: the blanket of all that a value gives."""
    mechanism = REPORTS[kind]
    node = dp.Shuffle(part=dp.Release(label="report", mechanism=mechanism), users=1_000)
    bracket = dp.bracket_epsilon(dp.fold(node, "replace_one"), 1e-6)
    assert 0.7 * bracket.upper <= bracket.lower <= bracket.upper
    if not isinstance(mechanism, Finite):
        assert clones_of(mechanism.epsilon, 1_000, 0).delta(1.2 * bracket.upper)[0] > 1e-6
    pair = pairs_of([mechanism.report_laws()])[0]
    bold = replace(pair, least=pair.values[-1])
    assert bold.height(1_000, bracket.upper) < 0.5 * pair.height(1_000, bracket.upper)


def test_reports_of_any_randomiser_have_an_upper_side_alone() -> None:
    """Stated reports: c = 1/p. Laplace reports cost less, and no data set is known to attain anything of either."""
    noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    parts = dp.Release(label="value", mechanism=noise), dp.Stated(epsilon=1.0, source="a telephone's maker")
    forms = [dp.fold(dp.Shuffle(part=part, users=1000), "replace_one") for part in parts]
    assert [form.lower for form in forms] == [(Composition(),)] * 2
    assert dp.bracket_delta(forms[1], 0.1).upper == pytest.approx(3.527657e-4, rel=1e-3)
    assert [dp.bracket_epsilon(form, 1e-6).upper for form in forms] == pytest.approx([0.16188, 0.18241], rel=1e-3)


@pytest.mark.parametrize("users", [1, 2, 3])
def test_no_data_set_of_noisy_numbers_exceeds_clones_of_their_pair(users: int) -> None:
    """Geometric noise on 0, 1 and 2, what lies beyond being counted at the ends: all data sets, in fractions.

    The bound is below that of any randomiser. Twin: clones that hide without the factor 1/p are exceeded.
    """
    laws = [[*law] for law in geometric(Fraction(1, 2), 3)]
    noise = DiscreteLaplace(scale=1 / math.log(2), l1_sensitivity=2, neighbours="replace_one")
    node = dp.Shuffle(part=dp.Release(label="number", mechanism=noise), users=users)
    form, any_randomiser = dp.fold(node, "replace_one"), clones_of(math.log(4), users, 0)
    pair = _cloned(dp.fold(node.part, "replace_one").upper[0], math.log(4))
    assert pair is not None
    bold = replace(pair, least=(pair.first + pair.second) / 2)
    for at in (0.0, 0.4, 0.9):
        truth = max(largest_delta(laws, users, at, ends) for ends in combinations(range(3), 2))
        upper = dp.bracket_delta(form, at).upper
        assert truth <= upper * (1 + 1e-9)
        if users > 1:
            assert upper < any_randomiser.delta(at)[1] * 0.99
            assert bold.height(users, at) < truth


def test_a_shuffle_protects_the_central_view_alone() -> None:
    """Whoever sees a report before the shuffle has the report's own epsilon."""
    claim = dp.Claim(epsilon=1.0, delta=1e-6, neighbours="replace_one", model="local")
    certificate = dp.certify(dp.Shuffle(part=dp.Local(part=report()), users=60), claim)
    assert certificate.verdict == "not_proved"
    assert any("local" in reason for reason in certificate.reasons)


TOGETHER = dp.Condition(kind="attained", about=("a", "b"), status="checked", text="A test moves both.")


def two_tables(first: Finite, second: Finite) -> dp.Shuffle:
    """Return two users' reports of two tables."""
    releases = (dp.Release(label="a", mechanism=first), dp.Release(label="b", mechanism=second))
    return dp.Shuffle(part=dp.Sequential(parts=releases), users=2)


def counted_of_two(tables: tuple[Finite, Finite]) -> float:
    """Return the largest delta at epsilon .5 of two users, each table having its first law for one value."""
    values = [np.outer(*laws).ravel() for laws in zip(*((t.first, t.second) for t in tables), strict=True)]
    sums = [[np.outer(own, other) + np.outer(other, own) for own in values] for other in values]
    pairs = [(p, q) for change in sums for p, q in (change, change[::-1])]
    return max(float(np.maximum(p - math.exp(0.5) * q, 0).sum() / 2) for p, q in pairs)


def test_the_laws_of_two_shuffled_tables_may_be_the_records_in_opposite_orders() -> None:
    """A pair that moves both tables says not which law of each a value has; the twin takes the laws as stated."""
    stated = Finite(first=(0.6, 0.4), second=(0.1, 0.9), neighbours="replace_one")
    turned = replace(stated, first=stated.second, second=stated.first)
    opposite, tree = counted_of_two((stated, turned)), two_tables(stated, stated)
    between = dp.Claim(epsilon=0.5, delta=(opposite + counted_of_two((stated, stated))) / 2, neighbours="replace_one")
    assert dp.bracket_delta(dp.fold(tree, "replace_one", (TOGETHER,)), 0.5).lower <= opposite < between.delta
    rule = "dpaudit.accounting.derivation.shuffles:table_attained"
    with planted(Source(target=rule, old="asked.together", new="False")):
        broken = dp.certify(tree, between, conditions=(TOGETHER,))
    assert broken.verdict == "refuted"
    assert not dp.verify(broken.to_json()).accepted


def test_what_is_not_covered_is_refused_by_name() -> None:
    """Users with randomisers of their own, reports that can fail, noise without a largest loss, other neighbours."""
    with pytest.raises(ValueError, match="the same for every user"):
        dp.Shuffle(part=dp.Group(part=report(), size=2), users=10)
    with pytest.raises(ValueError, match="pure epsilon"):
        dp.Shuffle(part=dp.Stated(epsilon=1.0, delta=1e-9, source="a vendor"), users=10)
    with pytest.raises(ValueError, match="one user's own message"):
        dp.Local(part=dp.Shuffle(part=report(), users=10))
    normal = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    with pytest.raises(dp.UnsupportedError, match="'shuffle'"):
        dp.fold(dp.Shuffle(part=dp.Release(label="value", mechanism=normal), users=10), "replace_one")
    with pytest.raises(dp.UnsupportedError, match="'shuffle' under remove: no rule"):
        dp.fold(dp.Shuffle(part=dp.Stated(epsilon=1.0, source="a vendor"), users=10), "add_remove")


@pytest.mark.parametrize("epsilon", [1e-9, 1e-14, 1e-15, 1e-16])
def test_reports_of_next_to_no_epsilon_keep_theirs(epsilon: float) -> None:
    """Rounding of e^epsilon - 1 would put the upper end below one report's epsilon at delta 0, and the lower above."""
    answer = dp.Release(label="answer", mechanism=RandomisedResponse(epsilon=epsilon))
    found = dp.bracket_epsilon(dp.fold(dp.Shuffle(part=dp.Local(part=answer), users=10), "replace_one"), 0.0)
    assert found.lower <= epsilon * (1 - 1e-12) <= epsilon <= found.upper


@pytest.mark.parametrize(("epsilon", "users"), [(6.0, 100), (8.0, 2500), (12.0, 2500), (14.0, 100_000)])
def test_truthful_reports_keep_a_lower_side_that_is_their_data_set(epsilon: float, users: int) -> None:
    """Up to 16 others hold the first answer: both sides hold the exact delta of the counts, next to the lower one."""
    lie = 1 / (1 + math.exp(epsilon))
    pairs = []
    for first in (0, 1, 2, 4, 8, 16):
        seconds = binom.pmf(np.arange(users - first), users - 1 - first, lie)
        counts = np.convolve(binom.pmf(np.arange(first + 1), first, 1 - lie), seconds)
        pairs.append([np.convolve(counts, own) for own in ([lie, 1 - lie], [1 - lie, lie])])
    for at in (0.5, 2.0):
        exact = max(float(np.maximum(a - math.exp(at) * b, 0.0).sum()) for p, q in pairs for a, b in ((p, q), (q, p)))
        found = dp.bracket_delta(dp.fold(dp.Shuffle(part=report(epsilon, 2), users=users), "replace_one"), at)
        assert 0.999 * exact <= found.lower <= exact * (1 + 1e-9) <= found.upper * (1 + 2e-9)
