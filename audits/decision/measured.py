"""Lower bounds in other measures than epsilon, and the measured curve, from the counted runs of an audit."""

from dataclasses import dataclass

import numpy as np

from audits.bounds.one_event import event_rho
from audits.bounds.rank_sums import BLOCK, block_wins, rank_sum_mu
from audits.bounds.trade_off_curve import curve_rho, measured_curve
from dpaudit.model.audit_result import Counts, MeasuredBound
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Bounds on mu and rho and the corners of a measured curve; each holds alone, at the significance it was given."""

    bounds: tuple[MeasuredBound, ...]
    curve: tuple[tuple[float, float], ...]


def measured_of(
    ins: Array, outs: Array, event: Counts | None, significance: float, rng: np.random.Generator
) -> Measured:
    """Return what scores with and without the record show of mu and rho, and their measured curve.

    Shape: (n1,), (n0,). `event` counts an event that other runs chose; None where there is none such, and rho comes
    from the curve. Guarantee: each bound, and the curve as a whole, is wrong with probability at most `significance`,
    for independent scores that other runs taught.
    """
    wins, blocks = block_wins(ins, outs, rng)
    curve = measured_curve(ins, outs, significance)
    return Measured(
        bounds=(
            MeasuredBound(
                measure="mu",
                value=rank_sum_mu(wins, blocks, significance),
                statistic="rank sums",
                samples=blocks * BLOCK,
                significance=significance,
            ),
            MeasuredBound(
                measure="rho",
                value=curve_rho(curve) if event is None else _event_rho(event, significance),
                statistic="all thresholds" if event is None else "one event",
                samples=len(ins) + len(outs) if event is None else event.positives + event.negatives,
                significance=significance,
            ),
        ),
        curve=curve,
    )


def _event_rho(event: Counts, significance: float) -> float:
    """Return the bound on rho of one event's counts."""
    return event_rho(event.true_positives, event.positives, event.false_positives, event.negatives, significance)
