"""The numbers of a study's row in words, the same on the page of a study and in a report."""

import math
from collections.abc import Mapping
from typing import Any

from dpaudit.wording.numerals import at_least, at_most, exact, nearest


def cells_of(study: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return claim, certified epsilon, that of one person, regret a round, its interval, lower bound, and ceiling."""
    person, bound = row["person_epsilon"], row["lower_bound"]
    return (
        claimed(row),
        at_most(row["epsilon"]),
        "unknown" if person is None else at_most(float(person)),
        lost(row),
        interval(row),
        at_least(bound["regret"] / row["T"], 3) if bound else "unknown",
        ceiling(study, row) or "not measured",
    )


def claimed(row: Mapping[str, Any]) -> str:
    """Return the claimed epsilon of a row."""
    return "none" if row["claim"] is None else exact(row["claim"])


def a_round(row: Mapping[str, Any], regret: float) -> str:
    """Return a regret of the whole horizon as one of a round.

    >>> a_round({"T": 100}, 25.0)
    '0.25'
    """
    return nearest(float(regret) / row["T"], 3)


def lost(row: Mapping[str, Any]) -> str:
    """Return the mean regret of a round."""
    return a_round(row, row["regret"]["mean"])


def interval(row: Mapping[str, Any]) -> str:
    """Return the interval of the regret of a round; unknown where an end is infinite."""
    ends = [float(row["regret"][end]) for end in ("lower", "upper")]
    return " to ".join(a_round(row, max(end, 0.0)) for end in ends) if all(map(math.isfinite, ends)) else "unknown"


def ceiling(study: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return what the same settings without noise lost a round at that horizon; empty where it was not measured."""
    alike = ("ceiling", row["family"], row["T"])
    ceilings = [line for line in study["rows"] if (line["role"], line["family"], line["T"]) == alike]
    return lost(ceilings[0]) if ceilings else ""


def dominating(study: Mapping[str, Any], row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the dominance over a row by most; None where no contender with as much privacy loses less."""
    key = (row["label"], row["claim"], row["T"])
    over = [line for line in study["dominance"] if (line["worse"], line["worse_claim"], line["T"]) == key]
    return min(over, key=lambda line: float(line["difference"]["mean"]), default=None)
