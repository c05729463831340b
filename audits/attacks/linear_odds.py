"""Log odds that are linear in clipped columns, or in columns of few values and their pairs.

The log likelihood ratio of Laplace noise in one column is the distance from the middle of both centres, clipped; that
of Gaussian noise is not clipped; that of a noisy bit is linear. Few weights are fitted, and their size is estimated.
"""

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from audits.attacks.logistic import balanced
from audits.attacks.table import Table
from dpaudit.model.mechanism import Array

_BOUNDS = (0.1, 0.5, 1.0, 2.0, 6.0)
_FEW_VALUES, _MOST_COLUMNS, _MOST_INPUTS, _MOST_PAIRED = 4, 64, 96, 16
_LEAST_RUNS, _ROOM = 200, 2e9
_STEPS, _SMALLEST_RIDGE, _LARGEST_RIDGE = 10, 1e-2, 1e8
_SPREAD, _LARGEST = 1e-12, 1e100
_LEAST_SQUARES = (0.0, 1.0, 2.0, 4.0, 8.0)
_WITHOUT_SOME = 3.0
"""Evidence that inputs are left out costs so many nats: the subset is the best of several, and chosen by labels."""

_Common: TypeAlias = Literal["nothing", "direction", "signs"]
_TOGETHER: tuple[_Common, ...] = ("direction", "signs")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inputs:
    """Inputs of a linear model from the columns of a table, each near 0 with a spread near 1.

    `clipped` holds (place, centre, scale) of each column that is clipped at `bound` scales, `values` holds (place,
    value) of each indicator; `pairs` are places among the inputs whose products are inputs, too. NaN gives 0.
    """

    clipped: tuple[tuple[int, float, float], ...]
    values: tuple[tuple[int, float], ...]
    bound: float
    pairs: tuple[tuple[int, int], ...] = ()

    def __call__(self, numbers: Array) -> Array:
        """Return the inputs of each run, the single ones first. Shape: (runs, inputs)."""
        columns = [
            np.clip((_bounded(numbers[:, column], centre) - centre) / scale, -self.bound, self.bound)
            for column, centre, scale in self.clipped
        ]
        columns += [np.where(numbers[:, column] == value, 1.0, -1.0) for column, value in self.values]
        columns += [columns[i] * columns[j] for i, j in self.pairs]
        return np.column_stack(columns)

    @property
    def singles(self) -> int:
        """How many inputs are no products."""
        return len(self.clipped) + len(self.values)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearOdds:
    """Log odds of the second neighbour, linear in `inputs`."""

    table: Table
    inputs: Inputs
    weights: Array
    intercept: float

    def __call__(self, view: Any) -> Array:
        """Return one score a run."""
        return self.of(self.table.numbers(view))

    def of(self, numbers: Array) -> Array:
        """Return the score of each row of the table's numbers."""
        return self.inputs(numbers) @ self.weights + self.intercept

    @classmethod
    def learned(cls, table: Table, numbers: Array, labels: Array) -> "LinearOdds | None":
        """Return the model of the largest evidence among several bounds, with and without pairs, with fewer inputs.

        Each subset of the inputs has a prior probability: equal for each size, then equal for each subset of a size.
        None for fewer than 2 columns, more than 64, fewer than 200 runs, or runs of one neighbour only.
        """
        if not 2 <= numbers.shape[1] <= _MOST_COLUMNS or len(labels) < _LEAST_RUNS or labels.all() or not labels.any():
            return None
        fits = [_fitted(inputs, numbers, labels, common) for inputs in _candidates(numbers) for common in _TOGETHER]
        if not fits:
            return None
        best = max(fits, key=lambda fit: fit.evidence)
        if not best.inputs.pairs:
            best = max((best, *_sparser(best, numbers, labels)), key=lambda fit: fit.evidence)
        return cls(
            table=table,
            inputs=best.inputs,
            weights=best.weights,
            intercept=balanced(best.inputs(numbers) @ best.weights, labels),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fit:
    """A fitted model, its log evidence, and the squares of its weights in standard errors."""

    inputs: Inputs
    weights: Array
    evidence: float
    squares: Array


def _sparser(fit: _Fit, numbers: Array, labels: Array) -> list[_Fit]:
    """Return fits of only those single inputs whose weights are well above their standard errors."""
    size, sparser_fits = fit.inputs.singles, []
    for least in _LEAST_SQUARES:
        chosen = fit.squares[:size] >= least
        inputs_left = int(chosen.sum())
        if inputs_left == 0:
            break
        first = len(fit.inputs.clipped)
        inputs = Inputs(
            clipped=tuple(part for part, used in zip(fit.inputs.clipped, chosen[:first], strict=True) if used),
            values=tuple(part for part, used in zip(fit.inputs.values, chosen[first:], strict=True) if used),
            bound=fit.inputs.bound,
        )
        price = math.log((size + 1) * math.comb(size, inputs_left)) + _WITHOUT_SOME * (inputs_left < size)
        fits = (_fitted(inputs, numbers, labels, common) for common in ("nothing", *_TOGETHER))
        sparser_fits += [replace(fewer, evidence=fewer.evidence - price) for fewer in fits]
    return sparser_fits


def _candidates(numbers: Array) -> list[Inputs]:
    """Return the inputs to try: one for each bound, and pairs where every column has few values."""
    clipped: list[tuple[int, float, float]] = []
    values: list[tuple[int, float]] = []
    for index, column in enumerate(numbers.T):
        finite = column[np.abs(column) < _LARGEST]
        distinct = np.unique(finite[: 16 * _LEAST_RUNS])
        if 0 < len(distinct) <= _FEW_VALUES:
            values += [(index, float(value)) for value in distinct[1:]]
        elif len(distinct) > 0:
            centre = float(np.median(finite))
            clipped.append((index, centre, max(float(np.abs(finite - centre).mean()), _SPREAD)))
    few = len(clipped) + len(values)
    if not 0 < few <= _MOST_INPUTS:
        return []
    bounds = _BOUNDS if clipped else _BOUNDS[-1:]
    candidates = [Inputs(clipped=tuple(clipped), values=tuple(values), bound=bound) for bound in bounds]
    if not clipped and few <= _MOST_PAIRED:
        pairs = tuple((i, j) for i, j in combinations(range(few), 2) if values[i][0] != values[j][0])
        candidates.append(Inputs(clipped=(), values=tuple(values), bound=_BOUNDS[-1], pairs=pairs))
    return candidates


def _counted(inputs: Inputs, numbers: Array, labels: Array, most: int) -> tuple[Array, Array, Array]:
    """Return inputs, and how many runs and runs of the second neighbour have them; equal rows of few values are one.

    At most `most` rows, the first ones, or 200 if that is more.
    """
    most = max(_LEAST_RUNS, most)
    if not inputs.clipped:
        places = sorted({column for column, _ in inputs.values})
        rows, groups = np.unique(numbers[:, places], axis=0, return_inverse=True)
        if len(rows) <= most:
            distinct = np.zeros((len(rows), numbers.shape[1]))
            distinct[:, places] = rows
            runs = np.bincount(groups.reshape(-1)).astype(float)
            return inputs(distinct), runs, np.bincount(groups.reshape(-1), labels, minlength=len(rows))
    return inputs(numbers[:most]), np.ones(min(most, len(numbers))), labels[:most].astype(float)


def _bounded(column: Array, centre: float) -> Array:
    """Return the column with numbers within 1e100, and `centre` in place of NaN."""
    return np.clip(np.where(np.isnan(column), centre, column), -_LARGEST, _LARGEST)


def _newton(design: Array, groups: Array, runs: Array, second: Array) -> tuple[Array, Array, Array, Array]:
    """Return the weights of a penalised logistic model, its ridges, its probabilities, and its curvature.

    The ridge of each of the first three groups of columns is estimated after each Newton step.
    """
    line, ridge = np.zeros(design.shape[1]), np.where(groups == 3, 1e-6, 100.0)
    share, curvature = np.zeros(len(design)), np.diag(ridge)
    for _ in range(_STEPS):
        share = 1 / (1 + np.exp(-np.clip(design @ line, -30, 30)))
        curvature = (design * (runs * share * (1 - share))[:, None]).T @ design + np.diag(ridge)
        covariance = np.linalg.inv(curvature)
        line = line + np.clip(covariance @ (design.T @ (second - runs * share) - ridge * line), -2, 2)
        for group in range(3):
            chosen = groups == group
            free = float((1 - ridge * np.diag(covariance))[chosen].sum())
            estimate = max(free, 1e-6) / max(float((line[chosen] ** 2).sum()), 1e-12)
            ridge = np.where(chosen, np.clip(estimate, _SMALLEST_RIDGE, _LARGEST_RIDGE), ridge)
    return line, ridge, share, curvature


def _fitted(inputs: Inputs, numbers: Array, labels: Array, common: _Common) -> _Fit:
    """Return a logistic model whose ridges are estimated.

    There is one ridge for the single inputs, one for pairs, and one for what all single inputs have `common`: nothing,
    a size in one direction, or a size with signs of their own, which the labels choose and which cost evidence.
    Source: MacKay (1992), evidence of a Bayesian model; Newton steps on the penalised likelihood.
    """
    size = inputs.singles + len(inputs.pairs)
    rows, runs, second = _counted(inputs, numbers, labels, int(_ROOM / (_STEPS * (size + 2) ** 2)))
    middle = runs @ rows / runs.sum()
    gap = second @ rows / second.sum() - (runs - second) @ rows / (runs - second).sum()
    turned = np.where(gap < 0, -1.0, 1.0) if common == "signs" else np.full(size, float(common == "direction"))
    signs = turned[: inputs.singles]
    together = (rows[:, : inputs.singles] - middle[: inputs.singles]) @ signs / np.sqrt(inputs.singles)
    design = np.column_stack([rows - middle, together, np.ones(len(rows))])
    groups = np.repeat([0, 1, 2, 3], [inputs.singles, len(inputs.pairs), 1, 1])
    line, ridge, share, curvature = _newton(design, groups, runs, second)
    odds = design @ line
    fit = float((second * odds - runs * np.logaddexp(0, odds)).sum()) - float((ridge * line**2).sum()) / 2
    evidence = fit + (float(np.log(ridge).sum()) - float(np.linalg.slogdet(curvature)[1])) / 2
    evidence -= inputs.singles * math.log(2) if common == "signs" else 0.0
    weights = line[:size].copy()
    weights[: inputs.singles] += line[size] * signs / np.sqrt(inputs.singles)
    own = np.delete(np.arange(size + 2), size)
    spread = np.linalg.inv((curvature - np.diag(ridge))[np.ix_(own, own)] + 1e-6 * np.eye(size + 1))
    free_weights = weights + (spread @ (design[:, own].T @ (second - runs * share)))[:size]
    squares = free_weights**2 / np.diag(spread)[:size]
    return _Fit(inputs=inputs, weights=weights, evidence=evidence, squares=squares)
