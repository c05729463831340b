"""The law of a function's numbers where they are exact answers plus a linear map of additive noise, as replays show it.

Without noise a run returns its exact answers; what noise adds to them is compared with the draws that were recorded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from audits.replay.one_call import Call, Calls
from audits.replay.products import Product, products
from dpaudit.model.mechanism import Array

LOUD_STREAM, LOUD, LOUDER = 8_513, 3.0, 12
"""Noise of so many times its size is drawn in so many calls."""

_CLOSE = 1e-9
_MOST_PRODUCTS, _MOST_DENSE = 1 << 22, 24


Site = tuple[str, str]
"""The law of additive noise, and the line of code that asks for it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseModel:
    """Numbers that are `exact` plus `matrix` times standard noise: each of `draws` is a number of draws at one site.

    Every run draws equally often at these sites. What it draws elsewhere, from whatever law and however often, leaves
    their noise as it is: each of their draws is fresh when it is made, and none is left out.

    `products` says which of the names are products of numbers of the output.

    Shape: `names` and `exact` have one entry a number, `matrix` is (numbers, draws).
    """

    names: tuple[str, ...]
    exact: Array
    matrix: Array
    draws: tuple[tuple[Site, int], ...]
    products: Mapping[str, Product] = field(default_factory=dict[str, Product])

    @property
    def followed(self) -> frozenset[str]:
        """The numbers whose law the model knows, also those that it knows by a product."""
        return frozenset(self.products[name].name if name in self.products else name for name in self.names)

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of every draw."""
        return tuple(law for (law, _), _ in self.draws)

    @property
    def sites(self) -> tuple[str, ...]:
        """The line of code of every draw."""
        return tuple(line for (_, line), _ in self.draws)

    def of(self, names: Iterable[str]) -> "NoiseModel":
        """Return the model of some of the numbers, with the sites whose draws enter them."""
        chosen = tuple(names)
        matrix = self.matrix[[self.names.index(name) for name in chosen]]
        used = {self.draws[draw][0] for draw in np.flatnonzero((matrix != 0).any(axis=0))}
        columns = [column for column, (site, _) in enumerate(self.draws) if site in used]
        return replace(
            self,
            names=chosen,
            exact=self.exact[[self.names.index(name) for name in chosen]],
            matrix=matrix[:, columns],
            draws=tuple(self.draws[column] for column in columns),
        )

    def joined(self, other: "NoiseModel") -> "NoiseModel":
        """Return the model of the numbers of both."""
        draws = tuple(dict.fromkeys((*self.draws, *other.draws)))
        return NoiseModel(
            names=(*self.names, *other.names),
            exact=np.concatenate([self.exact, other.exact]),
            matrix=np.concatenate([self.over(draws).matrix, other.over(draws).matrix]),
            draws=draws,
            products={**self.products, **other.products},
        )

    def over(self, draws: tuple[tuple[Site, int], ...]) -> "NoiseModel":
        """Return the model with the columns of `draws`, which hold all of its own."""
        matrix = np.zeros((len(self.names), len(draws)))
        matrix[:, [draws.index(draw) for draw in self.draws]] = self.matrix
        return replace(self, matrix=matrix, draws=draws)

    def louder(self, factor: float) -> "NoiseModel":
        """Return the model of calls whose noise is multiplied by a factor."""
        return replace(self, matrix=factor * self.matrix)

    def holds_beyond(self, call: Calls, data: Any, reach: float) -> bool:
        """Return whether calls with noise of several times its size follow the model too, out to where a loss shows.

        Output that is cut, or another branch that is taken for large noise, may keep the claim.
        """
        return reach < inf and all(
            self.louder(factor).explains(call(data, LOUD_STREAM, number, factor=factor))
            for factor in {LOUD, reach}
            for number in range(LOUDER)
        )

    def explains(self, call: Call) -> bool:
        """Return whether a call returned what the model says of its noise, up to rounding."""
        drawn = call.noise_by_site
        numbers = call.numbers | {name: product.of(call.numbers) for name, product in self.products.items()}
        sites = {site for site, _ in self.draws}
        if any(name not in numbers for name in self.names) or not sites <= set(drawn):
            return False
        if sum(len(drawn[site]) for site in sites) != len(self.draws):
            return False
        noise = np.array([drawn[site][number] for site, number in self.draws])
        seen = np.array([numbers[name] for name in self.names])
        size = np.abs(self.exact) + np.abs(self.matrix) @ np.abs(noise)
        return bool((np.abs(seen - self.exact - self.matrix @ noise) <= _CLOSE * (size + 1e-12)).all())


def model_with_products(quiet: Call, calls: tuple[Call, ...]) -> NoiseModel | None:
    """Return the noise model of the numbers, with products of those that have no law by themselves."""
    model = noise_model(quiet, calls)
    followed = () if model is None else model.names
    counts = {name for name in quiet.numbers if all(call.numbers.get(name, 0.5).is_integer() for call in calls)}
    left = [name for name in quiet.numbers if name not in followed and name not in counts]  # a quotient is seldom whole
    made = products(quiet.numbers, left) if left else {}
    if not made:
        return model
    more, *others = (
        replace(call, columns={name: product.of(call.numbers) for name, product in made.items()})
        for call in (quiet, *calls)
    )
    product_model = noise_model(more, tuple(others))
    if product_model is None:
        return model
    firsts = {made[name].name: name for name in product_model.names[::-1]}
    of_products = replace(product_model.of(firsts.values()), products={name: made[name] for name in firsts.values()})
    return of_products if model is None else model.joined(of_products)


def noise_model(quiet: Call, calls: tuple[Call, ...]) -> NoiseModel | None:
    """Return the model of the numbers that follow one in all `calls`; None where no number does.

    Only draws of additive noise count, at lines of code that draw it equally often in every call. `quiet` is a call
    without noise. A number that follows one draw needs four calls; one that sums several needs more
    calls than there are draws, and is left out otherwise.
    """
    every = (quiet, *calls)
    drawn = [call.noise_by_site for call in every]
    sites = [site for site, noise in drawn[0].items() if all(len(run.get(site, ())) == len(noise) for run in drawn)]
    draws = tuple((site, index) for site in sites for index in range(len(drawn[0][site])))
    names = [n for n, v in quiet.numbers.items() if np.isfinite(v) and all(n in call.numbers for call in calls)]
    if not names or not draws or len(names) * len(draws) * len(calls) > _MOST_PRODUCTS:
        return None
    exact = np.array([quiet.numbers[name] for name in names])
    noise = np.array([np.concatenate([run[site] for site in sites]) for run in drawn[1:]])
    added = np.array([[call.numbers[name] for name in names] for call in calls]) - exact
    if not np.isfinite(noise).all():
        return None
    matrix = _one_draw_each(added, noise)
    if _enough(noise) and not _fits(exact, matrix, added, noise).all():
        summed = np.linalg.lstsq(noise, added, rcond=None)[0].T
        summed[np.abs(summed) <= _CLOSE * np.abs(summed).max(axis=1, keepdims=True)] = 0.0
        matrix = np.where(_fits(exact, matrix, added, noise)[:, None], matrix, summed)
    fits = np.flatnonzero(_fits(exact, matrix, added, noise))
    if not len(fits):
        return None
    return NoiseModel(
        names=tuple(names[index] for index in fits),
        exact=exact[fits],
        matrix=matrix[fits],
        draws=draws,
    )


def _enough(noise: Array) -> bool:
    """Return whether there are more calls than draws, so that a linear map that fits is no coincidence."""
    calls, draws = noise.shape
    return bool(draws <= _MOST_DENSE and calls >= draws + 2)


def _one_draw_each(added: Array, noise: Array) -> Array:
    """Return the map of each number to the one draw that it follows best. Shape: (numbers, draws)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
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
    return np.all(np.abs(added - noise @ matrix.T) <= _CLOSE * (size + 1e-12), axis=0)
