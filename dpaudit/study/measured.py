"""The measurements of one cell, as a file holds them."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from dpaudit.study.cells import Cell

_NUMBERS = ("uniform", "myopic", "lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The runs of one cell.

    `regret` of each run, in all; `uniform` and `myopic` the exact expected regret of uniform play, and of the largest
    known immediate reward (NaN where rewards are unknown); `lost`, the share of runs that lost a best option (NaN where
    the algorithm has no such event); `objections`, why the run does not belong to its certificate; `error`, why the
    cell has no result. `files` are the user's files that were read, and `content` is the content address of them.
    """

    cell: Cell
    regret: tuple[float, ...] = ()
    uniform: float = math.nan
    myopic: float = math.nan
    lost: float = math.nan
    objections: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    content: str = ""

    @property
    def mean(self) -> float:
        """The mean regret over runs."""
        return sum(self.regret) / len(self.regret) if self.regret else math.nan

    def to_json(self) -> str:
        """Return the cell as JSON; a number that is not known is null, as JSON has no NaN."""
        data = asdict(self)
        unknown = {key: None for key in _NUMBERS if math.isnan(data[key])}
        return json.dumps(data | unknown, sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Measured":
        """Return the cell that `text` spells.

        Raises: ValueError, KeyError, TypeError: it spells none.
        """
        data: dict[str, Any] = json.loads(text)
        cell = data.pop("cell")
        cell["tuning"] = tuple((key, number) for key, number in cell["tuning"])
        for key in _NUMBERS:
            data[key] = math.nan if data[key] is None else data[key]
        for key in ("regret", "objections", "files"):
            data[key] = tuple(data[key])
        return cls(cell=Cell(**cell), **data)
