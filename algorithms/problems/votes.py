"""Presidential votes by party and age: a bandit simulated from the American National Election Study of 1996.

The table that statsmodels distributes holds 944 respondents, one row each, with their vote for one of two candidates.

* A context is a group of voters: party identification on the survey's seven points (`PID`, strong Democrat to strong
  Republican) and age (`age`, cut at 35 and 60). The cuts are fixed here and read no data: 21 groups.
* An action names a candidate: 0 for Clinton, 1 for Dole.
* The reward is +1 if the action is the respondent's vote, and -1 if not.

Users are simulated: each draws +1 or -1 with the cell's mean reward, shrunk towards 0 as if `prior_rows` further
respondents had split evenly. A respondent is one person and one unit.
"""

from pathlib import Path

import numpy as np

from algorithms.problems.kernel_bandit import KernelBandit
from algorithms.problems.tables import bundled_table, read_columns
from dpaudit.checks import Positive, positive
from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array

COLUMNS = ("PID", "age", "vote")
"""The columns of the table that are read."""

_PARTIES, _AGE_CUTS = 7, (35.0, 60.0)


def anes96(*, path: Path | None = None, prior_rows: Positive = 10.0) -> KernelBandit:
    """Return the voting problem; `path` takes a tab-separated file with the same columns in place of the bundled one.

    Parameters: `prior_rows`, the number of rows of the overall mean that are added to each group.

    Raises:
        ConfigError: an unreadable file, a missing column, a party outside 0 to 6, or a vote that is neither 0 nor 1.
        ValueError: prior_rows not positive.

    >>> anes96().mean_reward.shape
    (21, 2)
    """
    source = path if path is not None else bundled_table("anes96", "anes96.csv")
    table = read_columns(source, COLUMNS, delimiter="\t")
    for column, allowed in (("PID", tuple(range(_PARTIES))), ("vote", (0, 1))):
        _require_one_of(source, column, table[column], allowed)
    groups = 3 * table["PID"].astype(np.int64) + np.digitize(table["age"], _AGE_CUTS)
    size = 3 * _PARTIES
    rows = np.bincount(groups, minlength=size)
    votes = np.bincount(groups, weights=table["vote"], minlength=size)
    second = (2 * votes - rows) / (rows + positive("prior_rows", prior_rows))
    party, age = np.divmod(np.arange(size), 3)
    empty = int((rows == 0).sum())
    return KernelBandit(
        name="anes96",
        description=f"Votes of 21 groups by party and age; {len(groups)} respondents of {source.name}"
        f"{f', {empty} groups without one' if empty else ''}.",
        contexts=np.column_stack([party / (_PARTIES - 1), age / 2]),
        actions=np.array([[0.0], [1.0]]),
        context_probabilities=rows / len(groups),
        mean_reward=np.column_stack([-second, second]),
        units_per_person=1 if path is None else None,
    )


def _require_one_of(source: Path, column: str, values: Array, allowed: tuple[int, ...]) -> None:
    """Refuse a value that the survey does not have."""
    stray = np.flatnonzero(~np.isin(values, allowed))
    if stray.size:
        raise ConfigError(
            f"{source}, data row {stray[0] + 1}, column {column!r}: {values[stray[0]]:g} is none of "
            f"{', '.join(map(str, allowed))}. Correct or remove the row."
        )
