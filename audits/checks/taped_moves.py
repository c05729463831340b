"""Distances of two runs on one tape, release by release and run by run, against the stated sensitivities."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.checks.taped_totals import multiples
from dpaudit import Cells, Declaration, Mechanism, Parallel, Release, Repeat
from dpaudit.model.declaration import Filtered, children, walk
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import RunTape, TapedRelease
from dpaudit.model.trace import Finding

_SLACK = 1e-9
_NORMS = {"l1_sensitivity": 1.0, "l2_sensitivity": 2.0, "linf_sensitivity": np.inf}
_SPECTRAL = ("nuclear_sensitivity", "trace_sensitivity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One answer, or one element of a stream of sums, that differs between two neighbours in one run.

    `distance` is in units of the sensitivity of `mechanism`; None where it states none that is known here.
    """

    label: str
    run: int
    entry: str
    distance: float | None
    site: str
    mechanism: Mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a declaration says about each label: how often one record may move it, and what it costs in another cell.

    `places` holds, for each leaf with a label, its part in each parallel composition above it, by that node's path.
    Labels below a budget, `paid`, may come as often as it pays.
    """

    times: dict[str, int]
    touched: dict[str, Mechanism]
    parts: tuple[tuple[str, tuple[frozenset[str], ...]], ...]
    places: dict[str, tuple[dict[str, int], ...]]
    paid: frozenset[str]

    @classmethod
    def of(cls, declaration: Declaration) -> "Limits":
        """Return the limits that a declaration states."""
        times: dict[str, int] = defaultdict(int)
        touched: dict[str, Mechanism] = {}
        for label, mechanism, count, alone in _leaves(declaration):
            if alone:
                touched[label] = mechanism
            else:
                times[label] += count
        parts = tuple(
            (node.key, tuple(frozenset(label for label, *_ in _leaves(part)) for part in node.parts))
            for _, node in walk(declaration)
            if isinstance(node, Parallel)
        )
        budgets = (node for _, node in walk(declaration) if isinstance(node, Filtered))
        paid = frozenset(label for node in budgets for label, *_ in _leaves(node))
        return cls(times=dict(times), touched=touched, parts=parts, places=_places(declaration), paid=paid)


def _places(declaration: Declaration) -> dict[str, tuple[dict[str, int], ...]]:
    """Return the parts of parallel compositions in which each label stands, one entry for each of its leaves."""
    parts_of: dict[str, list[dict[str, int]]] = defaultdict(list)

    def visit(node: Declaration, path: str, above: dict[str, int]) -> None:
        """Enter the leaves below one node."""
        if isinstance(node, Release):
            parts_of[node.label].append(above)
        for number, child in enumerate(children(node)):
            inside = above | {path: number} if isinstance(node, Parallel) else above
            visit(child, f"{path}.{number}", inside)

    visit(declaration, "root", {})
    return {label: tuple(places) for label, places in parts_of.items()}


def _leaves(node: Declaration, times: int = 1, *, alone: bool = False) -> Iterator[tuple[str, Mechanism, int, bool]]:
    """Yield (label, mechanism, number of releases, whether it is stated for a record against none)."""
    if isinstance(node, Release):
        yield node.label, node.mechanism, times, alone
    for number, child in enumerate(children(node)):
        factor = node.times if isinstance(node, Repeat) else 1
        yield from _leaves(child, times * factor, alone=alone or (isinstance(node, Cells) and number == 1))


def moves_of(first: RunTape, second: RunTape, limits: Limits | None = None) -> tuple[Move, ...]:
    """Return everything that moved between two runs with the same releases in the same order."""
    moves: list[Move] = []
    streams: dict[tuple[str, int], dict[int, tuple[Array, TapedRelease]]] = defaultdict(dict)
    of_sums = multiples(first)
    for place, (ours, theirs) in enumerate(zip(first.released, second.released, strict=False)):
        if ours.labels != theirs.labels or ours.value.shape != theirs.value.shape:
            break
        if ours.element is None:
            moves.extend(_single(ours, theirs, {} if limits is None else limits.touched, of_sums.get(place, 1.0)))
            continue
        apart = _difference(theirs.value, ours.value)
        numbers = np.broadcast_to(ours.element, (len(ours.runs),))
        for row, number in ((row, numbers[row]) for row in ours.rows):
            streams[ours.label_of(row), int(ours.runs[row])][int(number)] = (apart[row], ours)
    for (label, run), stream in streams.items():
        moves.extend(_elements(label, run, stream))
    return tuple(moves)


def _single(
    ours: TapedRelease, theirs: TapedRelease, touched: Mapping[str, Mechanism], multiple: float
) -> Iterator[Move]:
    """Yield the rows of one release that differ, or the cells of a row where the declaration has cells.

    A sum of messages stands on the tape divided by `multiple`.
    """
    apart = multiple * np.atleast_1d(_difference(theirs.value, ours.value))
    if not np.any(apart):
        return
    for row in ours.rows:
        if not np.any(apart[row]):
            continue
        label, run = ours.label_of(row), int(ours.runs[row]) if row < len(ours.runs) else row
        entry, distance = _farthest(apart[row]), _relative(ours.mechanism, apart[row])
        if label in touched and apart[row].ndim:
            cells = [cell for cell in apart[row] if np.any(cell)]
            distance = _in_cells(ours.mechanism, touched[label], cells)
        yield Move(label=label, run=run, entry=entry, distance=distance, site=ours.site, mechanism=ours.mechanism)


def _in_cells(inside: Mechanism, touched: Mechanism, cells: list[Array]) -> float | None:
    """Return a distance where a record fills one cell: within the cell, or out of one and into another."""
    if len(cells) > 2:
        return np.inf
    sizes = [_relative(touched, cell) for cell in cells]
    if len(cells) == 1:
        sizes.append(_relative(inside, cells[0]))
    distances = [size for size in sizes if size is not None]
    if not distances:
        return None
    return min(distances) if len(cells) == 1 else max(distances)


def _elements(label: str, run: int, stream: dict[int, tuple[Array, TapedRelease]]) -> Iterator[Move]:
    """Yield the elements of one stream of sums that differ."""
    before: Any = 0.0
    for number in sorted(stream):
        apart, release = stream[number]
        with np.errstate(invalid="ignore"):  # once a sum is infinitely far off, nothing is known of later elements
            element = np.where(np.isfinite(before), apart - before, 0.0)
        before = apart
        if np.any(~np.isfinite(element) | (np.abs(element) > _SLACK * (1 + np.abs(apart)))):
            leaf = getattr(release.mechanism, "leaf", release.mechanism)
            yield Move(
                label=label,
                run=run,
                entry=f"element {number}",
                distance=_relative(leaf, np.asarray(element)),
                site=release.site,
                mechanism=leaf,
            )


def _difference(second: Array, first: Array) -> Array:
    """Return the difference of two answers; infinite where either is not finite, and 0 where rounding explains it."""
    if first.dtype.kind not in "biuf" or second.dtype.kind not in "biuf":
        return np.asarray(first != second, dtype=np.float64)
    left, right = first.astype(np.float64), second.astype(np.float64)
    finite = np.isfinite(left) & np.isfinite(right)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.where(finite, right - left, np.inf)
    size = np.where(finite, np.maximum(np.abs(left), np.abs(right)), 0.0)
    return np.where(np.abs(apart) <= 1e-12 * size, 0.0, apart)


def beyond_sensitivity(mechanism: Mechanism, answers: tuple[Any, Any]) -> str:
    """Return how far two answers of neighbours are apart, in words, where a mechanism states less; else an empty text.

    A mechanism that states no sensitivity of its own, such as a stream of sums, compares nothing.

    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> beyond_sensitivity(noise, (1.0, 6.0))
    'The query moves by 5 between the two data sets; laplace states l1_sensitivity=1.'
    >>> beyond_sensitivity(noise, (1.0, 2.0))
    ''
    """
    first, second = (np.asarray(answer) for answer in answers)
    if first.shape != second.shape:
        return f"The query has the shape {first.shape} on one data set and {second.shape} on the other."
    distance = _relative(mechanism, _difference(second, first))
    if distance is None or distance <= 1 + _SLACK:
        return ""
    for attribute in (*_NORMS, *_SPECTRAL):
        if stated := float(getattr(mechanism, attribute, 0.0)):
            moved = f"by {distance * stated:.6g}"
            return f"The query moves {moved} between the two data sets; {mechanism.name} states {attribute}={stated:g}."
    return f"The query moves by {distance:.6g} times what {mechanism.name} states for two neighbours."


def _relative(mechanism: Mechanism, apart: Array) -> float | None:
    """Return a distance over the stated sensitivity; None where none is known for this mechanism."""
    if not np.isfinite(apart).all():
        return np.inf
    with np.errstate(over="ignore"):
        distances = [
            _over(float(np.linalg.norm(apart.reshape(-1), order)), float(getattr(mechanism, attribute)))
            for attribute, order in _NORMS.items()
            if hasattr(mechanism, attribute)
        ]
    if distances:
        return max(distances)
    matrix_stddev = getattr(mechanism, "matrix_stddev", None)
    if matrix_stddev is not None and isinstance(loss := mechanism.loss(), GaussianLoss):
        with np.errstate(over="ignore"):
            matrix = np.linalg.norm(apart[..., :-1]) / float(matrix_stddev)
            vector = np.linalg.norm(apart[..., -1]) / float(getattr(mechanism, "vector_stddev", 1.0))
            return float(np.hypot(matrix, vector)) / loss.mu
    for attribute in _SPECTRAL:
        if hasattr(mechanism, attribute) and apart.ndim >= 2:
            values = np.linalg.svd(apart, compute_uv=False).sum(axis=-1)
            return _over(float(values.max()), float(getattr(mechanism, attribute)))
    return None


def _over(distance: float, sensitivity: float) -> float:
    """Return a distance in units of a sensitivity, which may be 0."""
    if sensitivity > 0:
        return distance / sensitivity
    return np.inf if distance > 0 else 0.0


def _farthest(apart: Array) -> str:
    """Return where a row differs most, as an index."""
    if apart.ndim == 0:
        return "the answer"
    farthest = np.unravel_index(int(np.argmax(np.nan_to_num(np.abs(apart), posinf=1e300))), apart.shape)
    return f"entry {tuple(int(index) for index in farthest)}"


def too_far(moves: tuple[Move, ...]) -> Iterator[Finding]:
    """Yield a finding (DPA220) for the largest move of each label beyond its sensitivity."""
    worst: dict[str, Move] = {}
    for move in moves:
        size = move.distance or 0.0
        if size > 1 + _SLACK and size > ((worst[move.label].distance or 0.0) if move.label in worst else 0.0):
            worst[move.label] = move
    for label, move in worst.items():
        message = (
            f"'{label}' moved by {move.distance:.6g} times its stated sensitivity between two neighbours, at "
            f"{move.entry} of run {move.run} ({move.site})."
        )
        yield Finding(rule="DPA220", where=label, message=message)


def too_often(moves: tuple[Move, ...], limits: Limits, streams: dict[str, int]) -> Iterator[Finding]:
    """Yield findings where one record moved a label more often than declared, or several parts (DPA228).

    `streams` holds, for each stream of sums, how many of its elements one record may move.
    """
    counts: dict[tuple[str, int], list[Move]] = defaultdict(list)
    touched: dict[int, set[str]] = defaultdict(set)
    for move in moves:
        if move.label not in limits.paid:
            counts[move.label, move.run].append(move)
        touched[move.run].add(move.label)
    accused: set[str] = set()
    for (label, run), moved in counts.items():
        allowed = streams.get(label, limits.times.get(label, 0))
        if len(moved) > allowed and label not in accused:
            accused.add(label)
            last = moved[allowed] if allowed < len(moved) else moved[-1]
            message = (
                f"One record moved '{label}' {len(moved)} times in run {run}; {allowed} is declared. The move at "
                f"{last.entry} is one too many ({last.site})."
            )
            yield Finding(rule="DPA228", where=label, message=message)
    yield from _several_parts(touched, limits)


def _several_parts(touched: dict[int, set[str]], limits: Limits) -> Iterator[Finding]:
    """Yield a finding for each parallel composition of which one record moved several parts.

    A label that stands in several compositions counts in one of them: in any way that keeps all of them to one part.
    """
    for key, parts in limits.parts:
        for run, labels in touched.items():
            moved = [sorted(part & labels)[0] for part in parts if part & labels]
            if len(moved) > 1 and not _attributed(sorted(labels), limits.places, {}):
                message = (
                    f"One record moved {len(moved)} parts of a parallel composition in run {run} "
                    f"('{moved[0]}' and '{moved[1]}'), kept apart by: {key}."
                )
                yield Finding(rule="DPA228", where=moved[1], message=message)
                break


def _attributed(labels: list[str], places: dict[str, tuple[dict[str, int], ...]], taken: dict[str, int]) -> bool:
    """Return whether each label can count as one of its leaves, so that every composition has one part at most."""
    if not labels:
        return True
    return any(
        _attributed(labels[1:], places, taken | parts)
        for parts in places.get(labels[0], ({},))
        if all(taken.get(node, part) == part for node, part in parts.items())
    )
