"""From a report to files: HTML, Markdown, JSON, and each figure as an SVG of its own."""

import json
from pathlib import Path

from dpaudit.errors import ConfigError
from dpaudit.report.document import Report
from dpaudit.report.facts import gather
from dpaudit.report.figures import figures_of
from dpaudit.report.page import html
from dpaudit.report.plain import plain
from dpaudit.report.text import markdown_report


def render(report: Report) -> dict[str, str]:
    """Return the text of every file of a report by its path; equal reports give equal texts."""
    facts = gather(report)
    figures = figures_of(facts)
    return {
        "report.html": html(facts, figures),
        "report.md": markdown_report(facts, figures),
        "report.json": json.dumps(plain(facts), indent=2, sort_keys=True, allow_nan=False) + "\n",
        **{f"figures/{name}.svg": figure.file() for name, figure in figures.items()},
    }


def write(report: Report, folder: Path) -> tuple[Path, ...]:
    """Return the paths of the files written below `folder`, which is made if need be: HTML, Markdown, JSON, figures.

    File names are fixed; nothing of the report's own text reaches a path.
    Raises: ConfigError: the folder cannot be made or written.
    """
    files = {folder / name: text for name, text in render(report).items()}
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise ConfigError(
            f"Cannot write the report to folder={str(folder)!r}: {error.strerror or error}; name a writable folder."
        ) from None
    return tuple(files)
