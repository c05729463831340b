"""What a certificate carries as proof: the rows of its derivation, and the witnesses of its lower ends.

A witness says which releases one pair of neighbours moves, and where its record enters.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, TypeAlias

from dpaudit.arguments import settled
from dpaudit.checks import Count, Natural, Spelled, settle

NodePath = Annotated[str, Spelled(r"root(\.[0-9]+)*")]
"""A node by the places of its ancestors, as `walk` names it."""

Attainment = Literal["by_definition", "checked", "assumed"]
"""How it is known that one pair moves all of a witness's releases by their whole sensitivities at once."""


@settled
class Entry:
    """The part of a `parallel` or `cells` node that the pair's record enters, or the data set beside it.

    `path` is the node's, as in `walk`; `part` counts the parts of a `parallel` from 0. At `cells` it is 0 where both
    records lie in the same cell (`inside`), and 1 where they lie in two cells or one of them is absent (`touched`). At
    `shuffle` it is the number of a data set of the others, in the order in which they are tried. At `best_of` it is the
    number of a score, worst at an epsilon of its own.

    >>> Entry(path="root.0", part=2).part
    2
    """

    path: NodePath
    part: Natural


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """One pair of neighbours, by the releases that it moves: each copy of each by its whole stated sensitivity.

    `labels` names the releases, and every release where it is empty; `plan` says which part the record enters at each
    node that has several. A release that the plan does not reach is not moved.
    `attained` is "by_definition" for one query alone, whose stated sensitivity some pair attains, however often it is
    released, with the keys that one of its releases needs; "checked" where a run or a construction named a pair that
    moves all of them at once; "assumed" otherwise.
    Raises: ValueError: several labels, or none, that are said to be attained by definition.

    >>> Witness(labels=("sums",), attained="by_definition").plan
    ()
    """

    labels: tuple[str, ...]
    plan: tuple[Entry, ...] = ()
    attained: Attainment

    def __post_init__(self) -> None:
        settle(self)
        if self.attained == "by_definition" and len(self.labels) != 1:
            raise ValueError(f"Expected labels={self.labels!r} to name one release, as it is attained by definition.")


MoveName = Literal["remove", "zero", "replace", "exchange"]
Numbers: TypeAlias = tuple[tuple[str, int | float], ...]
"""Named numbers, sorted by name."""


@settled
class DerivationRow:
    """One step of the proof that a certificate carries.

    `path` names the node, as in `walk`; `move` and `records` say what happens to how many records of one person.
    `parameters` are the numbers of the node that the rule reads. `premises` are the ids of earlier rows, in the order
    in which the rule demands them. `conclusion` is there where it is short: a mu, a shift, or an epsilon and a delta.

    >>> row = DerivationRow(id=0, rule="release", path="root", move="remove", records=1, conclusion=(("mu", 1.0),))
    >>> row.plain()["conclusion"]
    {'mu': 1.0}
    """

    id: Natural
    rule: str
    path: NodePath
    move: MoveName
    records: Count
    parameters: Numbers = ()
    premises: tuple[int, ...] = ()
    conclusion: Numbers = ()

    def plain(self) -> dict[str, Any]:
        """Return the row as plain data; without a conclusion that is not short."""
        data = asdict(self) | {"parameters": dict(self.parameters), "premises": list(self.premises)}
        del data["conclusion"]
        return data | ({"conclusion": dict(self.conclusion)} if self.conclusion else {})
