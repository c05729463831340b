"""Reference laws, written apart from the mechanisms: what turns their noise into numbers that are uniform on [0, 1].

A mechanism is known by its name and its public parameters. Where it has the stated law, each column that is returned
here is uniform, and the columns of a row are independent unless `dependent` names the mechanism. Discrete answers get a
random place inside their own step of the distribution function, so that theirs are uniform as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtr, gamma, kv, ndtr

from audits.checks.laws.strategies import rows_of
from dpaudit.model.mechanism import Array, Mechanism

_GRID = 20_001
_SLOPE = 1e-6
"""Half the width, in units of the noise, over which a slope is taken."""

_COARSE = 400  # midpoints of the unit interval, within 1e-6 of a mean of polynomials


def uniforms(mechanism: Mechanism, output: Array, value: Array, rng: np.random.Generator) -> Array | None:
    """Return the rows of `output` as uniform numbers; None where no reference law is known for the mechanism.

    Shape: `output` and `value` are (rows, *item); the result is (rows, columns). `rng` places discrete answers.
    """
    if not has_reference(mechanism):
        return None
    return _flat(_LAWS[mechanism.name][0](mechanism, np.asarray(output), np.asarray(value), rng))


def steps(mechanism: Mechanism, output: Array, value: Array) -> tuple[Array, Array] | None:
    """Return both ends of each whole-number answer's step of the distribution function; None where there are none.

    Shape: `output` and `value` are (rows, *item), both results (rows, columns). The step's height is the probability of
    the answer.
    """
    if not has_reference(mechanism) or np.asarray(output).dtype.kind not in "iu":
        return None
    law, _ = _LAWS[mechanism.name]
    places: tuple[Any, Any] = (_At(0.0), _At(1.0))
    lower, upper = (_flat(law(mechanism, output, value, place)) for place in places)
    return lower, upper


def log_probability(mechanism: Mechanism, output: Array, value: Array) -> Array | None:
    """Return the log density of each row: heights of steps, or slopes of the distribution function, within 1e-6.

    None where no reference law is known, and where its columns are not the numbers of a row.
    """
    output, value = np.asarray(output), np.asarray(value)
    ends, widths = steps(mechanism, output, value), np.ones(1)
    if ends is None:
        leaf: Any = getattr(mechanism, "leaf", mechanism)
        unit = getattr(leaf, "stddev", getattr(leaf, "scale", None))
        if not has_reference(mechanism) or unit is None or dependent(mechanism):
            return None
        sides = output - _SLOPE * unit, output + _SLOPE * unit
        law, widths = _LAWS[mechanism.name][0], _flat(sides[1] - sides[0])
        lower, upper = (_flat(law(mechanism, side, value, _At(0.5))) for side in sides)  # type: ignore[arg-type]
        if lower.shape != widths.shape:
            return None
        ends = lower, upper
    with np.errstate(divide="ignore"):  # an output that the law never gives
        logs: Array = np.log((ends[1] - ends[0]) / widths).sum(axis=1)
    return logs


@dataclass(frozen=True, slots=True)
class _At:
    """Stands for a generator: every place inside a step is the same one."""

    place: float

    def random(self, shape: tuple[int, ...]) -> Array:
        """Return the place."""
        return np.full(shape, self.place)


def has_reference(mechanism: Mechanism) -> bool:
    """Return whether a reference law is known: for the name, with the parameters that the law reads.

    A plug-in may have the name of a shipped mechanism and other parameters; then no reference is known.
    """
    leaf = getattr(mechanism, "leaf", None) if mechanism.name == "matrix" else None
    _, parameters = _LAWS.get(mechanism.name, (None, ("unknown",)))
    known = all(hasattr(mechanism, name) for name in parameters)
    return known and (leaf is None or leaf.name == "gaussian")


def dependent(mechanism: Mechanism) -> bool:
    """Return whether the columns of one row depend on each other although the law is right."""
    return mechanism.name == "symmetrised_wishart"


def _flat(values: Array) -> Array:
    """Return one row a release."""
    return values.reshape(len(values), -1)


def _gaussian(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """Independent normal numbers."""
    del rng
    placed: Array = ndtr(_flat(output - value) / mechanism.stddev)
    return placed


def _matrix(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """Rows of a strategy under the noise of the leaf."""
    return _gaussian(mechanism.leaf, output, rows_of(mechanism, value), rng)


def _laplace(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """Independent Laplace numbers."""
    del rng
    return laplace_distribution(_flat(output - value) / mechanism.scale)


def laplace_distribution(x: Array) -> Array:
    """Return the distribution function of the standard Laplace law."""
    half = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0, half, 1 - half)


def _symmetric(noise: Array, diagonal: float, off: float) -> Array:
    """Normal numbers on and above the diagonal; below it nothing new, or a column that is not uniform."""
    rows, columns = np.triu_indices(noise.shape[-1])
    deviation = np.where(rows == columns, diagonal, off)
    placed: Array = ndtr(noise[..., rows, columns] / deviation)
    size = np.abs(noise).max(axis=(-2, -1), keepdims=True)
    unequal = (np.abs(noise - np.swapaxes(noise, -1, -2)) > 1e-9 * size).any(axis=(-2, -1))
    placed[unequal] = 0.0
    return placed


def _symmetric_gaussian(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """Half the sum, the mirror, or the sum over root 2 of a square of normal numbers and its transpose."""
    del rng
    root = np.sqrt(2.0)
    diagonal, off = {"half": (1.0, 1 / root), "mirror": (1.0, 1.0), "sqrt2": (root, 1.0)}[mechanism.symmetry]
    noise = output - _upper(value)
    return _symmetric(noise, diagonal * mechanism.stddev, off * mechanism.stddev)


def _upper(value: Array) -> Array:
    """Return the upper triangle of each matrix, mirrored: what a mechanism on symmetric matrices reads."""
    upper = np.triu(value)
    return upper + np.swapaxes(np.triu(value, 1), -1, -2)


def _joint_gaussian(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """A symmetric matrix, half the sum of a square and its transpose, and a vector as its last column."""
    del rng
    noise = output - np.concatenate([_upper(value[..., :-1]), value[..., -1:]], axis=-1)
    matrix = _symmetric(noise[..., :-1], mechanism.matrix_stddev, mechanism.matrix_stddev / np.sqrt(2.0))
    return np.concatenate([matrix, ndtr(noise[..., -1] / mechanism.vector_stddev)], axis=-1)


def _wishart(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """Bartlett's factor: independent chi and normal numbers of dimension + 1 degrees of freedom."""
    del rng
    noise = (output - _upper(value)) / mechanism.scale
    dimension = noise.shape[-1]
    with np.errstate(all="ignore"):
        factor = np.linalg.cholesky(noise + 1e-12 * np.eye(dimension))
    rows, columns = np.tril_indices(dimension, -1)
    freedom = dimension + 1 - np.arange(dimension)
    squares = np.diagonal(factor, axis1=-2, axis2=-1) ** 2
    return np.concatenate([chdtr(freedom, squares), ndtr(factor[..., rows, columns])], axis=-1)


def _symmetrised_wishart(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """Along unit vectors the noise is the difference of two chi-square numbers, times the scale."""
    del rng
    noise = (output - _upper(value)) / mechanism.scale
    dimension = noise.shape[-1]
    diagonal = np.diagonal(noise, axis1=-2, axis2=-1)
    rows, columns = np.triu_indices(dimension, 1)
    mixed = (diagonal[..., rows] + diagonal[..., columns]) / 2 + noise[..., rows, columns]
    return chi_square_difference(np.concatenate([diagonal, mixed], axis=-1), dimension + 1)


def chi_square_difference(x: Array, freedom: int) -> Array:
    """Return the distribution function of the difference of two independent chi-square numbers, within 1e-7.

    The density is |x|^(m) K_m(|x| / 2) / (4^(m + 1/2) sqrt(pi) Gamma(m + 1/2)) with m = (freedom - 1) / 2.
    """
    order = (freedom - 1) / 2
    ends = np.linspace(0.0, 40.0 + 12 * np.sqrt(freedom), _GRID)
    middle = (ends[1:] + ends[:-1]) / 2
    density = middle**order * kv(order, middle / 2) / (4 ** (order + 0.5) * np.sqrt(np.pi) * gamma(order + 0.5))
    above = np.concatenate([[0.0], np.cumsum(density * np.diff(ends))])
    half: Array = np.interp(np.abs(x), ends, above * (0.5 / above[-1]))
    return np.where(x < 0, 0.5 - half, 0.5 + half)


def _stepped(below: Array, mass: Array, rng: np.random.Generator) -> Array:
    """Return a random place in each answer's own step."""
    return below + mass * rng.random(np.shape(mass))


def _discrete(log_weight: Callable[[Any, Array], Array]) -> Callable[..., Array]:
    """Return the law of whole numbers whose probabilities are proportional to e^(log_weight)."""

    def law(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
        noise = _flat(output - value)
        spread = max(60 * getattr(mechanism, "scale", 0.0), 12 * getattr(mechanism, "stddev", 0.0))
        reach = int(min(max(np.abs(noise).max(initial=1), spread + 8), 2**22))
        places = np.arange(-reach, reach + 1)
        mass = np.exp(log_weight(mechanism, places))
        mass /= mass.sum()
        below = np.concatenate([[0.0], np.cumsum(mass)])
        index = np.clip(np.floor(noise).astype(np.int64) + reach, 0, 2 * reach)
        placed = _stepped(below[index], mass[index], rng)
        placed[(noise != np.floor(noise)).any(axis=1)] = 0.0
        return placed

    return law


def _response(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """The distance to the true category, around the circle of categories."""
    others = mechanism.categories - 1
    truth = 1 / (1 + others * np.exp(-mechanism.epsilon))
    moved = _flat(output - value) % mechanism.categories
    mass = np.where(moved == 0, truth, (1 - truth) / others)
    below = np.where(moved == 0, 0.0, truth + (moved - 1) * (1 - truth) / others)
    return _stepped(below, mass, rng)


def _unary_encoding(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """Independent bits, the true category's first."""
    chance = np.full(output.shape, 1 / (1 + np.exp(mechanism.epsilon / 2)))
    chance[..., 0] = 1 - chance[..., 0]
    if mechanism.encoding == "optimised":
        chance[..., 0], chance[..., 1:] = 0.5, 1 / (1 + np.exp(mechanism.epsilon))
    return _bits(chance, _truth_first(output, value), rng)


def _subset_selection(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """The bit of the true category, and each further one given those before: what is left over the places left."""
    bits = _truth_first(output, value)
    size, places = mechanism.subset_size, mechanism.categories - np.arange(mechanism.categories)
    chance = (size - np.cumsum(bits, axis=-1) + bits) / places
    chance[..., 0] = size / (size + (mechanism.categories - size) * np.exp(-mechanism.epsilon))
    return _bits(np.clip(chance, 0.0, 1.0), bits, rng)


def _truth_first(output: Array, value: Array) -> Array:
    """Return each row of bits, turned so that it begins with the true category."""
    turned = (value[..., None] + np.arange(output.shape[-1])) % output.shape[-1]
    return np.take_along_axis(output, turned, axis=-1)


def _bits(chance: Array, bits: Array, rng: np.random.Generator) -> Array:
    """Return a random place in the step of each row of bits, each of them set with its `chance`: steps in steps."""
    masses = np.where(bits == 1, chance, 1 - chance)
    rows = np.cumprod(masses, axis=-1)
    before = rows / np.where(masses > 0, masses, 1.0)
    return _stepped(np.where(bits == 1, before * (1 - chance), 0.0).sum(axis=-1), rows[..., -1], rng)


def _exponential(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """One candidate of each row, with probability proportional to e^(epsilon utility / (2 sensitivity))."""
    weights = value * (mechanism.epsilon / (2 * mechanism.linf_sensitivity))
    mass = np.exp(weights - weights.max(axis=-1, keepdims=True))
    mass /= mass.sum(axis=-1, keepdims=True)
    return _picked(mass, output, rng)


def _noisy_max(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """The largest of several scores under Laplace noise: its density times the others' distribution functions."""
    rows, where = np.unique(value / mechanism.scale, axis=0, return_inverse=True)
    mass = np.stack([_winning(row) for row in rows])[where.reshape(-1)]
    return _picked(mass, output, rng)


def _plurality(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """The largest of several numbers of votes under normal noise."""
    rows, where = np.unique(np.asarray(value) / mechanism.stddev, axis=0, return_inverse=True)
    mass = np.stack([_winning(row, normal=True) for row in rows])[where.reshape(-1)]
    return _picked(mass, output, rng)


def _winning(scores: Array, *, normal: bool = False) -> Array:
    """Return the probability that each score wins under unit Laplace noise, or normal noise, within 1e-5."""
    points = np.linspace(scores.min() - 30, scores.max() + 30, _GRID)
    apart = points - scores[:, None]
    density, below = 0.5 * np.exp(-np.abs(apart)), laplace_distribution(apart)
    if normal:
        density, below = np.exp(-(apart**2) / 2), ndtr(apart)
    won = np.array([(density[k] * np.delete(below, k, axis=0).prod(axis=0)).sum() for k in range(len(scores))])
    shares: Array = won / won.sum()
    return shares


def _permuted(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """The largest of several scores under exponential noise."""
    rows, where = np.unique(value / mechanism.scale, axis=0, return_inverse=True)
    mass = np.stack([_kept(row) for row in rows])[where.reshape(-1)]
    return _picked(mass, output, rng)


def _kept(scores: Array) -> Array:
    """Return the probability that each score wins: p times the mean over u of the others' 1 - u p."""
    heads = np.exp(scores - scores.max())
    lasts = 1 - heads[:, None] * (np.arange(_COARSE) + 0.5) / _COARSE
    won = heads * [np.delete(lasts, k, axis=0).prod(axis=0).mean() for k in range(len(heads))]
    shares: Array = won / won.sum()
    return shares


def _finite(mechanism: Any, output: Array, value: Array, rng: np.random.Generator) -> Array:
    """One outcome of each answer's law, which is drawn towards the mean of both laws by the dilution."""
    laws = np.array([mechanism.first, mechanism.second], dtype=np.float64)
    laws /= laws.sum(axis=1, keepdims=True)
    middle = laws.mean(axis=0)
    mass = np.clip(middle + (laws - middle) / mechanism.dilution, 0.0, 1.0)
    return _picked(mass[np.asarray(value).reshape(-1).astype(np.int64)], np.asarray(output).reshape(-1), rng)


def _picked(mass: Array, output: Array, rng: np.random.Generator) -> Array:
    """Return the place of each picked candidate in its row's distribution."""
    index = np.asarray(output).astype(np.int64)[..., None]
    below = np.cumsum(mass, axis=-1) - mass
    return _stepped(np.take_along_axis(below, index, axis=-1), np.take_along_axis(mass, index, axis=-1), rng)


def _discrete_gaussian_weight(mechanism: Any, place: Array) -> Array:
    """The discrete Gaussian law."""
    weight: Array = -(place.astype(np.float64) ** 2) / (2 * mechanism.stddev**2)
    return weight


def _truncated_weight(mechanism: Any, place: Array) -> Array:
    """The discrete Gaussian law, cut off on both sides."""
    bound = round(mechanism.cut * mechanism.stddev)
    return np.where(np.abs(place) <= bound, _discrete_gaussian_weight(mechanism, place), -np.inf)


def _discrete_laplace_weight(mechanism: Any, place: Array) -> Array:
    """The discrete Laplace law."""
    weight: Array = -np.abs(place) / mechanism.scale
    return weight


_LAWS: dict[str, tuple[Callable[[Any, Array, Array, np.random.Generator], Array], tuple[str, ...]]] = {
    "gaussian": (_gaussian, ("stddev",)),
    "laplace": (_laplace, ("scale",)),
    "matrix": (_matrix, ("strategy", "horizon", "entries", "leaf")),
    "ball_laplace": (_laplace, ("scale",)),
    "symmetric_gaussian": (_symmetric_gaussian, ("stddev", "symmetry")),
    "joint_gaussian": (_joint_gaussian, ("matrix_stddev", "vector_stddev")),
    "one_sided_wishart": (_wishart, ("scale",)),
    "symmetrised_wishart": (_symmetrised_wishart, ("scale",)),
    "discrete_gaussian": (_discrete(_discrete_gaussian_weight), ("stddev",)),
    "truncated_discrete_gaussian": (_discrete(_truncated_weight), ("stddev", "cut")),
    "discrete_laplace": (_discrete(_discrete_laplace_weight), ("scale",)),
    "randomised_response": (_response, ("epsilon", "categories")),
    "unary_encoding": (_unary_encoding, ("epsilon", "categories", "encoding")),
    "subset_selection": (_subset_selection, ("epsilon", "categories", "subset_size")),
    "exponential": (_exponential, ("epsilon", "linf_sensitivity", "utilities")),
    "report_noisy_max": (_noisy_max, ("scale", "linf_sensitivity")),
    "permute_and_flip": (_permuted, ("scale", "linf_sensitivity", "scores")),
    "noisy_plurality": (_plurality, ("stddev", "voters")),
    "finite": (_finite, ("first", "second", "dilution")),
}
"""The reference law of each shipped mechanism that is no tree, and what it reads; a node of a tree has its leaf's."""
