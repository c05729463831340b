"""The view of an adversary that a whole declaration is proved for."""

from dpaudit.model.claim import Model
from dpaudit.model.declaration import Billboard, Declaration, Local, Release, Shuffle, Stated, children


def delivered_model(node: Declaration) -> Model:
    """Return the strongest model that the whole tree is proved for.

    Releases are central; `Local` makes a central part local, `Billboard` makes a part joint, and several parts
    are as strong as the weakest of them. What needs a billboard is no user's own message.
    """
    match node:
        case Local(part=part):
            inner = delivered_model(part)
            return "local" if inner == "central" else inner
        case Billboard():
            return "joint"
        case Release() | Stated() | Shuffle():
            return "central"
        case _:
            order: tuple[Model, ...] = ("local", "central", "joint")
            return order[max(order.index(delivered_model(child)) for child in children(node))]
