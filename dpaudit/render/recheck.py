"""What checking a certificate again gave, as people read it."""

from rich.console import Group, RenderableType

from dpaudit.recheck import Recheck
from dpaudit.render import words
from dpaudit.render.layout import columns, headline, inset, section
from dpaudit.render.markdown import bullets, table


def recheck_text(held: Recheck) -> RenderableType:
    """Return the outcome for a terminal."""
    rows = [(row.place, f"stated {row.stated}, recomputed {row.recomputed}") for row in held.differences]
    word, colour = ("CONFIRMED", "green") if held.confirmed else ("NOT CONFIRMED", "red")
    return Group(
        headline(word, colour, summary(held)),
        *([section("Differences"), columns(rows, "", "")] if rows else []),
        *([section("Notes"), *map(inset, held.notes)] if held.notes else []),
    )


def recheck_markdown(held: Recheck) -> str:
    """Return the outcome as Markdown."""
    rows = [(row.place, row.stated, row.recomputed) for row in held.differences]
    parts = [
        f"## {'CONFIRMED' if held.confirmed else 'NOT CONFIRMED'}",
        summary(held),
        table(("place", "stated", "recomputed"), rows) if rows else "",
        bullets(held.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(held: Recheck) -> str:
    """Return the outcome in one sentence."""
    claim, verdict = words.parameters(held.certificate.claim), words.verdict(held.certificate.verdict).lower()
    if held.confirmed:
        return f"Its digest matches and every number was computed again: the claim {claim} is {verdict}."
    return f"The certificate says {verdict} for {claim}, but its own declaration gives something else."
