"""Logs of pairwise comparisons, as arenas of language models keep them: model_a, model_b, winner, judge.

A record is one vote. A person (`judge`) may have voted many times, and each vote is protected on its own; for the
person the guarantee is that of a group of so many records, which the report states.
"""

import csv
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from algorithms.problems.duels import Duels, fitted_utilities, win_rates
from dpaudit.checks import OneOf, Positive, one_of
from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array

WINNERS = ("model_a", "model_b", "tie", "tie (bothbad)")
"""The values of the column `winner`."""

TIES = ("half", "drop")
"""How ties count: half a win for either side, which is the mean of a fair draw, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonLog:
    """Votes: (first option, second option, winner), options by their index in `names`; votes of each person."""

    names: tuple[str, ...]
    votes: tuple[tuple[int, int, str], ...]
    votes_per_person: int

    def wins(self, ties: str) -> Array:
        """Return how often i beat j; shape (K, K)."""
        wins = np.zeros((len(self.names), len(self.names)))
        for first, second, winner in self.votes:
            if winner == "model_a":
                wins[first, second] += 1
            elif winner == "model_b":
                wins[second, first] += 1
            elif ties == "half":
                wins[first, second] += 0.5
                wins[second, first] += 0.5
        return wins


def read_log(path: Path) -> ComparisonLog:
    """Return the votes in a CSV file with a header, or a file with one JSON object a line.

    Columns: model_a, model_b, winner, and judge where it is known; without it, every vote is one person's.
    Raises: ConfigError: an unreadable file, a missing column, or a winner that is none of `WINNERS`.
    """
    rows = _rows(path)
    numbers: dict[str, int] = {}
    votes: list[tuple[int, int, str]] = []
    people: Counter[str] = Counter()
    for number, row in rows:
        missing = [name for name in ("model_a", "model_b", "winner") if not row.get(name)]
        if missing:
            raise ConfigError(
                f"{path}, line {number}: lacks {', '.join(missing)}; a vote needs model_a, model_b, winner."
            )
        if row["winner"] not in WINNERS:
            raise ConfigError(f"{path}, line {number}: winner {row['winner']!r:.40} is none of: {', '.join(WINNERS)}.")
        first, second = (numbers.setdefault(str(row[name]), len(numbers)) for name in ("model_a", "model_b"))
        if first != second:
            votes.append((first, second, str(row["winner"])))
        people[str(row.get("judge") or f"line {number}")] += 1
    if not votes:
        raise ConfigError(f"{path} holds no votes between two different options.")
    return ComparisonLog(names=tuple(numbers), votes=tuple(votes), votes_per_person=max(people.values()))


def comparison_log(*, path: Path, ties: Annotated[str, OneOf(TIES)] = "half", prior: Positive = 2.0) -> Duels:
    r"""Return duels fitted to a log of comparisons: simulated people answer as often as the log's did.

    Pairs are shrunk to one half as if `prior` further votes had been cast; pairs that never met are even.
    Parameters: `path` of the log, a CSV file; `ties` count "half" a win for either side, or nothing ("drop").
    Raises: ConfigError: as for `read_log`. ValueError: ties neither half nor drop.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "log.csv"
    ...     _ = file.write_text("model_a,model_b,winner,judge\nx,y,model_a,j1\nx,y,tie,j2\n", encoding="utf-8")
    ...     comparison_log(path=file).names
    ('x', 'y')
    """
    one_of("ties", ties, TIES)
    log = read_log(path)
    wins = log.wins(ties)
    return Duels(
        name="comparison_log",
        description=f"{len(log.names)} options in {len(log.votes)} votes of {path.name}.",
        preferences=win_rates(wins, prior),
        utilities=fitted_utilities(wins),
        names=log.names,
        votes_per_person=log.votes_per_person,
    )


def _rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return (line, record) for every record of the file."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            if path.suffix in (".jsonl", ".ndjson"):
                return [(n, dict(json.loads(line))) for n, line in enumerate(file, start=1) if line.strip()]
            return [(n, dict(row)) for n, row in enumerate(csv.DictReader(file), start=2)]
    except (OSError, UnicodeDecodeError, csv.Error, ValueError, TypeError) as error:
        raise ConfigError(
            f"Cannot read the votes {path}: {error}. Give a CSV file, or one JSON object a line."
        ) from error
