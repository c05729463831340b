"""The interface of an engine: two functions from a composition to brackets, and a statement of what it covers."""

from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import Composition


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Brackets delta(epsilon) and epsilon(delta) of a composition, in the order (P, Q) only.

    The accountant takes the worse of both orders after composition, picks the engines that cover a
    composition, and intersects what they say.
    """

    name: str
    covers: Callable[[Composition], bool]
    delta: Callable[[Composition, float], Bracket]
    epsilon: Callable[[Composition, float], Bracket]
