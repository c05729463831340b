"""Whose system a report is about."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """The system, one person's contribution to it and what it does, in the owner's words; any may be left empty.

    Parameters: `name` of the system; `unit`, what one person contributes; `description` of what the system does.

    >>> System(name="weekly sales figures", unit="one customer's week").unit
    "one customer's week"
    """

    name: str = ""
    unit: str = ""
    description: str = ""
