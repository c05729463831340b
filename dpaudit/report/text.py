"""The report and its annex as Markdown: the document of the page, with every inserted text escaped."""

from typing import Any

from dpaudit.report.compliance.composition import INDENT
from dpaudit.report.figures import Figure
from dpaudit.report.page import context
from dpaudit.wording.escaping import fenced, markdown


class _Markdown(str):
    """Text that is Markdown already, escaped where it was made."""

    __slots__ = ()


def markdown_report(data: dict[str, Any], figures: dict[str, Figure]) -> dict[str, str]:
    """Return the report and its annex as Markdown by file name, figures referred to beside them."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def literal(value: Any) -> Any:
        """Return `value` as plain words; what is Markdown already passes."""
        return markdown(value) if isinstance(value, str) and not isinstance(value, _Markdown) else value

    environment = Environment(
        loader=PackageLoader("dpaudit.report"),
        autoescape=False,  # noqa: S701 - Markdown, not HTML: `finalize` escapes every inserted text
        undefined=StrictUndefined,
        finalize=literal,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known = context(data, figures) | {"fenced": _block, "inset": _inset, "literal": _Markdown}
    return {
        name: _without_double_blanks(environment.get_template(f"{name}.j2").render(known))
        for name in ("report.md", "annex.md")
    }


def _block(text: str, language: str) -> _Markdown:
    """Return a code block."""
    return _Markdown(fenced(text, language))


def _inset(text: str) -> _Markdown:
    """Return a cell with the spaces before it kept."""
    rest = text.lstrip(INDENT)
    return _Markdown("&nbsp;&nbsp;" * (len(text) - len(rest)) + markdown(rest))


def _without_double_blanks(text: str) -> str:
    """Return `text` with at most one empty line in a row, outside code blocks as inside."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() or (lines and lines[-1]):
            lines.append(line.rstrip())
    return "\n".join(lines).rstrip() + "\n"
