"""Unary encoding: a category as bits of which one is set, each bit flipped by itself (RAPPOR)."""

import math
from dataclasses import replace
from itertools import product
from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import OneOf, TwoOrMore, Within, count
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.losses.report_laws import ReportLaws
from dpaudit.model.mechanism import Array
from mechanisms._additive import meeting

Encoding = Literal["symmetric", "optimised"]


@settled
class UnaryEncoding:
    """Reports a bit for each category: the bit of the true one is set with one probability, any other with a smaller.

    Shape: categories in, bits (..., categories) out.
    Unit: `epsilon` in nats; `categories`, the integers 0 .. categories - 1; `encoding`, "symmetric" where a bit is
    flipped with probability 1 / (1 + e^(epsilon / 2)) whatever it is (basic RAPPOR), "optimised" where the bit of the
    true category is set with probability 1/2 and any other with 1 / (1 + e^epsilon).
    Guarantee: replacing a record's category changes two bits, and costs exactly +epsilon, -epsilon, or 0 where both
    are reported alike. There is no neighbour without a report, so the relation is `replace_one` and no other.
    Raises: ValueError: epsilon not in (0, 700], fewer than two categories, or another relation.
    Source: Erlingsson, Pihur and Korolova (2014), Section 2; Wang, Blocki, Li and Jha (2017), Section 4.3.

    >>> report = UnaryEncoding(epsilon=2.0, categories=4)
    >>> round(report.kept, 6), report.release(np.array(1), np.random.default_rng(0)).shape
    (0.731059, (4,))
    """

    name: ClassVar[str] = "unary_encoding"

    epsilon: Annotated[float, Within(above=0, at_most=700)]
    categories: TwoOrMore
    neighbours: Annotated[Neighbours, OneOf(("replace_one",))] = "replace_one"
    encoding: Encoding = "symmetric"

    @classmethod
    def calibrated(cls, claim: Claim, *, categories: int = 2, encoding: Encoding = "symmetric") -> Self:
        """Return the most truthful report that meets `claim`, within 1e-9 and never below."""
        categories = count("categories", categories, at_least=2)
        return meeting(cls(epsilon=1.0, categories=categories, neighbours=claim.neighbours, encoding=encoding), claim)

    @property
    def kept(self) -> float:
        """The probability that the bit of the true category is set."""
        return 0.5 if self.encoding == "optimised" else 1 / (1 + math.exp(-self.epsilon / 2))

    @property
    def raised(self) -> float:
        """The probability that the bit of another category is set."""
        return 1 / (1 + math.exp(self.epsilon if self.encoding == "optimised" else self.epsilon / 2))

    def loss(self) -> DiscreteLoss:
        """Return the exact loss of one report."""
        unset = 0.5 if self.encoding == "optimised" else self.raised
        alike = self.kept * self.raised + unset * (1 - self.raised)
        return one_category_named(self.epsilon, self.kept * (1 - self.raised), alike)

    def report_laws(self) -> ReportLaws:
        """Return the laws of one report: by the bits of three categories, and whether every other bit is set."""
        others = max(0, self.categories - 3)
        named = min(self.categories, 3)
        all_set = self.raised**others
        set_, unset = (self.kept, self.raised), (1 - self.kept, 1 - self.raised)
        rows, least = [], []
        for bits in product((0, 1), repeat=named):
            chances = [
                [set_[own != i] if bit else unset[own != i] for i, bit in enumerate(bits)] for own in range(named)
            ]
            laws = [math.prod(chance) for chance in chances]
            nobody = math.prod(set_[1] if bit else unset[1] for bit in bits)
            factors = (unset[0] / unset[1], set_[0] / set_[1])
            for share, full in ((1 - all_set, False), (all_set, True)):
                if share > 0:
                    rows.append([law * share for law in laws])
                    least.append(nobody * share * factors[full and all(bits)])
        return ReportLaws(values=tuple(zip(*rows, strict=True)), least=tuple(least), complete=self.categories <= 3)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the bits of one report for each entry of `value`, in int64. Shape: (...) to (..., categories).

        Raises: ValueError: an entry that is no category.
        """
        bits = one_hot(value, self.categories)
        return (rng.random(bits.shape) < np.where(bits, self.kept, self.raised)).astype(np.int64)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each row of bits. Shape: that of `value`."""
        reports = np.asarray(output)
        chance = np.where(one_hot(value, self.categories), self.kept, self.raised)
        logs = np.where(reports == 1, np.log(chance), np.where(reports == 0, np.log1p(-chance), -np.inf))
        return logs.sum(axis=-1)

    def scaled(self, factor: float) -> Self:
        """Return the same question with `factor` times the noise, which is epsilon / factor."""
        return replace(self, epsilon=self.epsilon / factor)

    def worst_pair(self) -> tuple[int, int]:
        """Return two categories."""
        return 0, 1


def one_category_named(epsilon: float, more: float, alike: float) -> DiscreteLoss:
    """Return the loss of a report that names one of two categories alone: the true one with probability `more`.

    `alike` is the probability that it names both or neither. It is no difference from 1: that would have no digits
    where it is small, and mu reads them.
    """
    less = more * math.exp(-epsilon)
    return DiscreteLoss(atoms=((epsilon, more), (0.0, alike), (-epsilon, less)), symmetric=True)


def one_hot(value: Array, categories: int) -> Array:
    """Return a bit for each category, set for the one that is held. Shape: (...) to (..., categories)."""
    true = np.asarray(value, dtype=np.int64)
    if np.any((true < 0) | (true >= categories)):
        raise ValueError(f"Expected categories in 0 .. {categories - 1}, got {true.min()} .. {true.max()}.")
    return true[..., None] == np.arange(categories)


EXAMPLES = (
    UnaryEncoding(epsilon=2.0, categories=3),
    UnaryEncoding(epsilon=1.5, categories=5, encoding="optimised"),
)
