"""Deterministic checks: run two neighbours on one tape of noise and compare what they ask for.

The first run draws noise and writes every release on a tape; the second is handed the same outputs, so that both
follow one path unless they look at the data behind the mechanisms' back. Nothing here is a statistic: every
finding is a fact about the two runs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audits.checks.equality import same
from dpaudit import Declaration, Finding, Mechanism, Parallel, Released
from dpaudit.model.declaration import walk
from dpaudit.model.mechanism import Array

_SLACK = 1e-9
_NORMS = {"l1_sensitivity": 1, "l2_sensitivity": 2, "linf_sensitivity": np.inf}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """One release: what was asked of which mechanism, and what it put out."""

    label: str
    mechanism: Mechanism
    value: Any
    output: Any
    times: int


@dataclass(slots=True, eq=False)
class Tape:
    """Stands in for `dpaudit.Recorder`: draws noise and writes it down, or plays back what another run drew.

    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> tape = Tape(rng=np.random.default_rng(0))
    >>> _ = tape.release("sum", noise, np.array([3.0]))
    >>> [asked.label for asked in tape.asked]
    ['sum']
    """

    rng: np.random.Generator
    frozen: tuple[Asked, ...] | None = None
    asked: list[Asked] = field(default_factory=list)

    def release(self, label: str, mechanism: Mechanism, value: Array, times: int = 1) -> Any:
        """Return fresh noise on `value`, or the frozen output of the same place on the tape."""
        place = len(self.asked)
        if self.frozen is not None and place < len(self.frozen) and self.frozen[place].label == label:
            output = self.frozen[place].output
        else:
            output = mechanism.release(value, self.rng)
        asked = Asked(label=label, mechanism=mechanism, value=np.array(value), output=output, times=times)
        self.asked.append(asked)
        return output

    def trace(self) -> tuple[Released, ...]:
        """Return what was released, as a run's recorder would."""
        return tuple(Released(label=a.label, mechanism=a.mechanism, times=a.times) for a in self.asked)


Replayable = Callable[[Any, Tape, np.random.Generator], Any]
"""function(data, tape, rng) -> everything that is published beside the releases; all noise goes through the tape."""


def replay_neighbours(
    function: Replayable,
    neighbours: tuple[Any, Any],
    rng: np.random.Generator,
    *,
    declaration: Declaration | None = None,
) -> tuple[Finding, ...]:
    """Return what two neighbours do differently that a private algorithm may not; empty means nothing was found.

    Rules: `DPA220` a query moved further than its sensitivity (NaN and infinity count as infinitely far), `DPA221`
    other releases or another order, `DPA222` a mechanism's parameters depend on the data, `DPA223` a query's shape or
    type does, `DPA224` published values differ although all releases were equal, `DPA225` a different amount of
    randomness was drawn, `DPA226` one record moved several parts of a parallel composition, `DPA227` a release was
    given the noise of an earlier one.
    Both runs start from equal generator states. Only branches that this pair takes are seen.

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
    for one, two in zip(first.asked, second.asked, strict=False):
        findings.extend(_compared(one, two))
    findings.extend(_repeated(first))
    if not findings and not same(left, right):
        findings.append(_finding("DPA224", "output", "differs between neighbours although every release was equal"))
    if left_rng.bit_generator.state != right_rng.bit_generator.state:
        findings.append(_finding("DPA225", "rng", "was drawn from a different number of times on the neighbours"))
    if declaration is not None:
        moved = {
            one.label for one, two in zip(first.asked, second.asked, strict=False) if not same(one.value, two.value)
        }
        findings.extend(_parallel(declaration, moved))
    return tuple(findings)


def distance(first: Any, second: Any, order: float) -> float:
    """Return the distance of two query answers in a norm; infinite where one is not finite or the shapes differ."""
    one, two = np.asarray(first), np.asarray(second)
    if one.shape != two.shape:
        return float("inf")
    if one.dtype.kind not in "biuf" or two.dtype.kind not in "biuf":
        return 0.0 if same(one, two) else float("inf")
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        return float("inf")
    with np.errstate(over="ignore", invalid="ignore"):
        moved = float(np.linalg.norm((one.astype(float) - two.astype(float)).reshape(-1), order))
    return float("inf") if np.isnan(moved) else moved


def _structure(first: Tape, second: Tape) -> list[Finding]:
    """Return a finding if the calls differ in number or order."""
    one, two = ([asked.label for asked in tape.asked] for tape in (first, second))
    if one == two:
        return []
    place = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    names = [labels[place] if place < len(labels) else "nothing" for labels in (one, two)]
    message = f"release {place} is '{names[0]}' on one neighbour and '{names[1]}' on the other"
    return [_finding("DPA221", f"release {place}", message)]


def _compared(one: Asked, two: Asked) -> list[Finding]:
    """Return what is wrong with one pair of calls."""
    if one.label != two.label:
        return []
    findings: list[Finding] = []
    if not same(one.mechanism, two.mechanism):
        findings.append(
            _finding("DPA222", one.label, f"ran {one.mechanism} on one neighbour and {two.mechanism} on the other")
        )
    if one.value.shape != two.value.shape or one.value.dtype != two.value.dtype:
        kinds = [f"{a.value.dtype} of shape {a.value.shape}" for a in (one, two)]
        findings.append(_finding("DPA223", one.label, f"asked about {kinds[0]} and about {kinds[1]}"))
    for attribute, order in _NORMS.items():
        allowed = getattr(one.mechanism, attribute, None)
        if allowed is None:
            continue
        moved = distance(one.value, two.value, order)
        if not moved <= allowed * (1 + _SLACK):
            findings.append(_finding("DPA220", one.label, f"moved by {moved:.6g}, its {attribute} is {allowed:.6g}"))
    return findings


def _repeated(tape: Tape) -> list[Finding]:
    """Return a finding for each release whose noise equals that of an earlier one."""
    seen: dict[bytes, str] = {}
    findings: list[Finding] = []
    for asked in tape.asked:
        output = np.asarray(asked.output)
        if output.dtype.kind != "f" or output.shape != asked.value.shape or output.size == 0:
            continue
        key = np.round(output - asked.value, 9).tobytes()
        if key in seen:
            findings.append(_finding("DPA227", asked.label, f"carries the noise of '{seen[key]}' again"))
        seen.setdefault(key, asked.label)
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
