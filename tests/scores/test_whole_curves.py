"""The e-process against a whole curve: known projections, its mean under the null, bets on earlier runs, power."""

from collections.abc import Callable

import numpy as np
import pytest

from audits import audit_curve
from audits.bounds import GaussianTradeOff, PrivateTradeOff
from audits.bounds.curve_process import CurveProcess
from audits.bounds.projection import project
from audits.bounds.trade_offs import TradeOff
from audits.examples import HALF_NOISE
from dpaudit.model.mechanism import Array
from tests.cases import case_of

TRADE_OFFS = (
    GaussianTradeOff(mu=1.0),
    GaussianTradeOff(mu=0.0),
    PrivateTradeOff.of(1.0, 0.01),
    PrivateTradeOff.of(0.0),
    PrivateTradeOff(points=((0.0, 0.4), (1.0, 0.13), (2.0, 0.021))),
)


@pytest.mark.parametrize(
    ("trade_off", "predicted", "nearest", "growth"),
    [
        (GaussianTradeOff(mu=1.0), (0.1587, 0.8413), (0.308538, 0.691462), 0.0595039),
        (GaussianTradeOff(mu=1.0), (0.02, 0.3), (0.050426, 0.260847), 0.00813510),
        (GaussianTradeOff(mu=0.8), (0.1, 0.5), (0.163505, 0.428515), 0.0135077),
        (PrivateTradeOff.of(1.0, 0.01), (0.2, 0.7), (0.246468, 0.679970), 0.00351088),
    ],
)
def test_projections_and_their_growth(
    trade_off: TradeOff, predicted: tuple[float, float], nearest: tuple[float, float], growth: float
) -> None:
    """Four of a separate computation, to 1e-6; the complementary event has the mirrored projection and its growth."""
    found = project(np.array([predicted[0]]), np.array([predicted[1]]), trade_off)
    assert found.nearest_false[0] == pytest.approx(nearest[0], abs=1e-6)
    assert found.nearest_true[0] == pytest.approx(nearest[1], abs=1e-6)
    assert found.growth[0] == pytest.approx(growth, abs=1e-7)
    turned = project(1 - np.array([predicted[0]]), 1 - np.array([predicted[1]]), trade_off)
    assert turned.nearest_false[0] == pytest.approx(1 - nearest[0], abs=1e-6)
    assert turned.growth[0] == pytest.approx(growth, abs=1e-7)


@pytest.mark.parametrize("trade_off", TRADE_OFFS)
def test_the_mean_of_an_e_value_is_at_most_one_at_all_allowed_rates(trade_off: TradeOff) -> None:
    """On a grid of the boundary, for 500 predictions; the ratio to an allowed law that is not nearest is the twin."""
    rng = np.random.default_rng(0)
    false, true = rng.uniform(0.001, 0.999, (2, 500))
    bets = project(false, true, trade_off)
    rates = np.concatenate([np.linspace(0, 1, 1001), 10.0 ** np.linspace(-9, -2, 50)])
    assert _largest(bets.log_e_values, rates, trade_off) <= 1 + 1e-12
    if trade_off == GaussianTradeOff(mu=1.0):
        a = np.minimum(1.3 * bets.nearest_false, 0.999)
        c = trade_off(a)

        def wrong(passes: Array, labels: Array) -> Array:
            predicted, allowed = np.where(labels[:, None], true, false), np.where(labels[:, None], c, a)
            return np.log(np.where(passes, predicted / allowed, (1 - predicted) / (1 - allowed)))

        assert _largest(wrong, rates, trade_off) > 1.01


def _largest(log_e_values: Callable[[Array, Array], Array], rates: Array, trade_off: TradeOff) -> float:
    """Return the largest mean over rates on the boundary and their mirror images, of all events."""
    labels = np.array([False, False, True, True])
    passes = np.array([[True], [False], [True], [False]])
    values = np.exp(log_e_values(passes, labels))
    highest = trade_off(rates)
    means = [
        0.5
        * (
            x * values[0][:, None]
            + (1 - x) * values[1][:, None]
            + y * values[2][:, None]
            + (1 - y) * values[3][:, None]
        )
        for x, y in ((rates, highest), (1 - rates, 1 - highest))
    ]
    return float(np.max(means))


def test_no_bet_reads_its_own_run_or_a_later_one() -> None:
    """The wealth after some runs is the same whatever follows; so each factor has mean 1 at most, given the past."""
    rng = np.random.default_rng(1)
    labels = rng.random(150) < 0.5
    scores = rng.normal(size=150) + 1.5 * labels
    process = CurveProcess.fresh(GaussianTradeOff(mu=1.0))
    whole = process.extended(scores, labels)
    assert whole.path.max() > 0.5
    for runs in (9, 12, 40, 149):
        np.testing.assert_allclose(process.extended(scores[:runs], labels[:runs]).path, whole.path[:runs], atol=1e-12)


def test_an_audit_stops_when_the_curve_falls_and_learns_a_score_where_none_is_given() -> None:
    """Half the noise is refuted with and without its score; the right claim is not, in all runs."""
    unscored = case_of("unscored", HALF_NOISE.run, HALF_NOISE.neighbours)
    for case, most in ((HALF_NOISE, 1_000), (unscored, 4_000)):
        result = audit_curve(case, PrivateTradeOff.of(1.0), runs=4_000, rng=np.random.default_rng(6))
        assert result.refuted
        assert result.runs < most
        assert result.process.stopped(0.01) == result.runs
    right = audit_curve(HALF_NOISE, PrivateTradeOff.of(2.0), runs=1_000, rng=np.random.default_rng(7))
    assert not right.refuted
    assert right.runs == 1_000


def test_wealth_is_one_without_runs_and_equal_labels_bet_nothing() -> None:
    """No runs, and runs of one neighbour alone."""
    process = CurveProcess.fresh(GaussianTradeOff(mu=1.0))
    assert (process.log_wealth, process.stopped(0.05)) == (0.0, None)
    same = process.extended(np.arange(40.0), np.ones(40, dtype=bool))
    assert same.log_wealth == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError, match="strictly between"):
        process.refutes(1.0)
