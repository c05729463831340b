"""Paired replay: two neighbours run through one tape of noise, and their queries and published values are compared.

The first run draws noise and records every release; the second run gets the same outputs. Both runs take the same
branches unless the code reads the data outside its mechanisms. The check is deterministic: every finding is a fact
about the two runs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.checks.taped_moves import Limits, moves_of, too_far, too_often
from audits.checks.taped_run import Compared, replayed
from dpaudit import Declaration, Mechanism
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import RunTape, TapedGenerator
from dpaudit.model.trace import Finding

CARRIES_RELEASES = True
"""The line that asked for a release is that of the caller, as `dpaudit.model.tape` reads it."""


@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """Stands in for `dpaudit.Recorder` in one run: draws noise and records it, or repeats the outputs of another run.

    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> tape = Tape(rng=RunTape(seed=0).generator())
    >>> _ = tape.release("sum", noise, np.array([3.0]))
    >>> [taped.labels for taped in tape.rng.tape.released]
    [('sum',)]
    """

    rng: TapedGenerator

    def release(self, label: str, mechanism: Mechanism, value: Array, times: int = 1) -> Any:
        """Return fresh noise on `value`, or the recorded output of the same label at the same position."""
        del times
        output = np.asarray(mechanism.release(value, self.rng))
        return self.rng.tape.enter((label,), mechanism, np.asarray(value)[None], output[None])[0]


Replayable = Callable[[Any, Tape, np.random.Generator], Any]
"""function(data, tape, rng) -> everything that is published beside the releases; all noise goes through the tape."""


def replay_neighbours(
    function: Replayable,
    neighbours: tuple[Any, Any],
    rng: np.random.Generator,
    *,
    declaration: Declaration | None = None,
) -> tuple[Finding, ...]:
    """Return the differences between two neighbours that a private algorithm may not have; empty if there are none.

    Rules: `DPA220` a query moved further than its sensitivity (NaN and infinity count as infinitely far), `DPA221`
    other releases, another order or an exception on one side only, a mechanism's parameters, a query's shape or type
    or the amount of randomness depend on the data, `DPA224` published values differ although all releases were equal,
    `DPA227` a release was given the noise of an earlier release; with a `declaration`, `DPA228` one record moved
    several parts of a parallel composition, or a label moved more often than declared. Both runs start from equal
    generator states. Only the branches that this pair takes are checked.

    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> def unclipped(data, tape, rng):
    ...     return tape.release("sum", noise, np.array([data.sum()]))
    >>> pair = (np.array([0.0, 1.0]), np.array([5.0, 1.0]))
    >>> [finding.rule for finding in replay_neighbours(unclipped, pair, np.random.default_rng(0))]
    ['DPA220']
    """
    seed, own_seed = (int(number) for number in rng.integers(2**62, size=2))
    drawn: list[Any] = []

    def program(data: Any) -> Callable[[TapedGenerator], Any]:
        def run(taped: TapedGenerator) -> Any:
            own = np.random.default_rng(own_seed)
            try:
                return function(data, Tape(taped), own)
            finally:
                drawn.append(own.bit_generator.state)

        return run

    first = replayed(program(neighbours[0]), RunTape(seed=seed))
    second = first.again(program(neighbours[1]))
    states = drawn[:2]
    findings = [*Compared(first=first, second=second, says="the given neighbours", where="the function").findings()]
    if first.ended != second.ended:
        return tuple(findings)
    limits = Limits.of(declaration) if declaration is not None else None
    moves = moves_of(first.tape, second.tape, limits)
    findings += [*too_far(moves), *_repeated(first.tape)]
    if states[0] != states[1]:
        message = "The function draws from rng a different number of times on the neighbours."
        findings.append(Finding(rule="DPA221", where="rng", message=message))
    if limits is not None:
        findings += too_often(moves, limits, {})
    return tuple(findings)


def _repeated(tape: RunTape) -> Iterator[Finding]:
    """Yield a finding for each release whose noise equals that of an earlier one."""
    seen: dict[bytes, str] = {}
    for release in tape.released:
        if release.output.dtype.kind != "f" or release.output.shape != release.value.shape or not release.output.size:
            continue
        if not np.isfinite(release.value).all():
            continue  # nobody can take noise off again
        key, label = np.round(release.output - release.value, 9).tobytes(), release.labels[0]
        if key in seen:
            message = f"'{label}' carries the noise of '{seen[key]}' again ({release.site})."
            yield Finding(rule="DPA227", where=label, message=message)
        seen.setdefault(key, label)
