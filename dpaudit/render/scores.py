"""Audits of scores on a terminal and as Markdown: the verdict first, then the evidence."""

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.model.scores_result import ScoresResult, ScoresVerdict
from dpaudit.render.layout import columns, headline, inset, section
from dpaudit.render.text import bars
from dpaudit.wording.audits import measured_rows
from dpaudit.wording.claims import claim_parameters, neighbours_phrase
from dpaudit.wording.markdown import cell, table
from dpaudit.wording.numerals import at_least, nearest, whole
from dpaudit.wording.scores import (
    area_phrase,
    ceiling_sentence,
    counts_phrase,
    rate_phrase,
    raw_phrase,
    sampling_phrase,
    scores_meaning,
)

_COLOURS: dict[ScoresVerdict, str] = {"violation": "red", "not_refuted": "green", "inconclusive": "yellow"}


def scores_text(result: ScoresResult) -> RenderableType:
    """Return an audit of scores for a terminal of any width."""
    label = result.verdict.replace("_", " ").upper()
    return Group(
        headline(label, _COLOURS[result.verdict], scores_meaning(result)),
        section("Evidence"),
        columns(_evidence(result), "dim", ""),
        section("Bounds on epsilon"),
        columns(_bounds(result), "dim", "cyan", ""),
        section("Attack"),
        columns(_attack(result), "dim", ""),
        Text(),
        *bars([("claimed", result.claim.epsilon), ("attacked", result.epsilon_lower)]),
        Text(),
        inset(ceiling_sentence(result), style="dim"),
    )


def scores_markdown(result: ScoresResult) -> str:
    """Return an audit of scores as Markdown."""
    parts = [
        f"## {result.verdict.replace('_', ' ').upper()}",
        cell(scores_meaning(result)),
        table(("", ""), [(name, cell(text)) for name, text in (*_evidence(result), *_attack(result))]),
        table(("bound", "epsilon", "assumes"), _bounds(result)),
        ceiling_sentence(result),
    ]
    return "\n\n".join(parts) + "\n"


def _evidence(result: ScoresResult) -> list[tuple[str, str]]:
    """Return claim, sampling and counts."""
    rows = [
        ("claimed", f"{claim_parameters(result.claim)}; {neighbours_phrase(result.claim.neighbours)}"),
        ("scores", f"{whole(result.members)} of members, {whole(result.others)} of others"),
        ("sampling", sampling_phrase(result.sampling)),
        ("counts", counts_phrase(result)),
        *measured_rows(result.measured),
        ("error", f"a true claim is rejected with probability at most {nearest(result.significance)}"),
    ]
    if result.declared is not None:
        verdict = "refuted" if result.declared.refuted else "not refuted"
        rows.insert(1, ("declared", f"{result.declared.text}: {verdict}"))
    return rows


def _bounds(result: ScoresResult) -> list[tuple[str, str, str]]:
    """Return every bound; the first one decides."""
    return [
        (bound.name, at_least(bound.epsilon), bound.assumption or ("decides" if number == 0 else "nothing"))
        for number, bound in enumerate(result.bounds)
    ]


def _attack(result: ScoresResult) -> list[tuple[str, str]]:
    """Return how well the scores tell members from others."""
    rates = [(f"TPR at {nearest(rate.false_positive_rate)}", rate_phrase(rate)) for rate in result.rates]
    return [("AUROC", area_phrase(result)), *rates, ("raw counts", raw_phrase(result))]
