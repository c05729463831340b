"""What is drawn is what is proved: curves, steps and rows agree with the accountant."""

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpaudit import PostProcess, Release, Sequential
from dpaudit.model.bracket import Bracket
from dpaudit.model.readings import Slack
from dpaudit.report import Report
from dpaudit.report.curves import claimed_advantage, delta_curve, highest_true_positive_rate
from dpaudit.report.derivation import MOST_ROWS, rows_of
from dpaudit.wording.certificates import noise_sentence
from dpaudit.wording.numerals import at_least, at_most, interval, nearest
from tests.narrowing import as_a


def test_the_trade_off_of_a_gaussian_lies_close_above_the_exact_one(stories: dict[str, Report]) -> None:
    """The bound on the true positive rate is never below N(mu, 1) against N(0, 1), and within 0.02 of it."""
    curve = delta_curve(stories["checked"].certificate)
    for rate in np.linspace(0.01, 0.99, 25):
        exact = float(ndtr(ndtri(rate) + 1 / 3.7307))
        assert exact - 1e-12 <= curve.true_positive_rate(float(rate)) <= exact + 0.02


def test_the_advantage_of_a_gaussian_is_its_total_variation(stories: dict[str, Report]) -> None:
    """delta(0) is 2 Phi(mu/2) - 1."""
    curve = delta_curve(stories["checked"].certificate)
    assert curve.advantage == pytest.approx(2 * float(ndtr(0.5 / 3.7307)) - 1, rel=1e-12)


def test_the_claimed_advantage_is_the_largest_gap_of_its_region() -> None:
    """The corner of the (epsilon, delta) region has the largest difference of rates."""
    for epsilon, delta in [(0.0, 0.1), (1.0, 1e-5), (3.0, 0.05)]:
        gaps = [highest_true_positive_rate(epsilon, delta, x) - x for x in np.linspace(0, 1, 20_001)]
        assert max(gaps) == pytest.approx(claimed_advantage(epsilon, delta), abs=1e-3)


def test_the_curve_falls_and_passes_through_the_certificate(stories: dict[str, Report]) -> None:
    """delta(epsilon) never rises, and at the claim it holds the certificate's own bracket."""
    for name in ("paper", "checked", "pure", "huge"):
        certificate = stories[name].certificate
        curve = delta_curve(certificate)
        uppers = [bracket.upper for _, bracket in curve.points]
        assert uppers == sorted(uppers, reverse=True)
        at_claim = dict(curve.points)[certificate.claim.epsilon]
        assert at_claim.lower <= certificate.tight.delta.upper
        assert certificate.tight.delta.lower <= at_claim.upper


def test_a_declaration_that_nothing_covers_has_no_curve_but_a_reason(stories: dict[str, Report]) -> None:
    """An accountant that refuses leaves an empty curve and its own words; the report is still written."""
    held = stories["checked"].certificate
    other = replace(cast("Any", as_a(Release, held.declaration).mechanism), neighbours="add_remove")
    curve = delta_curve(replace(held, declaration=Release(label="sums", mechanism=other)))
    assert curve.points == ()
    assert "neighbours='add_remove'" in curve.unavailable


def test_equal_siblings_are_told_once_and_nothing_is_lost(stories: dict[str, Report]) -> None:
    """Six epochs are one row of six; the rows account for every leaf."""
    rows = rows_of(stories["paper"].certificate)
    assert [row.alike for row in rows] == [1, 1, 1, 6]
    assert rows[-1].name == "estimator g_1 … estimator g_6"


def test_siblings_that_differ_in_noise_are_not_told_as_one(stories: dict[str, Report]) -> None:
    """Parts alike means alike: another noise scale is another row."""
    held = stories["paper"].certificate
    leaf = held.declaration.part.part.parts[0]
    mixed = Sequential(parts=(leaf, leaf, replace(leaf, mechanism=leaf.mechanism.scaled(2.0)), leaf))
    rows = rows_of(replace(held, declaration=mixed))
    assert [row.alike for row in rows[1:]] == [2, 1, 1]


def test_a_huge_declaration_becomes_a_page_of_rows(stories: dict[str, Report]) -> None:
    """Six hundred parts of twelve kinds below thirty wrappers stay below the limit and say what is left out."""
    rows = rows_of(stories["huge"].certificate)
    assert len(rows) < MOST_ROWS
    assert any("further parts" in row.name for row in rows)
    assert any(row.alike == 17 for row in rows)


def test_a_chain_deeper_than_the_limit_ends_in_an_ellipsis(stories: dict[str, Report]) -> None:
    """The table is cut, and says so."""
    held = stories["checked"].certificate
    tree = held.declaration
    for _ in range(150):
        tree = PostProcess(part=tree)
    rows = rows_of(replace(held, declaration=tree))
    assert len(rows) == MOST_ROWS + 1
    assert rows[-1].node == ""


def test_rows_point_at_the_conditions_that_their_node_brings(stories: dict[str, Report]) -> None:
    """Each row's conditions are its own: the leaf's are not repeated above it."""
    certificate = stories["paper"].certificate
    rows = {row.node: [certificate.conditions[i].text for i in row.conditions] for row in rows_of(certificate)}
    assert len(rows["Release"]) == 4
    assert len(rows["Billboard"]) == 4
    assert [text.split()[0] for text in rows["In parallel"]] == ["Which", "Only"]
    assert not set(rows["Release"]) & set(rows["In parallel"])


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (18.4466, "The noise is 18.4 times larger than the claim needs."),
        (0.5, "The noise is 2 times smaller than the claim needs."),
        (1.0, "With noticeably less noise the claim is not proved."),
        (math.inf, "The claim needs no noise at all, so that any noise is more than it needs."),
        (0.0, "No amount of noise of this kind meets the claim."),
    ],
)
def test_the_slack_is_told_in_one_sentence(ratio: float, words: str) -> None:
    """The sentence follows the ratio on both sides of one, and at its ends."""
    assert noise_sentence(Slack(epsilon_ratio=1.0, noise_ratio=ratio)) == words


def test_printed_bounds_stay_bounds() -> None:
    """Over many magnitudes the printed upper bound is never below the number, nor the lower above it."""
    rng = np.random.default_rng(5)
    for value in 10.0 ** rng.uniform(-3, 5.9, size=2_000):
        assert float(at_least(value).replace(",", "")) <= value <= float(at_most(value).replace(",", ""))


def test_numbers_are_written_for_people() -> None:
    """Exact values: powers of ten, infinity, thousands, brackets whose ends print alike."""
    assert nearest(1e-5) == "10⁻⁵"
    assert nearest(3.25e-12, 3) == "3.25 \N{MULTIPLICATION SIGN} 10⁻¹²"
    assert nearest(12_345.6) == "12,350"
    assert at_most(5e-324) == "10⁻³⁰⁰"
    assert at_least(math.inf) == "∞"
    assert interval(Bracket(lower=0.99999999, upper=1.0, engines=())) == "1"
    assert interval(Bracket(lower=0.3, upper=math.inf, engines=())) == "0.3 to ∞"
