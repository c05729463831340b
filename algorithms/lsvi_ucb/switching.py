"""When a policy changes by what the noisy matrices say: post-processing, which the paper leaves open.

With noise the determinant of a later matrix can be the larger one by noise alone, and a determinant that has doubled
says nothing about single directions: noise that changes forms by a factor of at most c lets them differ by 2 c^(d-1).
Two rules survive it, see `settings.RULES`.
"""

from collections.abc import Callable

import numpy as np

from algorithms._linear_rl.least_squares import symmetric
from dpaudit.model.mechanism import Array

Grown = Callable[[Array, Array], Array]
"""grown(old, new) -> how much regularised matrices have grown, what the threshold is compared with"""


def regularised(matrices: Array, ridge: float, shift: float) -> Array:
    """Return symmetric matrices with ridge and shift, eigenvalues below the ridge raised to it. Shape: (..., d, d)."""
    values, vectors = np.linalg.eigh(symmetric(matrices) + (ridge + shift) * np.eye(matrices.shape[-1]))
    return (vectors * np.maximum(values, ridge)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def determinant_grown(old: Array, new: Array) -> Array:
    """Return ln det new - ln det old. Shape: (..., d, d) to (...).

    Guarantee: with a shift of c + U, c >= d U and noise of norm at most U, it is within 2 of the exact matrices', so
    beyond a threshold above 2 the exact ones have grown, and below it no exact form has grown by more than
    e^(threshold + 2).
    """
    return np.linalg.slogdet(new)[1] - np.linalg.slogdet(old)[1]


def spectrum_grown(old: Array, new: Array) -> Array:
    """Return the largest factor by which a form has grown, the top eigenvalue of old^-1/2 new old^-1/2.

    Guarantee: with noise that changes every form by a factor in [1 - r, 1 + r], exact forms have grown by c less at
    least and c more at most, c = (1 + r) / (1 - r); r is at most 1/2 at a shift of twice the noise's norm.
    """
    roots = np.linalg.inv(np.linalg.cholesky(old))
    return np.linalg.eigvalsh(roots @ new @ np.swapaxes(roots, -1, -2))[..., -1]
