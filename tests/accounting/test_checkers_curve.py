"""The checker's own privacy curve far out, at rare samples and at secret steps; its truth is in tests/checker."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.verifier import verify
from dpaudit.verifier.curve import Worst, _Sum
from dpaudit.verifier.losses import reverse
from dpaudit.verifier.pairs import plain
from dpaudit.verifier.refusals import Unfollowed
from mechanisms import Laplace


def test_a_bracket_that_crosses_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a curve whose lower side lies above its upper side gives no number, and accuses nobody."""
    monkeypatch.setattr("dpaudit.verifier.curve._Sum.lower", lambda self, epsilon: 0.9)
    with pytest.raises(Unfollowed, match="no privacy curve"):
        Worst([Counter({("laplace", 0.1): 5, ("gaussian", 0.3): 1})]).delta(1.0)


def test_secret_steps_of_a_loss_beyond_the_checkers_digits_are_left_open() -> None:
    """The certificate is honest; where rounding takes the checker's own curve apart, nothing is wrong with it."""
    noise = Laplace(scale=1e-3, l1_sensitivity=1.0, neighbours="add_remove")
    node = dp.Allocate(part=dp.Release(label="a step", mechanism=noise), steps=5)
    certificate = dp.certify(node, dp.Claim(epsilon=2000.0, delta=1e-6, neighbours="add_remove", model="central"))
    assert certificate.verdict == "certified"
    verification = verify(certificate.to_json())
    assert not verification.complaints
    assert verification.unconfirmed


def test_ten_epochs_of_one_secret_step_of_a_thousand_have_a_narrow_bracket() -> None:
    """A first look cut the far tail of a step short, and the weight that it chose left 1 as the upper bound."""
    step = ("allocated", ((("gaussian", 1.0), 1),), 1000, "remove")
    low, high = Worst([Counter({step: 10})]).delta(0.4645)
    assert 0.99 * high <= low <= high < 1.1e-5


@pytest.mark.parametrize("epsilon", [-0.1, 0.0, 0.3])
@pytest.mark.parametrize("inside", [((("laplace", 0.5), 1500),), ((("gaussian", 1.0), 1), (("laplace", 2.0), 400))])
def test_a_sample_tells_neighbours_apart_by_at_most_its_rate(inside: tuple[Any, ...], epsilon: float) -> None:
    """Rounding of many releases at a rate of a millionth left a thousand times as much."""
    loss = ("map", inside, 1e-6, "remove")
    for order in (loss, reverse(loss)):
        low, high = plain(order, epsilon)
        assert low - 1e-300 <= high <= (1e-6 - math.expm1(min(epsilon, 0.0))) * (1 + 1e-9)


def test_far_beyond_the_window_next_to_nothing_is_left() -> None:
    """Where no knot lies above an epsilon, the sums of those above it are 0, however far it lies."""
    curve = _Sum({("laplace", 0.5): 300}, 1.0, 2e-3, upper_alone=True)
    assert (curve.uppers(np.array([0.5, 1.0, 2000.0, 1e5]), 0.0)[2:] < 1e-12).all()
