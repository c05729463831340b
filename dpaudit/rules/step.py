"""What a cited theorem reads and answers: budgets, one inference, and a rule."""

from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.declaration import Declaration, Printed


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """An (epsilon, delta) that some argument assigns to a node."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One inference of a printed argument: `parts` are the budgets below, with how often each is met."""

    node: Declaration
    printed: Printed
    parts: tuple[tuple[Budget, int], ...]

    @property
    def count(self) -> float:
        """How many parts the rule composes: the paper's own slots, else the parts there are."""
        return self.printed.slots if self.printed.slots is not None else float(self.events)

    @property
    def events(self) -> int:
        """How many parts the node has, counted with repetition."""
        return sum(times for _, times in self.parts)

    @property
    def largest(self) -> Budget:
        """The componentwise largest budget of a part."""
        return Budget(
            epsilon=max((part.epsilon for part, _ in self.parts), default=0.0),
            delta=max((part.delta for part, _ in self.parts), default=0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A theorem: `conclude` returns the smallest epsilon it gives, `premises` what is broken, in words."""

    name: str
    title: str
    formula: str
    source: str
    side_conditions: tuple[str, ...]
    conclude: Callable[[Step], float]
    premises: Callable[[Step], tuple[str, ...]]


def exceeding(name: str, found: float, allowed: float) -> tuple[str, ...]:
    """Return a complaint where `found` is above `allowed` by more than rounding."""
    if found <= allowed * (1 + 1e-9):
        return ()
    return (f"{name} adds up to {found:.6g}, the paper has {allowed:.6g}",)
