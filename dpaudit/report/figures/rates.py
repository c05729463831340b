"""The unit square of an ROC curve: false positive rates across, true positive rates upwards."""

from dataclasses import dataclass, field

from dpaudit.report.figures.canvas import Canvas

_SIDE = 344.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, _SIDE - 10, 10.0, _SIDE - 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesSquare:
    """A drawing that fits a phone, with the pixels of pairs of rates."""

    canvas: Canvas = field(default_factory=lambda: Canvas(width=_SIDE, height=_SIDE + 14))

    def at(self, false: float, true: float) -> tuple[float, float]:
        """Return the pixel of a pair of rates."""
        return _LEFT + false * (_RIGHT - _LEFT), _BOTTOM - true * (_BOTTOM - _TOP)

    def frame(self) -> None:
        """Draw the grid with its numbers, the names of the axes, and the line of guesses without any score."""
        canvas = self.canvas
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            canvas.line(*self.at(share, 0), *self.at(share, 1), "grid")
            canvas.line(*self.at(0, share), *self.at(1, share), "grid")
            canvas.text(self.at(share, 0)[0], _BOTTOM + 17, f"{share:g}", "tick", "middle")
            canvas.text(_LEFT - 7, self.at(0, share)[1] + 4, f"{share:g}", "tick", "end")
        canvas.text(_LEFT, _BOTTOM + 36, "false positive rate", "note")
        canvas.text(_RIGHT, _BOTTOM + 36, "upwards: true positive rate", "note", "end")
        canvas.line(*self.at(0, 0), *self.at(1, 1), "chance")
