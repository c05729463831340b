"""Readings of a declaration beside a claim: brackets, the printed argument, slack, and a verdict."""

from dataclasses import dataclass
from typing import Annotated, Literal

from dpaudit.arguments import settled
from dpaudit.checks import NonNegativeOrInfinite, Share
from dpaudit.json_schema import Keywords
from dpaudit.model.bracket import Bracket

Verdict = Literal["certified", "stated", "refuted", "not_proved"]
"""`stated` is a claim that follows only from what somebody else states: nothing of that was proved or checked."""


@settled
class Trust:
    """What of a claim rests on the word of others: their names, and what is proved of the other parts alone.

    `proved` is the upper end of epsilon, at the claim's delta, of the parts that are proved; None where there are none,
    or where no rule reads them alone. `share` is 1 - proved / whole, of the upper end of the whole declaration.
    """

    sources: Annotated[tuple[str, ...], Keywords({"minItems": 1})]
    proved: NonNegativeOrInfinite | None = None
    share: Share = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedStep:
    """One step of a printed argument that does not hold as written: its node, its rule, and the reason."""

    node: str
    rule: str
    message: str


@settled
class PrintedReading:
    """What the paper's own rules conclude, and whether each step of them holds as written."""

    epsilon: NonNegativeOrInfinite
    delta: NonNegativeOrInfinite
    valid: bool
    problems: tuple[FailedStep, ...] = ()


@settled
class Factor:
    """One inequality of the printed argument replaced by a tighter one, and what that saves.

    `factor` is in epsilon (how many times smaller it gets at the claim's delta), `noise_factor` in noise
    (how many times less of it certifies the claim); `sentence` says it in words.
    """

    name: str
    factor: NonNegativeOrInfinite
    noise_factor: NonNegativeOrInfinite
    sentence: str


@settled
class Slack:
    """How loose a claim is: claimed over tight epsilon, declared over needed noise, and both as products."""

    epsilon_ratio: NonNegativeOrInfinite
    noise_ratio: NonNegativeOrInfinite
    factors: tuple[Factor, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tight:
    """Brackets on epsilon at the claim's delta and on delta at the claim's epsilon."""

    epsilon: Bracket
    delta: Bracket
