"""Looks: what a test saw, in words, and how probable something so strange is under the stated law."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, bdtrc, chdtr, chdtrc, ndtr

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
    all_looks = list(looks)
    least = min(all_looks, key=lambda look: look.probability)
    return Look(words=least.words, probability=min(1.0, least.probability * len(all_looks)), name=least.name)


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
        position = tuple(int(index) for index in np.unravel_index(int(probabilities.argmin()), probabilities.shape))
        if not probabilities[position] < self.probability:
            return None
        self.probability = float(probabilities[position])
        return position

    def look(self, name: str) -> Look:
        """Return the strangest look, corrected for the number of looks."""
        return Look(name=name, words=self.words, probability=min(1.0, self.probability * self.looks))


def binomial_tails(seen: Array | int, trials: Array | int, share: Array | float) -> Array:
    """Return the smaller tail of a binomial count, at what was seen; at share 1 everything is drawn."""
    number = np.asarray(trials, dtype=np.int64)
    k, n, p = np.broadcast_arrays(np.asarray(seen, dtype=np.float64), number, np.clip(share, 0.0, 1.0))
    below = np.where(p >= 1, np.where(k < n, 0.0, 1.0), bdtr(k, n, np.minimum(p, 1 - 1e-16)))
    above = np.where(k <= 0, 1.0, bdtrc(np.maximum(k - 1, 0), n, p))
    return np.minimum(below, above)


def count_look(seen: int, trials: int, share: float, where: str) -> Look:
    """Return the exact test of a count, on both sides."""
    tail = float(binomial_tails(seen, trials, share))
    return Look(words=f"{seen} of {trials} {where}, {share * trials:.3g} expected", probability=min(1.0, 2 * tail))


def distance_look(uniform: Array, words: str, name: str = "") -> Look:
    """Return the largest distance of numbers to the uniform distribution function; `{distance}` in `words` is it.

    It lies where a share `{seen}` of the numbers stands, and a share `{stated}` should.
    Shape: (numbers,). Source: the inequality of Massart (1990).
    """
    places, ranks = np.sort(uniform), np.arange(len(uniform) + 1) / len(uniform)
    apart = np.concatenate([ranks[1:] - places, places - ranks[:-1]])
    distance, farthest = float(apart.max()), int(apart.argmax())
    seen, stated = np.concatenate([ranks[1:], ranks[:-1]])[farthest], places[farthest % len(places)]
    probability = min(1.0, 2 * math.exp(-2 * len(uniform) * distance**2))
    numbers = {"distance": f"{distance:.3g}", "seen": f"{seen:.3g}", "stated": f"{stated:.3g}"}
    return Look(name=name, words=words.format(**numbers), probability=probability)


_TAILS = (1e-2, 1e-3)
_FAR = (0.1, 1e-2, 3e-3, 2e-3, 1e-3, 3e-4, 1e-4)
_CENTRES = (0.1, 1e-2, 1e-3)
_SHAPES = {3: "a skewed shape", 4: "a peaked or flat shape", 5: "a skewed shape", 6: "a peaked or flat shape"}


def uniform_looks(uniform: Array, normal: Array) -> Iterator[Look]:
    """Yield the tests of numbers that are independent and uniform, given beside as normal numbers. Shape: (numbers,).

    The distance of the distribution functions, the mean and the sum of squares as normal numbers, the counts in each
    tail, in both together and around the centre, and four Legendre polynomials for the shape.
    Source: Massart (1990) for the distance; the inequality of Bernstein for the polynomials.

    >>> from scipy.special import ndtri
    >>> uniform = (np.arange(1_000) + 0.5) / 1_000
    >>> halved = 0.25 + uniform / 2
    >>> [worst(uniform_looks(x, ndtri(x))).probability < 1e-9 for x in (uniform, halved)]
    [False, True]
    """
    n = len(uniform)
    yield distance_look(uniform, "another distribution, with a share of {seen} where {stated} should lie")
    shift = float(normal.sum()) / math.sqrt(n)
    yield Look(words="a shifted mean", probability=2 * float(ndtr(-abs(shift))))
    squares = float((normal**2).sum())
    below, above = float(chdtr(n, squares)), float(chdtrc(n, squares))
    says = f"about {math.sqrt(squares / n):.3g} times the stated size"
    yield Look(words=says, probability=min(1.0, 2 * min(below, above)))
    for tail in _TAILS:
        yield count_look(int(np.count_nonzero(uniform < tail)), n, tail, "in the lower tail")
        yield count_look(int(np.count_nonzero(uniform > 1 - tail)), n, tail, "in the upper tail")
    x = 2 * uniform - 1
    away = np.abs(x)
    for share in _CENTRES:
        yield count_look(int(np.count_nonzero(away < share)), n, share, "at the centre")
    for share in _FAR:
        yield count_look(int(np.count_nonzero(1 - away < share)), n, share, "in both tails")
    before, polynomial = x, (3 * x**2 - 1) / 2
    for order, says in _SHAPES.items():  # Bonnet's recursion from the second polynomial on
        before, polynomial = polynomial, ((2 * order - 1) * x * polynomial - (order - 1) * before) / order
        mean = abs(float(polynomial.mean()))
        bound = 2 * math.exp(-n * mean**2 / (2 * (1 / (2 * order + 1) + mean / 3)))
        yield Look(words=says, probability=min(1.0, bound))
