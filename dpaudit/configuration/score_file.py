"""Reading one column of scores: CSV or text with one number a line, NPY, or Parquet where pyarrow is installed."""

import io
import re
from collections.abc import Callable
from decimal import Context, Decimal
from importlib import import_module
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib.format import read_array

from dpaudit.configuration.files import read_bytes, read_text
from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array

_TABLE = (
    "has {found}; expected one column of scores. Scores of many models times many records are not independent: give "
    "the records of one model (--sampling canaries) or the models of one record (--sampling runs)."
)

MOST_SCORES = 500_000
"""The most scores of one file: an audit of two such files takes up to 15 s of processor time and 0.3 GB."""

_LOST = "is no double-precision number: numbers that differ would be read as equal. Subtract an offset, or give ranks."
_WHOLE, _SHORT = 2**53, 15
_BEGINS = re.compile(r"[\"']?\s*[+-]?\.?\d")


def read_scores(path: Path) -> Array:
    """Return the scores in a file, by its suffix: .csv, .txt, .npy or .parquet.

    Shape: (n,). A CSV may begin with a line that names its column. Whole numbers and digits that a double does not hold
    are refused: numbers that differ would be read as equal.
    Raises: ConfigError: no such file, another suffix, no number, NaN, several columns, a number that a double does not
        hold, more than `MOST_SCORES` numbers, or no pyarrow for Parquet.
    """
    readers: dict[str, Callable[[Path], Any]] = {".csv": _lines, ".txt": _lines, ".npy": _array, ".parquet": _parquet}
    if path.suffix not in readers:
        raise ConfigError(f"{path}: expected a file of scores that ends in {', '.join(readers)}.")
    scores = np.asarray(readers[path.suffix](path))
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1:
        raise ConfigError(f"{path}: {_TABLE.format(found=f'shape {scores.shape}')}")
    if scores.dtype.kind not in "iufb" or scores.dtype.itemsize > 8:
        raise ConfigError(f"{path}: expected numbers, got an array of type {scores.dtype}.")
    if len(scores) == 0:
        raise ConfigError(f"{path}: holds no score.")
    _require_few(path, len(scores))
    numbers: Array = scores.astype(float)
    if scores.dtype.kind in "iu" and (lost := _inexact(scores)) is not None:
        raise ConfigError(f"{path}: number {lost + 1}, {scores[lost]}, {_LOST}")
    if np.isnan(numbers).any():
        raise ConfigError(f"{path}: number {int(np.isnan(numbers).argmax()) + 1} is NaN. Find out where it came from.")
    return numbers


def _require_few(path: Path, number: int) -> None:
    """Refuse more scores than an audit finishes with in a time that somebody waits."""
    if number > MOST_SCORES:
        raise ConfigError(
            f"{path}: has {number:,} scores; expected at most {MOST_SCORES:,}. Give a random part of them, drawn "
            "without a look at the scores: an audit of a part is as valid."
        )


def _inexact(scores: Array) -> int | None:
    """Return the first place of a whole number that no double holds, or None."""
    large = np.flatnonzero((scores > _WHOLE) | (scores < -_WHOLE))
    return next((int(index) for index in large if int(float(scores[index])) != int(scores[index])), None)


def _lines(path: Path) -> Array:
    """Return one number a line; the first line may be a name, which does not begin as a number does."""
    text = read_text(path)
    lines = text.count("\n")
    if lines > 2 * MOST_SCORES:  # half of them may be empty
        _require_few(path, lines)
    rows = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    _require_few(path, len(rows) - 1)
    for number, line in rows:
        if len(line.replace(";", ",").rstrip(",").split(",")) > 1:
            raise ConfigError(_TABLE.format(found="several columns")).at(str(path), number)
    if rows and _is_name(rows[0][1]):
        rows = rows[1:]
    values: list[float] = []
    for number, line in rows:
        value = _number(line)
        if value is None or np.isnan(value):
            raise ConfigError(f"expected a number, got {line!r:.40}.").at(str(path), number)
        if not _held(line, value):
            raise ConfigError(f"{line:.40} {_LOST}").at(str(path), number)
        values.append(value)
    return np.array(values, dtype=float)


def _is_name(text: str) -> bool:
    """Return whether a line names its column: it has a letter, and neither is nor begins as a number.

    >>> _is_name("score"), _is_name("1.5 (first)"), _is_name("-")
    (True, False, False)
    """
    return _number(text) is None and not _BEGINS.match(text) and any(sign.isalpha() for sign in text)


def _number(text: str) -> float | None:
    """Return the number that a cell spells, or None."""
    try:
        return float(_cell(text))
    except ValueError:
        return None


def _cell(text: str) -> str:
    """Return the text of a cell without quotes and without a separator at the end."""
    return text.rstrip(",;").strip("\"'")


def _held(line: str, value: float) -> bool:
    """Return whether a double holds the number that a cell spells, to as many digits as the cell has."""
    if len(line) <= _SHORT and np.isfinite(value):
        return True
    spelled = Decimal(_cell(line).replace("_", ""))
    if not spelled.is_finite() or not np.isfinite(value):
        return not spelled.is_finite()
    digits = len(spelled.as_tuple().digits)
    return Context(prec=max(1, digits)).plus(Decimal(value)) == spelled


def _array(path: Path) -> Array:
    """Return the array of an NPY file; an array of objects is refused."""
    content = read_bytes(path)
    try:
        loaded: Array = read_array(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, MemoryError, SyntaxError, TokenError, TypeError, OverflowError):
        raise ConfigError(f"{path}: no NPY array of numbers; save one column of numbers by numpy.save.") from None
    return loaded


def _parquet(path: Path) -> Array:
    """Return the one column of a Parquet file."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ConfigError(f"{path}: Parquet needs pyarrow; install it, or save the scores as CSV or NPY.") from None
    try:
        _require_few(path, parquet.read_metadata(path).num_rows)
        table: Any = parquet.read_table(path)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file.") from None
    except (OSError, arrow.ArrowException) as error:
        raise ConfigError(f"{path}: no Parquet file ({' '.join(str(error).split())}).") from None
    if table.num_columns != 1:
        raise ConfigError(f"{path}: {_TABLE.format(found=f'{table.num_columns} columns')}")
    return table.column(0).to_numpy()
