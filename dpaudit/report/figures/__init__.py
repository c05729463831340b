"""The figures of a report: deterministic SVG drawings, each a function of the report alone."""

from dpaudit.figures.figure import Figure
from dpaudit.report.facts import Facts
from dpaudit.report.figures.axis import axis_figure
from dpaudit.report.figures.curve import curve_figure
from dpaudit.report.figures.front import front_figure
from dpaudit.report.figures.rates import roc_figure, scores_roc_figure
from dpaudit.report.figures.tree import tree_figure


def figures_of(facts: Facts) -> dict[str, Figure]:
    """Return all figures of a report by name: those that have something to show."""
    void = bool(facts.report.void)
    drawn = [axis_figure(facts.report), tree_figure(facts.rows, void=void)]
    if facts.curve.points and not void:
        drawn.append(curve_figure(facts.report.reading, facts.curve))
    drawn += [
        roc_figure(audit, facts.report.reading.claim, facts.curve, number, void=void)
        for number, audit in enumerate(facts.report.audits, start=1)
    ]
    drawn += [scores_roc_figure(scores.result, number) for number, scores in enumerate(facts.report.scores, start=1)]
    if facts.report.usefulness.front is not None:
        drawn.append(front_figure(facts.report.usefulness.front))
    return {figure.name: figure for figure in drawn}
