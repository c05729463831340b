"""A look at a sampler of the program: what it draws against the node of the declaration that it belongs to."""

from collections.abc import Iterator

import numpy as np

from dpaudit import Condition, DrawnBatches, Finding, Shuffle, conform_batches, conform_orders
from dpaudit.model.case import SamplingCase

_RULE = "DPA326"


def watch_sampling(case: SamplingCase, *, rng: np.random.Generator, significance: float = 0.01) -> tuple[Finding, ...]:
    """Return a finding where a sampler does not draw as declared: batches by `conform_batches`, or orders of a shuffle.

    An exception of the sampler is a finding, too.
    Rule: `DPA326`. Guarantee: a sampler that draws as declared is accused with probability at most `significance`.

    >>> from dpaudit import Stated, Subsample
    >>> node = Subsample(part=Stated(epsilon=0.1, source="a supplier"), rate=0.1)
    >>> def blocks(rng):
    ...     return [np.arange(start, start + 10) for start in rng.integers(0, 91, size=20)]
    >>> case = SamplingCase(name="batches", node=node, records=100, draw=blocks)
    >>> [finding.rule for finding in watch_sampling(case, rng=np.random.default_rng(0))]
    ['DPA326']
    """
    return tuple(_found(case, rng, significance)[0])


def sampler_seen(case: SamplingCase, rng: np.random.Generator, significance: float) -> tuple[list[Finding], Condition]:
    """Return the findings of one sampler, and the condition that it draws as declared, as this look decided it."""
    findings, sentence = _found(case, rng, significance)
    text = f"{sentence} Looked at: {case.runs} runs of the sampler {case.name!r}."
    condition = Condition(kind="implementation", about=(f"sampler {case.name}",), text=text)
    return findings, condition.seen(holds=not findings)


def _found(case: SamplingCase, rng: np.random.Generator, significance: float) -> tuple[list[Finding], str]:
    """Return the findings, and what was seen in a sentence."""
    try:
        drawn = [list(case.draw(stream)) for stream in rng.spawn(case.runs)]
        if isinstance(case.node, Shuffle):
            check = conform_orders([order for run in drawn for order in run], case.records, significance=significance)
        else:
            runs = [DrawnBatches.declared(run, records=case.records, node=case.node) for run in drawn]
            check = conform_batches(runs, significance=significance)
    except Exception as error:  # an exception is an output of the audited code
        says = f"The sampler ends with {type(error).__name__}: {' '.join(str(error).split())}"
        return list(_finding(case, says)), says
    return list(_finding(case, check.message if check.rule else "")), check.sentence


def _finding(case: SamplingCase, says: str) -> Iterator[Finding]:
    """Yield the finding, where there is something to say."""
    if says:
        yield Finding(rule=_RULE, where=case.name, message=f"{case.name!r}: {says}")
