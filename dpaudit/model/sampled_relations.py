"""The relation that a part is stated for inside a sample or an allocation, by the relation of the whole."""

from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Allocate, Cells, Declaration, Scheme, Subsample

_INSIDE: dict[Scheme, dict[Neighbours, Neighbours]] = {
    "poisson": {"add_remove": "add_remove", "zero_out": "zero_out", "replace_one": "add_remove"},
    "without_replacement": {"replace_one": "replace_one", "add_remove": "replace_one", "zero_out": "zero_out"},
    "truncated_poisson": {"add_remove": "add_remove"},
    "with_replacement": {"replace_one": "replace_one"},
}
_ALLOCATED: dict[Neighbours, Neighbours] = {
    "add_remove": "add_remove",
    "zero_out": "zero_out",
    "replace_one": "add_remove",
}


def inside_of(kind: str, scheme: str) -> dict[Neighbours, Neighbours]:
    """Return the relation of the part by that of the whole, for a kind of node; empty where they are one.

    >>> inside_of("subsample", "truncated_poisson")
    {'add_remove': 'add_remove'}
    """
    if kind == "allocate":
        return _ALLOCATED
    return next((known for name, known in _INSIDE.items() if kind == "subsample" and name == scheme), {})


def relation_inside(node: Subsample | Allocate, neighbours: Neighbours) -> Neighbours:
    """Return the relation for which the part of `node` is stated, where the whole is read for `neighbours`.

    A Poisson sample holds a record or lacks it, so that its part is stated for a record against none also where the
    record is replaced. A sample of fixed size takes another record in its place: its part is stated for replacement
    also where a record is removed.
    Raises: DeclarationError: a scheme that nothing is proved of for these neighbours.

    >>> from dpaudit.model.declaration import Stated
    >>> told = Stated(epsilon=0.5, source="a supplier")
    >>> relation_inside(Subsample(part=told, rate=0.1), "replace_one")
    'add_remove'
    """
    known = _ALLOCATED if isinstance(node, Allocate) else _INSIDE[node.scheme]
    if neighbours not in known:
        scheme = node.scheme if isinstance(node, Subsample) else "allocate"
        proved = " and ".join(map(repr, known))
        raise DeclarationError(
            f"'subsample' with scheme={scheme!r} is proved for neighbours={proved}, but is read for "
            f"neighbours={neighbours!r}. Change the claim's neighbours, or the scheme if the code samples otherwise."
        )
    return known[neighbours]


def relation_below(node: Declaration, place: int, neighbours: Neighbours) -> Neighbours:
    """Return the relation that part number `place` of `node` is stated for, or the node's own where nothing is proved.

    >>> from dpaudit.model.declaration import Stated
    >>> relation_below(Subsample(part=Stated(epsilon=0.5, source="a supplier"), rate=0.1), 0, "replace_one")
    'add_remove'
    """
    match node:
        case Cells():
            return "add_remove" if place == 1 else neighbours
        case Subsample(scheme=scheme):
            return inside_of("subsample", scheme).get(neighbours, neighbours)
        case Allocate():
            return inside_of("allocate", "").get(neighbours, neighbours)
        case _:
            return neighbours


def needs_others(node: Declaration, neighbours: Neighbours) -> bool:
    """Return whether the pair below a sample or an allocation needs records that a sensitivity does not promise.

    Where a Poisson sample's record is replaced, or one at secret steps, the other record moves the answer as far the
    other way; where a record of a uniform set is zeroed, all others do. In a Poisson sample that is cut the others move
    nothing, and neither does a record that is zeroed in a Poisson sample or at secret steps: it counts as absent. Of a
    plain count, to which each record adds 0 or 1, no record is opposite.

    >>> from dpaudit.model.declaration import Stated
    >>> sample = Subsample(part=Stated(epsilon=0.5, source="a supplier"), rate=0.1)
    >>> needs_others(sample, "replace_one"), needs_others(sample, "add_remove")
    (True, False)
    """
    match node:
        case Allocate():
            return neighbours in ("replace_one", "zero_out")
        case Subsample(scheme="poisson", rate=rate):
            return neighbours == "replace_one" or (neighbours == "zero_out" and rate < 1)
        case Subsample(scheme="without_replacement"):
            return neighbours == "zero_out"
        case Subsample(scheme="truncated_poisson"):
            return neighbours == "add_remove"
        case _:
            return False
