"""The files of a report: HTML, Markdown, JSON, figures, and on request a PDF; every text of Markdown is escaped."""

import json
from pathlib import Path
from typing import Any

from dpaudit.figures.figure import Figure
from dpaudit.report.attachments.in_toto import privacy_report, statement_text, test_result
from dpaudit.report.attachments.registry_record import registry_text
from dpaudit.report.compliance.composition import INDENT
from dpaudit.report.facts import gather
from dpaudit.report.figures import figures_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.page import context, html
from dpaudit.report.pdf import pdf_report
from dpaudit.report.signed import signed
from dpaudit.runtime.whole_files import write_folder
from dpaudit.wording.escaping import fenced, markdown

_EARLIER = ("report.pdf", "registry.yaml", "figures/*.svg")
"""The files of an earlier report that not every report has."""


def render(report: ReportInputs) -> dict[str, str]:
    """Return the text of every file of a report by its path; equal reports give equal texts."""
    facts = gather(report)
    data, figures = signed(facts), figures_of(facts)
    return {
        "report.html": html(data, figures),
        **markdown_report(data, figures),
        "report.json": json.dumps(data, indent=2, sort_keys=True, allow_nan=False) + "\n",
        **{f"figures/{name}.svg": figure.file() for name, figure in figures.items()},
    }


def contents(report: ReportInputs, *, pdf: bool = False) -> dict[str, bytes]:
    """Return the bytes of every file of a report by its path, statements about the others last."""
    texts = render(report)
    files = {name: text.encode("utf-8") for name, text in texts.items()}
    if pdf:
        figures = {name: text for name, text in texts.items() if name.endswith(".svg")}
        files["report.pdf"] = pdf_report(texts["report.json"], figures)
    record = registry_text(report)
    if record:
        files["registry.yaml"] = record.encode("utf-8")
    files["test-result.intoto.json"] = statement_text(test_result(report)).encode("utf-8")
    return files | {"privacy-report.intoto.json": statement_text(privacy_report(files)).encode("utf-8")}


def write(report: ReportInputs, folder: Path, *, pdf: bool = False) -> tuple[Path, ...]:
    """Return the paths of the files written below `folder`, which is made if need be: HTML, Markdown, JSON, figures.

    With `pdf` also a PDF, and always two unsigned statements about the files, and a registry record where one can
    be made. File names are fixed; nothing of the report's own text reaches a path. Files of two reports never lie there
    together: those of an earlier one are removed.
    Raises: ConfigError: the folder cannot be made or written.
    """
    return write_folder(folder, contents(report, pdf=pdf), earlier=_EARLIER)


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
