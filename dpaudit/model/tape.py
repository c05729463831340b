"""A tape of everything random in a run: one run records it, and another run repeats it with its outputs pinned.

A tape travels with the generators that are spawned from it, so an algorithm needs no argument for it. After every
release all streams start afresh from (seed, stream, number of releases). Two runs on one tape therefore draw the same
numbers after each release, however many numbers the data made them draw before it.
"""

import inspect
import sys
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array, Mechanism, is_additive

_CARRIER = "CARRIES_RELEASES"
"""A module that has this name, or whose package has it, only carries releases on: their caller's line is named."""

_PERIOD = 1 << 128
_JUMP = 210306068529402873165736369884012333109
"""The golden ratio's share of the period, as in `numpy.random.PCG64.jumped`: stretches that far apart do not meet."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TapedRelease:
    """One release of some runs at once.

    Shape: `value`, the exact answer, and `output` have one row for each of `runs`. `labels` has one label, or one for
    each row. `element` is the number of an element in a stream of sums, from 1 and by row; None for a single release.
    `drawn` is the noise that the mechanism draws from the same generator state for an answer of 0, where noise is
    additive. `site` is the line of code that asked for the release, as "file:line". `published` is how many of the rows
    were published, where a block of answers was computed ahead and cut short; None for all.
    """

    labels: tuple[str, ...]
    mechanism: Mechanism
    value: Array
    output: Array
    runs: Array
    site: str
    element: Array | None = None
    drawn: Array | None = None
    published: int | None = None

    @property
    def rows(self) -> range:
        """The rows that were published."""
        return range(len(self.runs) if self.published is None else self.published)

    def label_of(self, row: int) -> str:
        """Return the label of one row."""
        return self.labels[row if len(self.labels) > 1 else 0]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TapedTotal:
    """The noise of the messages of `users` people that was drawn as one sum, centred; of any shape."""

    label: str
    mechanism: Mechanism
    users: int
    noise: Array
    site: str


@dataclass(slots=True, kw_only=True, eq=False)
class RunTape:
    """The tape of one run: what it released in order, and the streams that it drew from.

    `pinned` are the releases of an earlier run, whose outputs this run gets instead of its own. `salts` change the
    seed of streams by name: the tape of the same program with, say, other users.

    >>> tape = RunTape(seed=0)
    >>> rng = tape.generator()
    >>> type(rng.spawn(1)[0]).__name__
    'TapedGenerator'
    """

    seed: int
    pinned: "tuple[TapedRelease, ...] | None" = None
    salts: dict[str, int] = field(default_factory=dict)
    released: list[TapedRelease] = field(default_factory=list)
    totals: list[TapedTotal] = field(default_factory=list)
    _streams: "dict[tuple[int, ...], TapedGenerator]" = field(default_factory=dict)
    _names: dict[tuple[int, ...], str] = field(default_factory=dict)
    _starts: "dict[tuple[int, tuple[int, ...]], Any]" = field(default_factory=dict)

    def generator(self) -> "TapedGenerator":
        """Return the generator to hand to a run."""
        return self.register(TapedGenerator(np.random.PCG64(self.seed)), ())

    def register(self, generator: "TapedGenerator", path: tuple[int, ...]) -> "TapedGenerator":
        """Return `generator` as the stream at `path` of the tree of spawned streams."""
        generator.tape, generator.path = self, path
        self._streams[path] = generator
        return generator

    def name(self, generator: "TapedGenerator", name: str) -> None:
        """Name a stream by its purpose."""
        self._names[generator.path] = name
        self._rewind(generator)

    def enter(
        self,
        labels: tuple[str, ...],
        mechanism: Mechanism,
        value: Array,
        output: Array,
        *,
        runs: Array | None = None,
        element: Array | None = None,
        drawn: Array | None = None,
    ) -> Array:
        """Return the output that the run publishes: its own, or the pinned one of the same place on the tape."""
        index = len(self.released)
        exact = np.array(value)
        rows = np.arange(len(exact) if exact.ndim else 1) if runs is None else np.array(runs)
        shown = self._pinned(index, labels, np.asarray(output), rows)
        self.released.append(
            TapedRelease(
                labels=labels,
                mechanism=mechanism,
                value=exact,
                output=np.array(output),
                runs=rows,
                site=_site(),
                element=element,
                drawn=drawn,
            )
        )
        for generator in self._streams.values():
            self._rewind(generator)
        return shown

    def total(self, label: str, mechanism: Mechanism, users: int, noise: Array) -> None:
        """Write down the noise of many people's messages that was drawn as one sum."""
        site = _site()
        self.totals.append(TapedTotal(label=label, mechanism=mechanism, users=users, noise=np.array(noise), site=site))

    def keep(self, index: int, rows: int) -> None:
        """Say that only the first `rows` rows of the release at `index` were published."""
        self.released[index] = replace(self.released[index], published=rows)

    def _pinned(self, index: int, labels: tuple[str, ...], output: Array, runs: Array) -> Array:
        """Return the output of the pinned release at this place, if it is the same release."""
        if self.pinned is None or index >= len(self.pinned):
            return output
        before = self.pinned[index]
        same = before.labels == labels and before.output.shape == output.shape and np.array_equal(before.runs, runs)
        return before.output.copy() if same else output

    def _rewind(self, generator: "TapedGenerator") -> None:
        """Start a stream afresh for the stretch after the latest release, so many jumps behind the stream's start."""
        salt = self.salts.get(self._names.get(generator.path, ""), 0)
        key = (salt, generator.path)
        if key not in self._starts:
            seed = np.random.SeedSequence((self.seed, salt), spawn_key=generator.path)
            self._starts[key] = np.random.PCG64(seed).state
        to_stretch(generator.bits, self._starts[key], len(self.released))


class TapedGenerator(np.random.Generator):
    """A generator that carries a tape on to all generators spawned from it."""

    tape: RunTape
    path: tuple[int, ...]
    spawned: int = 0

    @property
    def bits(self) -> np.random.PCG64:
        """The source of its numbers, which a tape moves to where a stretch starts."""
        source = self.bit_generator
        if not isinstance(source, np.random.PCG64):
            raise TypeError(f"Expected a tape's generator on PCG64, got {type(source).__name__}.")
        return source

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Return independent streams on the same tape."""
        children: list[np.random.Generator] = []
        for bits in self.bit_generator.spawn(n_children):
            children.append(self.tape.register(type(self)(bits), (*self.path, self.spawned)))
            self.spawned += 1
        return children


def to_stretch(bits: np.random.PCG64, start: Any, number: int) -> None:
    """Move a source of numbers to the stretch of a number behind a state; stretches do not meet."""
    bits.state = start
    bits.advance(number * _JUMP % _PERIOD)


def tape_of(rng: np.random.Generator) -> RunTape | None:
    """Return the tape that `rng` carries, or None.

    >>> tape_of(np.random.default_rng(0)) is None
    True
    """
    return rng.tape if isinstance(rng, TapedGenerator) else None


def released_on_tape(
    label: str, mechanism: Mechanism, value: Array, rng: np.random.Generator, runs: Array | None = None
) -> Array:
    """Return `mechanism.release(value, rng)`; on a tape it is written down, with the noise of the same state.

    `runs` says which run each row belongs to, where that is not its number.
    """
    tape = tape_of(rng)
    if tape is None:
        return mechanism.release(value, rng)
    before = rng.bit_generator.state
    output = mechanism.release(value, rng)
    drawn = None
    if tape.pinned is None and is_additive(mechanism):  # a run with pinned outputs publishes none of its own noise
        rng.bit_generator.state = before  # entering a release starts all streams afresh
        exact = np.asarray(value)
        drawn = np.asarray(mechanism.release(np.zeros(exact.shape, dtype=exact.dtype), rng))
    return tape.enter((label,), mechanism, value, output, drawn=drawn, runs=runs)


def _site() -> str:
    """Return the nearest line of code outside the modules that only carry a release on."""
    frame = inspect.currentframe()
    while frame is not None and _only_carries(frame):
        frame = frame.f_back
    return "an unknown line" if frame is None else line_of(frame)


def _only_carries(frame: FrameType) -> bool:
    """Return whether the module of a frame, or its package, carries the mark."""
    package = sys.modules.get(str(frame.f_globals.get("__package__")))
    return _CARRIER in frame.f_globals or hasattr(package, _CARRIER)


def line_of(frame: FrameType) -> str:
    """Return the line that a frame is at, as "package/module.py:line"; a script's line by its file name."""
    module = str(frame.f_globals.get("__name__", "__main__"))
    return f"{_file_of(frame.f_code.co_filename, module)}:{frame.f_lineno}"


@lru_cache(maxsize=256)
def _file_of(path: str, module: str) -> str:
    """Return the file of a module as a line of code names it."""
    return Path(path).name if module == "__main__" else f"{module.replace('.', '/')}.py"
