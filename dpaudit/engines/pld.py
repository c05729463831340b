"""A second opinion from dp-accounting: privacy loss distributions rounded up and down, composed by FFT.

Its transforms are in floating point and their round-off is nowhere accounted for, so that for a small delta
its "pessimistic" answer can lie below the truth. Here each answer is moved by an allowance for it: transforming,
taking the k-th power of numbers of modulus at most 1 and transforming back errs in the 2-norm by at most
about 10 u log2(N) k, and by Cauchy and Schwarz any sum over N of the probabilities by sqrt(N) times that.
Source of the norm bound: Higham (2002), Theorem 24.2, with a constant that covers the inner transforms.
"""

import math
from typing import Any

from dpaudit.engines.engine import Engine
from dpaudit.model.bracket import Bracket, largest_epsilon, smallest_epsilon
from dpaudit.model.losses import Composition, GaussianLoss, LaplaceLoss, SimpleLoss

_ROUNDING = 2.0**-53
_WIDTH = 1e-4  # of the losses' grid
_EVENTS, _KINDS, _LARGEST = 20_000, 12, 200.0


def _distribution(composition: Composition, *, pessimistic: bool) -> Any:
    """Return dp-accounting's distribution of the whole composition, rounded to one side."""
    found = None
    for loss, times in composition.parts:
        part = _single(loss, pessimistic=pessimistic).self_compose(times)
        found = part if found is None else found.compose(part)
    return found


def _single(loss: SimpleLoss, *, pessimistic: bool) -> Any:
    """Return dp-accounting's distribution of one loss."""
    from dp_accounting.pld import privacy_loss_distribution

    options: dict[str, Any] = {
        "pessimistic_estimate": pessimistic,
        "use_connect_dots": pessimistic,
        "value_discretization_interval": _WIDTH,
    }
    match loss:
        case GaussianLoss(mu=mu):
            return privacy_loss_distribution.from_gaussian_mechanism(1.0, sensitivity=mu, **options)
        case LaplaceLoss(shift=shift):
            return privacy_loss_distribution.from_laplace_mechanism(1.0, sensitivity=shift, **options)
        case _:
            raise AssertionError(f"{loss} is not covered.")


def _allowance(composition: Composition, distribution: Any) -> float:
    """Return a bound on what round-off can move any delta by."""
    size = 2 * max(1024, len(distribution._pmf_remove.to_dense_pmf()._probs))  # noqa: SLF001
    return 10 * _ROUNDING * math.log2(size) * composition.events * math.sqrt(size)


def _delta(composition: Composition, epsilon: float) -> Bracket:
    """Bracket delta(epsilon)."""
    low, high = (_distribution(composition, pessimistic=side) for side in (False, True))
    return Bracket(
        lower=max(0.0, float(low.get_delta_for_epsilon(epsilon)) - _allowance(composition, low)),
        upper=min(1.0, float(high.get_delta_for_epsilon(epsilon)) + _allowance(composition, high)),
        engines=("pld",),
    )


def _epsilon(composition: Composition, delta: float) -> Bracket:
    """Bracket the smallest epsilon with delta(epsilon) <= delta."""
    low, high = (_distribution(composition, pessimistic=side) for side in (False, True))
    below, above = _allowance(composition, low), _allowance(composition, high)
    return Bracket(
        lower=largest_epsilon(lambda e: float(low.get_delta_for_epsilon(e)) - below, delta),
        upper=smallest_epsilon(lambda e: float(high.get_delta_for_epsilon(e)) + above, delta),
        engines=("pld",),
    )


def _covers(composition: Composition) -> bool:
    """Return whether dp-accounting knows every loss and answers within seconds."""
    known = all(isinstance(loss, GaussianLoss | LaplaceLoss) for loss, _ in composition.parts)
    sizes = [loss.mu**2 * n if isinstance(loss, GaussianLoss) else loss.supremum for loss, n in composition.parts]
    few = 0 < len(composition.parts) <= _KINDS and composition.events <= _EVENTS
    return known and few and all(size <= _LARGEST for size in sizes)


PLD = Engine(name="pld", covers=_covers, delta=_delta, epsilon=_epsilon)
