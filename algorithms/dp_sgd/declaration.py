"""The declaration of DP-SGD: a noisy sum a step on its sample, or the batches of a shuffled epoch."""

import math

from algorithms.dp_sgd.accounting import epsilon_of_history
from algorithms.dp_sgd.plan import plan_of, record_of
from algorithms.dp_sgd.settings import DpSgdSettings
from dpaudit import Declaration, Parallel, Release, Repeat, Stated
from mechanisms import Gaussian


def declaration_of(settings: DpSgdSettings) -> Declaration:
    """Return each step's noisy sum on its sample; shuffled, the batches of an epoch, one of which sees a record.

    Source: Abadi et al. (2016), Algorithm 1.
    """
    if settings.sampling == "shuffled":
        return _shuffled(settings)
    record = record_of(settings)
    if settings.neighbours == "add_remove":
        return record.declaration()
    return Stated(
        epsilon=epsilon_of_history(record.history, settings.delta, "replace_one"),
        delta=settings.delta,
        source="dp_sgd's own accounting of Poisson-sampled Gaussian sums under replacement",
        neighbours="replace_one",
    )


def _shuffled(settings: DpSgdSettings) -> Declaration:
    """Return epochs of batches, in one of which a record sits by a permutation that reads no data."""
    plan = plan_of(settings)
    epochs = math.ceil(plan.steps / plan.batches)
    noise = Gaussian(stddev=plan.noise_multiplier, l2_sensitivity=2.0, neighbours="replace_one")
    batch = tuple(Release(label=f"batch {i + 1}", mechanism=noise) for i in range(plan.batches))
    epoch = Parallel(parts=batch, key="the shuffled order, which is drawn without data", visibility="secret")
    return Repeat(part=epoch, times=epochs)
