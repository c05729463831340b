"""Rankings from PrefLib: a reader for files of strict complete orders (.soc), and duels between their options.

Two layouts are in use. The present one starts with lines of metadata,

    # NUMBER ALTERNATIVES: 3
    # ALTERNATIVE NAME 1: Shrimp
    5: 1,3,2

five people with the order 1, 3, 2; options count from 1. The older one has no marks: the number of options, a line
`i,name` for each, a line `people,sum of counts,different orders`, and then `count,a,b,c`.
Source: Mattei and Walsh (2013), PrefLib.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from algorithms.problems.duels import Duels, fitted_utilities, win_rates
from dpaudit.checks import Positive
from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array

_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Rankings:
    """How many people hold each strict order: (count, options from 0, best first)."""

    names: tuple[str, ...]
    orders: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def people(self) -> int:
        """The number of people."""
        return sum(count for count, _ in self.orders)

    def wins(self) -> Array:
        """Return how many people rank i above j; shape (K, K)."""
        wins = np.zeros((len(self.names), len(self.names)))
        for count, order in self.orders:
            for rank, option in enumerate(order):
                wins[option, list(order[rank + 1 :])] += count
        return wins


def read_soc(path: Path) -> Rankings:
    """Return the rankings in a PrefLib file of strict complete orders, in either layout.

    Raises: ConfigError: an unreadable file, or a line that is no order; the message names file, line and rule.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read the rankings {path}: {error}. Give a readable .soc file.") from error
    rows = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        raise ConfigError(f"{path} is empty; expected a PrefLib file of strict complete orders.")
    names, body = _marked(path, rows) if any(line.startswith("#") for _, line in rows) else _unmarked(path, rows)
    orders = tuple(_order(path, number, line, len(names)) for number, line in body)
    if not orders:
        raise ConfigError(f"{path} holds no orders; expected lines such as '5: 1,3,2'.")
    return Rankings(names=names, orders=orders)


def preflib(*, path: Path, prior: Positive = 2.0) -> Duels:
    r"""Return duels between the options of a .soc file: i beats j as often as people rank it higher.

    Each pair is shrunk to one half as if `prior` people more had been asked. The utilities are those of
    a Bradley-Terry model fitted to the same counts, and need not reproduce the preferences.
    Parameters: `path` of the .soc file.
    Raises: ConfigError: as for `read_soc`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "votes.soc"
    ...     _ = file.write_text("# NUMBER ALTERNATIVES: 2\n# NUMBER VOTERS: 3\n2: 1,2\n1: 2,1\n", encoding="utf-8")
    ...     preflib(path=file).preferences.shape
    (2, 2)
    """
    rankings = read_soc(path)
    wins = rankings.wins()
    return Duels(
        name="preflib",
        description=f"{len(rankings.names)} options as {rankings.people} people rank them, from {path.name}.",
        preferences=win_rates(wins, prior),
        utilities=fitted_utilities(wins),
        names=rankings.names,
    )


def _marked(path: Path, rows: list[tuple[int, str]]) -> tuple[tuple[str, ...], list[tuple[int, str]]]:
    """Return names and orders of the present layout."""
    named: dict[int, str] = {}
    total = 0
    for number, line in rows:
        key, _, value = line.lstrip("# ").partition(":")
        if line.startswith("# NUMBER ALTERNATIVES"):
            total = _whole(path, number, value)
        if line.startswith("# ALTERNATIVE NAME"):
            named[_whole(path, number, key.rsplit(" ", 1)[-1])] = value.strip()
    if not total:
        raise ConfigError(f"{path} lacks the line '# NUMBER ALTERNATIVES: m' of the PrefLib format.")
    names = tuple(named.get(option, f"option {option}") for option in range(1, total + 1))
    return names, [(number, line) for number, line in rows if not line.startswith("#")]


def _unmarked(path: Path, rows: list[tuple[int, str]]) -> tuple[tuple[str, ...], list[tuple[int, str]]]:
    """Return names and orders of the older layout."""
    total = _whole(path, *rows[0])
    if len(rows) < total + 2:
        raise ConfigError(f"{path} ends after line {rows[-1][0]}; expected {total} names, a line of counts and orders.")
    names = tuple(line.partition(",")[2].strip() for _, line in rows[1 : total + 1])
    return names, [(number, line.replace(",", ":", 1)) for number, line in rows[total + 2 :]]


def _order(path: Path, number: int, line: str, total: int) -> tuple[int, tuple[int, ...]]:
    """Return one order with how many people hold it."""
    count, mark, listed = line.partition(":")
    options = tuple(_whole(path, number, part) for part in listed.split(",")) if mark else ()
    if sorted(options) != list(range(1, total + 1)):
        raise ConfigError(
            f"{path}, line {number}: expected 'count: a,b,...' with each of the options 1 to {total} once. "
            "Ties and partial orders belong to other PrefLib formats (.toc, .soi)."
        )
    return _whole(path, number, count), tuple(option - 1 for option in options)


def _whole(path: Path, number: int, text: str) -> int:
    """Return a positive whole number; a message never quotes the file, which may be another one than was meant."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS and int(digits) >= 1):
        raise ConfigError(f"{path}, line {number}: expected a positive whole number, of at most 18 digits.")
    return int(text)
