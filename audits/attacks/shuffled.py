"""The case of shuffled local reports: counts of the reports, scored by their exact likelihood ratio.

One of n users holds the first or the second answer, all others hold one and the same. With R(x) the law of a report, r
that of the others' and c the counts of the n shuffled reports, the law of c is Mult(c; n, r) times the mean over the n
reports of R(x)(report) / r(report). So the ratio of the second answer over the first is

    sum_y c_y R(x1)(y) / r(y)   over   sum_y c_y R(x0)(y) / r(y).

Source: Balle, Bell, Gascon and Nissim (2019), Section 3, for data sets whose other users are alike.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import AuditCase, Local, Mechanism, PostProcess, Release, Shuffle
from dpaudit.checks import count
from dpaudit.model.mechanism import Array

_MOST = 1_000_000  # reports that are drawn at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shuffled:
    """Reports of one randomiser: its outcomes are 0 .. `outcomes` - 1, and `others` is what all other users hold."""

    mechanism: Mechanism
    users: int
    outcomes: int
    answers: tuple[Any, Any]
    others: Any

    def run(self, answer: Any, rng: np.random.Generator, n_runs: int) -> Array:
        """Return the counts of every outcome among the users' reports. Shape: (n_runs, outcomes)."""
        counts = self._drawn(answer, 1, rng, n_runs)
        left, block = self.users - 1, max(1, _MOST // n_runs)
        while left > 0:
            counts += self._drawn(self.others, min(block, left), rng, n_runs)
            left -= block
        return counts

    def _drawn(self, answer: Any, users: int, rng: np.random.Generator, n_runs: int) -> Array:
        """Return the counts of reports by so many users who hold `answer`."""
        reports = np.asarray(self.mechanism.release(np.full((n_runs, users), answer), rng))
        return np.stack([(reports == outcome).sum(axis=1) for outcome in range(self.outcomes)], axis=1)

    def score(self, counts: Array) -> Array:
        """Return each run's log likelihood ratio, the second answer over the first."""
        base = self.law(self.others)
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (np.log(counts @ (self.law(answer) / base)) for answer in self.answers)
            ratio: Array = second - first
        return ratio

    def law(self, answer: Any) -> Array:
        """Return the probability of every outcome of one report."""
        return np.exp(self.mechanism.log_density(np.arange(self.outcomes), np.asarray(answer)))


def shuffled_case(
    node: Shuffle, *, answers: tuple[Any, Any], others: Any, outcomes: int | None = None, name: str = "shuffled"
) -> AuditCase:
    """Return the case in which one user holds either of `answers` and all other users hold `others`.

    The view is the counts of the reports, which is all that a secret uniform order leaves of them; the score is their
    exact likelihood ratio. Reports are drawn by the declared mechanism. `outcomes`: a report is one of the integers
    0 .. outcomes - 1, the mechanism's `categories` where it has such. Time and draws: users times runs.
    Raises: ValueError: a part that is not one release, outcomes that are not known, probabilities that do not sum to 1
        over them, or a report that is impossible for `others` and possible for an answer.

    >>> from mechanisms import RandomisedResponse
    >>> report = Release(label="answer", mechanism=RandomisedResponse(epsilon=1.0, categories=3))
    >>> case = shuffled_case(Shuffle(part=report, users=50), answers=(0, 1), others=2)
    >>> case.run(0, np.random.default_rng(0), 2).sum(axis=1).tolist()
    [50, 50]
    """
    part = node.part
    while isinstance(part, Local | PostProcess):
        part = part.part
    if not isinstance(part, Release):
        raise ValueError(f"Expected the part of the shuffle to be one release, got {type(part).__name__}.")
    categories = outcomes if outcomes is not None else getattr(part.mechanism, "categories", None)
    if categories is None:
        raise ValueError(f"Expected outcomes to be given: {part.mechanism.name!r} does not say how many there are.")
    shuffled = _Shuffled(
        mechanism=part.mechanism,
        users=node.users,
        outcomes=count("outcomes", categories, at_least=2),
        answers=answers,
        others=others,
    )
    _check_laws(shuffled)
    return AuditCase(
        name=name,
        view="counts of shuffled reports",
        description=f"{node.users} reports in a secret order; one user holds either answer, all others one value.",
        neighbours=answers,
        relation=part.mechanism.neighbours,
        run=shuffled.run,
        score=shuffled.score,
    )


def _check_laws(shuffled: _Shuffled) -> None:
    """Refuse outcomes that are not all, and a report that gives the user away."""
    base = shuffled.law(shuffled.others)
    for answer in (*shuffled.answers, shuffled.others):
        law = shuffled.law(answer)
        if abs(law.sum() - 1) > 1e-9:
            raise ValueError(
                f"Expected outcomes={shuffled.outcomes} to hold every report; those of {answer!r} have probability "
                f"{law.sum():.6g}."
            )
        if np.any((law > 0) & (base == 0)):
            raise ValueError(f"Expected others={shuffled.others!r} to give every report that {answer!r} can give.")
