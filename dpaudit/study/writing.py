"""The files of a study: tables, document and figures, written to one folder."""

import json
from pathlib import Path

from dpaudit.documents.markdown import markdown
from dpaudit.documents.page import page
from dpaudit.runtime.whole_files import write_folder
from dpaudit.study.document import document_of
from dpaudit.study.figures import figures_of
from dpaudit.study.making import make_problem
from dpaudit.study.running import Outcome
from dpaudit.study.summary import summary_of
from dpaudit.study.tables import cells_csv, contrasts_csv, exponents_csv, rows_csv, seconds_csv


def write_study(outcome: Outcome, base: Path, folder: Path) -> tuple[Path, ...]:
    """Return the files written to `folder`; `base` is the folder of the study's file.

    Guarantee: all but `seconds.csv` have equal bytes for equal studies on one version of the code and its libraries.
    Raises: ConfigError: nothing can be written there.
    """
    study = outcome.study
    problem = make_problem(study, study.settings.horizons[-1], study.settings.problems[0], base)
    document = document_of(outcome, problem)
    rows, exponents = rows_csv(document, _described(problem)), exponents_csv(document)
    summary = summary_of(document)
    texts = {
        "summary.md": markdown(summary),
        "summary.html": page(summary),
        "cells.csv": cells_csv(outcome),
        "rows.csv": rows,
        "contrasts.csv": contrasts_csv(document),
        "exponents.csv": exponents,
        "seconds.csv": seconds_csv(outcome),
        "study.json": json.dumps(document, indent=2, sort_keys=True, allow_nan=False) + "\n",
    }
    files = {name: text.encode() for name, text in texts.items()} | figures_of(rows, exponents)
    return write_folder(folder, files)


def _described(problem: object) -> str:
    """Return what a problem is, in words that end with a full stop."""
    words = str(getattr(problem, "description", "")) or type(problem).__name__
    return words if words.endswith(".") else f"{words}."
