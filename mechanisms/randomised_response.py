"""Randomised response: a category reported truthfully with a fixed advantage."""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Self

import numpy as np

from dpaudit import Claim, UnsupportedError, meets
from dpaudit.arguments import settled
from dpaudit.checks import OneOf, TwoOrMore, Within, count
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ApproximateLoss, DiscreteLoss
from dpaudit.model.losses.report_laws import ReportLaws
from dpaudit.model.mechanism import Array


@settled
class RandomisedResponse:
    """Reports the true category with e^epsilon times the probability of each other one.

    Unit: `epsilon` in nats; `categories`, the integers 0 .. categories - 1.
    Guarantee: replacing a record's category costs exactly +epsilon, -epsilon, or 0 where the report names a third
    category. There is no neighbour without a report, so the relation is `replace_one` and no other.
    Edge cases: a report is drawn by comparing float64 uniforms with a threshold, so its probabilities are those
    stated within 2^-53; no output is possible under one answer only.
    Raises: ValueError: epsilon not in (0, 700], fewer than two categories, or another relation.
    Source: Warner (1965); Kairouz, Oh and Viswanath (2016) for more than two categories.

    >>> RandomisedResponse(epsilon=1).loss()
    ApproximateLoss(epsilon=1.0, delta=0.0)
    """

    name: ClassVar[str] = "randomised_response"

    epsilon: Annotated[float, Within(above=0, at_most=700)]
    categories: TwoOrMore = 2
    neighbours: Annotated[Neighbours, OneOf(("replace_one",))] = "replace_one"

    @classmethod
    def calibrated(cls, claim: Claim, *, categories: int = 2) -> Self:
        """Return the most truthful response that meets `claim`, within 1e-9 and never below.

        delta(epsilon) = (r - e^epsilon) / (r + categories - 1) with r = e^(own epsilon); solved for r.
        Raises: UnsupportedError: epsilon and delta are both 0, which only a report of nothing meets.
        """
        if claim.epsilon == 0 and claim.delta == 0:
            raise UnsupportedError("No response reaches epsilon=0 and delta=0; allow one of them to be positive.")
        others = count("categories", categories, at_least=2) - 1
        own = claim.epsilon + math.log1p(claim.delta * others * math.exp(-claim.epsilon)) - math.log1p(-claim.delta)
        mechanism = cls(epsilon=own, categories=categories, neighbours=claim.neighbours)
        while not meets(mechanism.loss(), claim.epsilon, claim.delta):
            own *= 1 - 2.0**-50
            mechanism = replace(mechanism, epsilon=own)
        return mechanism

    @property
    def probability(self) -> float:
        """The probability of the truth."""
        return 1 / (1 + (self.categories - 1) * math.exp(-self.epsilon))

    def loss(self) -> ApproximateLoss | DiscreteLoss:
        """Return the exact loss of one report."""
        if self.categories == 2:
            return ApproximateLoss(epsilon=self.epsilon)
        truth = self.probability
        lie = truth * math.exp(-self.epsilon)
        third = (self.categories - 2) * lie
        return DiscreteLoss(atoms=((self.epsilon, truth), (0.0, third), (-self.epsilon, lie)), symmetric=True)

    def report_laws(self) -> ReportLaws:
        """Return the laws of one report: of the first three categories, and of any other one."""
        truth, named = self.probability, min(self.categories, 3)
        lie = truth * math.exp(-self.epsilon)
        others = [(self.categories - named) * lie] * (self.categories > named)
        values = [(*(truth if said == own else lie for said in range(named)), *others) for own in range(named)]
        return ReportLaws(values=tuple(values), least=(*[lie] * named, *others), complete=self.categories <= 3)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return one report for each entry of `value`, in int64 and the same shape.

        Raises: ValueError: an entry that is no category.
        """
        true = np.asarray(value, dtype=np.int64)
        if np.any((true < 0) | (true >= self.categories)):
            raise ValueError(f"Expected categories in 0 .. {self.categories - 1}, got {true.min()} .. {true.max()}.")
        shift = rng.integers(1, self.categories, true.shape)
        truthful = rng.random(true.shape) < self.probability
        return np.where(truthful, true, (true + shift) % self.categories)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each report; minus infinity where it is no category."""
        reports = np.asarray(output)
        log_truth = math.log(self.probability)
        log_probability = np.where(reports == np.asarray(value), log_truth, log_truth - self.epsilon)
        possible = (reports >= 0) & (reports < self.categories)
        return np.where(possible, log_probability, -np.inf)

    def scaled(self, factor: float) -> Self:
        """Return the same question with `factor` times the noise, which is epsilon / factor."""
        return replace(self, epsilon=self.epsilon / factor)

    def worst_pair(self) -> tuple[int, int]:
        """Return two categories."""
        return 0, 1


EXAMPLES = (
    RandomisedResponse(epsilon=1.0),
    RandomisedResponse(epsilon=2.0, categories=5),
)
