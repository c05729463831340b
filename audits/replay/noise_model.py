"""The law of a function's numbers where they are exact answers plus a linear map of additive noise, as replays show it.

Without noise a run returns its exact answers; what noise adds to them is compared with the draws that were recorded.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from audits.replay.one_call import Call
from dpaudit.model.mechanism import Array

_CLOSE = 1e-9
_MOST_PRODUCTS, _MOST_DENSE = 1 << 22, 24


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseModel:
    """Numbers that are `exact` plus `matrix` times standard noise, whose draws have `laws` and `sites`.

    Shape: `names` and `exact` have one entry a number, `laws` and `sites` one a draw, `matrix` is (numbers, draws).
    """

    names: tuple[str, ...]
    exact: Array
    matrix: Array
    laws: tuple[str, ...]
    sites: tuple[str, ...]

    def of(self, names: Iterable[str]) -> "NoiseModel":
        """Return the model of some of the numbers."""
        places = [self.names.index(name) for name in names]
        return NoiseModel(
            names=tuple(names),
            exact=self.exact[places],
            matrix=self.matrix[places],
            laws=self.laws,
            sites=self.sites,
        )

    def explains(self, call: Call) -> bool:
        """Return whether a call returned what the model says of its noise, up to rounding."""
        numbers, noise = call.numbers, call.noise
        laws, _ = laws_and_sites(call)
        if laws != self.laws or not call.only_additive or any(name not in numbers for name in self.names):
            return False
        seen = np.array([numbers[name] for name in self.names])
        size = np.abs(self.exact) + np.abs(self.matrix) @ np.abs(noise)
        return bool((np.abs(seen - self.exact - self.matrix @ noise) <= _CLOSE * (size + 1e-12)).all())


def laws_and_sites(call: Call) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the law and the line of code of every single draw of additive noise."""
    laws = tuple(draw.law for draw in call.draws for _ in range(len(draw.noise)))
    return laws, tuple(draw.site for draw in call.draws for _ in range(len(draw.noise)))


def noise_model(quiet: Call, calls: tuple[Call, ...]) -> NoiseModel | None:
    """Return the model of the numbers that follow one in all `calls`; None where no number does.

    `quiet` is a call without noise. A number that follows one draw needs four calls; one that sums several needs more
    calls than there are draws, and is left out otherwise.
    """
    laws, sites = laws_and_sites(quiet)
    every = (quiet, *calls)
    if not laws or not all(call.only_additive and laws_and_sites(call)[0] == laws for call in every):
        return None
    names = [n for n, v in quiet.numbers.items() if np.isfinite(v) and all(n in call.numbers for call in calls)]
    if not names or len(names) * len(laws) * len(calls) > _MOST_PRODUCTS:
        return None
    exact = np.array([quiet.numbers[name] for name in names])
    noise = np.array([call.noise for call in calls])
    added = np.array([[call.numbers[name] for name in names] for call in calls]) - exact
    if not np.isfinite(noise).all():
        return None
    matrix = _one_draw_each(added, noise)
    if _enough(noise) and not _fits(exact, matrix, added, noise).all():
        summed = np.linalg.lstsq(noise, added, rcond=None)[0].T
        matrix = np.where(_fits(exact, matrix, added, noise)[:, None], matrix, summed)
    fits = np.flatnonzero(_fits(exact, matrix, added, noise))
    if not len(fits):
        return None
    return NoiseModel(
        names=tuple(names[place] for place in fits),
        exact=exact[fits],
        matrix=matrix[fits],
        laws=laws,
        sites=sites,
    )


def _enough(noise: Array) -> bool:
    """Return whether there are more calls than draws, so that a linear map that fits is no coincidence."""
    calls, draws = noise.shape
    return bool(draws <= _MOST_DENSE and calls >= draws + 2)


def _one_draw_each(added: Array, noise: Array) -> Array:
    """Return the map of each number to the one draw that it follows best. Shape: (numbers, draws)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = added[:, :, None] / noise[:, None, :]
        spread = np.ptp(ratios, axis=0) / np.abs(ratios).max(axis=0)
    spread[~np.isfinite(spread)] = np.inf
    best = spread.argmin(axis=1)
    rows = np.arange(added.shape[1])
    matrix = np.zeros((added.shape[1], noise.shape[1]))
    loudest = np.abs(noise[:, best]).argmax(axis=0)
    matched = np.isfinite(spread[rows, best])
    matrix[rows[matched], best[matched]] = ratios[loudest, rows, best][matched]
    return matrix


def _fits(exact: Array, matrix: Array, added: Array, noise: Array) -> Array:
    """Return which numbers follow the map in all calls, up to rounding."""
    size = np.abs(exact) + np.abs(noise) @ np.abs(matrix).T
    fits: Array = np.all(np.abs(added - noise @ matrix.T) <= _CLOSE * (size + 1e-12), axis=0)
    return fits
