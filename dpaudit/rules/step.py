"""The parts of a cited theorem: budgets, one inference, and a rule."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpaudit.model.declaration import Declaration, Printed, Release
from dpaudit.runtime.tables import table_of

_WORDS = table_of("dpaudit.rules", "rules.toml")


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
    """A theorem: `conclude` returns the smallest epsilon it gives, `premises` what is broken, in words.

    `here` is its formula with places for the numbers of a step, `example` a declaration of which it speaks, as data.
    It speaks of certain nodes only, and a rule about one release of certain mechanisms, by name (of any where
    none is named). Elsewhere it concludes nothing, which `misapplied` says.
    """

    name: str
    title: str
    formula: str
    source: str
    conclude: Callable[[Step], float]
    premises: Callable[[Step], tuple[str, ...]]
    nodes: tuple[type, ...]
    side_conditions: tuple[str, ...] = ()
    mechanisms: tuple[str, ...] = ()
    here: str = "the exact epsilon of this release at delta {delta}"
    example: Mapping[str, Any]

    def misapplied(self, step: Step) -> tuple[str, ...]:
        """Return a complaint where the rule does not speak of the node at hand."""
        if not isinstance(step.node, self.nodes):
            kinds = " or ".join(kind.__name__ for kind in self.nodes)
            return (f"the rule is about {kinds}, and this node is {type(step.node).__name__}",)
        if isinstance(step.node, Release) and self.mechanisms and step.node.mechanism.name not in self.mechanisms:
            return (f"the rule is about {' or '.join(self.mechanisms)}, and this is {step.node.mechanism.name}",)
        return ()


def rule(
    name: str, conclude: Callable[[Step], float], premises: Callable[[Step], tuple[str, ...]], *nodes: type
) -> Rule:
    """Return a rule by the name under which its words stand in the table beside this file."""
    words: dict[str, Any] = {key: tuple(word) if isinstance(word, list) else word for key, word in _WORDS[name].items()}
    return Rule(name=name, conclude=conclude, premises=premises, nodes=nodes, **words)


def exceeding(name: str, used: float, allowed: float) -> tuple[str, ...]:
    """Return a complaint where `used` is above `allowed` by more than rounding."""
    if used <= allowed * (1 + 1e-9):
        return ()
    return (f"{name} adds up to {used:.6g}, the paper has {allowed:.6g}",)
