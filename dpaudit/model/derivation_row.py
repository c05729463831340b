"""One row of a derivation: a rule that is applied to a node, and the rows of its premises."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, TypeAlias, get_args

from dpaudit.checks import count, one_of

MoveName = Literal["remove", "zero", "replace", "exchange"]
Numbers: TypeAlias = tuple[tuple[str, int | float], ...]
"""Named numbers, sorted by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivationRow:
    """One step of the proof that a certificate carries.

    `path` names the node, as in `walk`; `move` and `records` say what happens to how many records of one person.
    `parameters` are the numbers of the node that the rule reads. `premises` are the ids of earlier rows, in the order
    in which the rule demands them. `conclusion` is there where it is short: a mu, a shift, or an epsilon and a delta.

    >>> row = DerivationRow(id=0, rule="release", path="root", move="remove", records=1, conclusion=(("mu", 1.0),))
    >>> row.plain()["conclusion"]
    {'mu': 1.0}
    """

    id: int
    rule: str
    path: str
    move: MoveName
    records: int
    parameters: Numbers = ()
    premises: tuple[int, ...] = ()
    conclusion: Numbers = ()

    def __post_init__(self) -> None:
        one_of("move", self.move, get_args(MoveName))
        object.__setattr__(self, "id", count("id", self.id, at_least=0))
        object.__setattr__(self, "records", count("records", self.records, at_least=1))

    def plain(self) -> dict[str, Any]:
        """Return the row as plain data; without a conclusion that is not short."""
        data = asdict(self) | {"parameters": dict(self.parameters), "premises": list(self.premises)}
        del data["conclusion"]
        return data | ({"conclusion": dict(self.conclusion)} if self.conclusion else {})

    @classmethod
    def read(cls, data: dict[str, Any]) -> Self:
        """Return the row that plain data spell."""
        tables = {key: tuple(sorted(data.get(key, {}).items())) for key in ("parameters", "conclusion")}
        return cls(**data | tables | {"premises": tuple(data["premises"])})
