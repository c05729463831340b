"""One row of the wall: how its release is built, what is known of it, and what the wall found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dpaudit.adapters.calls import Calls
from dpaudit.adapters.release import LibraryRelease, stated
from dpaudit.checks import count
from dpaudit.model.claim import Claim

Standing = Literal["sound", "known bug", "fixed", "misuse"]
"""What is known of a row beforehand: nothing wrong, a public defect, a defect that was repaired, a wrong use."""

Outcome = Literal[
    "violation", "consistent", "not_refuted", "inconclusive", "certified", "stated", "refuted", "not_proved", "not run"
]
"""The verdict of an audit at the family-wise level; of a certificate for what runs nothing; or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Two data sets through a deterministic part: the distance that was seen, and the one that is claimed."""

    text: str
    claimed: float
    seen: float
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One mechanism of one library on one pair of neighbours; `build` imports the library.

    `standing` is known beforehand and `source` says from where, as a public tracker's number.
    """

    library: str
    name: str
    pair: str
    runs: int
    build: Callable[[], LibraryRelease | Replay]
    standing: Standing = "sound"
    source: str = ""

    def __post_init__(self) -> None:
        count("runs", self.runs)


def replay_row(
    library: str,
    name: str,
    build: Callable[[], Replay],
    *,
    pair: str,
    source: str,
    standing: Standing = "known bug",
) -> Row:
    """Return the row of a replay, which needs one run."""
    return Row(
        library=library, name=f"{name}, replay", pair=pair, runs=1, build=build, standing=standing, source=source
    )


KNOWN: tuple[Standing, ...] = ("known bug", "misuse")
"""What is known to break its claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowResult:
    """What the wall found for one row.

    `epsilon_lower` is the bound at significance .01, alone; `outcome` goes by the family-wise level. `accused` says
    that the claim was refuted at that level; `again` that it was refuted once more on fresh runs at 1e-4.
    """

    library: str
    version: str
    name: str
    pair: str
    standing: Standing
    source: str
    outcome: Outcome
    claim: Claim | None = None
    claimed_by: str = ""
    stated: bool = True
    epsilon_lower: float = 0.0
    power: float | None = None
    runs: int = 0
    seconds: float = 0.0
    accused: bool = False
    again: bool | None = None
    note: str = ""

    @property
    def surprising(self) -> bool:
        """Whether a row that is held to be sound or repaired was flagged."""
        return self.accused and self.standing in ("sound", "fixed")

    @property
    def missed(self) -> bool:
        """Whether a known defect or a misuse got away."""
        return not self.accused and self.outcome != "not run" and self.standing in KNOWN


def bare_release(
    library: str, version: str, text: str, claim: Claim, source: str, call: Callable[[Any], Any], pair: Any
) -> LibraryRelease:
    """Return the release of a library's function that has a claim and shows nothing else."""
    return LibraryRelease(
        library=library,
        version=version,
        text=text,
        claim=claim,
        source=source,
        declaration=stated(claim, library, version, source),
        stated_because="it states its epsilon alone",
        function=Calls(call=call),
        pair=pair,
        reproducible=False,
    )


def row_result(data: dict[str, Any]) -> RowResult:
    """Return the result that plain data spells, as another environment wrote it."""
    claim = data.get("claim")
    fields: dict[str, Any] = {**data, "claim": Claim(**claim) if claim else None}
    return RowResult(**fields)
