"""The numbers of a claim in another measure than epsilon and delta: their names, and what is proved of each."""

from dpaudit.model.measures.ends import Ends
from dpaudit.wording.certificates import bracket_phrase
from dpaudit.wording.numerals import at_most, number_name


def uppers_phrase(ends: Ends) -> str:
    """Return the upper ends of a certificate in its own measure, rounded up.

    >>> from dpaudit.model.measures.ends import End
    >>> uppers_phrase(Ends(measure="rho", rows=(End(lower=0.4, upper=0.5),)))
    'rho at most 0.5'
    """
    return ", ".join(f"{number_name(ends.measure, row.at)} at most {at_most(row.upper)}" for row in ends.rows)


def bounds_rows(ends: Ends) -> tuple[tuple[str, str], ...]:
    """Return one row for each number of a claim: its name, and its bounds rounded outwards."""
    return tuple((number_name(ends.measure, row.at), bracket_phrase(row)) for row in ends.rows)
