"""The factor by which the users so far grow before a batch ends."""

from typing import Annotated

from dpaudit.checks import FieldError, Within, positive


def growth_factor(name: str, value: object) -> float:
    """Return `value` as a finite float above 1.

    Raises: ValueError: not a number, or 1 or less, with which no batch would ever be longer than one user.

    >>> growth_factor("growth", 1.2)
    1.2
    """
    number = positive(name, value)
    if number <= 1:
        raise FieldError(name, f"Expected {name}={value!r} above 1.")
    return number


Growth = Annotated[float, Within(above=1), growth_factor]
"""What `growth_factor` accepts."""
