"""One run of a loop from a seed, by a script: its watch, its public states, what it published and showed beside."""

import inspect
import io
from collections.abc import Callable, Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.experiment.global_generators import seed_globals, seed_held, seeded
from audits.experiment.replays import ending
from audits.outputs.raised import said_by
from audits.outputs.values import record
from audits.training.lines import Lines, Sought, traced
from audits.training.replay_data import Records
from dpaudit import UnsupportedError
from dpaudit.model.mechanism import Array
from dpaudit.model.watched.steps import Script, TooManyStepsError, mark
from dpaudit.training import Watch

Loop = Callable[..., Any]
"""train(features, labels, watch, rng): trains on the records, and returns what it publishes."""

_OTHER_DRAWS = 0x5EED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """A run that has ended: public states before each step and at the end, and published values by name."""

    records: Records
    seed: int
    watch: Watch
    states: tuple[Mapping[str, Any], ...]
    published: Mapping[str, Any]
    channels: Mapping[str, Any]
    error: str
    script: Script
    other_draws: bool

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

    def again(self, train: Loop) -> "Run":
        """Return a repetition of the run."""
        return run_loop(train, self.records, self.seed, self.script, other_draws=self.other_draws)


def run_loop(train: Loop, records: Records, seed: int, script: Script, *, other_draws: bool = False) -> Run:
    """Return a run of the loop in which all known sources of randomness start from `seed`.

    With `other_draws` they start again from another seed after the first step. What the run prints is kept from the
    terminal. A run that raises has its error, in words.
    """
    return _run(train, records, seed, script, other_draws=other_draws)[0]


def run_traced(train: Loop, run: Run, sought: Sought) -> Lines:
    """Return the lines that a run passes when it is repeated."""
    return _run(train, run.records, run.seed, run.script, other_draws=run.other_draws, sought=sought)[1]


def _run(
    train: Loop,
    records: Records,
    seed: int,
    script: Script,
    *,
    other_draws: bool,
    sought: Sought | None = None,
) -> tuple[Run, Lines]:
    """Return a run and, where some are sought, the lines that it passed."""
    rng = np.random.default_rng(seed)
    watch = Watch(
        records=len(records.labels),
        script=replace(script, after_first=(lambda: _reseed(rng)) if other_draws else None),
    )
    lines = Lines(watch=watch, sought=sought or Sought(steps=-1))
    with ExitStack() as stack:
        stack.enter_context(seeded(seed))
        stack.enter_context(redirect_stdout(io.StringIO()))
        stack.enter_context(redirect_stderr(io.StringIO()))
        if sought is not None:
            stack.enter_context(traced(lines, train))
        end = ending(lambda: train(records.features.copy(), records.labels.copy(), watch, rng))
    complete = end.raised is None or isinstance(end.raised, TooManyStepsError)  # the number of its steps says so
    run = ended(records, seed, watch, end.returned)
    # A warning may come once a process.
    channels = {name: shown for name, shown in end.channels.items() if name != "warnings"}
    error = "" if complete or end.raised is None else said_by(end.raised)
    return replace(run, channels=channels, error=error, script=script, other_draws=other_draws), lines


def ended(records: Records, seed: int, watch: Watch, returned: Any) -> Run:
    """Return a run that has ended, with its last public state and what it published."""
    states = (*(step.state for step in watch.taken), watch.state())
    watch.__exit__()
    values = [("result", returned), *watch.published]
    read = [{f"{name}{part}": v for part, v in _read(value).items()} for name, value in values if value is not None]
    return Run(
        records=records,
        seed=seed,
        watch=watch,
        states=states,
        published={name: value for part in read for name, value in part.items()},
        channels={},
        error="",
        script=watch.script,
        other_draws=False,
    )


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
