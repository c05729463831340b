"""Tiny data sets: slots that hold a value or the placeholder, the moves between them, and one pair of each move."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from dpaudit.model.claim import Neighbours

Move: TypeAlias = Literal["remove", "add", "drop", "undrop", "zero", "unzero", "replace", "exchange"]
"""What happens to one record.

`remove`: the slot goes. `drop`: the slot of a placeholder goes. `zero`: the value becomes the placeholder, the slot
stays. `replace`: another value in the same slot. `exchange`: another slot with another value. `add`, `undrop` and
`unzero` are the reverse moves; `replace` and `exchange` are their own.
"""

REVERSE: dict[Move, Move] = {
    "remove": "add",
    "add": "remove",
    "drop": "undrop",
    "undrop": "drop",
    "zero": "unzero",
    "unzero": "zero",
    "replace": "replace",
    "exchange": "exchange",
}

MOVE_OF: dict[Neighbours, Move] = {"add_remove": "remove", "zero_out": "zero", "replace_one": "replace"}
"""The move of each relation of a claim; its reverse belongs to the claim too."""

PLACEHOLDER = 0
"""The value of a record whose contribution is set to zero; all other values are positive whole numbers."""

MOST_RECORDS = 3


class Record(NamedTuple):
    """A slot, which is public, and the value that it holds."""

    slot: int
    value: int


DataSet: TypeAlias = tuple[Record, ...]
"""Records in order of their slots. A sample with replacement may hold a record twice."""

Pair: TypeAlias = tuple[DataSet, DataSet]


def pairs(move: Move, *, size: int = 1) -> Iterator[Pair]:
    """Yield the pairs of `move` in general position: all values differ; `size` records of one person move together.

    Shape: from `size` to three records, one pair for each number.
    Guarantee: every pair of that many records has a game of at most the value of the pair of its size. A query on data
    sets in which values coincide is also one where they differ, and a placeholder beside the person may be any value.

    >>> [len(first) for first, _ in pairs("remove")]
    [1, 2, 3]
    >>> next(pairs("unzero"))
    ((Record(slot=0, value=0),), (Record(slot=0, value=1),))
    """
    for number in range(size, MOST_RECORDS + 1):
        records = tuple(Record(slot, 2 * slot + 1) for slot in range(number))
        person, others = records[:size], records[size:]
        empty = tuple(Record(slot, PLACEHOLDER) for slot, _ in person)
        changed: dict[Move, Pair] = {
            "remove": (person, ()),
            "drop": (empty, ()),
            "zero": (person, empty),
            "replace": (person, tuple(Record(slot, value + 1) for slot, value in person)),
            "exchange": (person, tuple(Record(slot + MOST_RECORDS, value + 1) for slot, value in person)),
        }
        changed |= {
            REVERSE[name]: (second, first) for name, (first, second) in changed.items() if name != REVERSE[name]
        }
        first, second = changed[move]
        yield tuple(sorted((*others, *first))), tuple(sorted((*others, *second)))
