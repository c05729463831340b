"""The position of a draw in its law: the share of the law below it, and the draw at a share, for laws of one number."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

Given = tuple[tuple[Any, ...], dict[str, Any]]
"""The arguments of a draw."""


@lru_cache(maxsize=1)
def known_laws() -> Mapping[str, tuple[dict[str, Any], Callable[..., Any]]]:
    """Return the laws whose positions are known: their parameters with defaults in numpy, and the same law in scipy."""
    from scipy import stats  # noqa: PLC0415  # a hundred laws load slowly

    spread = {"loc": 0.0, "scale": 1.0}
    return {
        "random": ({}, stats.uniform),
        "uniform": ({"low": 0.0, "high": 1.0}, lambda low, high: stats.uniform(low, high - low)),
        "laplace": (spread, stats.laplace),
        "normal": (spread, stats.norm),
        "standard_normal": ({}, stats.norm),
        "logistic": (spread, stats.logistic),
        "gumbel": (spread, stats.gumbel_r),
        "exponential": ({"scale": 1.0}, lambda scale: stats.expon(0.0, scale)),
        "standard_exponential": ({}, stats.expon),
        "gamma": ({"shape": None, "scale": 1.0}, lambda shape, scale: stats.gamma(shape, 0.0, scale)),
        "standard_gamma": ({"shape": None}, stats.gamma),
        "chisquare": ({"df": None}, stats.chi2),
        "beta": ({"a": None, "b": None}, stats.beta),
        "standard_t": ({"df": None}, stats.t),
        "standard_cauchy": ({}, stats.cauchy),
        "triangular": (
            {"left": None, "mode": None, "right": None},
            lambda left, mode, right: stats.triang((mode - left) / (right - left), left, right - left),
        ),
        "lognormal": ({"mean": 0.0, "sigma": 1.0}, lambda mean, sigma: stats.lognorm(sigma, 0.0, np.exp(mean))),
        "rayleigh": ({"scale": 1.0}, lambda scale: stats.rayleigh(0.0, scale)),
        "weibull": ({"a": None}, stats.weibull_min),
        "power": ({"a": None}, stats.powerlaw),
        "pareto": ({"a": None}, stats.lomax),
        "geometric": ({"p": None}, stats.geom),
        "poisson": ({"lam": 1.0}, stats.poisson),
        "binomial": ({"n": None, "p": None}, stats.binom),
        "negative_binomial": ({"n": None, "p": None}, stats.nbinom),
    }


def draw_at(law: str, given: Given, drawn: Any, index: int, share: float) -> Any:
    """Return what was drawn with the number at `index` exchanged for the one that has `share` of its law below it.

    >>> round(draw_at("exponential", ((2.0,), {}), 0.3, 0, 0.5), 4)
    1.3863
    """
    moved = np.array(drawn)
    moved.flat[index] = _of(law, given, np.shape(drawn), index).ppf(share)
    return moved if isinstance(drawn, np.ndarray) else type(drawn)(moved)


def share_below(law: str, given: Given, drawn: Any, index: int) -> float:
    """Return the share of its law below the number at `index`, and half of the number's own share.

    >>> share_below("geometric", ((0.5,), {}), 1, 0)
    0.25
    """
    of, value = _of(law, given, np.shape(drawn), index), np.asarray(drawn).flat[index]
    return float(of.cdf(value) if not hasattr(of, "pmf") else of.cdf(value) - of.pmf(value) / 2)


def _of(law: str, given: Given, shape: tuple[int, ...], index: int) -> Any:
    """Return the law of one number of a draw, as scipy has it."""
    parameters = known_laws()[law][0]
    asked = parameters | dict(zip(parameters, given[0], strict=False))
    asked |= {name: value for name, value in given[1].items() if name in parameters}
    own = [float(np.broadcast_to(np.asarray(value, dtype=np.float64), shape).flat[index]) for value in asked.values()]
    return _scipy_law(law, *own)


@lru_cache(maxsize=256)
def _scipy_law(law: str, *parameters: float) -> Any:
    """Return a law of scipy; to make one takes longer than most functions."""
    return known_laws()[law][1](*parameters)
