"""Subset selection: a random set of categories of fixed size that holds the true one with a fixed advantage."""

import math
from dataclasses import replace
from itertools import product
from typing import Annotated, ClassVar, Self

import numpy as np

from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import Count, OneOf, TwoOrMore, Within, count, settle
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.losses.report_laws import ReportLaws
from dpaudit.model.mechanism import Array
from mechanisms._additive import meeting
from mechanisms.unary_encoding import one_category_named, one_hot


@settled
class SubsetSelection:
    """Reports a set of categories; one that holds the true category is e^epsilon times as likely as one that does not.

    Shape: categories in, the bits of the set (..., categories) out.
    Unit: `epsilon` in nats; `categories`, the integers 0 .. categories - 1; `subset_size`, the categories of a set.
    Guarantee: replacing a record's category costs exactly +epsilon, -epsilon, or 0 where the set holds both categories
    or neither. There is no neighbour without a report, so the relation is `replace_one` and no other. Sets of one
    category are randomised response.
    Raises: ValueError: epsilon not in (0, 700], fewer than two categories, a set of all, or another relation.
    Source: Ye and Barg (2018), Section III; Wang, Huang, Nie, Xu, Yang, Li and Wang (2016).

    >>> report = SubsetSelection(epsilon=1.0, categories=4, subset_size=2)
    >>> int(report.release(np.array(1), np.random.default_rng(0)).sum()), round(report.truth, 6)
    (2, 0.731059)
    """

    name: ClassVar[str] = "subset_selection"

    epsilon: Annotated[float, Within(above=0, at_most=700)]
    categories: TwoOrMore
    subset_size: Count
    neighbours: Annotated[Neighbours, OneOf(("replace_one",))] = "replace_one"

    def __post_init__(self) -> None:
        settle(self)
        if self.subset_size >= self.categories:
            raise ValueError(f"Expected subset_size={self.subset_size} to be below categories={self.categories}.")

    @classmethod
    def calibrated(cls, claim: Claim, *, categories: int = 2, subset_size: int = 1) -> Self:
        """Return the most truthful report that meets `claim`, within 1e-9 and never below."""
        sizes = {"categories": count("categories", categories, at_least=2), "subset_size": count("s", subset_size)}
        return meeting(cls(epsilon=1.0, neighbours=claim.neighbours, **sizes), claim)

    @property
    def truth(self) -> float:
        """The probability that the set holds the true category."""
        return 1 / (1 + (self.categories / self.subset_size - 1) * math.exp(-self.epsilon))

    def loss(self) -> DiscreteLoss:
        """Return the exact loss of one report."""
        size, others = self.subset_size, self.categories - self.subset_size
        each = self.truth / (size + others - 1)
        neither = each * others / size * math.exp(-self.epsilon) * (others - 1)
        return one_category_named(self.epsilon, each * others, each * (size - 1) + neither)

    def report_laws(self) -> ReportLaws:
        """Return the laws of one report: by which of three categories it holds."""
        named = min(self.categories, 3)
        sets, lie = math.comb(self.categories - 1, self.subset_size - 1), math.exp(-self.epsilon)
        rows, least = [], []
        for bits in product((0, 1), repeat=named):
            unnamed = self.subset_size - sum(bits)
            if 0 <= unnamed <= self.categories - named:
                share = self.truth * (math.comb(self.categories - named, unnamed) / sets)
                rows.append([share if bit else share * lie for bit in bits])
                least.append(share * lie)
        return ReportLaws(values=tuple(zip(*rows, strict=True)), least=tuple(least), complete=self.categories <= 3)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the bits of one set for each entry of `value`, in int64. Shape: (...) to (..., categories).

        Raises: ValueError: an entry that is no category.
        """
        true_bits = one_hot(value, self.categories)
        truthful = rng.random(true_bits.shape[:-1]) < self.truth
        others = np.where(true_bits, np.inf, rng.random(true_bits.shape)).argsort(axis=-1).argsort(axis=-1)
        reports = np.where(true_bits, truthful[..., None], others < (self.subset_size - truthful)[..., None])
        return reports.astype(np.int64)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each set, minus infinity where it has another size. Shape: that of `value`."""
        reports, true_bits = np.asarray(output), one_hot(value, self.categories)
        possible = np.isin(reports, (0, 1)).all(axis=-1) & (reports.sum(axis=-1) == self.subset_size)
        sets = math.comb(self.categories - 1, self.subset_size - 1)
        log_truth = math.log(self.truth) - math.log(sets)
        logs = np.where((reports * true_bits).sum(axis=-1) == 1, log_truth, log_truth - self.epsilon)
        return np.where(possible, logs, -np.inf)

    def scaled(self, factor: float) -> Self:
        """Return the same question with `factor` times the noise, which is epsilon / factor."""
        return replace(self, epsilon=self.epsilon / factor)

    def worst_pair(self) -> tuple[int, int]:
        """Return two categories."""
        return 0, 1


EXAMPLES = (
    SubsetSelection(epsilon=2.0, categories=4, subset_size=2),
    SubsetSelection(epsilon=1.5, categories=6, subset_size=1),
)
