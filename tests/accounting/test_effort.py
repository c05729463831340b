"""Effort: more of it gives a narrower proved bracket, less of it a wider one that holds as well."""

import numpy as np
import pytest

from dpaudit import Certificate, Claim, Release, Sequential, certify
from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.documents.terminal import terminal, to_text
from dpaudit.engines import BY_EFFORT
from dpaudit.model.bracket import Bracket, Effort
from dpaudit.model.losses import ApproximateLoss, Composition, GaussianLoss, LaplaceLoss, SimpleLoss
from dpaudit.render.certificate import certificate_document
from dpaudit.wording.certificates import width_phrase
from mechanisms import Gaussian, Laplace


def kinds(number: int, times: int) -> Composition:
    """Return Laplace, Gaussian and stated losses of `number` sizes each, every one `times` times."""
    sizes = [float(x) for x in np.geomspace(2e-5, 6e-5, number)]
    of: list[SimpleLoss] = [LaplaceLoss(shift=x) for x in sizes]
    of += [GaussianLoss(mu=x) for x in sizes] + [ApproximateLoss(epsilon=x, delta=1e-13) for x in sizes]
    return Composition(parts=tuple((loss, times) for loss in of))


def bracket(composition: Composition, effort: Effort) -> Bracket:
    """Return epsilon at delta 1e-6."""
    return bracket_epsilon(NormalForm(upper=(composition,), lower=(composition,)), 1e-6, BY_EFFORT[effort])


def width(found: Bracket) -> float:
    """Return the relative width."""
    return (found.upper - found.lower) / found.upper


@pytest.mark.slow
def test_a_million_events_of_three_thousand_kinds_are_bracketed_to_about_a_thousandth() -> None:
    """The width that the grid and the classes leave together; of one family alone it is smaller."""
    assert width(bracket(kinds(1000, 333), "default")) < 1.1e-3
    sizes = [float(x) for x in np.geomspace(1e-4, 1e-2, 100_000)]
    assert width(bracket(Composition(parts=tuple((LaplaceLoss(shift=x), 1) for x in sizes)), "default")) < 7e-4


def test_an_unknown_effort_is_refused_in_one_line() -> None:
    """The value and what it may be."""
    noise = Release(label="sum", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"))
    with pytest.raises(ValueError, match="effort"):
        certify(noise, Claim(epsilon=2.0, neighbours="replace_one"), effort="most")  # type: ignore[arg-type]


def test_the_width_is_said_where_it_shows() -> None:
    """Nothing of a narrow bracket, of an open one or of a closed one."""
    said = width_phrase(0.9, 1.0)
    assert "10 %" in said
    for lower, upper in ((0.9999, 1.0), (0.0, 1.0), (1.0, float("inf")), (1.0, 1.0)):
        assert not width_phrase(lower, upper)


def text_of(certificate: Certificate) -> str:
    """Return what a terminal shows of a certificate, in wide lines."""
    return to_text(terminal(certificate_document(certificate)), width=200)


def test_the_width_of_rho_is_said_with_the_query_that_the_lower_end_counts() -> None:
    """Two queries need not move together, so that one of them counts from below."""
    parts = tuple(
        Release(label=label, mechanism=Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one"))
        for label in ("sum", "count")
    )
    claim = Claim(rho=0.25, neighbours="replace_one")
    said = text_of(certify(Sequential(parts=parts), claim))
    assert "the bracket of rho is 50 % of its upper end" in said
    assert "no pair was checked to move several queries at once" in said
    assert "width" not in text_of(certify(parts[0], claim))
