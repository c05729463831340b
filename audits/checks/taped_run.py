"""A program that runs on a tape, and the table of rows by which two of its runs are compared.

A run is set by the seed of its tape, the salts of its streams, and the releases of an earlier run that are pinned to
it. Two runs on one tape differ in their data alone. So whatever they publish, show or draw otherwise follows the data.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audits.checks.first_line import first_line
from audits.experiment.equality import same
from audits.experiment.replays import apart, ending, following
from audits.outputs.raised import said_by
from dpaudit.model.tape import RunTape, TapedGenerator, TapedRelease
from dpaudit.model.trace import Finding

SEED = 20_240_229

Program = Callable[[TapedGenerator], Any]
"""program(rng) -> what is published"""

_EXCEPTION = "the text of the exception"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replay:
    """One run of a program on a tape.

    `published` is what it published, `ended` the type of the exception that ended it, and `channels` what it showed
    beside, by channel; None where nobody listened.
    """

    program: Program
    tape: RunTape
    published: Any
    ended: str = ""
    channels: Mapping[str, Any] | None = field(default_factory=dict[str, Any])

    def again(self, program: Program | None = None, **salts: int) -> "Replay":
        """Return a run of the program, or of another one, on the same tape with the releases of this run pinned."""
        pinned = self.tape.pinned if self.tape.pinned is not None else tuple(self.tape.released)
        tape = RunTape(seed=self.tape.seed, pinned=pinned, salts=salts or self.tape.salts)
        return replayed(program or self.program, tape)


def replayed(program: Program, tape: RunTape) -> Replay:
    r"""Return a run of a program on a tape; an exception is an outcome.

    >>> dict(replayed(lambda rng: print("sum 3"), RunTape(seed=0)).channels)
    sum 3
    {'printed text': 'sum 3\n'}
    """
    with np.errstate(all="ignore"):
        end = ending(lambda: program(tape.generator()))
    said = {} if end.raised is None else {_EXCEPTION: said_by(end.raised)}
    ended = "" if end.raised is None else type(end.raised).__name__
    return Replay(program=program, tape=tape, published=end.returned, ended=ended, channels={**end.channels, **said})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """Two runs that share their releases; `says` names what sets them apart, `where` stands for the whole program."""

    first: Replay
    second: Replay
    says: str
    where: str = "the program"

    def findings(self) -> Iterator[Finding]:
        """Yield what the runs do not have in common although they should, the most basic row first."""
        for row in (self._ends, self._releases):
            finding = next(row(self.first, self.second), None)
            if finding is not None:  # the rows below it mean nothing then
                yield finding
                return
        yield from self._channels(self.first, self.second)
        if not self.first.ended:
            yield from self._published(self.first, self.second)

    def _found(self, rule: str, where: str, message: str) -> Finding:
        """Return a finding that names the pair."""
        return Finding(rule=rule, where=where, message=f"{message} Pair: {self.says.rstrip('.')}.")

    def _ends(self, first: Replay, second: Replay) -> Iterator[Finding]:
        """Yield a finding (DPA221) where the runs end otherwise."""
        ours, theirs = (run.ended or "a result" for run in (first, second))
        if ours != theirs:
            message = f"'{self.where}' ends with {ours} on one data set and with {theirs} on the other."
            yield self._found("DPA221", self.where, message)

    def _releases(self, first: Replay, second: Replay) -> Iterator[Finding]:
        """Yield a finding where releases differ in label, order, runs, mechanism, shape, type or number."""
        released = first.tape.released, second.tape.released
        alike: set[tuple[int, int]] = set()  # mechanisms by identity: few of them make many releases
        for ours, theirs in zip(*released, strict=False):
            label = f"'{ours.labels[0]}'"
            if ours.labels != theirs.labels or not np.array_equal(ours.runs, theirs.runs):
                other = f"'{theirs.labels[0]}' with the other ({theirs.site})"
                yield self._found(
                    "DPA221", ours.labels[0], f"{label} is released with one data set ({ours.site}), {other}."
                )
            mechanisms = id(ours.mechanism), id(theirs.mechanism)
            if mechanisms not in alike and not same(ours.mechanism, theirs.mechanism):
                message = (
                    f"{label} has other noise with other data ({ours.site}): {ours.mechanism}, {theirs.mechanism}."
                )
                yield self._found("DPA221", ours.labels[0], message)
            alike.add(mechanisms)
            if ours.value.dtype != theirs.value.dtype or ours.value.shape != theirs.value.shape:
                forms = f"{_form(ours)} or {_form(theirs)}, by the data ({ours.site})"
                yield self._found("DPA221", ours.labels[0], f"The answer of {label} is {forms}.")
        numbers = [len(releases) for releases in released]
        if numbers[0] != numbers[1]:
            last = max(released, key=len)[min(numbers)]
            message = f"{numbers[0]} releases with one data set, {numbers[1]} with the other"
            more = f"'{last.labels[0]}' is one more ({last.site})"
            yield self._found("DPA221", last.labels[0], f"{message}; {more}.")

    def _channels(self, first: Replay, second: Replay) -> Iterator[Finding]:
        """Yield a finding (DPA224) for each channel that shows other things with other data."""
        if first.channels is None:
            first = first.again() if second.channels else second
        shown = first.channels or {}, second.channels or {}
        for name in following(shown, lambda: (first.again().channels or {}, second.again().channels or {})):
            message = f"The data show in {name}, where no noise covers them: every release was equal."
            yield self._found("DPA224", name, message)

    def _published(self, first: Replay, second: Replay) -> Iterator[Finding]:
        """Yield a finding (DPA224) for each published field that differs."""
        left, right = fields_of(first.published), fields_of(second.published)
        if list(left) != list(right):
            names = " or ".join(", ".join(map(repr, published)) for published in (left, right))
            yield self._found("DPA224", "fields", f"Other fields are published with other data: {names}.")
            return
        for name in apart(left, right, same):
            location = _place(left[name], right[name])
            is_array = isinstance(left[name], np.ndarray)
            line = first_line(second.again, right[name], left[name]) if is_array else None
            message = (
                f"'{name}' differs{location} although every release was equal: it reads data outside the "
                f"releases{f', first at {line}' if line else ''}."
            )
            yield self._found("DPA224", name, message)


def fields_of(published: Any) -> dict[str, Any]:
    """Return what is published by name."""
    return dict(published) if isinstance(published, Mapping) else {"output": published}


def _form(release: TapedRelease) -> str:
    """Return type and shape of an exact answer."""
    return f"{release.value.dtype} of shape {release.value.shape}"


def _place(left: Any, right: Any) -> str:
    """Return the place where two values differ most, and by how much; nothing for values that are no arrays."""
    if not (isinstance(left, np.ndarray | np.generic) and isinstance(right, np.ndarray | np.generic)):
        return ""
    first, second = np.asarray(left), np.asarray(right)
    if first.shape != second.shape or first.dtype.kind not in "biuf":
        return f" in shape or type, {first.dtype}{first.shape} or {second.dtype}{second.shape}"
    with np.errstate(invalid="ignore"):  # infinities on both sides, which are no place where they differ
        apart = np.where(first == second, 0.0, np.abs(first.astype(np.float64) - second.astype(np.float64)))
    if not (apart != 0).any():
        return " in a sign of 0"
    apart = np.atleast_1d(apart)
    farthest = np.unravel_index(int(np.nan_to_num(apart, nan=np.inf).argmax()), apart.shape)
    return f" most at {tuple(map(int, farthest))}, by {float(apart[farthest]):.6g}"
