"""Lists of what can be named."""

from rich.console import Group, RenderableType

from dpaudit.render.layout import columns, section
from dpaudit.wording.markdown import table

Found = dict[str, dict[str, str]]
"""Kind, then name, to one line of description."""


def listing_text(found: Found) -> RenderableType:
    """Return a list for a terminal."""
    width = max((len(name) for held in found.values() for name in held), default=0)
    parts: list[RenderableType] = []
    for kind, held in found.items():
        rows = [(name.ljust(width), text) for name, text in held.items()]
        parts += [section(kind.capitalize()), columns(rows, "cyan", "")]
    return Group(*parts)


def listing_markdown(found: Found) -> str:
    """Return a list as Markdown."""
    return "\n".join(f"## {kind.capitalize()}\n\n{table(('name', ''), held.items())}\n" for kind, held in found.items())
