"""The transcript of a run, the part that an adversary of each model sees, the run with its tape, and its types."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, get_args

from dpaudit.errors import ConfigError, OutputError
from dpaudit.model.condition import Condition
from dpaudit.model.mechanism import Array
from dpaudit.model.streams import Streams
from dpaudit.model.tape import RunTape, TapedGenerator
from dpaudit.model.trace import Released


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transcript:
    """Everything that `n_runs` runs in lock-step produced.

    Shape: every array has the runs axis first. `views` names the arrays that each adversary sees.
    `trace` lists what was released in one run; `conditions` lists what the run looked at.

    >>> import numpy as np
    >>> held = Transcript(
    ...     n_runs=2, arrays={"sum": np.zeros(2), "data": np.ones(2)}, views={"output": ("sum",)}, trace=()
    ... )
    >>> list(held.view("output"))
    ['sum']
    """

    n_runs: int
    arrays: Mapping[str, Array]
    views: Mapping[str, tuple[str, ...]]
    trace: tuple[Released, ...]
    conditions: tuple[Condition, ...] = ()

    def view(self, name: str) -> dict[str, Array]:
        """Return the arrays that the adversary called `name` sees.

        Raises: ConfigError: no such view; the message lists those there are.
        """
        if name not in self.views:
            raise ConfigError(f"Expected view={name!r} to be one of: {', '.join(self.views)}.")
        return {array: self.arrays[array] for array in self.views[name]}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedRun:
    """A transcript and the tape that it was recorded on; the tape is empty where the algorithm knows no tapes."""

    transcript: Transcript
    tape: RunTape

    @property
    def published(self) -> dict[str, Any]:
        """The arrays that some view shows, by name."""
        seen = dict.fromkeys(name for names in self.transcript.views.values() for name in names)
        return {name: self.transcript.arrays[name] for name in seen}


def record_run(algorithm: Any, problem: Any, *, n_runs: int, seed: int) -> RecordedRun:
    """Return `n_runs` runs in lock-step, recorded on a tape of their own."""
    tape = RunTape(seed=seed)
    return RecordedRun(transcript=run_on(algorithm, problem, tape.generator(), n_runs), tape=tape)


def run_on(algorithm: Any, problem: Any, rng: TapedGenerator, n_runs: int) -> Transcript:
    """Return the transcript of `n_runs` runs whose streams come from one generator."""
    return returned_by(algorithm, "run", Transcript, problem, Streams.spawn(rng), n_runs)


def returned_by(algorithm: Any, member: str, kind: Any, *arguments: Any) -> Any:
    """Return what a member of an algorithm returns, which is of type `kind`; `[kind]` stands for a tuple of it.

    Raises: OutputError: it is something else; the message names the member, what it returned and the type.
    """
    value = getattr(algorithm, member)(*arguments)
    many = isinstance(kind, list)
    (part_kind,) = kind if many else (kind,)
    parts = value if many and isinstance(value, tuple) else (value,)
    if many != isinstance(value, tuple) or not all(isinstance(part, part_kind) for part in parts):
        kinds = get_args(part_kind) if isinstance(part_kind, UnionType) else (part_kind,)
        names = ", ".join(each.__name__ for each in kinds)
        raise OutputError(
            f"{type(algorithm).__name__}.{member} returned {value!r:.80}; "
            f"expected {'a tuple of ' * many}{'one of ' * (len(kinds) > 1)}{names}."
        )
    return value
