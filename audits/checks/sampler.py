"""A look at a sampler of the program: what it draws against the node of the declaration that it belongs to.

First the law of its draws. Then other values of the records: on the same random numbers the same records are drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit import Condition, Shuffle
from dpaudit.model.case import Draw, SamplingCase
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Finding
from dpaudit.training import DrawnBatches, conform_batches, conform_orders

_RULE = "DPA326"
_COMPARED = 2
"""How many runs are drawn again on the same random numbers, for each way in which the records differ."""

_MORE = 5
"""Where draws are not the same with other records, their law is looked at in so many times as many runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerSeen:
    """What was seen of one sampler: `wrong` in words or empty, `sentence` of what was looked at.

    `same` counts data sets with other values of the records from which the same records were drawn on the same random
    numbers; None where some data set led to other draws.
    """

    case: SamplingCase
    wrong: str
    sentence: str
    same: int | None = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The finding against the sampler, if there is one."""
        message = f"{self.case.name!r}: {self.wrong}"
        return (Finding(rule=_RULE, where=self.case.name, message=message),) if self.wrong else ()

    @property
    def condition(self) -> Condition:
        """The condition that the sampler draws as declared, as this look decided it."""
        text = f"{self.sentence} Looked at: {self.case.runs} runs of the sampler {self.case.name!r}."
        condition = Condition(kind="implementation", about=(f"sampler {self.case.name}",), text=text)
        return condition.seen(holds=not self.wrong)


def watch_sampling(case: SamplingCase, *, rng: np.random.Generator, significance: float = 0.01) -> tuple[Finding, ...]:
    """Return a finding where a sampler does not draw as declared: batches by `conform_batches`, or orders of a shuffle.

    Where the case has `others`, the law of draws from them is looked at, too, unless they are the same on the same
    random numbers. An exception of the sampler is a finding.
    Rule: `DPA326`. Guarantee: a sampler that draws as declared is flagged with probability at most `significance`.

    >>> from dpaudit import Stated, Subsample
    >>> node = Subsample(part=Stated(epsilon=0.1, source="a supplier"), rate=0.1)
    >>> def blocks(rng):
    ...     return [np.arange(start, start + 10) for start in rng.integers(0, 91, size=20)]
    >>> case = SamplingCase(name="batches", node=node, records=100, draw=blocks)
    >>> [finding.rule for finding in watch_sampling(case, rng=np.random.default_rng(0))]
    ['DPA326']
    """
    return sampler_seen(case, rng, significance).findings


def sampler_seen(case: SamplingCase, rng: np.random.Generator, significance: float) -> SamplerSeen:
    """Return what is seen of one sampler: its law, and what else it draws where records have other values."""
    share = significance / (1 + len(case.others))
    streams = rng.spawn(case.runs)
    try:
        wrong, sentence = _law(case, case.draw, streams, share)
    except Exception as error:  # an exception is an output of the audited code
        says = f"The sampler ends with {type(error).__name__}: {' '.join(str(error).split())}"
        return SamplerSeen(case=case, wrong=says, sentence=says)
    same = 0
    for says, draw in case.others:
        if wrong:
            break
        departure = _with_other_records(case, draw, rng, share)
        wrong, same = (f"With other records ({says}): {departure}" if departure else ""), same + (departure is None)
    told = same if same == len(case.others) else None
    return SamplerSeen(case=case, wrong=wrong, sentence=wrong or sentence, same=told)


def _with_other_records(case: SamplingCase, draw: Draw, rng: np.random.Generator, share: float) -> str | None:
    """Return None where the same is drawn on the same random numbers; else what is wrong with the law, or nothing."""
    seeds = [int(seed) for seed in rng.spawn(1)[0].integers(2**63, size=_COMPARED)]
    try:
        if all(
            _same(case.draw(np.random.default_rng(seed)), draw(np.random.default_rng(seed)), case) for seed in seeds
        ):
            return None
        wrong, _ = _law(case, draw, rng.spawn(_MORE * case.runs), share)
    except Exception as error:  # an exception is an output of the audited code
        return f"The sampler ends with {type(error).__name__}: {' '.join(str(error).split())}"
    return wrong


def _same(ours: Sequence[Array], theirs: Sequence[Array], case: SamplingCase) -> bool:
    """Return whether two runs drew the same; the order within a batch does not matter, that of a shuffle does."""
    ordered = np.asarray if isinstance(case.node, Shuffle) else np.sort
    pairs = zip(ours, theirs, strict=False)
    return len(ours) == len(theirs) and all(np.array_equal(ordered(first), ordered(second)) for first, second in pairs)


def _law(case: SamplingCase, draw: Draw, streams: Sequence[np.random.Generator], share: float) -> tuple[str, str]:
    """Return what is wrong with the draws of one program, or nothing, and what was looked at."""
    drawn = [list(draw(stream)) for stream in streams]
    if isinstance(case.node, Shuffle):
        check = conform_orders([order for run in drawn for order in run], case.records, significance=share)
    else:
        runs = [DrawnBatches.declared(run, records=case.records, node=case.node) for run in drawn]
        check = conform_batches(runs, significance=share)
    return check.message if check.rule else "", check.sentence
