"""The figure of delta(epsilon) of the declaration: the proved band, and the claim as a point."""

import math

from dpaudit.certification.reading import Reading
from dpaudit.report.curves import Curve
from dpaudit.report.figures.canvas import Canvas, Scale, draw_across, draw_up
from dpaudit.report.figures.figure import Figure
from dpaudit.report.meaning import read_epsilon
from dpaudit.wording.numerals import at_most, exact, interval, nearest


def curve_figure(reading: Reading, curve: Curve) -> Figure:
    """Return the figure of delta against epsilon; `curve` must have points."""
    description = f"{_claimed(reading)} At epsilon 0 its delta is at most {at_most(curve.advantage)}."
    return Figure(
        name="curve",
        title=f"Delta against epsilon: what is proved, and what is {reading.name}",
        description=description,
        draw=lambda width: _draw(reading, curve, width),
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


def lowest_power(delta: float) -> int:
    """Return the power of ten at which the vertical axis ends, a little below the claim's delta."""
    return math.floor(math.log10(delta)) - 3 if delta > 0 else -12


def _draw(reading: Reading, curve: Curve, width: float) -> Canvas:
    """Return the drawing for one width."""
    canvas = Canvas(width=width, height=330 if width > 500 else 280)
    left, right, top, bottom = 52.0, width - 16, 14.0, canvas.height - 50
    power = lowest_power(reading.claim.delta)
    across = Scale(low=0.0, high=curve.epsilons[-1], left=left, right=right)

    def down(delta: float) -> float:
        """Return the pixel of a delta on the logarithmic vertical axis; below its foot for smaller ones."""
        height = math.log10(delta) / power if delta > 0 else math.inf
        return top + max(0.0, height) * (bottom - top)

    draw_across(canvas, across, top, bottom, "epsilon")
    powers = [10.0**exponent for exponent in range(0, power - 1, -max(1, math.ceil(-power / 6)))]
    draw_up(canvas, [(down(value), nearest(value)) for value in powers], left, right)
    canvas.text(left + 6, top + 12, "delta (logarithmic)", "note halo")
    upper = [(across(e), down(b.upper)) for e, b in zip(curve.epsilons, curve.deltas, strict=True)]
    lower = [(across(e), down(b.lower)) for e, b in zip(curve.epsilons, curve.deltas, strict=True)]
    canvas.band(_cut(upper, bottom), _cut(lower, bottom))
    if reading.claim.epsilon < math.inf:
        x, y = across(reading.claim.epsilon), min(bottom, down(reading.claim.delta))
        canvas.line(left, y, x, y, "claim thin")
        canvas.line(x, y, x, bottom, "claim thin")
        canvas.diamond(x, y, 6, "hollow")
        canvas.label(x, y - 8, (reading.name,), "strong halo", gap=10)
    return canvas


def _cut(points: list[tuple[float, float]], bottom: float) -> list[tuple[float, float]]:
    """Return the points down to where their line meets the foot of the axis."""
    for place, (x, y) in enumerate(points):
        if y > bottom:
            left, above = points[max(0, place - 1)]
            share = max(0.0, (bottom - above) / (y - above)) if y > above else 0.0
            return [*points[:place], (left + share * (x - left), bottom)]
    return points
