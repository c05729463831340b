"""The figure of delta(epsilon) of the declaration: the proved band, and the claim as a point."""

import math

from dpaudit.certification.reading import Reading
from dpaudit.figures.figure import Figure
from dpaudit.figures.plot import Plot, Point, Series, Words, band
from dpaudit.figures.scale import Scale
from dpaudit.report.curves import Curve
from dpaudit.report.meaning import read_epsilon
from dpaudit.wording.numerals import at_most, exact, interval, nearest


def curve_figure(reading: Reading, curve: Curve) -> Figure:
    """Return the figure of delta against epsilon; `curve` must have points."""
    description = f"{_claimed(reading)} At epsilon 0 its delta is at most {at_most(curve.advantage)}."
    return Figure(
        name="curve",
        title=f"Delta against epsilon: what is proved, and what is {reading.name}",
        description=description,
        draw=_plot(reading, curve).draw,
    )


def _claimed(reading: Reading) -> str:
    """Return what is proved at the epsilon of the claim, in one sentence."""
    claim, tight = reading.claim, reading.tight
    if claim.epsilon == math.inf:
        return "The claimed epsilon is infinite, which promises nothing."
    return (
        f"At the {reading.name} epsilon of {read_epsilon(reading)} the declaration has delta {interval(tight.delta)}; "
        f"the claim allows {exact(claim.delta)}."
    )


def _lowest_power(delta: float) -> int:
    """Return the power of ten at which the vertical axis ends, a little below the claim's delta."""
    return math.floor(math.log10(delta)) - 3 if delta > 0 else -12


def _plot(reading: Reading, curve: Curve) -> Plot:
    """Return the power of ten of delta against epsilon."""
    claim, lowest = reading.claim, _lowest_power(reading.claim.delta)
    powers = range(0, lowest - 1, -max(1, math.ceil(-lowest / 6)))
    upper = _cut([(epsilon, _power(bracket.upper)) for epsilon, bracket in curve.points], lowest)
    lower = _cut([(epsilon, _power(bracket.lower)) for epsilon, bracket in curve.points], lowest)
    at = claim.epsilon, max(float(lowest), _power(claim.delta))
    corner = ((0.0, at[1]), at, (at[0], float(lowest)))
    claimed = (Series(points=corner, line="claim thin"), Series(points=(at,), mark=(2, "hollow")))
    return Plot(
        across=Scale(low=0.0, high=curve.points[-1][0], name="epsilon"),
        up=Scale(low=lowest, high=0.0, name="delta (logarithmic)", marks=tuple((n, nearest(10.0**n)) for n in powers)),
        layers=(
            *band(upper, lower),
            *((*claimed, Words(at=at, text=reading.name)) if claim.epsilon < math.inf else ()),
        ),
    )


def _power(delta: float) -> float:
    """Return the logarithm of a delta to base ten."""
    return math.log10(delta) if delta > 0 else -math.inf


def _cut(points: list[Point], lowest: float) -> tuple[Point, ...]:
    """Return the points down to where their line meets the foot of the axis."""
    for point_index, (x, y) in enumerate(points):
        if y < lowest:
            left, above = points[max(0, point_index - 1)]
            share = max(0.0, (above - lowest) / (above - y)) if y < above else 0.0
            return (*points[:point_index], (left + share * (x - left), lowest))
    return tuple(points)
