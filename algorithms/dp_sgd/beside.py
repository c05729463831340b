"""The answer of Poisson accounting to a run whose batches are drawn in another way, beside the proved answer."""

import math

from algorithms.dp_sgd.accounting import epsilon_of_history
from algorithms.dp_sgd.checks import assumed_conditions
from algorithms.dp_sgd.declaration import declaration_of
from algorithms.dp_sgd.plan import record_of
from algorithms.dp_sgd.settings import DpSgdSettings
from dpaudit import bracket_epsilon, fold

_DRAWN = {
    "shuffled": "are dealt once an epoch in a shuffled order",
    "without_replacement": "have a fixed size and are drawn without replacement",
    "allocation": "are drawn by each record, one an epoch",
    "truncated_poisson": "are Poisson samples that are cut to a largest size",
}
_UNIT = {"add_remove": "a record added or removed", "replace_one": "a replaced record"}


def poisson_beside(settings: DpSgdSettings) -> tuple[str, ...]:
    """Return one sentence on Poisson sampling with the same noise, rate and steps; nothing where batches are that.

    It is a comparison, never a claim: the number bounds another mechanism. It is rounded to the nearest at 4 decimals.

    >>> settings = DpSgdSettings(
    ...     epsilon=8, delta=1e-5, noise_multiplier=4.0, sample_rate=0.1, steps=40, sampling="allocation"
    ... )
    >>> poisson_beside(settings)[0][:71]
    'Poisson sampling with the same noise, rate and steps would have epsilon'
    """
    if settings.sampling not in _DRAWN:
        return ()
    relation = settings.neighbours
    epsilon = epsilon_of_history(record_of(settings).history, settings.delta, relation)
    proved = bracket_epsilon(fold(declaration_of(settings), relation, assumed_conditions(settings)), settings.delta)
    lower, upper = math.floor(1e4 * proved.lower) / 1e4, math.ceil(1e4 * proved.upper) / 1e4
    return (
        f"Poisson sampling with the same noise, rate and steps would have epsilon {epsilon:.4f} for {_UNIT[relation]} "
        f"at delta {settings.delta:g}; the batches of this run {_DRAWN[settings.sampling]}, for which that number is "
        f"no bound. Proved of them: epsilon in [{lower:.4f}, {upper:.4f}].",
    )
