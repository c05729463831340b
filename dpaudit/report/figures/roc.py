"""The figure of one attack: its ROC against the largest that claim and certificate allow."""

from dpaudit.model.audit_result import AuditResult
from dpaudit.model.claim import Claim
from dpaudit.report.curves import Curve, highest_true_positive_rate
from dpaudit.report.figures.canvas import Canvas
from dpaudit.report.figures.figure import Figure
from dpaudit.report.figures.rates import RatesSquare
from dpaudit.wording.numerals import at_least, nearest, whole

_MOST = 200
_GRID = tuple(step / 100 for step in range(101))


def roc_figure(audit: AuditResult, claim: Claim, curve: Curve, number: int, *, void: bool) -> Figure:
    """Return the figure of one audit's rates against a claim in epsilon and delta; `number` tells several apart."""
    counts = audit.counts
    rates = ""
    if counts.positives and counts.negatives:
        true, false = counts.true_positives / counts.positives, counts.false_positives / counts.negatives
        rates = (
            f" At its threshold the true positive rate is {nearest(true)}, the false positive rate {nearest(false)}."
        )
    known = (
        f" The filled area is reached with confidence {at_least(1 - audit.significance)}, at all rates together."
        if audit.curve
        else ""
    )
    allowed = "said" if void else "and the certificate allow"
    return Figure(
        name=f"roc-{number}",
        title=f"Attack '{audit.name}': true against false positive rate",
        description=f"Measured on {whole(counts.runs)} runs, against what the claim {allowed}.{rates}{known}",
        draw=lambda _: _draw(audit, claim, curve, void=void),
    )


def _draw(audit: AuditResult, claim: Claim, curve: Curve, *, void: bool) -> Canvas:
    """Return the drawing, a square that fits a phone."""
    square = RatesSquare()
    canvas, at = square.canvas, square.at
    if audit.curve:
        canvas.path([at(*corner) for corner in audit.curve], "reached", closed=True)
    square.frame()
    canvas.path([at(x, highest_true_positive_rate(claim.epsilon, claim.delta, x)) for x in _GRID], "claim open")
    if curve.epsilons and not void:
        canvas.path([at(x, curve.true_positive_rate(x)) for x in _GRID], "curve")
    canvas.path([at(*pair) for pair in _thinned(audit.roc)], "measured")
    if audit.counts.positives and audit.counts.negatives:
        rates = (
            audit.counts.false_positives / audit.counts.negatives,
            audit.counts.true_positives / audit.counts.positives,
        )
        canvas.circle(*at(*rates), 4.5, "attacked")
    return canvas


def _thinned(points: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Return at most about `_MOST` of the points in order, both ends among them."""
    stride = max(1, len(points) // _MOST)
    return [*points[:-1:stride], *points[-1:]]
