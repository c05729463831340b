"""The files of a report: HTML, Markdown, JSON, figures, and on request a PDF, all of one document."""

import json
from pathlib import Path

from dpaudit.documents.document import Document, Paragraph, document, unfolded
from dpaudit.documents.markdown import markdown
from dpaudit.documents.page import page
from dpaudit.documents.paper import paper
from dpaudit.report.attachments.in_toto import privacy_report, statement_text, test_result
from dpaudit.report.attachments.registry_record import registry_text
from dpaudit.report.facts import gather
from dpaudit.report.figures import figures_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.layout import report_document
from dpaudit.report.signed import signed
from dpaudit.runtime.whole_files import write_folder

_EARLIER = ("report.pdf", "registry.yaml", "figures/*.svg")
"""The files of an earlier report that not every report has."""


def render(report: ReportInputs) -> dict[str, str]:
    """Return the text of every file of a report by its path; equal reports give equal texts."""
    return _written(report)[1]


def on_paper(report: ReportInputs) -> bytes:
    """Return the report as a PDF."""
    return paper(_written(report)[0], report.created)


def _written(report: ReportInputs) -> tuple[Document, dict[str, str]]:
    """Return the document of a report, and the text of every file by its path."""
    facts = gather(report)
    data, figures = signed(facts), figures_of(facts)
    full_document = report_document(data, figures)
    shown, details = unfolded(full_document)
    origin = f"To report.md of {report.created}, whose digest to sign is {data['digest_to_sign']}."
    annex = document(Paragraph(origin), details, title=f"{full_document.title}: annex")
    return full_document, {
        "report.html": page(full_document),
        "report.md": markdown(shown, level=1),
        "annex.md": markdown(annex, level=1),
        "report.json": json.dumps(data, indent=2, sort_keys=True, allow_nan=False) + "\n",
        **{f"figures/{name}.svg": figure.file() for name, figure in figures.items()},
    }


def contents(report: ReportInputs, *, pdf: bool = False) -> dict[str, bytes]:
    """Return the bytes of every file of a report by its path, statements about the others last."""
    full_document, texts = _written(report)
    files = {name: text.encode("utf-8") for name, text in texts.items()}
    if pdf:
        files["report.pdf"] = paper(full_document, report.created)
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
