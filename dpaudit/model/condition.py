"""Side-conditions of a proof: what must hold beside the arithmetic, and whether anybody looked."""

from dataclasses import dataclass
from typing import Literal, assert_never, get_args

from dpaudit.checks import one_of
from dpaudit.model.declaration import (
    Billboard,
    Cells,
    Declaration,
    Group,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    Stated,
    Subsample,
    walk,
)

Status = Literal["checked", "assumed", "violated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One side-condition in plain words; `checked` means that a run or a computation looked at it.

    >>> Condition(text="All values lay in [0, 1].", status="checked").status
    'checked'
    """

    text: str
    status: Status

    def __post_init__(self) -> None:
        one_of("status", self.status, get_args(Status))


def conditions_of(declaration: Declaration) -> tuple[Condition, ...]:
    """Return the side-conditions that the nodes of `declaration` bring, each once, all *assumed*.

    What a run has checked is merged over them by `merge`.
    """
    texts = (text for _, node in walk(declaration) for text in _texts(node))
    return tuple(Condition(text=text, status="assumed") for text in dict.fromkeys(texts))


def merge(*groups: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Return all conditions, each text once: violated if anybody saw a violation, else the best looked at."""
    order: tuple[Status, ...] = ("assumed", "checked", "violated")
    found: dict[str, Status] = {}
    for condition in (condition for group in groups for condition in group):
        known = found.get(condition.text, "assumed")
        found[condition.text] = order[max(order.index(known), order.index(condition.status))]
    return tuple(Condition(text=text, status=status) for text, status in found.items())


def _texts(node: Declaration) -> tuple[str, ...]:
    """Return what must hold for the rule of one node, beside its arithmetic."""
    match node:
        case Release():
            return (
                "No pair of neighbouring data sets moves a query further than its stated sensitivity.",
                "Every release draws fresh noise, independent of all else that is published.",
                "Floating-point noise behaves like the real-valued noise of the proof.",
            )
        case Parallel(key=key):
            return (f"Which part a record touches is decided by {key}, never by the record's value.",)
        case Cells():
            return ("A record fills exactly one cell; every other cell receives noise alone.",)
        case Group(size=size):
            return (f"No person contributes more than {size} records to this part.",)
        case Subsample(scheme="poisson"):
            return ("Each record is sampled independently, and the sample stays secret.",)
        case Subsample():
            return ("Samples of a fixed size are drawn uniformly, and the sample stays secret.",)
        case PostProcess(steps=steps):
            return (f"No data is read again by: {', '.join(steps)}.",) if steps else ()
        case Billboard(reads=reads):
            own = ", ".join(reads) if reads else "their own record"
            return (
                f"Beside the public releases a user's output reads {own} and nothing of other users.",
                "A user's own output reaches no other user, and no other user's data depends on it.",
            )
        case Local():
            return ("A user sends one message, noised before it leaves the device; nothing else leaves it.",)
        case Stated(source=source, neighbours=neighbours):
            relation = "the neighbours of the claim" if neighbours is None else f"neighbours={neighbours!r}"
            return (f"The privacy stated by {source} holds, for {relation}.",)
        case Sequential() | Repeat():
            return ()
        case _:
            assert_never(node)
