"""Curves of checker and accountant hold known numbers; printed steps hold just above what their rule gives."""

import json
import math
from collections import Counter
from typing import cast

import pytest

import dpaudit as dp
from dpaudit.errors import ConfigError, DeclarationError
from dpaudit.model.claim import Neighbours
from dpaudit.model.codec import decode_declaration
from dpaudit.verifier import verify
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import discrete
from dpaudit.verifier.refusals import Rejection
from dpaudit.verifier.stated_ends import compared
from tests.checker.proofs.folds import attained, fold
from tests.checker.truths import (
    Data,
    argued,
    ends,
    lower_truths,
    met_from_below,
    no_declarations,
    no_pairs,
    paired,
    rare,
    said,
    truths,
    widths,
)

DIGITS = 3e-7  # relative: what published numbers are rounded to, and more
TRUTHS = list(truths())
LOWER = list(lower_truths())
ENDS = list(ends())
WIDTHS = list(widths())


@pytest.mark.parametrize("place", range(len(TRUTHS)))
def test_the_checkers_bracket_holds_a_known_delta(place: int) -> None:
    """Closed forms, sums by hand, and quadratures with ten digits; the bracket is narrow."""
    tree, relation, epsilon, delta = TRUTHS[place]
    low, high = Worst(fold(tree, relation)).delta(epsilon)
    assert low <= delta * (1 + DIGITS), json.dumps(tree)
    assert high >= delta * (1 - DIGITS), json.dumps(tree)
    assert high <= delta * (1 + 2e-3)
    if tree["node"] != "shuffle":  # whose curve from above is that of no pair
        assert high - low <= 2e-3 * high


def test_both_brackets_hold_the_exact_delta_of_a_thousand_shuffled_answers() -> None:
    """Sums of two binomial numbers, all others on one answer: upper ends lie within 6 percent of it."""
    part = {"node": "release", "label": "sum", "mechanism": {"name": "randomised_response", "epsilon": 1.0}}
    tree, exact = {"node": "shuffle", "part": part, "users": 1000}, 1.7097401240714e-5
    form = dp.fold(decode_declaration(tree, "replace_one"), "replace_one")
    bracket, (low, high) = dp.bracket_delta(form, 0.1), Worst(fold(tree, "replace_one")).delta(0.1)
    for below, above in ((bracket.lower, bracket.upper), (low, high)):
        assert below <= exact * (1 + 1e-9)
        assert exact * (1 - 1e-9) <= above <= 1.06 * exact


@pytest.mark.parametrize("place", range(len(TRUTHS)))
def test_the_accountants_bracket_holds_a_known_delta(place: int) -> None:
    """The accountant meets the same numbers from above, and is never above them from below."""
    tree, told, epsilon, delta = TRUTHS[place]
    relation = cast("Neighbours", told)
    try:
        form = dp.fold(decode_declaration(tree, relation), relation)
    except (ConfigError, DeclarationError, dp.UnsupportedError) as error:
        pytest.skip(f"not declared: {error}")
    found = dp.bracket_delta(form, epsilon)
    assert found.lower <= delta * (1 + DIGITS), json.dumps(tree)
    assert delta * (1 - DIGITS) <= found.upper <= delta * (1 + 5e-4), json.dumps(tree)


@pytest.mark.parametrize("place", range(len(LOWER)))
def test_the_checkers_bracket_of_what_is_attained_holds_a_known_delta(place: int) -> None:
    """Mechanisms that are known from two sides, persons, parts and cells that a plan enters, and samples."""
    tree, relation, witness, epsilon, delta = LOWER[place]
    low, high = Worst(attained(tree, relation, witness, [])).delta(epsilon)
    assert low <= delta * (1 + DIGITS), json.dumps(tree)
    assert high >= delta * (1 - DIGITS), json.dumps(tree)
    assert high - low <= 2e-3 * high


@pytest.mark.parametrize("place", range(len(WIDTHS)))
def test_the_checkers_bracket_is_as_narrow_as_its_lattice_promises(place: int) -> None:
    """Sums of one kind and of several, samples, secret steps and choices; a coarser lattice is wider."""
    tree, relation, epsilon, width = WIDTHS[place]
    low, high = Worst(fold(tree, relation)).delta(epsilon)
    assert 0 < high - low <= width * high, json.dumps(tree)


def test_the_lower_end_at_several_secret_places_meets_the_delta_by_all_outcomes() -> None:
    """Also where the blocks of one place each have one step."""
    for tree, relation, witness, epsilon, delta in met_from_below():
        low, high = Worst(attained(tree, relation, witness, [])).delta(epsilon)
        assert delta * (1 - DIGITS) <= low <= delta * (1 + DIGITS), json.dumps(tree)
        assert low <= high


@pytest.mark.parametrize("place", range(len(ENDS)))
def test_an_end_is_judged_by_its_side_and_its_distance(place: int) -> None:
    """Inside of the tolerance it is confirmed, beyond it loose or unconfirmed, and on the other side wrong."""
    tree, relation, side, data, stated, word = ENDS[place]
    curve = Worst(fold(tree, relation))
    found = compared(side, data, stated, curve, curve)
    assert said(found) == word, (json.dumps(tree), side, data, stated, found)


def test_an_upper_end_below_a_curve_that_no_pair_reaches_is_open_and_not_contradicted() -> None:
    """A black box of epsilon 2 has the curve 1 - e^(epsilon - 2) times its mass; a sharper end needs another proof."""
    tree = {
        "node": "stated",
        "epsilon": 2.0,
        "delta": 0.0,
        "source": "a supplier",
        "neighbours": "replace_one",
        "printed": None,
    }
    dominating, unknown = Worst(fold(tree, "replace_one")), Worst([Counter()])
    data = {"claim": {"epsilon": 1.0, "delta": 0.1}, "effort": "default"}
    ends = {"delta": {"upper": 0.3}, "epsilon": {"upper": 1.5}}
    assert said(compared("upper", data, ends, dominating, unknown)) == "unconfirmed small"
    assert said(compared("upper", data, ends, dominating, dominating)) == "wrong small"


@pytest.mark.parametrize(("side", "stated"), [("upper", 0.9995), ("lower", 1.0005)])
def test_room_in_a_bracket_makes_up_for_no_contradiction(side: str, stated: float) -> None:
    """An end of a sum 0.05 % inside a bracket is confirmed, one 0.2 % inside not; the other side contradicts both."""
    losses = Counter({("gaussian", 1.0): 1, ("laplace", 0.5): 1})
    curve = Worst([losses])
    delta = curve.delta(1.0)[0]

    class Wide(Worst):
        """The same curve, known to 0.2 %."""

        def delta(self, epsilon: float) -> tuple[float, float]:
            low, high = super().delta(epsilon)
            return (low * 0.998, high) if side == "upper" else (low, high * 1.002)

    class Farther(Wide):
        """The same, known to 0.6 %."""

        def delta(self, epsilon: float) -> tuple[float, float]:
            low, high = super().delta(epsilon)
            return (low * 0.996, high) if side == "upper" else (low, high * 1.004)

    data = {"claim": {"epsilon": 1.0, "delta": delta}, "effort": "default"}
    ends = {"delta": {side: delta * stated}, "epsilon": {side: 1.0}}
    wide = Wide([losses])
    assert said(compared(side, data, ends, wide, wide)) == ""
    assert said(compared(side, data, ends, wide, curve)).startswith("wrong")
    far = {"delta": {side: delta * (1 + 4 * (stated - 1))}, "epsilon": {side: 1.0}}
    assert said(compared(side, data, far, Farther([losses]), Farther([losses]))) == "unconfirmed"


def test_a_choice_between_all_and_a_little_is_followed() -> None:
    """Two steps, of which each shows all with probability 2/3 or has odds of 3 to 1: at worst both show all."""
    shows = discrete([(0.0, 1 / 3)], 2 / 3, 2 / 3)
    odds = discrete([(-math.log(3), 0.25), (math.log(3), 0.75)])
    low, high = Worst([Counter({("choice", frozenset((shows, odds))): 2})]).delta(0.0)
    assert low <= 8 / 9 <= high <= 8 / 9 * (1 + 1e-9)


@pytest.mark.parametrize(("tree", "relation", "witness"), list(no_pairs()))
def test_a_witness_that_describes_no_pair_is_refused(tree: Data, relation: str, witness: Data) -> None:
    with pytest.raises(Rejection):
        attained(tree, relation, witness, [])


@pytest.mark.parametrize(("tree", "relation"), list(no_declarations()))
def test_a_declaration_that_proves_nothing_is_refused(tree: Data, relation: str) -> None:
    with pytest.raises(Rejection):
        fold(tree, relation)


def test_rare_certificates_are_accepted() -> None:
    assert [verify(certificate.to_json()).accepted for certificate in rare()] == [True] * 9


def test_certificates_that_rest_on_a_pair_are_accepted() -> None:
    """Checked, assumed and by definition; certified, refuted and not proved."""
    held = list(paired())
    assert [verify(certificate.to_json()).complaints for certificate in held] == [()] * len(held)
    assert {certificate.verdict for certificate in held} == {"certified", "refuted", "not_proved"}


@pytest.mark.parametrize(("factor", "holds"), [(1 + 1e-6, True), (1 - 1e-6, False)])
def test_a_printed_step_is_judged_at_the_very_end_of_its_rule(factor: float, holds: bool) -> None:
    """A millionth more than the rule gives follows, a millionth less does not; the checker derives both."""
    for certificate in argued(lambda epsilon: epsilon * factor):
        assert certificate.printed is not None
        assert certificate.printed.valid is holds
        assert verify(certificate.to_json()).accepted
