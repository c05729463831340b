"""The view of an adversary that a whole declaration is proved for."""

from dpaudit.model.claim import Model
from dpaudit.model.declaration import (
    Allocate,
    Billboard,
    Declaration,
    Local,
    Release,
    Shuffle,
    Stated,
    Subsample,
    children,
)


def delivered_model(node: Declaration) -> Model:
    """Return the strongest model that the whole tree is proved for.

    Releases are central; `Local` makes a central part local, `Billboard` makes a part joint, and several parts
    are as strong as the weakest of them. What needs a billboard is no user's own message. Whoever sees each user's own
    message sees who sent one, so that a sample or secret steps of messages protect the central view.
    """
    match node:
        case Local(part=part):
            inner = delivered_model(part)
            return "local" if inner == "central" else inner
        case Billboard():
            return "joint"
        case Release() | Stated() | Shuffle():
            return "central"
        case Subsample(part=part) | Allocate(part=part):
            return "joint" if delivered_model(part) == "joint" else "central"
        case _:
            order: tuple[Model, ...] = ("local", "central", "joint")
            return order[max(order.index(delivered_model(child)) for child in children(node))]
