"""A judgement: what a rule concludes of a node under a move, from the judgements of its premises.

Rule         a row of the table: its premises, its side-conditions and how it concludes
Judgement    a node, a move, the rule and the judgements that it reads; what bounds the pairs, and what one attains
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.derivation.plans import Asked, Found
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.model.declaration import Declaration, Subsample
from dpaudit.model.moves import Move

Choice: TypeAlias = Literal["none", "order", "step"]
"""When one of several alternatives is met: there is one; the order settles it for the run; at each step."""

_CHOICES: tuple[Choice, ...] = ("none", "order", "step")


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table; `dpaudit.model.moves` has its premises, docs/theory/rules.md its line.

    Parameters: `above` and `below`, how it concludes from the judgements of its premises; `choice`, when one of several
    alternatives is met; `counts`, whether each premise is read for one record, for all of a person that move, or for
    all that the members of a group own; `refusal`, in words, what integers decide; `others`, whether the pair below
    needs records that a sensitivity does not promise. What it takes for granted, the node brings as conditions.
    """

    name: str
    above: "Callable[[Judgement], Alternatives]"
    below: "Callable[[Judgement, Asked], Found]"
    choice: Literal["as the parts", "none above none", "order above none", "at each step"] = "at each step"
    counts: tuple[Literal["one", "all", "group"], ...] = ("one",)
    refusal: Callable[[Declaration, Move], str] | None = None
    others: Literal["not needed", "needed", "below rate 1"] = "not needed"

    def needs_others(self, node: Declaration) -> bool:
        """Return whether the pair below needs other records; at rate 1 no record can be absent from a sample."""
        sure = isinstance(node, Subsample) and node.rate == 1
        return self.others == "needed" or (self.others == "below rate 1" and not sure)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What is concluded of `node` under `move`: a derivation, of which both sides are read.

    `path` names the node; `premises` has one group for each premise of the rule and number of records, the first of
    which is what the rule reads as a matter of course. `sampled` says that the node is below a sample, which may hold
    the record alone.
    """

    node: Declaration
    move: Move
    path: str
    rule: Rule
    premises: "tuple[tuple[Judgement, ...], ...]" = ()
    sampled: bool = False

    @property
    def parts(self) -> "tuple[Judgement, ...]":
        """The judgements of the first premise, in the order of the parts."""
        return self.premises[0] if self.premises else ()

    @property
    def part(self) -> "Judgement":
        """The judgement of the only part."""
        return self.premises[0][0]

    @cached_property
    def above(self) -> Alternatives:
        """Alternatives of which one dominates any pair of the move; read backwards, any pair of its reverse.

        Raises: DeclarationError, UnsupportedError: a premise that does not hold, or a rule without a number here.
        """
        return self.rule.above(self)

    def below(self, asked: Asked) -> Found:
        """Return what one pair attains of what is asked, by the query; nothing where the rule gives none."""
        return self.rule.below(self, asked)

    @property
    def of_the_run(self) -> Alternatives:
        """The alternatives of a whole run: the orders of the node where a run has one of them, else all joined.

        Whether a record is there is settled before the run, and a part is stated for that pair in one order. So the
        larger of both orders is taken after composition. Where the other neighbour holds another record in its place,
        queries may take turns, and alternatives may be picked step by step.
        Source: Lebeda, Regehr, Kamath and Steinke (2024); Zhu, Dong and Wang (2022), Theorem 10.
        """
        return self.above if len(self.above) == 1 or self.choice == "order" else (join(self.above),)

    @cached_property
    def choice(self) -> Choice:
        """When one of the alternatives is met."""
        inside = max((_CHOICES.index(part.choice) for part in self.parts), default=0)
        match self.rule.choice:
            case "as the parts":
                return _CHOICES[inside]
            case "none above none":
                return "step" if inside else "none"
            case "order above none":
                return "step" if inside else "order"
            case "at each step":
                return "step"
