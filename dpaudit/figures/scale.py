"""Places for numbers on an axis, and the axis itself."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpaudit.figures.canvas import Canvas
from dpaudit.wording.numerals import nearest

_GUTTER = 34.0
_SPREAD = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An axis from `left` to `right` pixels over [low, high]; logarithmic if `low` is above zero.

    Of an axis that runs upwards `left` is the pixel of its foot, and `right` that of its top. `zero` keeps a place for
    zero at the `left` of a logarithmic axis, `infinite` one for infinity at `right`. `marks` are values with their
    labels, in place of round numbers.
    """

    low: float
    high: float
    left: float = 0.0
    right: float = 1.0
    name: str = ""
    zero: bool = False
    infinite: bool = False
    marks: tuple[tuple[float, str], ...] = ()

    @property
    def logarithmic(self) -> bool:
        """Whether equal ratios are equally far apart."""
        return self.low > 0

    @property
    def start(self) -> float:
        """The pixel where the continuous part begins."""
        return self.left + (self._gutter if self.logarithmic and self.zero else 0)

    @property
    def end(self) -> float:
        """The pixel where the continuous part ends."""
        return self.right - (self._gutter if self.infinite else 0)

    @property
    def _gutter(self) -> float:
        """The room of a place outside the continuous part; negative on an axis that runs upwards."""
        return math.copysign(_GUTTER, self.right - self.left)

    def __call__(self, value: float) -> float:
        """Return the pixel of `value`; what lies outside the axis is put at its edge."""
        if value == math.inf:
            return self.right
        if self.logarithmic:
            if value <= 0:
                return self.left
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Return (pixel, label) for the marks of the axis."""
        values = self._decades() if self.logarithmic else self._steps()
        named = self.marks or tuple((value, nearest(value)) for value in values)
        marks = [(self(value), label) for value, label in named]
        if self.logarithmic and self.zero:
            marks.insert(0, (self.left, "0"))
        if self.infinite:
            marks.append((self.right, "∞"))
        return marks

    def _steps(self) -> list[float]:
        """Return about five round values on a linear axis."""
        raw = (self.high - self.low) / 5
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * m for m in (1, 2, 2.5, 5, 10) if unit * m >= raw * 0.999)
        first, last = math.ceil(self.low / step * 0.9999), math.floor(self.high / step * 1.0001)
        return [step * multiple for multiple in range(first, last + 1)]

    def _decades(self) -> list[float]:
        """Return powers of ten on a logarithmic axis, thinned to seven, with 1-2-5 steps where there are few."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        stride = max(1, math.ceil((last - first) / 6))
        powers = [10.0**power for power in range(first, last + 1, stride)]
        if len(powers) > 2:
            return powers
        finer = (m * 10.0**power for power in range(first - 1, last + 1) for m in (1, 2, 5))
        return [value for value in finer if self.low * 0.999 <= value <= self.high * 1.001]


def draw_across(canvas: Canvas, scale: Scale, top: float, bottom: float) -> None:
    """Draw a horizontal axis with its name, its marks and grid lines."""
    for x, label in scale.ticks():
        canvas.line(x, top, x, bottom, "grid")
        canvas.text(x, bottom + 18, label, "tick", "middle")
    canvas.line(scale.left, bottom, scale.end, bottom, "axis")
    canvas.text(scale.left, bottom + 38, scale.name, "note")


def draw_up(canvas: Canvas, scale: Scale, left: float, right: float) -> None:
    """Draw the marks of a vertical axis with grid lines from `left` to `right`, and its name at the top."""
    for y, label in scale.ticks():
        canvas.line(left, y, right, y, "grid")
        canvas.text(left - 8, y + 4, label, "tick", "end")
    canvas.text(left + 6, scale.right - 2, scale.name, "note halo")


def reach(values: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an axis that shows finite values: from 0 where they are alike in size, else logarithmic.

    >>> reach([1.0, 2.0]), reach([])
    ((0.0, 2.6), (0.0, 1.0))
    """
    finite = [value for value in values if 0 < value < math.inf]
    if not finite:
        return 0.0, 1.0
    smallest, largest = min(finite), max(finite)
    return (0.0, 1.3 * largest) if largest <= _SPREAD * smallest else (smallest / 1.8, 1.8 * largest)
