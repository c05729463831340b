"""The smallest pair of neighbours at which a function leaks, found and shrunk by hypothesis."""

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from audits.checks.paired_replay import Replayable, replay_neighbours
from audits.testing.strategies import hypothesis_of
from dpaudit import Declaration
from dpaudit.model.trace import Finding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leak:
    """Two neighbours and what a replay on one tape of noise finds between them."""

    pair: tuple[Any, Any]
    findings: tuple[Finding, ...]

    @property
    def says(self) -> str:
        """The findings with the pair, in a few lines."""
        lines = "\n".join(f"{finding.rule} {finding.message}" for finding in self.findings)
        return f"{lines}\nfirst: {self.pair[0]!r}\nsecond: {self.pair[1]!r}"


def smallest_leak(
    function: Replayable, pairs: Any, *, declaration: Declaration | None = None, seed: int = 0, examples: int = 100
) -> Leak | None:
    """Return the smallest leak among `examples` pairs that the strategy `pairs` draws, or None.

    `function(data, tape, rng)` releases through the tape and returns what else it publishes, as for
    `audits.replay_neighbours`; a leak is any finding of that replay. An exception on one neighbour alone is a finding
    as well. Deterministic: equal arguments give equal leaks. None is no proof: other pairs were not tried.

    >>> from mechanisms import Laplace
    >>> from audits.testing.strategies import neighbouring_data_sets, record_values
    >>> noise = Laplace(scale=1.0, l1_sensitivity=2.0, neighbours="replace_one")
    >>> def unclipped(data, tape, rng):
    ...     return tape.release("sum", noise, np.array([np.nan_to_num(data, posinf=0.0, neginf=0.0).sum()]))
    >>> leak = smallest_leak(unclipped, neighbouring_data_sets(record_values()))
    >>> leak.findings[0].rule, len(leak.pair[0])
    ('DPA220', 1)
    """
    hypothesis = hypothesis_of("hypothesis")
    settings = hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    )

    def findings_at(pair: tuple[Any, Any]) -> tuple[Finding, ...]:
        return replay_neighbours(function, pair, np.random.default_rng(seed), declaration=declaration)

    try:
        pair = hypothesis.find(pairs, findings_at, settings=settings, random=_random(seed))
    except hypothesis.errors.NoSuchExample:
        return None
    return Leak(pair=pair, findings=findings_at(pair))


def _random(seed: int) -> Any:
    """Return the generator that hypothesis draws from."""
    return Random(seed)  # noqa: S311 - it draws test data
