"""The proved ends of a claim in its own measure."""

from dataclasses import dataclass
from typing import Any, NoReturn

from dpaudit.errors import NoEpsilonError
from dpaudit.model.bracket import Bracket
from dpaudit.model.claim import Claim
from dpaudit.model.measures.claims import RhoClaim

_AT = {"renyi": "order", "profile": "epsilon"}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Bounds in one measure; `at` is the order, or the epsilon, and None where the measure has one number."""

    at: float | None = None
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The bounds of a declaration in a measure, a row for each point of the claim; a rho is beside the claimed `xi`."""

    measure: str
    rows: tuple[End, ...]
    xi: float = 0.0

    @property
    def epsilon(self) -> Bracket:
        """Refused: these ends are in another measure."""
        self._refuse()

    @property
    def delta(self) -> Bracket:
        """Refused: these ends are in another measure."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NoEpsilonError(
            f"This reads bounds on epsilon and delta, and the certificate bounds {self.measure}: read "
            "`tight.rows[0].lower` and `tight.rows[0].upper`. For epsilon claim what "
            "`dpaudit.implied_claim(claim, delta)` returns, or ask `certificate.epsilon_at(delta)`."
        )

    def plain(self) -> dict[str, Any]:
        """Return the ends as plain data: one table, or a list of them by order or epsilon."""
        rows = [({} if row.at is None else {_AT[self.measure]: row.at}) | _sides(row) for row in self.rows]
        return {self.measure: rows if self.measure in _AT else rows[0]}

    @classmethod
    def read(cls, data: dict[str, Any], claim: Claim) -> "Ends":
        """Return the ends that plain data spell, for a claim."""
        ((measure, plain_rows),) = data.items()
        rows = plain_rows if measure in _AT else [plain_rows]
        return cls(
            measure=measure,
            xi=claim.xi if isinstance(claim, RhoClaim) else 0.0,
            rows=tuple(
                End(at=row.get(_AT.get(measure, "")), lower=float(row["lower"]), upper=float(row["upper"]))
                for row in rows
            ),
        )


def _sides(row: End) -> dict[str, Any]:
    """Return both bounds; infinity is the text "inf"."""
    return {
        side: "inf" if value == float("inf") else value for side, value in (("lower", row.lower), ("upper", row.upper))
    }
