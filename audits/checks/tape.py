"""A tape of releases: one run records its noise, another run gets the same outputs."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit import Mechanism
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Released


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TapedRelease:
    """One release: the mechanism, the query's value and the output."""

    label: str
    mechanism: Mechanism
    value: Any
    output: Any
    times: int


@dataclass(slots=True, eq=False)
class Tape:
    """Stands in for `dpaudit.Recorder`: draws noise and records it, or returns the outputs that another run recorded.

    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> tape = Tape(rng=np.random.default_rng(0))
    >>> _ = tape.release("sum", noise, np.array([3.0]))
    >>> [taped.label for taped in tape.asked]
    ['sum']
    """

    rng: np.random.Generator
    frozen: tuple[TapedRelease, ...] | None = None
    asked: list[TapedRelease] = field(default_factory=list)

    def release(self, label: str, mechanism: Mechanism, value: Array, times: int = 1) -> Any:
        """Return fresh noise on `value`, or the recorded output of the same label at the same position."""
        index = len(self.asked)
        if self.frozen is not None and index < len(self.frozen) and self.frozen[index].label == label:
            output = self.frozen[index].output
        else:
            output = mechanism.release(value, self.rng)
        self.asked.append(
            TapedRelease(label=label, mechanism=mechanism, value=np.array(value), output=output, times=times)
        )
        return output

    def trace(self) -> tuple[Released, ...]:
        """Return what was released, as a run's recorder would."""
        return tuple(Released(label=a.label, mechanism=a.mechanism, times=a.times) for a in self.asked)
