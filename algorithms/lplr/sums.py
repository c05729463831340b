"""The noise of a whole phase, exact in law: the first user's from the declared mechanism, the others' as one sum.

Sums of independent Laplace variables are differences of gamma variables, sums of Wishart matrices are Wishart
matrices, sums of normals are normal. So a phase costs the same for a thousand users and for 10^17.
"""

import math

import numpy as np

from dpaudit import Mechanism, Recorder, UnsupportedError
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import tape_of
from mechanisms import BallLaplace, Gaussian, Laplace, OneSidedWishart, SymmetrisedWishart


def released_sum(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, users: int) -> Array:
    """Return `value`, the exact sum of `users` messages, with the noise of all of them, centred.

    The first user's noise is drawn by `mechanism` through `recorder`; it is therefore what the trace shows.
    Printed Wishart noise is centred at its public mean, as the printed protocol does. A tape gets the noise of the sum.
    """
    first = recorder.release(label, mechanism, value)
    others = noise_sum(mechanism, value.shape, users - 1, recorder.rng)
    total: Array = first + others - users * noise_mean(mechanism, value.shape)
    tape = tape_of(recorder.rng)
    if tape is not None:
        tape.total(label, mechanism, users, total - value)
    return total


def noise_mean(mechanism: Mechanism, shape: tuple[int, ...]) -> Array:
    """Return the public mean of one message's noise: 0 but for one-sided Wishart noise."""
    match mechanism:
        case OneSidedWishart(scale=scale):
            return (shape[-1] + 1) * float(scale) * np.broadcast_to(np.eye(shape[-1]), shape)
        case _:
            return np.zeros(shape)


def noise_sum(mechanism: Mechanism, shape: tuple[int, ...], users: int, rng: np.random.Generator) -> Array:
    """Return the sum of the noises of `users` messages, not centred; zeros for no users.

    Raises: UnsupportedError: a mechanism whose sums have no law here.
    """
    if users == 0:
        return np.zeros(shape)
    match mechanism:
        case Laplace(scale=scale) | BallLaplace(scale=scale):
            return scale * (rng.standard_gamma(users, shape) - rng.standard_gamma(users, shape))
        case OneSidedWishart(scale=scale):
            return wishart_sum(shape, scale, users, rng)
        case SymmetrisedWishart(scale=scale):
            return wishart_sum(shape, scale, users, rng) - wishart_sum(shape, scale, users, rng)
        case Gaussian(stddev=stddev):
            return math.sqrt(users) * float(stddev) * rng.standard_normal(shape)
        case _:
            raise UnsupportedError(f"The sum of many {mechanism.name!r} noises has no law here; draw them one by one.")


def wishart_sum(shape: tuple[int, ...], scale: float, users: int, rng: np.random.Generator) -> Array:
    """Return the sum of `users` Wishart(d + 1, scale I) matrices: Wishart with users (d + 1) degrees of freedom.

    Drawn as L L^T with chi variables on the diagonal of a lower triangle and normals below it.
    Source: Bartlett (1933).
    """
    dimension = shape[-1]
    factor = np.tril(rng.standard_normal(shape), -1)
    degrees = float(users) * (dimension + 1) - np.arange(dimension)
    diagonal = np.arange(dimension)
    factor[..., diagonal, diagonal] = np.sqrt(2 * rng.standard_gamma(degrees / 2, shape[:-1]))
    return scale * (factor @ np.swapaxes(factor, -1, -2))
