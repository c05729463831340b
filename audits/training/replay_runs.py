"""One run of a loop from a seed, by a script: its watch, its public states, what it published and showed beside."""

import inspect
import io
from collections.abc import Callable, Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from audits.experiment.global_generators import seed_globals, seed_held, seeded
from audits.experiment.replays import ending
from audits.outputs.raised import said_by
from audits.outputs.values import record
from audits.training.lines import Lines, Sought
from audits.training.replay_data import Records
from dpaudit import UnsupportedError
from dpaudit.model.mechanism import Array
from dpaudit.training import Watch
from dpaudit.training.steps import Script, TooManyStepsError, mark

Loop = Callable[..., Any]
"""train(features, labels, watch, rng): trains on the records, and returns what it publishes."""

_OTHER_DRAWS = 0x5EED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Start:
    """What a run of a loop begins with: all known sources of randomness start from `seed`.

    With `other_draws` they start again from another seed after the first step.
    """

    train: Loop
    records: Records
    seed: int
    script: Script = field(default_factory=Script)
    other_draws: bool = False

    def on(self, records: Records) -> "Start":
        """Return the beginning of the same run on other records."""
        return replace(self, records=records)

    def run(self) -> "Run":
        """Return the run. What it prints is kept from the terminal; one that raises has its error, in words."""
        return self._traced(None)[0]

    def lines(self, sought: Sought) -> Lines:
        """Return the lines that the run passes."""
        return self._traced(sought)[1]

    def _traced(self, sought: Sought | None) -> tuple["Run", Lines]:
        """Return the run and, where some are sought, the lines that it passed."""
        rng, records = np.random.default_rng(self.seed), self.records
        script = replace(self.script, after_first=(lambda: _reseed(rng)) if self.other_draws else None)
        watch = Watch(records=len(records.labels), script=script)
        lines = Lines(watch=watch, sought=sought or Sought(steps=-1))
        program = partial(self.train, records.features.copy(), records.labels.copy(), watch, rng)
        file = getattr(getattr(self.train, "__code__", None), "co_filename", "")
        with ExitStack() as stack:
            stack.enter_context(seeded(self.seed))
            stack.enter_context(redirect_stdout(io.StringIO()))
            stack.enter_context(redirect_stderr(io.StringIO()))
            end = ending(program if sought is None else lambda: lines.run(program, file))
        complete = end.raised is None or isinstance(end.raised, TooManyStepsError)  # the number of its steps says so
        # A warning may come once a process.
        channels = {name: shown for name, shown in end.channels.items() if name != "warnings"}
        error = "" if complete or end.raised is None else said_by(end.raised)
        return replace(ended(self, watch, end.returned), channels=channels, error=error), lines


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """A run that has ended: public states before each step and at the end, and published values by name."""

    start: Start
    watch: Watch
    states: tuple[Mapping[str, Any], ...]
    published: Mapping[str, Any]
    channels: Mapping[str, Any] = field(default_factory=dict[str, Any])
    error: str = ""

    @property
    def records(self) -> Records:
        """What the loop trained on."""
        return self.start.records

    @property
    def batches(self) -> tuple[Array, ...] | None:
        """The batches that its loader handed out; None where they were not told."""
        loader = self.watch.loader
        return tuple(loader.batches) if loader is not None and loader.told else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the public state."""
        return tuple(dict.fromkeys(name for state in self.states for name in state))

    @property
    def untrained(self) -> tuple[str, ...]:
        """The names that are meant to be trained, and that no step moved, or noise alone: its sums were all zero."""
        first, sums = self.states[0], [step.summed for step in self.watch.taken if step.summed is not None]
        moved = {name for state in self.states for name, value in state.items() if value != first.get(name)}
        used = {name for summed in sums for name, values in summed.items() if values.any()}
        return tuple(name for name in self.watch.trainable if name not in moved or (sums and name not in used))


def ended(start: Start, watch: Watch, returned: Any) -> Run:
    """Return a run that has ended, with its last public state and what it published."""
    states = (*(step.state for step in watch.taken), watch.state())
    watch.__exit__()
    values = [("result", returned), *watch.published]
    read = [{f"{name}{part}": v for part, v in _read(value).items()} for name, value in values if value is not None]
    published = {name: value for part in read for name, value in part.items()}
    return Run(start=start, watch=watch, states=states, published=published)


def _read(value: Any) -> dict[str, Any]:
    """Return a published value as numbers and digests by name."""
    content = value.state_dict() if callable(getattr(value, "state_dict", None)) else value
    if isinstance(content, Mapping):
        return {f" {key}{name}": v for key, part in content.items() for name, v in _read(part).items()}
    if isinstance(content, list | tuple):
        return {f"[{at}]{name}": v for at, part in enumerate(content) for name, v in _read(part).items()}
    if hasattr(content, "detach"):
        content = np.asarray(content.detach().cpu())
    if isinstance(content, np.ndarray) and content.dtype != object:
        return {"": mark(content)}
    try:
        return {"": tuple(sorted((name, repr(number)) for name, number in record(content).items()))}
    except UnsupportedError:
        return {"": repr(type(content))}


def _reseed(rng: np.random.Generator) -> None:
    """Let all generators that the loop has go on from another place; it reports a step."""
    rng.bit_generator.state = type(rng.bit_generator)(_OTHER_DRAWS).state
    seed_globals(_OTHER_DRAWS)
    frame = inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(("audits.", "dpaudit.")):
        frame = frame.f_back
    seed_held(frame, _OTHER_DRAWS)
