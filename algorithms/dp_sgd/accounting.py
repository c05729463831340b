"""The epsilon of a history of noisy, Poisson-sampled steps, as an accountant of Opacus keeps it."""

from collections.abc import Sequence

from dpaudit import bracket_epsilon, fold
from dpaudit.checks import count, one_of, open_probability, positive
from dpaudit.interchange.opacus_history import from_history
from dpaudit.model.claim import NEIGHBOURS, Neighbours

History = Sequence[tuple[float, float, int]]
"""(noise_multiplier, sample_rate, num_steps) for each stretch of equal steps, as Opacus keeps it."""


def epsilon_of_history(history: History, delta: float, neighbours: Neighbours) -> float:
    """Return an epsilon at which the whole history is (epsilon, delta)-private; never below the smallest one.

    Unit: nats. Unequal stretches compose; their order does not matter.
    Guarantee: an upper bound for every training run that draws each record independently with the stated rate and
    adds the stated noise to sums of clipped gradients.
    Edge cases: a rate of 1 is the plain Gaussian mechanism, m = 1/z, or 2/z where a record is replaced.
    Raises: ValueError: no stretch, or one out of range.

    >>> round(epsilon_of_history([(1.1, 1 / 12, 240)], 1e-5, "add_remove"), 3)
    7.548
    """
    one_of("neighbours", neighbours, NEIGHBOURS)
    declared = from_history(checked_history(history))
    # a record whose gradient is set to zero moves a sum as a removed one does
    relation = "add_remove" if neighbours == "zero_out" else neighbours
    return float(bracket_epsilon(fold(declared, relation), open_probability("delta", delta)).upper)


def checked_history(history: History) -> tuple[tuple[float, float, int], ...]:
    """Return the stretches, each number checked.

    Raises: ValueError: no stretch, noise that is not positive, a rate outside (0, 1], or fewer than 1 step.
    """
    if not history:
        raise ValueError("Expected at least one stretch in the history; no step was accounted for.")
    for _, rate, _ in history:
        if not 0 < rate <= 1:
            raise ValueError(f"Expected sample_rate={rate!r} in (0, 1].")
    return tuple((positive("noise_multiplier", z), float(rate), count("num_steps", n)) for z, rate, n in history)
