"""Both sides of several releases on a sample that can fail, beside another release."""

from dpaudit import bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import QUICK
from dpaudit.engines.pairs.derived import pair_above, pair_below
from dpaudit.model.losses import ApproximateLoss, Composition, SampledLoss, StitchedLoss

INSIDE = ((ApproximateLoss(epsilon=1.4), 1), (ApproximateLoss(epsilon=4.0, delta=0.42), 1))
ALONE = SampledLoss(inside=INSIDE, rate=0.47)
BOTH = StitchedLoss(positive=ALONE, negative=ALONE.reversed())


def test_a_failure_on_a_sample_is_counted_once_from_below() -> None:
    """The pair below carries the mass at infinity itself; before, its rest held it a second time."""
    low, high = (side(BOTH, 1e-3, 1e-30) for side in (pair_below, pair_above))
    assert abs(low.infinite - 0.47 * 0.42) < 1e-9
    assert low.masses.sum() + low.infinite <= 1 + 1e-9
    for epsilon in (0.0, 0.5, 2.0):
        assert 0.99 * high.delta_above(epsilon) <= low.delta_below(epsilon) <= high.delta_above(epsilon)


def test_both_sides_meet_beside_another_release() -> None:
    """Before, the bracket was empty, which is an internal error."""
    whole = Composition.of(ApproximateLoss(epsilon=6.0), BOTH)
    form = NormalForm(upper=(whole,), lower=(whole,))
    bracket = bracket_epsilon(form, 0.9, QUICK)
    assert 0 < bracket.lower <= bracket.upper < 7
