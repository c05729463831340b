"""The noise on a tape: is it what the recorder drew, and was any of it used twice or left out?"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from audits.checks.laws.conditionals import Placed
from audits.checks.laws.dependence import Drawn, dependences
from audits.checks.laws.mechanism_law import departs_at, departs_in_run, departs_in_sum
from audits.checks.laws.places import places_of_noise
from dpaudit.model.mechanism import AdditiveMechanism, Array, Mechanism, is_additive
from dpaudit.model.tape import RunTape, TapedRelease
from dpaudit.model.trace import Finding

_CLOSE = 4e-15
"""Two noises are one if they lie closer than this, relative to the largest answer they were read from."""

_CLOSE_SINGLE = 5e-7
"""The same for noises that were added in single precision."""

_READABLE = {_CLOSE: 1e6 * _CLOSE, _CLOSE_SINGLE: 1e3 * _CLOSE_SINGLE}
"""Noise smaller than this, relative to the largest published number, drowns in rounding and cannot be read back."""

_DRAWS = 257
"""So many rows of noise tell its median size."""

_LONGEST = 2048
"""So many elements of one stream of sums are looked at."""

_ALARM = 1e-7
_HIGH = 64
"""From so many rows on, the noise of the high nodes of a tree is looked at by itself."""

_LATTICE = 8
"""From so many different noises a lattice is told from chance."""

_COINCIDENCES = 3
"""So many equal noises of two labels are no chance where fewer than `_EXPECTED` are expected."""

_BY_ROUNDING = 1e-3
"""So many noises are expected to be nothing but rounding, at most; three or more then are so with probability 2e-10."""

_EXPECTED = 1e-4
"""Expected equal noises of two labels, at most; three or more then come by chance with probability 2e-13."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadNoise(Drawn):
    """The noise of one label as read from a tape: `rows` of numbers, or of matrices, a draw a row.

    `exact` holds the exact answers beside single releases. `size` is the largest published number, `scale` the median
    size of a noise that the mechanism draws, `site` the line of code that asked for the first release. `close` is how
    close two readings of one noise lie, relative to `size`. `levels` says of each row how many times over a node of a
    tree holds two halves, and is empty for single releases.
    """

    mechanism: Mechanism
    rows: Array
    exact: Array
    size: float
    scale: float
    site: str
    close: float
    levels: Array

    @property
    def values(self) -> Array:
        """The numbers that are drawn on their own, in one row: of matrices the upper triangle."""
        if self.rows.ndim < 3:
            return np.ravel(self.rows)
        rows, columns = np.triu_indices(self.rows.shape[-2], m=self.rows.shape[-1])
        return np.ravel(self.rows[..., rows, columns])

    def part(self, chosen: Array) -> "ReadNoise":
        """Return the noise of some rows; rows that are placed each by itself keep their places."""
        rows, levels, places = self.rows[chosen], self.levels[chosen], self.places
        if places is not None and places.independent:
            return replace(self, rows=rows, levels=levels, places=replace(places, uniform=places.uniform[chosen]))
        return replace(self, rows=rows, levels=levels, places=places_of_noise(self.mechanism, rows))

    @property
    def resolution(self) -> float:
        """How far apart two readings of one noise can lie by rounding."""
        return self.close * max(self.size, 1e-300)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """What one release shows of a label's noise in its published `rows`. Shape: `noise` is (rows, draws, *item)."""

    release: TapedRelease
    leaf: AdditiveMechanism
    scale: float
    rows: Array
    noise: Array

    @property
    def runs(self) -> Array:
        """The run of each row."""
        return self.release.runs[self.rows]

    @property
    def size(self) -> float:
        """The largest published number; a row that is no number has no size."""
        numbers = np.abs(self.release.output[self.rows]).reshape(len(self.rows), -1)
        return float(np.fmax.reduce(numbers.max(axis=1, initial=0.0)))


def noises_of(tape: RunTape) -> dict[str, ReadNoise]:
    """Return, by label, all noise of continuous mechanisms.

    The noise of a tree is that of its nodes: each is the noise of a prefix less that of the prefix without the node.
    Releases whose noise drowns in the rounding of the published numbers are left out: nothing was seen of it.
    """
    parts_of: dict[str, list[_Part]] = defaultdict(list)
    for release, leaf, scale in _readable(tape):
        noise = _draws(leaf, release.output.astype(np.float64) - release.value)
        for label, rows in _rows_by_label(release) if release.rows else ():
            parts_of[label].append(_Part(release=release, leaf=leaf, scale=scale, rows=rows, noise=noise[rows]))
    read = {label: _read(label, parts) for label, parts in parts_of.items()}
    single_first = sorted(read, key=lambda label: all(part.release.element is not None for part in parts_of[label]))
    return {label: of_label for label in single_first if (of_label := read[label]) is not None}


def _read(label: str, parts: list[_Part]) -> ReadNoise | None:
    """Return the noise of one label; None where no prefix of a stream shows a node."""
    single = [part for part in parts if part.release.element is None]
    nodes = list(_nodes_of(parts))
    draws = [*((part.noise, part.runs) for part in single), *((noise, runs) for noise, runs, _ in nodes)]
    if not draws:
        return None
    levels = (np.repeat(heights, noise.shape[1]) for noise, _, heights in nodes)
    rows = np.concatenate([noise.reshape(-1, *noise.shape[2:]) for noise, _ in draws])
    return ReadNoise(
        label=label,
        mechanism=parts[0].leaf,
        rows=rows,
        places=places_of_noise(parts[0].leaf, rows),
        runs=np.concatenate([np.repeat(runs, noise.shape[1]) for noise, runs in draws]),
        width=draws[0][0].shape[1],
        exact=np.concatenate([np.zeros(0), *(np.ravel(part.release.value[part.rows]) for part in single)]),
        size=max(0.0, *(part.size for part in parts)),
        scale=min(part.scale for part in parts),
        site=parts[0].release.site,
        close=max(_close(part.release) for part in parts),
        levels=np.concatenate([np.zeros(0, dtype=np.int64), *levels]),
    )


def _rows_by_label(release: TapedRelease) -> Iterator[tuple[str, Array]]:
    """Yield each label of a release with its published rows."""
    if len(release.labels) == 1:
        yield release.labels[0], np.array(release.rows)
        return
    places: dict[str, list[int]] = defaultdict(list)
    for row in release.rows:
        places[release.labels[row]].append(row)
    yield from ((label, np.array(rows)) for label, rows in places.items())


def _nodes_of(parts: list[_Part]) -> Iterator[tuple[Array, Array, Array]]:
    """Yield noise, runs and levels of all nodes of trees whose two prefixes are known, by the shape of a row."""
    streams: dict[tuple[int, ...], list[tuple[Array, Array, Array]]] = defaultdict(list)
    for part in parts:
        if part.release.element is not None:
            numbers = np.broadcast_to(part.release.element, part.release.runs.shape)[part.rows]
            streams[part.noise.shape[1:]].append((numbers, part.runs, part.noise))
    for prefixes_of in streams.values():
        numbers, runs, noise = (np.concatenate(prefix_arrays) for prefix_arrays in zip(*prefixes_of, strict=True))
        places: dict[int, dict[int, int]] = defaultdict(dict)
        for row, (run, number) in enumerate(zip(runs.tolist(), numbers.tolist(), strict=True)):
            places[run][number] = row
        pairs = [pair for prefixes in places.values() for pair in _nodes(prefixes)]
        if not pairs:
            continue
        row, parent = np.array(pairs).T
        before = np.where((parent < 0).reshape(-1, *[1] * (noise.ndim - 1)), 0.0, noise[parent])
        number = numbers[row].astype(np.int64)
        heights = np.log2(number & -number).astype(np.int64)  # powers of two, whose logarithms are exact
        yield noise[row] - before, runs[row], heights


def _readable(tape: RunTape) -> Iterator[tuple[TapedRelease, AdditiveMechanism, float]]:
    """Yield the releases whose noise can be read, each with its leaf and the scale of its noise."""
    scales: dict[int, float | None] = {}
    for release in tape.released:
        leaf = getattr(release.mechanism, "leaf", release.mechanism)
        if not is_additive(leaf):
            continue
        if id(leaf) not in scales:
            scales[id(leaf)] = _scale(leaf, release.value.shape)
        scale = scales[id(leaf)]
        if scale is None or scale < _READABLE[_close(release)] * np.abs(release.output).max(initial=0.0):
            continue
        if release.element is None or int(np.min(release.element, initial=_LONGEST + 1)) <= _LONGEST:
            yield release, leaf, scale


def _close(release: TapedRelease) -> float:
    """Return how close two readings of one noise of a release lie, relative to what was published."""
    return _CLOSE_SINGLE if release.output.dtype == np.float32 else _CLOSE


def _scale(leaf: AdditiveMechanism, shape: tuple[int, ...]) -> float | None:
    """Return the median size of a mechanism's noise; None where it answers integers with integers."""
    answers = np.zeros((_DRAWS, *shape[1:]), dtype=np.int64)
    noise = np.asarray(leaf.release(answers, np.random.Generator(np.random.PCG64(0))))
    return float(np.median(np.abs(noise))) if noise.dtype.kind == "f" and noise.size else None


def _draws(leaf: AdditiveMechanism, noise: Array) -> Array:
    """Return the draws of the leaf in each row: single numbers, or whole matrices. Shape: (rows, draws, *item)."""
    axes = leaf.item_axes
    return noise.reshape(len(noise), -1, *(noise.shape[noise.ndim - axes :] if axes else (1,)))


def _nodes(prefixes: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the places of a prefix and of its parent, for every node of one tree whose two prefixes are known.

    `prefixes` are places by the number of the element; the parent of a node that is a prefix itself is at -1.
    """
    for number, row in prefixes.items():
        parent = number & (number - 1)
        if parent == 0 or parent in prefixes:
            yield row, prefixes[parent] if parent else -1


def not_as_drawn(tape: RunTape) -> Iterator[Finding]:
    """Yield a finding (DPA229) for each label whose published answer less the exact one is not what was drawn."""
    accused: set[str] = set()
    for release in tape.released:
        if release.drawn is None or release.labels[0] in accused or release.output.dtype.kind not in "biuf":
            continue
        apart = np.abs(release.output - release.value - release.drawn)
        size = 1e-9 * (np.abs(release.output).max(initial=0.0) + np.abs(release.drawn).max(initial=0.0))
        if (
            (apart > size).any()
            and np.isfinite(release.value).all()
            and not _only_mirrored(release, apart > size, size)
        ):
            accused.add(release.labels[0])
            yield _finding("DPA229", release, "published minus exact is not the noise that was drawn for it")


def _only_mirrored(release: TapedRelease, apart: Array, size: float) -> bool:
    """Return whether noise differs from that for 0 in its sign alone, and has its law around such an answer."""
    if release.drawn is None or (np.abs(np.abs(release.output - release.value) - np.abs(release.drawn)) > size).any():
        return False
    answer = release.value[int(np.flatnonzero(apart.reshape(len(apart), -1).any(axis=1))[0])]
    return departs_at(release.mechanism, answer, np.random.default_rng(0)) == ""


def used_twice(noises: Mapping[str, ReadNoise]) -> Iterator[Finding]:
    """Yield findings where noise was used twice (DPA227) or is missing or coarse (DPA229), over all labels and runs."""
    for label, noise in noises.items():
        said = _coarse(noise)
        if said:
            yield Finding(rule="DPA229", where=label, message=f"{said.format(label=label)} ({noise.site}).")
    yield from _repeated(noises)


def _coarse(noise: ReadNoise) -> str:
    """Return how noise is missing or coarse, or an empty text.

    Multiples of one number around answers that are multiples of it are no finding: the output may have been rounded.
    """
    number, pitch = noise.values.size, _pitch(noise)
    if pitch and noise.exact.size:
        if _on_lattice(noise.exact, pitch, noise.resolution):
            return ""
        return f"All {number} noises of '{{label}}' are multiples of {pitch:.6g}, and the exact answers are not"
    missing = int((np.abs(noise.values) <= noise.resolution).sum())
    if missing >= _COINCIDENCES and number * noise.resolution <= _BY_ROUNDING * noise.scale:
        return f"{missing} of {number} published values of '{{label}}' carry no noise"
    if number >= _COINCIDENCES and (noise.values == np.round(noise.values)).all():
        return f"All {number} noises of '{{label}}' are whole numbers, of a continuous mechanism"
    return ""


def drawn_again(tape: RunTape) -> Iterator[Finding]:
    """Yield a finding (DPA227) for each stream of sums that shows one of its elements twice, with other noise."""
    shown: dict[tuple[str, int, int], Array] = {}
    accused: set[str] = set()
    for release in tape.released:
        if release.element is None or release.output.dtype.kind not in "biuf":
            continue
        noise = release.output - release.value
        size = _CLOSE * np.abs(release.output).max(initial=0.0)
        is_finite = bool(np.isfinite(noise).all())
        numbers = np.broadcast_to(release.element, release.runs.shape).tolist()
        for row, run, number in zip(release.rows, release.runs.tolist(), numbers, strict=False):
            key = (release.label_of(row), run, number)
            if is_finite and key not in shown:
                shown[key] = noise[row]
                continue
            before = shown.setdefault(key, noise[row])
            if key[0] in accused or before.shape != noise[row].shape or (np.abs(before - noise[row]) <= 8 * size).all():
                continue
            accused.add(key[0])
            message = f"element {key[2]} of the stream is shown twice in run {key[1]}, with noise that was drawn anew"
            yield Finding(rule="DPA227", where=key[0], message=f"'{key[0]}': {message} ({release.site}).")


def of_another_law(noises: Mapping[str, ReadNoise]) -> Iterator[Finding]:
    """Yield findings (DPA229) for labels whose noise in the run does not follow the mechanism's stated law.

    False alarm: 1e-7 a label, and so for the nodes of a tree from each level on. Labels may use one mechanism with many
    scales; each label's own is the reference.
    """
    pooled = dict(_pooled(noises))
    for label, noise in (*noises.items(), *pooled.items(), *_high_nodes({**noises, **pooled})):
        departure = departs_in_run(noise.places)
        if departure is not None:
            message = f"The noise of '{label}' in the run is not that of {noise.mechanism.name}: {departure.words}"
            yield Finding(rule="DPA229", where=label, message=f"{message} ({noise.site}).")


def of_other_laws_together(noises: Mapping[str, ReadNoise]) -> Iterator[Finding]:
    """Yield a finding (DPA229) where the noise of all labels together does not follow the stated laws."""
    departure = departs_in_sum(noise.places for noise in noises.values())
    if departure is not None and len(noises) > 1:
        message = f"The noise of all releases of the run together is not that of their mechanisms: {departure.words}."
        yield Finding(rule="DPA229", where=next(iter(noises)), message=message)


def depending(noises: Mapping[str, ReadNoise]) -> Iterator[Finding]:
    """Yield a finding (DPA229) for the noises of a run that depend on each other most, if that is no chance.

    False alarm: 1e-7 for all of them together.
    """
    tested = list(dependences(list(noises.values())))
    if not tested:
        return
    label, least = min(tested, key=lambda tested_look: tested_look[1].probability)
    if least.probability * len(tested) < _ALARM:
        message = f"The noise of '{label}' in the run is not independent: {least.words} ({noises[label].site})."
        yield Finding(rule="DPA229", where=label, message=message)


def _pitch(noise: ReadNoise) -> float:
    """Return the distance of the lattice that all noise lies on, or 0 where it lies on none that could be seen.

    The least distance of two of many continuous numbers is no divisor of all others: were it one by chance, each
    further number would have to lie within a thousandth of a multiple.
    """
    values = np.sort(noise.values)
    steps = np.diff(values)
    steps = steps[steps > 1e3 * noise.resolution]
    if len(steps) < _LATTICE:
        return 0.0
    least = float(steps.min())
    return least if _on_lattice(values, least, noise.resolution) else 0.0


def _on_lattice(values: Array, pitch: float, resolution: float) -> bool:
    """Return whether all values are multiples of `pitch`, up to rounding."""
    off_lattice = np.abs(values / pitch - np.round(values / pitch))
    return bool((off_lattice <= 1e-3 + 2 * resolution / pitch).all())


def _pooled(noises: Mapping[str, ReadNoise]) -> Iterator[tuple[str, ReadNoise]]:
    """Yield the noise of all labels that share a mechanism, where there are several, under the first label."""
    kinds: dict[tuple[Mechanism, tuple[int, ...]], list[str]] = defaultdict(list)
    for label, noise in noises.items():
        kinds[noise.mechanism, noise.rows.shape[1:]].append(label)
    for labels in kinds.values():
        if len(labels) > 1:
            first, parts = noises[labels[0]], [noises[label].places for label in labels]
            rows = np.concatenate([noises[label].rows for label in labels])
            levels = np.concatenate([noises[label].levels for label in labels])
            yield labels[0], replace(first, rows=rows, levels=levels, places=_together(first.mechanism, rows, parts))


def _together(mechanism: Mechanism, rows: Array, parts: list[Placed | None]) -> Placed | None:
    """Return the places of rows of several labels: their own, where each number was placed by itself."""
    known = [places for places in parts if places is not None and places.independent]
    if len(known) == len(parts) and len({places.uniform.shape[1] for places in known}) == 1:
        return replace(Placed.together(known), independent=True)
    return places_of_noise(mechanism, rows)


def _high_nodes(noises: Mapping[str, ReadNoise]) -> Iterator[tuple[str, ReadNoise]]:
    """Yield the noise of the nodes of trees from each level on, which are few beside the lowest ones."""
    for label, noise in noises.items():
        if len(noise.levels) != len(noise.rows):
            continue
        for level in range(1, int(noise.levels.max(initial=0)) + 1):
            high = noise.levels >= level
            if high.sum() >= _HIGH:
                yield label, noise.part(high)


def _repeated(noises: Mapping[str, ReadNoise]) -> Iterator[Finding]:
    """Yield a finding for the first pair of labels that share noise, up to its sign."""
    if not noises:
        return
    labels = list(noises)
    values = np.concatenate([np.abs(noises[label].values) for label in labels])
    owner = np.repeat(np.arange(len(labels)), [noises[label].values.size for label in labels])
    resolution = np.array([noises[label].resolution for label in labels])
    order = np.argsort(values, kind="stable")
    close = np.maximum(resolution[owner[order][1:]], resolution[owner[order][:-1]])
    equal = np.flatnonzero((np.diff(values[order]) <= close) & (values[order][1:] > close))
    pairs: dict[tuple[int, int], int] = defaultdict(int)
    for index in equal:
        left, right = sorted((int(owner[order[index]]), int(owner[order[index + 1]])))
        pairs[left, right] += 1
    for (left, right), times in pairs.items():
        before, after = noises[labels[left]], noises[labels[right]]
        if times >= _COINCIDENCES and _by_chance(before, after) <= _EXPECTED:
            message = f"'{labels[right]}' carries {times} noises that '{labels[left]}' carries as well ({after.site})."
            yield Finding(rule="DPA227", where=labels[right], message=message)
            return


def _by_chance(left: ReadNoise, right: ReadNoise) -> float:
    """Return how many noises of two labels lie closer than their resolution by chance: densities are below 1/scale."""
    return (
        2 * left.values.size * right.values.size * max(left.resolution, right.resolution) / max(left.scale, right.scale)
    )


def _finding(rule: str, release: TapedRelease, message: str) -> Finding:
    """Return a finding about one release."""
    label = release.labels[0]
    return Finding(rule=rule, where=label, message=f"'{label}': {message} ({release.site}).")
