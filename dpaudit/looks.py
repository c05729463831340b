"""Looks: what a test saw, in words, and how probable something so strange is under the stated law."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, bdtrc

from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One thing that was looked at: the sight in words, and the probability of one so strange under the stated law.

    >>> Look(name="sizes", words="Batches have the declared sizes.", probability=0.3).name
    'sizes'
    """

    words: str
    probability: float
    name: str = ""


def worst(looks: Iterable[Look]) -> Look:
    """Return the look with the smallest probability, corrected for the number of looks (Bonferroni)."""
    found = list(looks)
    least = min(found, key=lambda look: look.probability)
    return Look(words=least.words, probability=min(1.0, least.probability * len(found)), name=least.name)


@dataclass(slots=True)
class Search:
    """The strangest of many looks that are taken one after another, with the number of looks.

    >>> search = Search()
    >>> [search.stranger(np.array([0.5, 0.01])), search.stranger(0.2)]
    [(1,), None]
    >>> search.look("counts").probability
    0.06
    """

    words: str = ""
    probability: float = 1.0
    looks: int = 0

    def stranger(self, tails: Array | float, *, sides: int = 2) -> tuple[int, ...] | None:
        """Return where the smallest of some tails stands if it is smaller than all before, else None.

        Each tail counts as a look at so many sides; whoever gets a place says it in `words`.
        """
        probabilities = np.asarray(tails)
        self.looks += sides * probabilities.size
        place = tuple(int(index) for index in np.unravel_index(int(probabilities.argmin()), probabilities.shape))
        if not probabilities[place] < self.probability:
            return None
        self.probability = float(probabilities[place])
        return place

    def look(self, name: str) -> Look:
        """Return the strangest look, corrected for the number of looks."""
        return Look(name=name, words=self.words, probability=min(1.0, self.probability * self.looks))


def binomial_tails(seen: Array | int, trials: Array | int, share: Array | float) -> Array:
    """Return the smaller tail of a binomial count, at what was seen; at share 1 everything is drawn."""
    number = np.asarray(trials, dtype=np.int64)
    k, n, p = np.broadcast_arrays(np.asarray(seen, dtype=np.float64), number, np.clip(share, 0.0, 1.0))
    below = np.where(p >= 1, np.where(k < n, 0.0, 1.0), bdtr(k, n, np.minimum(p, 1 - 1e-16)))
    above = np.where(k <= 0, 1.0, bdtrc(np.maximum(k - 1, 0), n, p))
    tails: Array = np.minimum(below, above)
    return tails


def count_look(seen: int, trials: int, share: float, where: str) -> Look:
    """Return the exact test of a count, on both sides."""
    tail = float(binomial_tails(seen, trials, share))
    return Look(words=f"{seen} of {trials} {where}, {share * trials:.3g} expected", probability=min(1.0, 2 * tail))


def distance_look(uniform: Array, words: str, name: str = "") -> Look:
    """Return the largest distance of numbers to the uniform distribution function; `{distance}` in `words` is it.

    Shape: (numbers,). Source: the inequality of Massart (1990).
    """
    places, ranks = np.sort(uniform), np.arange(len(uniform) + 1) / len(uniform)
    distance = max(float((ranks[1:] - places).max()), float((places - ranks[:-1]).max()))
    probability = min(1.0, 2 * math.exp(-2 * len(uniform) * distance**2))
    return Look(name=name, words=words.format(distance=f"{distance:.3g}"), probability=probability)
