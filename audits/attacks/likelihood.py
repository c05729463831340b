"""The likelihood ratio of a transcript, leaf by leaf, from the declaration: the sharpest white-box score."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit import Declaration, Mechanism, Release
from dpaudit.model.declaration import walk
from dpaudit.model.mechanism import Array

Answers = Mapping[str, Array] | Callable[[Any], Mapping[str, Array]]
"""The exact answers of every label's query on one neighbour, or a function of the view for adaptive queries."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LikelihoodRatio:
    """Log likelihood ratio of each run, second neighbour over first: a sum over the declared releases.

    Shape: the view is a dict from label to outputs, runs axis first; answers broadcast against the outputs.
    Edge cases: an output that only one neighbour can produce scores plus or minus infinity; an output that
    neither can produce scores 0.
    Source: Neyman and Pearson (1933); for adaptive queries the ratio is the product over releases, given the past.

    >>> from dpaudit import Release
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> ratio = LikelihoodRatio.of(Release(label="sum", mechanism=noise), {"sum": 0.0}, {"sum": 1.0})
    >>> ratio({"sum": np.array([-3.0, 0.5, 9.0])}).tolist()
    [-1.0, 0.0, 1.0]
    """

    mechanisms: tuple[tuple[str, Mechanism], ...]
    first: Answers
    second: Answers

    @classmethod
    def of(cls, declaration: Declaration, first: Answers, second: Answers) -> "LikelihoodRatio":
        """Return the score of every release that `declaration` lists."""
        released = (node for _, node in walk(declaration) if isinstance(node, Release))
        return cls(mechanisms=tuple((node.label, node.mechanism) for node in released), first=first, second=second)

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run."""
        first = self.first(view) if callable(self.first) else self.first
        second = self.second(view) if callable(self.second) else self.second
        return sum(
            (
                _ratio(mechanism, np.asarray(view[label]), first[label], second[label])
                for label, mechanism in self.mechanisms
            ),
            start=np.zeros(1),
        )


def _ratio(mechanism: Mechanism, output: Array, first: Array, second: Array) -> Array:
    """Return one release's log ratio a run, summed over all its own axes."""
    above, below = mechanism.log_density(output, second), mechanism.log_density(output, first)
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(above) & np.isneginf(below), 0.0, above - below)
    return ratio.reshape(len(output), -1).sum(axis=1)
