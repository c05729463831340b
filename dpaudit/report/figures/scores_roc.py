"""The figure of an audit of scores: its ROC curve, the band of its limits, and the most that the claim allows."""

from dpaudit.model.scores_result import ScoresResult
from dpaudit.report.curves import highest_true_positive_rate
from dpaudit.report.figures.canvas import Canvas
from dpaudit.report.figures.figure import Figure
from dpaudit.report.figures.rates import RatesSquare
from dpaudit.wording.numerals import exact
from dpaudit.wording.scores import area_phrase

_GRID = tuple(step / 100 for step in range(101))


def scores_roc_figure(result: ScoresResult, number: int) -> Figure:
    """Return the figure; `number` tells several apart. Scores that share a run have no band."""
    limits = (
        f"The band holds at all thresholds together with probability at least {exact(1 - result.significance)}, if "
        "the sampling is as stated."
        if result.sampling == "runs"
        else "There is no band, since the scores share a run."
    )
    return Figure(
        name=f"scores-roc-{number}",
        title=f"Scores S{number}: true against false positive rate",
        description=f"AUROC {area_phrase(result)}. {limits}",
        draw=lambda _: _draw(result),
    )


def _draw(result: ScoresResult) -> Canvas:
    """Return the drawing, a square that fits a phone."""
    square = RatesSquare()
    band = band_of(result)
    if band:
        square.canvas.path([square.at(*corner) for corner in band], "reached", closed=True)
    square.frame()
    claim = result.claim
    allowed = [square.at(x, highest_true_positive_rate(claim.epsilon, claim.delta, x)) for x in _GRID]
    square.canvas.path(allowed, "claim open")
    measured = [(p.false_positives / result.others, p.true_positives / result.members) for p in result.roc]
    square.canvas.path([square.at(*pair) for pair in sorted({(0.0, 0.0), *measured, (1.0, 1.0)})], "measured")
    _mark(square, result)
    return square.canvas


def band_of(result: ScoresResult) -> list[tuple[float, float]]:
    """Return the corners of the band that the limits leave to the ROC curve; empty where the scores have no limits.

    At a false positive rate x the curve is at most the least upper limit among thresholds whose false positive rate is
    x or more, and at least the largest lower limit among those whose rate is x or less.
    """
    points = [(p.false_positive_rate, p.true_positive_rate) for p in result.roc]
    limits = [(f, t) for f, t in points if f is not None and t is not None]
    if not limits:
        return []
    upper = [(1.0, 1.0)]
    for x, y in sorted(((f[0], t[1]) for f, t in limits), reverse=True):
        upper += [(x, upper[-1][1]), (x, min(y, upper[-1][1]))]
    lower = [(0.0, 0.0)]
    for x, y in sorted((f[1], t[0]) for f, t in limits):
        lower += [(x, lower[-1][1]), (x, max(y, lower[-1][1]))]
    return [*lower, (1.0, lower[-1][1]), *upper, (0.0, upper[-1][1])]


def _mark(square: RatesSquare, result: ScoresResult) -> None:
    """Draw the counted threshold, where the rule has one."""
    counts = result.counts
    if result.sampling == "runs" and counts.positives and counts.negatives:
        rates = counts.false_positives / counts.negatives, counts.true_positives / counts.positives
        square.canvas.circle(*square.at(*rates), 4.5, "attacked")
