"""Tables of numbers read from CSV files, with every fault named by column and row."""

import csv
import io
import math
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array


def bundled_table(folder: str, file: str) -> Path:
    """Return the path of a table that statsmodels distributes, without importing statsmodels.

    Raises: ConfigError: statsmodels is not installed.
    """
    statsmodels = find_spec("statsmodels")
    if statsmodels is None or statsmodels.origin is None:
        raise ConfigError(f"{file} is distributed with statsmodels; install statsmodels, or give path=.")
    return Path(statsmodels.origin).parent / "datasets" / folder / file


def read_columns(path: Path, columns: tuple[str, ...], *, delimiter: str = ",") -> dict[str, Array]:
    """Return the named columns of the CSV file at `path`, each of shape (rows,), in float64.

    Other columns are ignored. Rows are counted as in the file, the header being row 1.
    Raises: ConfigError: an unreadable file, a missing column, a short row, no rows, or a value that is not
        a finite number; the message names the file, the row, the column, the value and the remedy.
    """
    try:
        columns_read = _columns(path, path.read_bytes(), columns, delimiter)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(
            f"Cannot read the data file {path}: {error}. Give the path of a readable CSV file."
        ) from error
    return {name: values.copy() for name, values in columns_read.items()}


@lru_cache(maxsize=4)
def _columns(path: Path, content: bytes, columns: tuple[str, ...], delimiter: str) -> dict[str, Array]:
    """Return the named columns of a table with this content; a study makes one problem many times."""
    text = io.StringIO(content.decode("utf-8"), newline="")
    rows = list(csv.reader(text, delimiter=delimiter, quotechar="'" if delimiter == "\t" else '"'))
    header = [name.strip() for name in rows[0]] if rows else []
    missing = [name for name in columns if name not in header]
    if missing:
        raise ConfigError(
            f"{path} has no column {', '.join(map(repr, missing))} in row 1; it needs: {', '.join(columns)}."
        )
    indices = {name: header.index(name) for name in columns}
    body = [(number, row) for number, row in enumerate(rows[1:], start=2) if row]
    if not body:
        raise ConfigError(f"{path} has a header but no rows; give a file with at least one row of data.")
    return {
        name: np.array([_number(path, number, row, name, index, len(header)) for number, row in body])
        for name, index in indices.items()
    }


def _number(path: Path, number: int, row: list[str], name: str, index: int, width: int) -> float:
    """Return one cell as a finite float."""
    if len(row) != width:
        raise ConfigError(
            f"{path}, row {number}: expected {width} values, found {len(row)}; the file may be truncated. "
            "Complete or remove the row."
        )
    try:
        value = float(row[index])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(
            f"{path}, row {number}, column {name!r}: expected a finite number, found {row[index]!r}. "
            "Fill in or remove the row."
        )
    return value
