"""What replays of a program looked at, and the conditions that they decide."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dpaudit import Condition, Declaration, Release
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import walk
from dpaudit.model.trace import Finding

_ATTAINED = 1e-6
"""A pair that moves an answer by its sensitivity less this share attains it, up to rounding."""


@dataclass(slots=True, kw_only=True)
class Looked:
    """What the replays looked at so far."""

    pairs: int = 0
    moved: int = 0
    unknown: int = 0
    published: int = 0
    redrawn: int = 0
    """Values published with other secret draws and the same releases."""
    noises: int = 0
    releases: int = 0
    admitted: int = 0
    """Releases of a run whose trace had as many of each label as its declaration; 0 if it had not."""
    overrun: bool = False
    """Whether a run released a label more often than declared, or one that is not declared."""
    attaining: dict[str, float] = field(default_factory=dict)
    """The largest move of each label by a pair that attains its sensitivity, in units of that."""


def attained(algorithm: Any, declaration: Declaration, looked: Looked) -> Iterator[Condition]:
    """Yield each condition that a pair moves releases by their whole sensitivities, as replays of such pairs saw it.

    Where no replay names a pair that does, nothing is decided.
    """
    stated: Callable[[], tuple[Condition, ...]] = getattr(algorithm, "conditions", tuple)
    labels = [node.label for _, node in walk(declaration) if isinstance(node, Release)]
    for condition in stated():
        if condition.kind == "attained" and condition.status == "checked":
            moved = [looked.attaining[label] for label in condition.about or labels if label in looked.attaining]
            if moved:
                yield condition.seen(holds=min(moved) >= 1 - _ATTAINED)


def decided(declaration: Declaration, findings: tuple[Finding, ...], looked: Looked) -> tuple[Condition, ...]:
    """Return the declaration's conditions that the replays decided, with what was looked at."""
    broken = {finding.rule for finding in findings} | ({"overrun"} if looked.overrun else set())
    verdicts: dict[str, tuple[set[str], str, bool]] = {
        "sensitivity": (
            {"DPA220", "DPA221"},
            f"{looked.pairs} pairs of neighbours on one tape, {looked.moved} answers that moved",
            looked.moved > 0 and not looked.unknown,
        ),
        "fresh_noise": (
            {"DPA227", "DPA229"},
            f"{looked.noises} noises of {looked.releases} releases on the tape",
            looked.noises > 0,
        ),
        "public_key": (
            {"DPA228"},
            f"which parts moved for {looked.pairs} pairs of neighbours",
            looked.moved > 0,
        ),
        "one_part": (
            {"DPA228"},
            f"which parts moved for {looked.pairs} pairs of neighbours, and how often",
            looked.moved > 0,
        ),
        "declared_times": (
            {"overrun"},
            f"{looked.admitted} releases of a run, as many under each label as declared",
            looked.admitted > 0 and not {"DPA221", "DPA228"} & broken,
        ),
        "no_data_read": (
            {"DPA224"},
            f"{looked.published} published values, equal with other users and the same releases",
            looked.published > 0,
        ),
    }
    decided: list[Condition] = []
    for condition in conditions_of(declaration):
        if condition.kind not in verdicts:
            continue
        rules, clause, seen = verdicts[condition.kind]
        if seen or rules & broken:
            text = f"{condition.text} Looked at: {clause}."
            told = Condition(kind=condition.kind, about=condition.about, text=text)
            decided.append(told.seen(holds=not rules & broken))
    if "DPA227" in broken:
        decided.append(Condition(kind="distinct_noise").seen(holds=False))
    return tuple(decided)
