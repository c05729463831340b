"""The declaration of DP-SGD: a noisy sum a step on its sample, by the way in which batches are drawn."""

import math

from algorithms.dp_sgd.plan import plan_of, record_of
from algorithms.dp_sgd.settings import DpSgdSettings
from dpaudit import Allocate, Declaration, Group, Parallel, Release, Repeat, Subsample
from dpaudit.model.claim import Neighbours
from mechanisms import Gaussian


def declaration_of(settings: DpSgdSettings) -> Declaration:
    """Return each step's noisy sum on its sample; shuffled, the batches of an epoch, one of which sees a record.

    Source: Abadi et al. (2016), Algorithm 1.
    """
    match settings.sampling:
        case "shuffled":
            return _shuffled(settings)
        case "allocation":
            plan = plan_of(settings)
            return Allocate(
                part=_sums(settings, "add_remove"), steps=plan.batches, epochs=math.ceil(plan.steps / plan.batches)
            )
        case "without_replacement" | "truncated_poisson":
            return _fixed(settings)
        case _:
            sums = record_of(settings).declaration()
            several = settings.records_per_user
            return sums if several == 1 else Group(part=sums, size=several)


def _fixed(settings: DpSgdSettings) -> Declaration:
    """Return steps whose batches have a fixed or a largest size."""
    rate = float(settings.sample_rate or 0)
    if settings.sampling == "without_replacement":
        population = settings.population
        sample = Subsample(
            part=_sums(settings, "replace_one"),
            rate=rate,
            scheme="without_replacement",
            population=population,
            batch_size=None if population is None else max(1, round(rate * population)),
        )
    else:
        sample = Subsample(
            part=_sums(settings, "add_remove"),
            rate=rate,
            scheme="truncated_poisson",
            population=settings.population,
            batch_bound=settings.batch_bound,
        )
    return Repeat(part=sample, times=int(settings.steps or 0))


def _sums(settings: DpSgdSettings, relation: Neighbours) -> Release:
    """Return a step's noisy sum, in units of the clipping norm: a record moves it by one, a replaced record by two."""
    return Release(label="gradient sums", mechanism=_noise(float(settings.noise_multiplier or 0), relation))


def _noise(stddev: float, relation: Neighbours) -> Gaussian:
    """Return the noise of a sum in that unit."""
    moved = 2.0 if relation == "replace_one" else 1.0
    return Gaussian(stddev=stddev, l2_sensitivity=moved, neighbours=relation)


def _shuffled(settings: DpSgdSettings) -> Declaration:
    """Return epochs of batches, in one of which a record sits by a permutation that reads no data.

    All batches bear one label: they answer one query, and the record that moves one of them moves any.
    """
    plan = plan_of(settings)
    epochs = math.ceil(plan.steps / plan.batches)
    batch = Release(label="batches", mechanism=_noise(plan.noise_multiplier, "replace_one"))
    key = "the shuffled order, which is drawn without data"
    return Repeat(part=Parallel(parts=(batch,) * plan.batches, key=key, visibility="secret"), times=epochs)
