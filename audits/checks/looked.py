"""What replays of a program looked at, and the conditions that they decide, those of secret draws among them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from audits.checks.sampler import SamplerSeen
from dpaudit import Allocate, Condition, Declaration, Release, Shuffle, Subsample
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


_KINDS = frozenset(("secret_sample", "secret_positions", "secret_order"))


def secret_draws(
    declaration: Declaration, seen: Sequence[SamplerSeen], told: Sequence[Finding], looked: Looked
) -> Iterator[Condition]:
    """Yield the condition of each secret draw that was looked at.

    Violated: a sampler does not draw as declared, or what is published follows secret draws though every release was
    the same (`told`). Checked: every such node of the declaration has a sampler that draws as declared, and the same
    where records have other values; and replays published the same on other draws. Otherwise nothing is decided.
    """
    by_condition: dict[Condition, list[SamplerSeen | None]] = {}
    for _, node in walk(declaration):
        if isinstance(node, Subsample | Allocate | Shuffle):
            by_condition.setdefault(_condition_of(node), []).append(_sampler_of(node, seen))
    for condition, samplers in by_condition.items():
        of_nodes = [sampler for sampler in samplers if sampler is not None]
        wrong = any(sampler.wrong for sampler in of_nodes) or bool(told)
        all_looked_at = len(of_nodes) == len(samplers) and all(sampler.same for sampler in of_nodes)
        if wrong or (all_looked_at and looked.redrawn):
            yield replace(condition, text=f"{condition.text} {_looked_at(of_nodes, looked)}").seen(holds=not wrong)


def _looked_at(samplers: Sequence[SamplerSeen], looked: Looked) -> str:
    """Return what was looked at, in one clause."""
    runs, same = sum(sampler.case.runs for sampler in samplers), sum(sampler.same or 0 for sampler in samplers)
    return (
        f"Looked at: {runs} runs of a sampler, the draws from {same} data sets with other values on the same random "
        f"numbers, and {looked.redrawn} values published with other draws and the same releases."
    )


def _condition_of(node: Subsample | Allocate | Shuffle) -> Condition:
    """Return the condition that the node brings."""
    return next(condition for condition in conditions_of(node) if condition.kind in _KINDS)


def _sampler_of(node: Any, seen: Sequence[SamplerSeen]) -> SamplerSeen | None:
    """Return the look at the sampler that is declared to draw as this node does, the one that went wrong first."""
    of_node = [sampler for sampler in seen if _as(sampler.case.node, node)]
    return min(of_node, key=lambda sampler: not sampler.wrong, default=None)


def _as(node: Any, other: Any) -> bool:
    """Return whether two nodes draw alike, whatever they draw for."""
    return type(node) is type(other) and replace(node, part=other.part, printed=other.printed) == other
