"""The sampler of the training loop, to be looked at by itself: short runs on few records, whose batches are watched.

Batches of few records vary widely in size, so that a loop that goes by their sizes shows.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from algorithms.dp_sgd.declaration import declaration_of
from algorithms.dp_sgd.plan import plan_of
from algorithms.dp_sgd.run import run_watched
from algorithms.dp_sgd.settings import DpSgdSettings
from algorithms.problems.affairs import Classification
from dpaudit import Subsample
from dpaudit.model.case import SamplingCase
from dpaudit.model.declaration import walk
from dpaudit.model.mechanism import Array
from dpaudit.training import plant

_RECORDS, _BATCH, _STEPS, _RUNS = 200, 4, 40, 25
_FACTOR = 1e6


def samplings_of(settings: DpSgdSettings, problem: Classification) -> tuple[SamplingCase, ...]:
    """Return the Poisson sampler of the loop; the same on records whose values are extreme, or altogether others.

    Shuffled batches are no node of a declaration; runs look at them.
    """
    node = next((node for _, node in walk(declaration_of(settings)) if isinstance(node, Subsample)), None)
    if settings.sampling != "poisson" or node is None:
        return ()
    plan = plan_of(settings)
    size = max(_BATCH, _RECORDS // plan.batches)
    records = size * plan.batches
    features = np.resize(np.asarray(problem.features, dtype=np.float64), (records, problem.features.shape[1]))
    labels = np.resize(np.asarray(problem.labels), records)
    plan = replace(plan, steps=min(plan.steps, _STEPS))

    def on(features: Array, labels: Array) -> Callable[[np.random.Generator], list[Array]]:
        def draw(rng: np.random.Generator) -> list[Array]:
            planted = plant(features, labels, outputs=2, canaries=0, blanks=0, rng=rng)
            return [np.asarray(batch) for batch in run_watched(plan, planted, rng)[0].sampled]

        return draw

    large, none = features.copy(), features.copy()
    large[:: plan.batches] *= _FACTOR
    none[1 :: plan.batches] = 0.0
    others = (
        (f"every {plan.batches}th record is {_FACTOR:g} times as large", on(large, labels)),
        (f"every {plan.batches}th record is 0", on(none, labels)),
        ("all records are of the other class", on(features[::-1].copy(), 1 - labels)),
    )
    case = SamplingCase(
        name="batches", node=node, records=records, draw=on(features, labels), runs=_RUNS, others=others
    )
    return (case,)
