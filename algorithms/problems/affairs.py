"""A classification problem with a sensitive label: reports of extramarital affairs in a survey of 1974.

The table that statsmodels distributes holds 6,366 married women's answers to a magazine's survey (Fair, 1978). A
record is one woman's answers; the label is whether she reported any affair. Eight features are put in [-1, 1] by the
survey's own scales, which are fixed here and read no data.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from algorithms.problems.tables import bundled_table, read_columns
from dpaudit.checks import Count, count
from dpaudit.model.mechanism import Array

SCALES: dict[str, tuple[float, float]] = {
    "rate_marriage": (1, 5),
    "age": (17.5, 42),
    "yrs_married": (0.5, 23),
    "children": (0, 5.5),
    "religious": (1, 4),
    "educ": (9, 20),
    "occupation": (1, 6),
    "occupation_husb": (1, 6),
}
"""Each feature's lowest and highest answer in the questionnaire."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classification:
    """Records to learn a label from: `features` (n, columns) in [-1, 1] and `labels` (n,), 0 or 1.

    `units_per_person` is the most records of one person, None where that is not known.
    """

    name: str
    description: str
    features: Array
    labels: Array
    units_per_person: int | None = None

    @property
    def number_of_units(self) -> int:
        """The number of units: a record is a unit."""
        return len(self.labels)

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or len(self.features) != len(self.labels):
            raise ValueError(f"Expected one label for each row of features, got {len(self.labels)} labels.")
        if not np.isin(self.labels, (0, 1)).all():
            raise ValueError("Expected labels to be 0 or 1.")


def affairs(*, path: Path | None = None, records: Count = 6366) -> Classification:
    """Return the survey as a classification problem; `path` takes a CSV file with the same columns.

    `records` keeps the first so many.
    Raises: ConfigError: an unreadable file, a missing column, or a value that is not a finite number.

    >>> affairs(records=100).features.shape
    (100, 8)
    """
    source = path if path is not None else bundled_table("fair", "fair.csv")
    table = read_columns(source, (*SCALES, "affairs"))
    first = slice(count("records", records))
    columns = [2 * (np.clip(table[name], low, high) - low) / (high - low) - 1 for name, (low, high) in SCALES.items()]
    labels = (table["affairs"][first] > 0).astype(np.int64)
    return Classification(
        name="affairs",
        description=f"Whether a survey's respondent reported an affair; {len(labels)} of {source.name}.",
        features=np.column_stack(columns)[first],
        labels=labels,
        units_per_person=1 if path is None else None,
    )
