"""The checker's curve holds known numbers, and printed steps hold just above what their rule gives, and not below."""

import json

import pytest

from dpaudit.verifier import verify
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.folding import fold
from tests.checker.truths import argued, truths

DIGITS = 3e-7  # relative: what published numbers are rounded to, and more
TRUTHS = list(truths())


@pytest.mark.parametrize("place", range(len(TRUTHS)))
def test_the_checkers_bracket_holds_a_known_delta(place: int) -> None:
    """Closed forms, sums by hand, and quadratures with ten digits; the bracket is narrow."""
    tree, relation, epsilon, delta = TRUTHS[place]
    low, high = Worst(fold(tree, relation)).delta(epsilon)
    assert low <= delta * (1 + DIGITS), json.dumps(tree)
    assert high >= delta * (1 - DIGITS), json.dumps(tree)
    assert high - low <= 2e-3 * high


@pytest.mark.parametrize(("factor", "holds"), [(1 + 1e-6, True), (1 - 1e-6, False)])
def test_a_printed_step_is_judged_at_the_very_end_of_its_rule(factor: float, holds: bool) -> None:
    """A millionth more than the rule gives follows, a millionth less does not; the checker derives both."""
    for certificate in argued(lambda epsilon: epsilon * factor):
        assert certificate.printed is not None
        assert certificate.printed.valid is holds
        assert verify(certificate.to_json()).accepted
