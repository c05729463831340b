"""Audits of DP-SGD at the explicit pair of data sets that its sampling is hardest on, simulated by the declared law.

No training runs: these cases show what the declared sampling and noise let an attack see, not what code does.
"""

from functools import partial

import numpy as np

from algorithms.dp_sgd.plan import plan_of
from algorithms.dp_sgd.secret_steps import AllocatedSteps, SampledSteps, SecretSteps, simulated
from algorithms.dp_sgd.settings import DpSgdSettings
from dpaudit import AuditCase
from dpaudit.model.losses.binomial import binomial_pmf

VIEW = "simulated gradients"

_PAIRS = {
    "shuffled": "all other records are the opposite of one record",
    "without_replacement": "all other records are the opposite of one record",
    "allocation": "all other records contribute nothing",
    "truncated_poisson": "all other records contribute nothing",
}


def explicit_cases(settings: DpSgdSettings) -> tuple[AuditCase, ...]:
    """Return the case at the explicit pair of the declared sampling; none for Poisson samples, which canaries attack.

    The score is the exact likelihood ratio of all noisy sums. Memory: 8 bytes a run and step, a chunk at a time.
    """
    law = law_of(settings)
    if law is None:
        return ()

    case = AuditCase(
        name=f"dp_sgd simulated by its declared law, sampling {settings.sampling}",
        view=VIEW,
        description=(
            f"Noisy sums of every step where {_PAIRS[settings.sampling]}, drawn from the declared law: no training "
            "ran, and nothing is said of code."
        ),
        neighbours=(0, 1),
        relation=settings.neighbours,
        run=partial(simulated, law),
        score=law.log_ratio,
    )
    return (case,)


def law_of(settings: DpSgdSettings) -> SecretSteps | None:
    """Return where the record of the explicit pair takes part, and by how many deviations; None for Poisson samples.

    Against opposite records one record moves a sum by two clipping norms, against records that add nothing by one.
    """
    steps, noise = int(settings.steps or 0), float(settings.noise_multiplier or 0)
    match settings.sampling:
        case "shuffled":
            plan = plan_of(settings)
            return AllocatedSteps(shift=2 / plan.noise_multiplier, batches=plan.batches, steps=plan.steps)
        case "allocation":
            return AllocatedSteps(shift=1 / noise, batches=plan_of(settings).batches, steps=steps)
        case "without_replacement":
            return SampledSteps(shift=2 / noise, rate=float(settings.sample_rate or 0), steps=steps)
        case "truncated_poisson":
            return SampledSteps(shift=1 / noise, rate=_kept(settings), steps=steps)
        case _:
            return None


def _kept(settings: DpSgdSettings) -> float:
    """Return the probability that a record is in a Poisson sample cut to `batch_bound` records."""
    rate, bound, others = float(settings.sample_rate or 0), settings.batch_bound or 1, (settings.population or 1) - 1
    drawn = np.arange(others + 1)
    return rate * float(binomial_pmf(drawn, others, rate) @ np.minimum(1.0, bound / (drawn + 1)))
