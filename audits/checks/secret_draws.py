"""The conditions of secret draws: samples, positions and orders, as looks at samplers and replays decided them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from audits.checks.looked import Looked
from audits.checks.sampler import SamplerSeen
from dpaudit import Allocate, Condition, Declaration, Shuffle, Subsample
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import walk
from dpaudit.model.trace import Finding

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
        whole = len(of_nodes) == len(samplers) and all(sampler.same for sampler in of_nodes)
        if wrong or (whole and looked.redrawn):
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


def _as(one: Any, other: Any) -> bool:
    """Return whether two nodes draw alike, whatever they draw for."""
    return type(one) is type(other) and replace(one, part=other.part, printed=other.printed) == other
