"""Descriptions of scores that decide nothing: area, rates, frontier, raw counts; limits for independent scores."""

from dataclasses import replace

import numpy as np

from audits.bounds.area import area_under_roc
from audits.bounds.trade_off_curve import concave_hull
from audits.bounds.trade_offs import TradeOff
from audits.scores.cuts import Cuts, Scores
from audits.scores.every_threshold import area_lower, error_limits, reached_limits
from dpaudit.model.mechanism import Array
from dpaudit.model.scores_result import AreaUnderRoc, RateAt, RawEpsilon, RocPoint

FALSE_POSITIVE_RATES = (0.001, 0.01, 0.1)
"""Where the true positive rate is given."""

LEAST_ERRORS = 50
"""How many errors of each kind a threshold has whose raw counts are given."""

_SHOWN = 200


def described_area(scores: Scores, allowed: TradeOff, significance: float, *, limits: bool) -> AreaUnderRoc:
    """Return the area under the ROC curve; the sharper of two lower limits, each at half the level."""
    half = area_under_roc(scores.ins, scores.outs, significance / 2)
    if not limits:
        return AreaUnderRoc(value=half.value, allowed=allowed.area)
    mirrored = Scores(ins=scores.outs, outs=scores.ins)
    return AreaUnderRoc(
        value=half.value,
        allowed=allowed.area,
        lower=max(half.lower, area_lower(Cuts.of(scores), significance / 2)),
        upper=min(half.upper, 1 - area_lower(Cuts.of(mirrored), significance / 2)),
        delong=area_under_roc(scores.ins, scores.outs, significance).delong,
    )


def described_rates(cuts: Cuts, allowed: TradeOff, significance: float, *, limits: bool) -> tuple[RateAt, ...]:
    """Return the true positive rate at each of `FALSE_POSITIVE_RATES`; the limits hold at all rates together."""
    false = np.r_[0, cuts.false_positives] / cuts.outs
    true = np.r_[0, cuts.true_positives] / cuts.ins
    return tuple(
        RateAt(
            false_positive_rate=rate,
            measured=float(true[false <= rate].max()),
            randomised=randomised_rate(cuts, rate),
            allowed=float(allowed(np.asarray(rate))),
            lower=_lower_at(cuts, rate, significance / 2) if limits else None,
            upper=_upper_at(cuts, rate, significance / 2) if limits else None,
        )
        for rate in FALSE_POSITIVE_RATES
    )


def randomised_rate(cuts: Cuts, rate: float) -> float:
    """Return the highest measured true positive rate at a false positive rate, of thresholds and their mixtures.

    >>> cuts = Cuts.of(Scores.of([2.0, 0.0], [1.0, 0.0]))
    >>> randomised_rate(cuts, 0.5)
    0.75
    """
    false, true = hull(cuts)
    return float(np.interp(rate, false, true))


def hull(cuts: Cuts) -> tuple[Array, Array]:
    """Return the corners of the concave hull of the measured ROC curve, from (0, 0) to (1, 1)."""
    corners = np.array(concave_hull(cuts.false_positives / cuts.outs, cuts.true_positives / cuts.ins))
    return corners[:, 0], corners[:, 1]


def raw_epsilon(cuts: Cuts, delta: float, least: int = LEAST_ERRORS) -> RawEpsilon:
    """Return the largest ln((rate - delta) / rate) of measured rates at thresholds with `least` errors of each kind.

    Guarantee: none; the largest of many estimates is biased upwards. Other tools print this value as raw counts.
    Edge cases: epsilon 0 and no threshold where none has so many errors.
    """
    missed, false = cuts.ins - cuts.true_positives, cuts.false_positives
    usable = (missed >= least) & (false >= least)
    if not usable.any():
        return RawEpsilon(epsilon=0.0, least=least)
    a, b = false[usable] / cuts.outs, missed[usable] / cuts.ins
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.maximum(np.log(np.maximum(1 - delta - b, 0) / a), np.log(np.maximum(1 - delta - a, 0) / b))
    best = int(np.argmax(ratios))
    threshold = float(cuts.thresholds[usable][best])
    return RawEpsilon(epsilon=max(0.0, float(ratios[best])), least=least, threshold=threshold)


def described_roc(cuts: Cuts, significance: float, *, limits: bool) -> tuple[RocPoint, ...]:
    """Return the thresholds on the ROC frontier, at most about 200, with limits that hold at all of them together.

    Guarantee: the four families of limits hold at all thresholds with probability at least 1 - `significance`.
    """
    best = cuts.frontier
    shown = best[np.unique(np.linspace(0, len(best) - 1, min(_SHOWN, len(best))).round().astype(int))]
    points = tuple(
        RocPoint(
            threshold=float(cuts.thresholds[i]),
            false_positives=int(cuts.false_positives[i]),
            true_positives=int(cuts.true_positives[i]),
        )
        for i in shown
    )
    if not limits:
        return points
    false_high, missed_high = error_limits(cuts, significance / 2)
    false_low, true_high = reached_limits(cuts, significance / 2)
    return tuple(
        replace(
            point,
            false_positive_rate=(float(false_low[i]), float(false_high[i])),
            true_positive_rate=(float(1 - missed_high[i]), float(true_high[i])),
        )
        for i, point in zip(shown, points, strict=True)
    )


def _lower_at(cuts: Cuts, rate: float, significance: float) -> float:
    """Return a lower limit of the true positive rate at a false positive rate."""
    false, missed = error_limits(cuts, significance)
    return float(np.max(1 - missed, where=false <= rate, initial=0.0))


def _upper_at(cuts: Cuts, rate: float, significance: float) -> float:
    """Return an upper limit of the true positive rate at a false positive rate."""
    low, high = reached_limits(cuts, significance)
    return float(np.min(high, where=low >= rate, initial=1.0))
