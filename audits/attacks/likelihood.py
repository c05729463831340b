"""The likelihood ratio of a transcript, leaf by leaf, from the declaration: the sharpest white-box score."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.checks.taped_moves import beyond_sensitivity
from dpaudit import Allocate, AuditCase, Declaration, Mechanism, Parallel, Release, Repeat, Shuffle, Subsample
from dpaudit.model.declaration import children, walk
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
        return cls(
            mechanisms=tuple((label, mechanism) for label, mechanism, _ in leaves(declaration)),
            first=first,
            second=second,
        )

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


def leaves(node: Declaration, times: int = 1) -> Iterator[tuple[str, Mechanism, int]]:
    """Yield (label, mechanism, number of releases) for every leaf that is sampled."""
    if isinstance(node, Release):
        yield node.label, node.mechanism, times
    for child in children(node):
        yield from leaves(child, times * node.times if isinstance(node, Repeat) else times)


def declared_case(
    declaration: Declaration, pairs: Mapping[str, tuple[Any, Any]], *, name: str = "declared"
) -> AuditCase:
    """Return a case that samples the declared mechanisms themselves, on given answers of both neighbours.

    `pairs` maps each label to the query's answers on the first and the second neighbour. A label that is released
    several times gets a further axis after the runs. The score is the likelihood ratio.
    Raises: ValueError: a label without answers, or with answers further apart than its sensitivity; or a node that
        hides where a record takes part, which these draws do not: sampled, allocated or shuffled parts, and parallel
        ones with a secret key.

    >>> from dpaudit import Release
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> case = declared_case(Release(label="sum", mechanism=noise), {"sum": (0.0, 1.0)})
    >>> case.view, case.relation
    ('releases', 'replace_one')
    """
    for path, node in walk(declaration):
        if isinstance(node, Allocate | Shuffle | Subsample) or (
            isinstance(node, Parallel) and node.visibility == "secret"
        ):
            raise ValueError(
                f"Expected no {type(node).__name__} in the declaration, at {path}: releases alone do not hide where a "
                "record takes part. Write a case whose run draws that too, as those of dp_sgd do for samples."
            )
    sampled = tuple(leaves(declaration))
    unanswered = [label for label, _, _ in sampled if label not in pairs]
    if unanswered:
        raise ValueError(f"Expected answers of both neighbours for every label; missing: {', '.join(unanswered)}.")
    for label, mechanism, _ in sampled:
        if beyond := beyond_sensitivity(mechanism, pairs[label]):
            raise ValueError(f"Expected answers of neighbours for '{label}'. {beyond}")
    answers = [{label: np.asarray(pairs[label][side]) for label, _, _ in sampled} for side in (0, 1)]
    return AuditCase(
        name=name,
        view="releases",
        description="the declared mechanisms, sampled and attacked by their own densities",
        neighbours=(answers[0], answers[1]),
        relation=sampled[0][1].neighbours,
        run=_Sampler(leaves=sampled),
        score=LikelihoodRatio.of(declaration, answers[0], answers[1]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampler:
    """Releases every leaf on given answers."""

    leaves: tuple[tuple[str, Mechanism, int], ...]

    def __call__(self, answers: Mapping[str, Array], rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        """Return the releases of `n_runs` runs by label."""
        return {
            label: mechanism.release(np.broadcast_to(answers[label], (n_runs, times, *answers[label].shape)), rng)
            for label, mechanism, times in self.leaves
        }


def _ratio(mechanism: Mechanism, output: Array, first: Array, second: Array) -> Array:
    """Return one release's log ratio a run, summed over all its own axes."""
    above, below = mechanism.log_density(output, second), mechanism.log_density(output, first)
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(above) & np.isneginf(below), 0.0, above - below)
    return ratio.reshape(len(output), -1).sum(axis=1)
