"""Replays of DP-SGD on one tape: the loop runs on two data sets, and the second run goes on with the first one's sums.

Both runs draw the same batches, as their generators start alike and the data sets have as many records. So a sum moves
by one record's clipped gradient, and the weights, which follow from the noisy sums, are bitwise the same. So they are
where batches are drawn from another seed: nothing but the noisy sums tells who was in them.
"""

from dataclasses import dataclass, replace

import numpy as np

from algorithms.dp_sgd.declaration import declaration_of
from algorithms.dp_sgd.plan import Plan, plan_of
from algorithms.dp_sgd.run import run_watched
from algorithms.dp_sgd.settings import RUNNABLE, DpSgdSettings
from algorithms.problems.affairs import Classification
from dpaudit import Release
from dpaudit.model.case import ReplayCase
from dpaudit.model.declaration import walk
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import tape_of
from dpaudit.training import plant
from mechanisms import Gaussian

_MOST = 60
_ROUNDING = 1e-4
"""What single precision may add to a clipping norm, relative."""

_FACTORS = (1.0, 1e6)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """What a loop trains on, and the seed of its batches; None takes it from the tape.

    Shape: features (n, columns), labels (n,).
    """

    features: Array
    labels: Array
    seed: int | None = None


def replays_of(settings: DpSgdSettings, problem: Classification) -> tuple[ReplayCase, ...]:
    """Return the replay of a short training run; the record that differs comes first, in the middle or last.

    Where records are added or removed, the neighbour holds a record whose gradient is 0 in its place; where they are
    replaced, one of the other class. The steps are those of two passes and a little more, so that a pass that repeats
    the randomness of another one shows. Two data sets that have nothing in common lead to the same weights, too.
    """
    if settings.sampling not in RUNNABLE:
        return ()
    plan = plan_of(settings)
    plan = replace(plan, steps=min(plan.steps, 2 * plan.batches + 2, _MOST))
    label = next(node.label for _, node in walk(declaration_of(settings)) if isinstance(node, Release))
    noise = _mechanism(settings, plan)

    def run(data: Records, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        del n_runs  # one run is enough: every run takes the same code
        tape = tape_of(rng)

        def shown(released: Array, summed: Array, batch: Array) -> Array | None:
            del batch
            if tape is None:
                return None
            exact, noisy = (np.asarray(sums, dtype=np.float32)[None] for sums in (summed, released))
            pinned: Array = tape.enter((label,), noise, exact, noisy)[0]
            return pinned

        planted = plant(data.features, data.labels, outputs=2, canaries=0, blanks=0, rng=rng)
        draws = rng if data.seed is None else np.random.default_rng(data.seed)
        return {"weights": run_watched(plan, planted, draws, shown)[1]["weights"][None]}

    given = Records(features=np.asarray(problem.features, dtype=np.float64), labels=np.asarray(problem.labels))
    records = len(given.labels)
    pairs = tuple(
        (f"the features of record {at + 1} times {factor:g}, or {other}", first, second)
        for at, factor in ((0, 1.0), (records // 2, _FACTORS[1]), (records - 1, 1.0))
        for other, first, second in (_pair(settings, given, at, factor),)
    )
    turned = Records(features=given.features[::-1].copy(), labels=1 - given.labels)
    drawn = (replace(given, seed=1), replace(given, seed=2))
    return (ReplayCase(name="dp_sgd steps", pairs=pairs, run=run, others=((given, turned),), redrawn=(drawn,)),)


def _mechanism(settings: DpSgdSettings, plan: Plan) -> Gaussian:
    """Return the noise of one step in the unit of gradients, with what one record can move a sum by."""
    move = 1.0 if settings.neighbours == "add_remove" else 2.0
    return Gaussian(
        stddev=plan.noise_multiplier * plan.max_grad_norm,
        l2_sensitivity=move * plan.max_grad_norm * (1 + _ROUNDING),
        neighbours=settings.neighbours,
    )


def _pair(settings: DpSgdSettings, given: Records, at: int, factor: float) -> tuple[str, Records, Records]:
    """Return what the second of two neighbours holds in the place of one record, in words, and both data sets."""
    features = given.features.copy()
    features[at] *= factor
    first = replace(given, features=features)
    if settings.neighbours == "replace_one":
        labels = given.labels.copy()
        labels[at] = 1 - labels[at]
        return "the same with the other class", first, replace(first, labels=labels)
    without = given.features.copy()
    without[at] = 0.0
    return "zeros, whose gradient is 0", first, replace(given, features=without)
