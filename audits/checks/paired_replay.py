"""Paired replay: run two neighbours on one tape of noise and compare their queries and published values.

The first run draws noise and records every release on a tape; the second run gets the same outputs. Both runs take the
same branches unless the code reads the data outside its mechanisms. The check is deterministic: every finding is a fact
about the two runs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from audits.checks.equality import same
from audits.checks.tape import Tape, TapedRelease
from dpaudit import Declaration, Parallel
from dpaudit.model.declaration import walk
from dpaudit.model.trace import Finding

_SLACK = 1e-9
_NORMS = {"l1_sensitivity": 1, "l2_sensitivity": 2, "linf_sensitivity": np.inf}


Replayable = Callable[[Any, Tape, np.random.Generator], Any]
"""function(data, tape, rng) -> everything that is published beside the releases; all noise goes through the tape."""


def replay_neighbours(
    function: Replayable,
    neighbours: tuple[Any, Any],
    rng: np.random.Generator,
    *,
    declaration: Declaration | None = None,
) -> tuple[Finding, ...]:
    """Return the differences between two neighbours that a private algorithm may not have; empty if there are none.

    Rules: `DPA220` a query moved further than its sensitivity (NaN and infinity count as infinitely far), `DPA221`
    other releases or another order, `DPA222` a mechanism's parameters depend on the data, `DPA223` a query's shape or
    type does, `DPA224` published values differ although all releases were equal, `DPA225` a different amount of
    randomness was drawn, `DPA226` one record moved several parts of a parallel composition, `DPA227` a release was
    given the noise of an earlier release.
    Both runs start from equal generator states. Only the branches that this pair takes are checked.

    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> def unclipped(data, tape, rng):
    ...     return tape.release("sum", noise, np.array([data.sum()]))
    >>> pair = (np.array([0.0, 1.0]), np.array([5.0, 1.0]))
    >>> [finding.rule for finding in replay_neighbours(unclipped, pair, np.random.default_rng(0))]
    ['DPA220']
    """
    tape_rng, own_rng = rng.spawn(2)
    first = Tape(tape_rng)
    left_rng, right_rng = _twins(own_rng)
    left = function(neighbours[0], first, left_rng)
    second = Tape(tape_rng, frozen=tuple(first.asked))
    right = function(neighbours[1], second, right_rng)
    findings = [*_structure(first, second)]
    pairs = tuple(zip(first.asked, second.asked, strict=False))
    for ours, theirs in pairs:
        findings.extend(_compared(ours, theirs))
    findings.extend(_repeated(first))
    if not findings and not same(left, right):
        findings.append(_finding("DPA224", "output", "differs between neighbours although every release was equal"))
    if left_rng.bit_generator.state != right_rng.bit_generator.state:
        findings.append(_finding("DPA225", "rng", "was drawn from a different number of times on the neighbours"))
    if declaration is not None:
        moved = {ours.label for ours, theirs in pairs if not same(ours.value, theirs.value)}
        findings.extend(_parallel(declaration, moved))
    return tuple(findings)


def distance(first: Any, second: Any, order: float) -> float:
    """Return the distance of two query answers in a norm; infinite where one is not finite or the shapes differ."""
    left, right = np.asarray(first), np.asarray(second)
    if left.shape != right.shape:
        return float("inf")
    if left.dtype.kind not in "biuf" or right.dtype.kind not in "biuf":
        return 0.0 if same(left, right) else float("inf")
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return float("inf")
    with np.errstate(over="ignore", invalid="ignore"):
        moved = float(np.linalg.norm((left.astype(float) - right.astype(float)).reshape(-1), order))
    return float("inf") if np.isnan(moved) else moved


def _structure(first: Tape, second: Tape) -> list[Finding]:
    """Return a finding if the calls differ in number or order."""
    left, right = ([taped.label for taped in tape.asked] for tape in (first, second))
    if left == right:
        return []
    index = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    names = [labels[index] if index < len(labels) else "nothing" for labels in (left, right)]
    message = f"release {index} is '{names[0]}' on one neighbour and '{names[1]}' on the other"
    return [_finding("DPA221", f"release {index}", message)]


def _compared(ours: TapedRelease, theirs: TapedRelease) -> list[Finding]:
    """Return the findings about one pair of releases."""
    if ours.label != theirs.label:
        return []
    findings: list[Finding] = []
    if not same(ours.mechanism, theirs.mechanism):
        findings.append(
            _finding("DPA222", ours.label, f"ran {ours.mechanism} on one neighbour and {theirs.mechanism} on the other")
        )
    if ours.value.shape != theirs.value.shape or ours.value.dtype != theirs.value.dtype:
        kinds = [f"{a.value.dtype} of shape {a.value.shape}" for a in (ours, theirs)]
        findings.append(_finding("DPA223", ours.label, f"asked about {kinds[0]} and about {kinds[1]}"))
    for attribute, order in _NORMS.items():
        allowed = getattr(ours.mechanism, attribute, None)
        if allowed is None:
            continue
        moved = distance(ours.value, theirs.value, order)
        if not moved <= allowed * (1 + _SLACK):
            findings.append(_finding("DPA220", ours.label, f"moved by {moved:.6g}, its {attribute} is {allowed:.6g}"))
    return findings


def _repeated(tape: Tape) -> list[Finding]:
    """Return a finding for each release whose noise equals that of an earlier one."""
    seen: dict[bytes, str] = {}
    findings: list[Finding] = []
    for taped in tape.asked:
        output = np.asarray(taped.output)
        if output.dtype.kind != "f" or output.shape != taped.value.shape or output.size == 0:
            continue
        key = np.round(output - taped.value, 9).tobytes()
        if key in seen:
            findings.append(_finding("DPA227", taped.label, f"carries the noise of '{seen[key]}' again"))
        seen.setdefault(key, taped.label)
    return findings


def _parallel(declaration: Declaration, moved: set[str]) -> list[Finding]:
    """Return a finding for each parallel node of which more than one part moved."""
    findings: list[Finding] = []
    for path, node in walk(declaration):
        if isinstance(node, Parallel):
            touched = [part for part in node.parts if moved & {getattr(leaf, "label", None) for _, leaf in walk(part)}]
            if len(touched) > 1:
                findings.append(
                    _finding("DPA226", path, f"one record moved {len(touched)} parts kept apart by {node.key}")
                )
    return findings


def _twins(rng: np.random.Generator) -> tuple[np.random.Generator, np.random.Generator]:
    """Return two generators in one state, so that equal draws are equal."""
    twin = np.random.Generator(type(rng.bit_generator)())
    twin.bit_generator.state = rng.bit_generator.state
    return rng, twin


def _finding(rule: str, where: str, message: str) -> Finding:
    """Return a finding about one place."""
    return Finding(rule=rule, where=where, message=f"'{where}' {message}.")
