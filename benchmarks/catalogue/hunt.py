"""Replay of one program on every pair of neighbours, then attacks with increasing numbers of runs."""

import time
import zlib
from dataclasses import dataclass

import numpy as np

from audits.checks.paired_replay import replay_neighbours
from audits.procedures.audit import audit
from benchmarks.catalogue.program import Program

HUNT_SIGNIFICANCE = 1e-6
"""Probability that the attacks accuse one correct program; replay is deterministic."""
RUNS = (20_000, 200_000)
"""The runs of the first attacks, and of those that follow if the first show nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunt:
    """The results: the rules of the findings of replay, and the largest bound beside the claim."""

    rules: tuple[str, ...]
    bound: float
    claim: float
    seconds: float

    @property
    def caught(self) -> tuple[str, ...]:
        """Which checks raised an alarm; empty if none did."""
        alarms = (("replay", bool(self.rules)), ("statistics", self.bound > self.claim))
        return tuple(name for name, raised in alarms if raised)


def hunt(program: Program, *, seed: int, name: str, runs: tuple[int, ...] = RUNS) -> Hunt:
    """Return the results of both checks on `program`. Deterministic, with a stream for every `seed` and `name`.

    Every attack has an equal share of `HUNT_SIGNIFICANCE`; the first that refutes the claim ends the hunt.
    """
    started = time.perf_counter()
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    tapes, attack = rng.spawn(2)
    rules = {
        finding.rule
        for pair, tape in zip(program.pairs, tapes.spawn(len(program.pairs)), strict=True)
        for finding in replay_neighbours(program.replay, pair, tape)
    }
    bound = 0.0
    attacks = [(size, pair) for size in runs for pair in program.pairs[: program.attacked]]
    for (size, pair), stream in zip(attacks, attack.spawn(len(attacks)), strict=True):
        share = HUNT_SIGNIFICANCE / len(attacks)
        result = audit(program.run, neighbours=pair, claim=program.claim, runs=size, rng=stream, significance=share)
        bound = max(bound, result.epsilon_lower)
        if bound > program.epsilon:
            break
    return Hunt(
        rules=tuple(sorted(rules)),
        bound=bound,
        claim=program.epsilon,
        seconds=time.perf_counter() - started,
    )
