"""Reports of one category out of many: no small probability of theirs is a difference from 1."""

import math
from fractions import Fraction

import mpmath
import pytest
from scipy.special import ndtri

from dpaudit import Claim, Release, certify, verify
from dpaudit.model.losses import DiscreteLoss
from mechanisms import SubsetSelection, UnaryEncoding

Report = SubsetSelection | UnaryEncoding
REPORTS: tuple[Report, ...] = (
    UnaryEncoding(epsilon=72.0, categories=4),
    UnaryEncoding(epsilon=72.0, categories=4, encoding="optimised"),
    SubsetSelection(epsilon=36.0, categories=3, subset_size=1),
    SubsetSelection(epsilon=36.0, categories=100, subset_size=1),
    SubsetSelection(epsilon=60.0, categories=4, subset_size=2),
    SubsetSelection(epsilon=700.0, categories=3, subset_size=1),
)


def alone_and_alike(report: Report) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return the probability that a report names the true one of two categories alone, and that it names both or none.

    Of unary encoding from its bits; of sets by counting those that hold the true category, e^epsilon times as likely.
    """
    with mpmath.workdps(700):
        odds = mpmath.exp(Fraction(str(report.epsilon)))
        if isinstance(report, UnaryEncoding):
            root = mpmath.sqrt(odds)
            kept = mpmath.mpf(1) / 2 if report.encoding == "optimised" else root / (1 + root)
            raised = 1 / (1 + (odds if report.encoding == "optimised" else root))
            return kept * (1 - raised), kept * raised + (1 - kept) * (1 - raised)
        others, size = report.categories - 2, report.subset_size
        alone, both, neither = (math.comb(others, size - held) if size >= held else 0 for held in (1, 2, 0))
        total = odds * (alone + both) + alone + neither
        return odds * alone / total, (odds * both + neither) / total


def smallest_mu(report: Report) -> float:
    """Return mu of a corner of the trade-off curve, whose mirror image is the other one: the true category alone."""
    with mpmath.workdps(700):
        alone, _ = alone_and_alike(report)
        less = alone * mpmath.exp(-Fraction(str(report.epsilon)))
        return -float(ndtri(float(1 - alone))) - float(ndtri(float(less)))


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: f"{report.name} {report.epsilon:g}")
def test_each_probability_of_a_report_has_all_its_digits(report: Report) -> None:
    """At an epsilon of 700 a difference from 1 was negative, and the declaration ended in a traceback."""
    masses = dict(report.loss().atoms)
    alone, alike = alone_and_alike(report)
    assert abs(masses[report.epsilon] / alone - 1) < 1e-13
    assert abs(masses[0.0] / alike - 1) < 1e-13


@pytest.mark.parametrize("report", REPORTS[:5], ids=lambda report: f"{report.name} {report.epsilon:g}")
def test_a_claim_in_mu_beside_that_of_a_report_is_decided_on_its_side(report: Report) -> None:
    """A relative 1e-6 below the true mu is not certified, above it is not refuted, and the checker sees the same."""
    mu = smallest_mu(report)
    for share, verdict in ((1 - 1e-6, "refuted"), (1 + 1e-6, "certified")):
        claim = Claim(mu=mu * share, neighbours="replace_one")
        certificate = certify(Release(label="report", mechanism=report), claim)
        assert certificate.verdict == verdict
        assert verify(certificate.to_json()).accepted


def test_a_difference_from_1_is_caught() -> None:
    """The twin states what is alike as what is left of 1: at 36 nats it has no digit right."""
    report = SubsetSelection(epsilon=36.0, categories=3, subset_size=1)
    (_, less), _, (_, more) = report.loss().atoms
    twin = DiscreteLoss(atoms=((36.0, more), (0.0, max(0.0, 1 - more - less)), (-36.0, less)), symmetric=True)
    _, alike = alone_and_alike(report)
    assert abs(dict(twin.atoms).get(0.0, 0.0) / alike - 1) > 0.01
