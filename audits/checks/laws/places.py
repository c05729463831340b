"""Outputs as numbers that are uniform on [0, 1] where they follow the density of the mechanism that released them.

Noise that is added number by number is placed by the integral of its density, or by its sum over whole numbers.
An answer of few outcomes is placed by their probabilities, and any other one number by number (`conditionals`).
A whole-number answer has a random place inside its own step of the distribution function.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from audits.checks.laws.conditionals import Law, Placed, placed
from audits.checks.laws.wishart import WISHART
from dpaudit.model.mechanism import AdditiveMechanism, Array, Mechanism, is_additive

_FAR, _WIDEST = 50.0, 2**22
"""Whole numbers are summed to where the log density has fallen so far, and no further than the second."""

_SINGLE, _SUM, _KEYS = 8, 1e-6, 2**62
"""Where more outcomes came only once, others never came; the probabilities of all add up to one within the second."""


def places_of(mechanism: Mechanism, output: Array, value: Array, rng: np.random.Generator) -> Placed | None:
    """Return rows of `output` around the exact answers `value` as uniform numbers; None where no law is known.

    Shape: both are (rows, *item); an answer that is not added to noise is the same in all rows. `rng` places whole
    numbers inside their steps.
    """
    output, value = np.asarray(output), np.asarray(value)
    if output.dtype.kind not in "biuf" or not output.size:
        return None
    try:
        return _places(mechanism, output, value, rng)
    except Exception:  # the density of a plug-in may refuse numbers in any way
        return None


def places_of_noise(mechanism: Mechanism, noise: Array) -> Placed | None:
    """Return rows of noise alone as uniform numbers; None where no law is known."""
    return places_of(mechanism, noise, np.zeros_like(noise), np.random.default_rng(0))


def _places(mechanism: Mechanism, output: Array, value: Array, rng: np.random.Generator) -> Placed | None:
    """Return rows as uniform numbers, by the kind of the mechanism and of its outputs."""
    if mechanism.name in WISHART and output.shape == value.shape:
        law, independent = WISHART[mechanism.name]
        uniform = law(mechanism, output - value).reshape(len(output), -1)
        return Placed(uniform=uniform, independent=independent, mass=None, unread=())
    if (outcomes := _outcomes(mechanism, output, value, rng)) is not None:
        return outcomes
    if is_additive(mechanism):
        return _noise(mechanism, output - value) if output.shape == value.shape else None
    if (value != value[:1]).any():
        return None
    flat = output.reshape(len(output), -1)
    return placed(Law(mechanism=mechanism, answer=value[0], output=flat, shape=output.shape[1:]))


def _outcomes(mechanism: Mechanism, output: Array, value: Array, rng: np.random.Generator) -> Placed | None:
    """Return whole-number answers as uniform numbers; None for other answers, and for too many outcomes.

    Noise that is added number by number has every whole number that its law reaches; other answers have those that
    came, for one exact answer.
    """
    if is_additive(mechanism) and not mechanism.item_axes and output.shape == value.shape:
        return _whole_noise(mechanism, output - value, rng) if _is_whole(mechanism, output) else None
    if output.dtype.kind not in "biu" or (value != value[:1]).any():
        return None
    answer, shape = value[0], output.shape[1:]
    if output.shape == value.shape and not np.ptp(answer) and _by_number(mechanism, output[:1], value[:1]):
        answer, shape = answer.reshape(-1)[:1], (1,)  # so many releases of a number each
    flat = output.reshape(-1, max(1, int(np.prod(shape))))
    _, first, outcome, counts = np.unique(_keys(flat), return_index=True, return_inverse=True, return_counts=True)
    if (counts == 1).sum() > _SINGLE:
        return None
    chances = np.exp(Law(mechanism=mechanism, answer=answer, output=flat, shape=shape).log(flat[first]))
    stepped = _stepped(counts, chances, outcome.reshape(len(output), -1), rng)
    return stepped if stepped.mass is not None and stepped.mass > 1 + _SUM else replace(stepped, mass=None)


def _stepped(counts: Array, chances: Array, outcome: Array, rng: np.random.Generator) -> Placed:
    """Return outcomes by their number, each at a random place in its own step. Shape: `outcome` is (rows, columns)."""
    below = np.cumsum(chances) - chances
    uniform = np.minimum(below[outcome] + chances[outcome] * rng.random(outcome.shape), 1.0)
    mass = float(chances.sum())
    return Placed(uniform=uniform, independent=True, mass=mass, unread=(), counts=counts, chances=chances)


def _by_number(mechanism: Mechanism, output: Array, value: Array) -> bool:
    """Return whether the density is one of single numbers, so that each is a release."""
    return np.shape(mechanism.log_density(output, value)) == output.shape


def _keys(rows: Array) -> Array:
    """Return one number for each row, another one for another row. Shape: (rows, numbers) in, (rows,) out."""
    values, places = np.unique(rows, return_inverse=True)
    numbers = rows.shape[1]
    if len(values) ** numbers >= _KEYS:
        return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return places.reshape(rows.shape) @ len(values) ** np.arange(numbers)


def _is_whole(mechanism: Any, output: Array) -> bool:
    """Return whether answers are whole numbers; sums of them in trees may be floats."""
    return output.dtype.kind in "biu" or bool(getattr(mechanism, "exact_sampler", False))


def _whole_noise(mechanism: Mechanism, noise: Array, rng: np.random.Generator) -> Placed:
    """Return whole-number noise as uniform numbers; a number that is not whole gets the last place."""
    tails = [_log(mechanism, sign * 2 ** np.arange(1, 23)) for sign in (-1, 1)]
    reached = np.flatnonzero(np.maximum(*tails) > np.max(_log(mechanism, np.arange(-1, 2))) - _FAR)
    reach = min(2 ** (int(reached.max(initial=0)) + 2), _WIDEST)
    inside = (np.abs(noise) <= reach) & (noise == np.floor(noise))
    step = np.where(inside, noise + reach, 2 * reach + 1).astype(np.int64).reshape(len(noise), -1)
    chances = np.append(np.exp(_log(mechanism, np.arange(-reach, reach + 1))), 0.0)
    stepped = _stepped(np.bincount(step.ravel(), minlength=len(chances)), chances, step, rng)
    return stepped if reach < _WIDEST else replace(stepped, mass=None)


def _noise(mechanism: AdditiveMechanism, noise: Array) -> Placed | None:
    """Return added noise as uniform numbers, draw by draw: of single numbers, or of matrices."""
    item = noise.shape[noise.ndim - mechanism.item_axes :] or (1,)
    draws = noise.reshape(-1, int(np.prod(item)))
    drawn = placed(Law(mechanism=mechanism, answer=np.zeros(item), output=draws, shape=item))
    if drawn is None or (not drawn.uniform.size and np.ptp(noise)):
        return None
    if not drawn.uniform.size:  # all noise is one number
        return replace(drawn, uniform=np.zeros((len(noise), 1)))
    return replace(drawn, uniform=drawn.uniform.reshape(len(noise), -1)) if drawn.independent else drawn


def _log(mechanism: Mechanism, noise: Array) -> Array:
    """Return the log density of single numbers of noise. Shape: (numbers,) in and out."""
    column = np.asarray(noise)[:, None]
    with np.errstate(all="ignore"):
        logs = np.asarray(mechanism.log_density(column, np.zeros_like(column)), dtype=np.float64)
    return logs.reshape(len(column))
