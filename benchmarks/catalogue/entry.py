"""One entry of the catalogue: a mechanism, its claim, one pair of neighbours, and its true epsilon."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.catalogue.law import Law
from dpaudit import AuditCase, Claim
from dpaudit.model.case import Run, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A mechanism whose privacy is known.

    `correct`: the code keeps the claim on every pair of neighbours. The truth is the exact epsilon of *this* pair at
    the claim's delta: `truth` where a formula gives it (possibly infinite), else that of `law`. Where both are absent,
    `note` says why. `published` is the best lower bound in print for the mechanism, at confidence .9 and 2e8 samples.
    `gaussian`: the claim is that of Gaussian noise, so that bounds for Gaussian claims apply.
    """

    name: str
    claim: Claim
    run: Run
    neighbours: tuple[Any, Any]
    correct: bool
    truth: float | None = None
    law: Callable[[], Law] | None = None
    score: Score | None = None
    published: float | None = None
    gaussian: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        if self.truth is None and self.law is None and not self.note:
            raise ValueError(f"Expected a truth, a law, or a note that says why {self.name!r} has neither.")

    def exact(self) -> float | None:
        """Return the exact epsilon of the pair at the claim's delta, or None where it is not known."""
        if self.truth is not None:
            return self.truth
        return None if self.law is None else self.law().epsilon(self.claim.delta)

    def case(self) -> AuditCase:
        """Return the entry as an audit's case."""
        return AuditCase(
            name=self.name,
            view="output",
            description=self.note,
            neighbours=self.neighbours,
            relation=self.claim.neighbours,
            run=self.run,
            score=self.score,
            gaussian=self.gaussian,
        )


def pure(epsilon: float, *, local: bool = False) -> Claim:
    """Return a pure claim for replaced records."""
    return Claim(epsilon=epsilon, neighbours="replace_one", model="local" if local else "central")
