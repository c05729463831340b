"""The figures of attacks and of scores: measured rates, and the largest that claim and certificate allow."""

from collections.abc import Iterable

from dpaudit.figures.figure import Figure
from dpaudit.figures.plot import Plot, Series
from dpaudit.figures.scale import Scale
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.claim import Claim
from dpaudit.model.scores_result import ScoresResult
from dpaudit.report.curves import Curve, highest_true_positive_rate
from dpaudit.wording.numerals import at_least, exact, nearest, whole
from dpaudit.wording.scores import area_phrase

Pair = tuple[float, float]
"""A false and a true positive rate."""

_SIDE = 264.0
"""The height between the axes with which the narrow drawing is a square."""

_GRID = tuple(step / 100 for step in range(101))
_MOST = 200


def roc_figure(audit: AuditResult, claim: Claim, curve: Curve, number: int, *, void: bool) -> Figure:
    """Return the figure of one audit's rates against a claim in epsilon and delta; `number` tells several apart."""
    counts, threshold = audit.counts, _threshold(audit)
    rates = confidence = ""
    if threshold is not None:
        false, true = map(nearest, threshold)
        rates = f" At its threshold the true positive rate is {true}, the false positive rate {false}."
    if audit.curve:
        sure = at_least(1 - audit.significance)
        confidence = f" The filled area is reached with confidence {sure}, at all rates together."
    allowed = "said" if void else "and the certificate allow"
    proved = [(x, curve.true_positive_rate(x)) for x in _GRID] if curve.points and not void else []
    stride = max(1, len(audit.roc) // _MOST)
    return Figure(
        name=f"roc-{number}",
        title=f"Attack '{audit.name}': true against false positive rate",
        description=f"Measured on {whole(counts.runs)} runs, against what the claim {allowed}.{rates}{confidence}",
        draw=_drawn(audit.curve, claim, proved, [*audit.roc[:-1:stride], *audit.roc[-1:]], threshold).draw,
        square=True,
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
        draw=_drawn(band_of(result), result.claim, [], sorted({(0.0, 0.0), *measured, (1.0, 1.0)}), threshold).draw,
        square=True,
    )


def _threshold(result: AuditResult | ScoresResult) -> Pair | None:
    """Return the rates at the counted threshold, or None where one of them is not known."""
    counts = result.counts
    if not counts.positives or not counts.negatives:
        return None
    return counts.false_positives / counts.negatives, counts.true_positives / counts.positives


def _drawn(
    reached: Iterable[Pair], claim: Claim, proved: Iterable[Pair], measured: Iterable[Pair], threshold: Pair | None
) -> Plot:
    """Return the unit square with the area that is reached, what claim and certificate allow, and what was measured."""
    allowed = ((x, highest_true_positive_rate(claim.epsilon, claim.delta, x)) for x in _GRID)
    lines = ((allowed, "claim open"), (proved, "curve"), (measured, "measured"), (((0.0, 0.0), (1.0, 1.0)), "chance"))
    quarters = tuple((share, f"{share:g}") for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    return Plot(
        across=Scale(low=0.0, high=1.0, name="false positive rate; upwards: true positive rate", marks=quarters),
        up=Scale(low=0.0, high=1.0, marks=quarters),
        layers=(
            Series(points=tuple(reached), line="reached", closed=True),
            *(Series(points=tuple(pairs), line=style) for pairs, style in lines),
            Series(points=() if threshold is None else (threshold,), mark=(0, "attacked")),
        ),
        height=_SIDE,
    )


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
