"""The numbers of a claim in another measure than epsilon and delta: their names, and what is proved of each."""

from typing import Any

from dpaudit.model.measures.ends import End, Ends
from dpaudit.wording.certificates import bracket_phrase
from dpaudit.wording.numerals import at_least, at_most, exact, number_name


def uppers_phrase(ends: Ends) -> str:
    """Return the upper ends of a certificate in its own measure, rounded up.

    >>> from dpaudit.model.measures.ends import End
    >>> uppers_phrase(Ends(measure="rho", rows=(End(lower=0.4, upper=0.5),)))
    'rho at most 0.5'
    >>> uppers_phrase(Ends(measure="rho", rows=(End(lower=0.4, upper=0.5),), xi=0.1))
    'rho (beside xi 0.1) at most 0.5'
    """
    return ", ".join(f"{end_name(ends, row)} at most {at_most(row.upper)}" for row in ends.rows)


def end_name(ends: Ends, row: End) -> str:
    """Return the name of a number that is bounded."""
    return number_name(ends.measure, row.at) + (f" (beside xi {exact(ends.xi)})" if ends.xi else "")


def numbers_by_name(values: dict[str, Any]) -> dict[str, float]:
    """Return the numbers of a claim, or the upper ends of what is proved, as JSON holds them: each by its name.

    >>> numbers_by_name({"renyi": [{"order": 2.0, "epsilon": 0.5}], "unit": "one record"})
    {'renyi epsilon at order 2': 0.5}
    >>> numbers_by_name({"rho": {"lower": 0.4, "upper": 0.5}})
    {'rho': 0.5}
    """
    numbers: dict[str, float] = {}
    for name in ("epsilon", "delta", "rho", "xi", "mu"):
        if name in values:
            numbers[name] = float(values[name]["upper"] if isinstance(values[name], dict) else values[name])
    for measure, name, at in (("renyi", "epsilon", "order"), ("profile", "delta", "epsilon")):
        for row in values.get(measure, ()):
            numbers[f"{measure} {name} at {at} {row[at]:g}"] = float(row["upper"] if "upper" in row else row[name])
    return numbers


def bounds_rows(ends: Ends, *, void: bool = False) -> tuple[tuple[str, str], ...]:
    """Return one row for each number of a claim: its name, and its bounds rounded outwards; `void` leaves the lower."""
    return tuple(
        (end_name(ends, row), f"at least {at_least(row.lower)}" if void else bracket_phrase(row)) for row in ends.rows
    )
