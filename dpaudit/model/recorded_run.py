"""One run of an algorithm on a tape, with everything that any adversary sees of it."""

from dataclasses import dataclass
from typing import Any

from dpaudit.model.streams import Streams
from dpaudit.model.tape import RunTape, TapedGenerator
from dpaudit.model.transcript import Transcript


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
    transcript: Transcript = algorithm.run(problem, Streams.spawn(rng), n_runs)
    return transcript
