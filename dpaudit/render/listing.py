"""The names that a configuration may use, on a terminal and as Markdown."""

from rich.console import Group, RenderableType

from dpaudit.render.layout import columns, section
from dpaudit.wording.markdown import table

Found = dict[str, dict[str, str]]
"""Kind, then name, to one line of description."""


def listing_text(names_by_kind: Found) -> RenderableType:
    """Return a list for a terminal."""
    width = max((len(name) for names in names_by_kind.values() for name in names), default=0)
    parts: list[RenderableType] = []
    for kind, names in names_by_kind.items():
        rows = [(name.ljust(width), text) for name, text in names.items()]
        parts += [section(kind.capitalize()), columns(rows, "cyan", "")]
    return Group(*parts)


def listing_markdown(names_by_kind: Found) -> str:
    """Return a list as Markdown."""
    return "\n".join(
        f"## {kind.capitalize()}\n\n{table(('name', ''), names.items())}\n" for kind, names in names_by_kind.items()
    )
