"""A case for an audit: two neighbouring data sets, what the adversary sees and how it may score it; its coverage."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.checks import Natural, count, one_of
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.declaration import Allocate, Shuffle, Subsample
from dpaudit.model.mechanism import Array

Run = Callable[[Any, np.random.Generator, int], Any]
"""function(data, rng, n_runs) -> what the adversary sees, runs axis first: an array, or a dict of arrays."""

Score = Callable[[Any], Array]
"""score(view) -> one number a run; larger means that the second data set is more likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCoverage:
    """What one audit saw of a program.

    `declared` holds the labels of all releases that are declared, `attacked` those of them whose exact answer differs
    between the neighbours of the audit: what the adversary sees depends on them. `recorded` is false where the code of
    the audit records no release; then nothing is known of `attacked`. `lines` counts the lines of the program's own
    functions that an ordinary run enters, `missed` names those of them that the audit did not execute, as
    "package/module.py:first-last": the branches of rare states, such as an empty sum or a switch that is off, too.

    >>> seen = AuditCoverage(declared=("a", "b"), attacked=("a",), recorded=True, lines=40, missed=("m.py:7-9",))
    >>> seen.left_out, seen.missed_lines
    (('b',), 3)
    """

    declared: tuple[str, ...]
    attacked: tuple[str, ...]
    recorded: bool
    lines: Natural
    missed: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The declared releases that were not attacked, or of which nothing is known."""
        return tuple(label for label in self.declared if label not in self.attacked)

    @property
    def missed_lines(self) -> int:
        """How many lines of these functions the audit did not execute."""
        return sum(_length(span.rpartition(":")[2]) for span in self.missed)


def never_attacked(coverages: Iterable[AuditCoverage]) -> tuple[str, ...]:
    """Return the declared releases that none of several audits is known to have attacked, in their order.

    >>> one = AuditCoverage(declared=("a", "b"), attacked=("a",), recorded=True, lines=0, missed=())
    >>> never_attacked([one]), never_attacked([])
    (('b',), ())
    """
    seen = tuple(coverages)
    attacked = {label for coverage in seen for label in coverage.attacked}
    declared = dict.fromkeys(label for coverage in seen for label in coverage.declared)
    return tuple(label for label in declared if label not in attacked)


def _length(span: str) -> int:
    """Return the number of lines of "first-last" or of a single line."""
    first, _, last = span.partition("-")
    return int(last or first) - int(first) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCase:
    """One membership-inference experiment, ready to run.

    `score` is the likelihood ratio where the algorithm knows it, or another statistic; without one the attack must
    learn. `gaussian` states that the declaration's loss is Gaussian, so that bounds which assume Gaussian trade-offs
    refute that declaration. They do not refute the (epsilon, delta) claim, which code with another loss may keep.
    `weaker(epsilon)` is the same experiment on the same pair with so much less noise that its own epsilon, at the
    claim's delta, is `epsilon` or a little less, as an accountant proves; None where no such noise is known.
    `coverage()` says what the case covers of the program that it belongs to; None where no program is known. `alone`
    says that the runs of one call are not independent, so that each run must be a call of its own. `replayable` says
    that all randomness of a run comes from its generator, so that replays on fixed streams show how its noise enters.

    >>> def noisy(data, rng, n_runs):
    ...     return data + rng.laplace(size=n_runs)
    >>> case = AuditCase(
    ...     name="sum", view="output", description="One value is 0 or 1.",
    ...     neighbours=(0.0, 1.0), relation="replace_one", run=noisy, score=np.asarray,
    ... )
    >>> case.run(case.neighbours[1], np.random.default_rng(0), 3).shape
    (3,)
    """

    name: str
    view: str
    description: str
    neighbours: tuple[Any, Any]
    relation: Neighbours
    run: Run
    score: Score | None = None
    gaussian: bool = False
    weaker: "Callable[[float], AuditCase | None] | None" = None
    coverage: Callable[[], AuditCoverage] | None = None
    alone: bool = False
    replayable: bool = False

    def __post_init__(self) -> None:
        one_of("relation", self.relation, NEIGHBOURS)
        if len(self.neighbours) != 2:
            raise ValueError(f"Expected two neighbouring data sets, got {len(self.neighbours)}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCase:
    """Pairs of neighbours for a replay on one tape of noise; nothing is scored, so a few runs suffice.

    `pairs` holds (description, data, other data): the worst records, awkward ones, and hostile ones such as NaN, at
    the function that a server or device really calls. `run` returns everything that is published, runs axis first.
    `others` holds pairs of data sets that need not be neighbours: with the releases of one pinned, the other must
    publish the same. `redrawn` holds pairs that differ in secret draws alone, as of a sample: they must publish the
    same, too. `attaining` holds the descriptions of pairs that move every release they move by its whole stated
    sensitivity.

    >>> def noisy(data, rng, n_runs):
    ...     return {"sum": data + rng.laplace(size=n_runs)}
    >>> ReplayCase(name="sum", pairs=(("one value is 0 or 1", 0.0, 1.0),), run=noisy).name
    'sum'
    """

    name: str
    pairs: tuple[tuple[str, Any, Any], ...]
    run: Run
    others: tuple[tuple[Any, Any], ...] = ()
    redrawn: tuple[tuple[Any, Any], ...] = ()
    attaining: tuple[str, ...] = ()


Draw = Callable[[np.random.Generator], Sequence[Array]]
"""draw(rng) -> the batches, or the orders, of one run"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingCase:
    """A sampler to look at: `node` of the declaration says how it draws out of `records` records or users.

    `draw(rng)` returns what one run of the program draws: its batches in order, each the indices of its records, from
    0; for a shuffle its orders, each the number of the user at each place. It is called `runs` times. `others` holds
    (what differs, draw) of the same program with other values of records, extreme ones too: on the same random numbers
    it must draw the same.
    Raises: ValueError: no records or runs, or a shuffle of another number of users.

    >>> from dpaudit import Stated
    >>> node = Subsample(part=Stated(epsilon=0.1, source="a supplier"), rate=0.1)
    >>> case = SamplingCase(
    ...     name="batches", node=node, records=50, draw=lambda rng: [np.flatnonzero(rng.random(50) < 0.1)] * 2
    ... )
    >>> len(case.draw(np.random.default_rng(0)))
    2
    """

    name: str
    node: Subsample | Shuffle | Allocate
    records: int
    draw: Draw
    runs: int = 20
    others: tuple[tuple[str, Draw], ...] = ()

    def __post_init__(self) -> None:
        for field in ("records", "runs"):
            object.__setattr__(self, field, count(field, getattr(self, field)))
        if isinstance(self.node, Shuffle) and self.node.users != self.records:
            raise ValueError(f"Expected records={self.records} to be the users of the shuffle, {self.node.users}.")
