"""The figures of attacks and of scores: measured rates, and the largest that claim and certificate allow."""

from collections.abc import Iterable

from dpaudit.model.audit_result import AuditResult
from dpaudit.model.claim import Claim
from dpaudit.model.scores_result import ScoresResult
from dpaudit.report.curves import Curve, highest_true_positive_rate
from dpaudit.report.figures.canvas import Canvas
from dpaudit.report.figures.figure import Figure
from dpaudit.wording.numerals import at_least, exact, nearest, whole
from dpaudit.wording.scores import area_phrase

Pair = tuple[float, float]
"""A false and a true positive rate."""

_SIDE = 344.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, _SIDE - 10, 10.0, _SIDE - 32
_GRID = tuple(step / 100 for step in range(101))
_MOST = 200


def roc_figure(audit: AuditResult, claim: Claim, curve: Curve, number: int, *, void: bool) -> Figure:
    """Return the figure of one audit's rates against a claim in epsilon and delta; `number` tells several apart."""
    counts, threshold = audit.counts, _threshold(audit)
    rates = known = ""
    if threshold is not None:
        false, true = map(nearest, threshold)
        rates = f" At its threshold the true positive rate is {true}, the false positive rate {false}."
    if audit.curve:
        sure = at_least(1 - audit.significance)
        known = f" The filled area is reached with confidence {sure}, at all rates together."
    allowed = "said" if void else "and the certificate allow"
    proved = [(x, curve.true_positive_rate(x)) for x in _GRID] if curve.epsilons and not void else []
    stride = max(1, len(audit.roc) // _MOST)
    return Figure(
        name=f"roc-{number}",
        title=f"Attack '{audit.name}': true against false positive rate",
        description=f"Measured on {whole(counts.runs)} runs, against what the claim {allowed}.{rates}{known}",
        draw=lambda _: _drawn(audit.curve, claim, proved, [*audit.roc[:-1:stride], *audit.roc[-1:]], threshold),
    )


def scores_roc_figure(result: ScoresResult, number: int) -> Figure:
    """Return the figure of an audit of scores; `number` tells several apart. Scores that share a run have no band."""
    limits = "There is no band, since the scores share a run."
    if result.sampling == "runs":
        sure = exact(1 - result.significance)
        limits = (
            f"The band holds at all thresholds together with probability at least {sure}, if the sampling is as stated."
        )
    measured = {(p.false_positives / result.others, p.true_positives / result.members) for p in result.roc}
    threshold = _threshold(result) if result.sampling == "runs" else None
    return Figure(
        name=f"scores-roc-{number}",
        title=f"Scores S{number}: true against false positive rate",
        description=f"AUROC {area_phrase(result)}. {limits}",
        draw=lambda _: _drawn(
            band_of(result), result.claim, [], sorted({(0.0, 0.0), *measured, (1.0, 1.0)}), threshold
        ),
    )


def _threshold(result: AuditResult | ScoresResult) -> Pair | None:
    """Return the rates at the counted threshold, or None where one of them is not known."""
    counts = result.counts
    if not counts.positives or not counts.negatives:
        return None
    return counts.false_positives / counts.negatives, counts.true_positives / counts.positives


def _at(false: float, true: float) -> Pair:
    """Return the pixel of a pair of rates."""
    return _LEFT + false * (_RIGHT - _LEFT), _BOTTOM - true * (_BOTTOM - _TOP)


def _drawn(
    reached: Iterable[Pair], claim: Claim, proved: list[Pair], measured: list[Pair], threshold: Pair | None
) -> Canvas:
    """Return the unit square with the area that is reached, what claim and certificate allow, and what was measured."""
    canvas = Canvas(width=_SIDE, height=_SIDE + 14)
    allowed = [(x, highest_true_positive_rate(claim.epsilon, claim.delta, x)) for x in _GRID]
    canvas.path([_at(*pair) for pair in reached], "reached", closed=True)
    _frame(canvas)
    for pairs, style in ((allowed, "claim open"), (proved, "curve"), (measured, "measured")):
        canvas.path([_at(*pair) for pair in pairs], style)
    if threshold is not None:
        canvas.circle(*_at(*threshold), 4.5, "attacked")
    return canvas


def _frame(canvas: Canvas) -> None:
    """Draw the grid with its numbers, the names of the axes, and the line of guesses without any score."""
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.line(*_at(share, 0), *_at(share, 1), "grid")
        canvas.line(*_at(0, share), *_at(1, share), "grid")
        canvas.text(_at(share, 0)[0], _BOTTOM + 17, f"{share:g}", "tick", "middle")
        canvas.text(_LEFT - 7, _at(0, share)[1] + 4, f"{share:g}", "tick", "end")
    canvas.text(_LEFT, _BOTTOM + 36, "false positive rate", "note")
    canvas.text(_RIGHT, _BOTTOM + 36, "upwards: true positive rate", "note", "end")
    canvas.line(*_at(0, 0), *_at(1, 1), "chance")


def band_of(result: ScoresResult) -> list[Pair]:
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
