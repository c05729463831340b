"""A search over configurations that trains a secret number of times and shows the best run, declared as `best_of`."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from dpaudit.errors import DeclarationError
from dpaudit.model.declaration import BestOf, Declaration

_ETA = {"geometric": 1.0, "logarithmic": 0.0}
_MOST_CLUSTERS = 1e6  # numbers drawn at once, of 8 bytes each


class Declared(Protocol):
    """A configuration that says what one run releases, as `DpSgd` does."""

    def declaration(self) -> Declaration:
        """Return what one run releases."""
        ...


Configuration = TypeVar("Configuration", bound=Declared)
Output = TypeVar("Output")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Generic[Configuration]):
    """A search in which each run draws one of `configurations` uniformly, and the run with the best score is shown.

    Parameters: `runs`, a `BestOf` node whose law and `score` are those of the search, over any part.
    Guarantee: that of `declaration()`, if a score depends on the output of its run alone (a validation loss on data
    that no claim protects, or one that the run releases), and the number of runs and all other outputs stay secret.
    Raises: DeclarationError: configurations that release different things; give all the noise and steps of the most
        expensive one. ValueError: no configuration.
    Source: Liu and Talwar (2019); Papernot and Steinke (2022).

    >>> from algorithms.dp_sgd import DpSgd
    >>> from dpaudit.model.declaration import Stated
    >>> sgd = DpSgd(epsilon=8, delta=1e-5, noise_multiplier=1.1, sample_rate=0.01, steps=100, max_grad_norm=1.0)
    >>> law = BestOf(part=Stated(epsilon=1.0, source="a run"), law="geometric", gamma=0.1, score="validation loss")
    >>> Search(configurations=(sgd, sgd), runs=law).declaration().law
    'geometric'
    """

    configurations: tuple[Configuration, ...]
    runs: BestOf

    def __post_init__(self) -> None:
        if not self.configurations:
            raise ValueError("Expected configurations to hold one configuration or more.")
        first, *others = [configuration.declaration() for configuration in self.configurations]
        for number, other in enumerate(others, start=1):
            if other != first:
                raise DeclarationError(
                    f"configurations[{number}] releases something else than configurations[0]: which one was drawn is "
                    "hidden, and the rule of 'best_of' knows one part. Give all of them the noise and the steps of the "
                    "most expensive one."
                )

    def declaration(self) -> BestOf:
        """Return the search as a node: the best of so many runs of what all configurations release."""
        law = self.runs
        return BestOf(
            part=self.configurations[0].declaration(),
            law=law.law,
            runs=law.runs,
            gamma=law.gamma,
            eta=law.eta,
            mean=law.mean,
            score=law.score,
            scores=law.scores,
        )

    def best(
        self,
        train: Callable[[Configuration, np.random.Generator], tuple[Output, float]],
        rng: np.random.Generator,
    ) -> Output | None:
        """Return the output with the largest score; None of no run. `train` returns an output and its score.

        Ties are broken by fresh coins, and every run has a random generator of its own. A score that is NaN counts as
        the smallest: without an order of all scores, the order of the runs would show.
        """
        best: Output | None = None
        highest: tuple[float, float] | None = None
        for _ in range(self.number_of_runs(rng)):
            drawn = self.configurations[int(rng.integers(len(self.configurations)))]
            output, score = train(drawn, rng.spawn(1)[0])
            rank = (-math.inf if math.isnan(score) else score, float(rng.random()))
            if highest is None or rank > highest:
                best, highest = output, rank
        return best

    def number_of_runs(self, rng: np.random.Generator) -> int:
        """Return a number of runs drawn from the law; it must stay secret.

        Raises: DeclarationError: a law of so many runs that none can be drawn.
        """
        law = self.runs
        if law.runs is not None:
            return law.runs
        if law.mean is not None:
            return int(rng.poisson(law.mean))
        gamma, eta = law.gamma or 0.0, _ETA.get(law.law, law.eta or 0.0)
        # A negative binomial number is the sum of a Poisson number of logarithmic ones, `clusters` of them on average.
        # The law wants one at least: of arrivals until the time `clusters`, the first one is drawn before it.
        clusters = -eta * math.log(gamma)
        if 1 - gamma == 1 or clusters > _MOST_CLUSTERS:
            raise DeclarationError(f"gamma={gamma:g} asks for more runs than can be drawn; give a larger one.")
        first = -math.log1p(rng.random() * math.expm1(-clusters))
        number = 1 + int(rng.poisson(max(0.0, clusters - first)))
        return int(rng.logseries(1 - gamma, size=number).sum())

    def audited(
        self, train: Callable[[Any, Configuration, np.random.Generator], tuple[Any, float]], *, none: Any
    ) -> Callable[[Any, np.random.Generator, int], Any]:
        """Return a function for `audits.audit`: so many whole searches on given data; `none` stands for no run."""

        def searched(data: Any, rng: np.random.Generator, n_runs: int) -> Any:
            outputs = (self.best(lambda drawn, own: train(data, drawn, own), rng) for _ in range(n_runs))
            return np.asarray([none if output is None else output for output in outputs])

        return searched
