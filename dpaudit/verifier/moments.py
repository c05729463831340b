"""Bounds on the sum of losses by moments, where a loss has no worst pair: of a bounded range, or known by its rho.

The law of a range lies above every pair that has it, and the sum of such laws lies above what any choices reach. The
moments of pairs are smaller, and they multiply. For s > 0 (Canonne, Kamath and Steinke 2020, Proposition 12)

    delta(epsilon) <= E_P[e^(s L)] e^(-s epsilon) (s / (1 + s))^s / (1 + s).
"""

import math

import numpy as np

from dpaudit.verifier.cells import cumulants_of_sample
from dpaudit.verifier.losses import Loss, drawn
from dpaudit.verifier.refusals import Array, follow

_POWERS = np.geomspace(1e-4, 1e7, 6000)
_NEAR = 1e-9  # relative; more than what rounding makes of a moment
_BESIDE = 64  # powers that are tried beside the best one
_ENTRIES = 2**18  # of a table of powers and atoms
_KNOWN = {"range", "gaussian", "laplace", "discrete", "concentrated"}
_SLIP = 1e-12  # relative and for each loss; more than what rounding makes of a logarithm


def ranged(losses: dict[Loss, int]) -> bool:
    """Return whether several losses are met of which one is known by its range alone, and all have moments."""
    all_have_moments = {loss[0] for loss in losses} <= _KNOWN
    return all_have_moments and sum(losses.values()) > 1 and any(loss[0] == "range" for loss in losses)


def by_rho(losses: dict[Loss, int]) -> bool:
    """Return whether a loss is known by its rho alone, so that nothing but moments bounds the sum; refuse others."""
    kinds = {option[0] for loss in losses for option in (loss[1] if loss[0] == "choice" else (loss,))}
    if "concentrated" not in kinds:
        return False
    all_have_moments = kinds <= _KNOWN or all(drawn(loss) or loss[0] in {*_KNOWN, "choice"} for loss in losses)
    follow(all_have_moments, "a budget of rho beside a loss without moments is beyond this checker")
    return True


def above(losses: dict[Loss, int], epsilons: Array) -> Array:
    """Return upper bounds on the deltas of the finite losses of a sum: by some powers, then by others beside the best.

    No power need be the best one, as the bound holds at each.
    """
    complete = all(loss[0] != "discrete" or not loss[2] for loss in losses)
    first = _logarithms(losses, _POWERS)
    log_deltas = []
    for e in epsilons.tolist():
        best = int((first - _POWERS * e * (1 - _SLIP)).argmin())
        beside = np.geomspace(_POWERS[max(0, best - 1)], _POWERS[min(len(_POWERS) - 1, best + 1)], _BESIDE)
        gains = [0.0 * beside, _gains(losses, beside, e) if complete else 0.0 * beside]
        logs = _logarithms(losses, beside) - beside * e * (1 - _SLIP) + np.minimum(*gains)
        log_deltas.append(float(logs.min()))
    return np.exp(np.minimum(0.0, log_deltas))


def _gains(losses: dict[Loss, int], powers: Array, epsilon: float) -> Array:
    """Return what the mean M - 1 of e^(s L) - 1 + s (e^-L - 1), which is nowhere negative, gains on the mean M.

    Where L exceeds epsilon, that is at least e^(s L) (1 - (1 + s) e^(-s epsilon)).
    """
    inverse_mean = np.exp(-sum(n * log_moments(loss, powers) for loss, n in losses.items())) * (1 - _NEAR)
    price = np.minimum((1 + powers) * np.exp(-powers * epsilon) * (1 + _NEAR), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(price < inverse_mean, np.log1p(-inverse_mean) - np.log1p(-price), 0.0))


def _logarithms(losses: dict[Loss, int], powers: Array) -> Array:
    """Return the logarithm of the bound at every power, but for the epsilon."""
    total, off = 0.0 * powers, 0.0 * powers
    for loss, n in losses.items():
        moment = log_moments(loss, powers)
        total, off = total + n * moment, off + n * _SLIP * (1 + np.abs(moment))
    constant = powers * np.log(powers / (1 + powers)) - np.log1p(powers)
    return np.asarray(total + constant + off + _SLIP * (1 + np.abs(constant)))


def log_moments(loss: Loss, powers: Array) -> Array:
    """Return ln E_P[e^(s L)] at every power s of a shift, of atoms, and the largest of any pair of a range or a rho."""
    kind, size = loss[0], loss[1]
    if kind == "choice":  # picked by what was seen: the largest at each power
        return np.asarray(np.max([log_moments(option, powers) for option in size], axis=0))
    if sample := drawn(loss):
        return cumulants_of_sample(*sample, powers)
    if kind == "gaussian":
        return np.asarray(powers * (1 + powers) * size * size / 2)
    if kind == "concentrated":
        return np.asarray(powers * (1 + powers) * size)
    if kind == "laplace":
        return np.asarray(powers * size + np.log1p(powers / (2 * powers + 1) * np.expm1(-(2 * powers + 1) * size)))
    if kind == "discrete":
        values, masses = np.array(size).T
        pieces = np.array_split(powers, 1 + len(powers) * len(values) // _ENTRIES)
        return np.concatenate([_of_atoms(values, masses, piece) for piece in pieces])
    # Losses t and t - size, t with probability (e^size - x) / (e^size - 1), x = e^t: the best x - 1 is a quotient.
    low, gain = -np.expm1(-powers * size), math.expm1(size)
    best = (powers * gain - low) / ((1 + powers) * low)
    return np.asarray(powers * np.log1p(best) + np.log((gain + low) / (1 + powers) / gain))


def _of_atoms(values: Array, masses: Array, powers: Array) -> Array:
    """Return the same of atoms; near 0 by the excess of the mean over 1."""
    products, largest = np.multiply.outer(powers, values), float(values.max())
    near = np.log1p(np.expm1(np.minimum(products, 1.0)) @ masses)
    far = powers * largest + np.log(np.exp(products - (powers * largest)[:, None]) @ masses)
    return np.asarray(np.where(powers * float(np.abs(values).max()) < 1, near, far))
