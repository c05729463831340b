"""The sparse vector technique: which of many queries exceed a threshold, until so many did."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Literal, Self

import numpy as np

from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import Count, FieldError, NoiseSize, Size, SizeOrZero, count, meant, ratio, settle, size
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ApproximateLoss, DiscreteLoss
from dpaudit.model.mechanism import Array
from mechanisms._additive import meeting

Queries = Literal["general", "monotone"]
"""Whether a record may move some queries up and others down, or all of them one way."""

LONGEST = 62  # queries whose answers one integer holds
_REACH, _NODES = 45.0, 20  # scales of noise that are integrated; nodes of each panel
# The epsilon up to which a pattern's probability is a double and a difference of queries is exact enough.
_LARGEST = 700.0
_LEAST = 1e-300  # a probability that may be no double
# Relative, by which the attained probabilities move to the safe side: more than a quadrature is off by.
_SHRUNK = 1.02e-10


@settled
class AboveThreshold:
    """Says of one query after another whether it exceeds a noisy threshold, and stops after `cutoff` that do.

    Laplace noise of `threshold_scale` is added to the threshold once, and of `query_scale` to each query.
    Shape: queries less the threshold (..., horizon) in, integers (...) out; bit i says that query i was above.
    Unit: `linf_sensitivity`, the most that a record moves any query, and both scales in the unit of the queries;
    `horizon`, the number of queries.
    `queries` are "monotone" where a record moves all of them up, or all of them down.
    Guarantee: pure with epsilon = s / threshold_scale + 2 cutoff s / query_scale, s being the sensitivity, and with
    cutoff s / query_scale for monotone queries, however many queries there are. `attained_loss` tells one pattern from
    the rest: below again and again, and then above up to the cutoff; for long horizons it comes close to epsilon. Noisy
    answers are not released; `above_threshold_answers` prints those it tested.
    Edge cases: a `query_scale` of 0, no noise on queries, is private for one query alone: of two that change places,
    some answers are possible for one neighbour only, and every claim is refuted. `cutoff` equal to `horizon` never
    stops. Ties have probability 0 in real arithmetic.
    Raises: ValueError: a scale or a sensitivity outside 1e-140 to 1e140, more than 62 queries, a cutoff beyond them.
    Source: Lyu, Su and Li (2017), Theorems 4 and 5; Dwork and Roth (2014), Section 3.6.

    >>> right = AboveThreshold(threshold_scale=2.0, query_scale=4.0, linf_sensitivity=1.0, neighbours="replace_one")
    >>> right.loss().epsilon
    1.0
    """

    name: ClassVar[str] = "above_threshold"

    threshold_scale: NoiseSize
    query_scale: SizeOrZero
    linf_sensitivity: Size
    neighbours: Neighbours
    cutoff: Count = 1
    horizon: Count = LONGEST
    queries: Queries = "general"

    def __post_init__(self) -> None:
        settle(self)
        require_answerable(self.horizon, self.cutoff)

    @classmethod
    def calibrated(
        cls,
        claim: Claim,
        *,
        linf_sensitivity: float,
        cutoff: int = 1,
        horizon: int = LONGEST,
        queries: Queries = "general",
    ) -> Self:
        """Return the smallest noise that provably meets `claim`, within 1e-9 and never below.

        Of all that have this epsilon it gives comparisons the least variance: the threshold's share of epsilon is 1 to
        (2 cutoff)^(2/3), and for monotone queries 1 to cutoff^(2/3).
        Raises: UnsupportedError: epsilon and delta are both 0.
        Source: Lyu, Su and Li (2017), Section 4.2.
        """
        moved = size("linf_sensitivity", linf_sensitivity)
        asked = (1 if queries == "monotone" else 2) * count("cutoff", cutoff)
        share = 1 / (1 + asked ** (2 / 3))
        unit = cls(
            threshold_scale=moved / share,
            query_scale=asked * moved / (1 - share),
            linf_sensitivity=linf_sensitivity,
            neighbours=claim.neighbours,
            cutoff=cutoff,
            horizon=horizon,
            queries=queries,
        )
        return meeting(unit, claim)

    def loss(self) -> ApproximateLoss | DiscreteLoss:
        """Return a loss that dominates every pair: a black box, which hides nothing where queries have no noise."""
        if not self.query_scale:
            return DiscreteLoss(atoms=(), infinite_mass=1.0, reverse_infinite_mass=1.0)
        return ApproximateLoss(epsilon=self._epsilon())

    def attained_loss(self) -> DiscreteLoss:
        """Return the loss of seeing whether the answers are below so often, and then above as often as may be.

        Edge cases: nothing is said to be attained where the proved epsilon is above 700, or of one query without noise.
        """
        if not (self.query_scale and self._epsilon() <= _LARGEST):
            between = 0.0 if self.query_scale or not self._told() else self._between()
            return DiscreteLoss(atoms=((math.log1p(-between), 1 - between),), infinite_mass=between)
        before, moved = self.worst_pair()
        pattern = np.asarray(self._pattern())
        p, q = (float(np.exp(self.log_density(pattern, row))) for row in (before, moved))
        p, q = p * (1 - _SHRUNK), q * (1 + _SHRUNK)
        if not p > q > _LEAST:
            return DiscreteLoss(atoms=((0.0, 1.0),))
        return event_loss(p, math.log1p((p - q) / q))

    def _epsilon(self) -> float:
        """Return the guarantee of noisy queries, rounded up."""
        each = self.cutoff * (1 if self.queries == "monotone" else 2)
        exact = ratio(self.linf_sensitivity, self.threshold_scale)
        exact += each * ratio(self.linf_sensitivity, self.query_scale)
        near = float(exact)
        return near if meant(near) >= exact else math.nextafter(near, math.inf)

    def _between(self) -> float:
        """Return the chance, rounded down, that the threshold lies between two queries that change places."""
        return -math.expm1(-float(ratio(self.linf_sensitivity, self.threshold_scale))) / 2 * (1 - _SHRUNK)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the answers to each row of queries. Shape: (..., horizon) to (...)."""
        queries = np.asarray(value, dtype=np.float64)
        threshold = rng.laplace(0.0, self.threshold_scale, queries.shape[:-1])[..., None]
        noise = rng.laplace(0.0, self.query_scale, queries.shape) if self.query_scale else 0.0
        over = queries + noise >= threshold
        told = over & (np.cumsum(over, axis=-1) <= self.cutoff)
        return (told.astype(np.int64) << np.arange(queries.shape[-1])).sum(axis=-1)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each pattern of answers, minus infinity where it cannot be.

        Cost: one numerical integral over the threshold's noise for each distinct row of queries and pattern.
        """
        queries, codes = np.asarray(value, dtype=np.float64), np.asarray(output, dtype=np.int64)
        shape = np.broadcast_shapes(codes.shape, queries.shape[:-1])
        rows = np.broadcast_to(queries, (*shape, queries.shape[-1])).reshape(-1, queries.shape[-1])
        log_of: dict[tuple[int, bytes], float] = {}
        logs = []
        for code, row in zip(np.broadcast_to(codes, shape).reshape(-1).tolist(), rows, strict=True):
            key = (code, row.tobytes())
            if key not in log_of:
                log_of[key] = self._log_pattern(code, row)
            logs.append(log_of[key])
        return np.asarray(logs).reshape(shape)

    def _log_pattern(self, code: int, queries: Array) -> float:
        """Return the log probability of one pattern."""
        over = (code >> np.arange(len(queries))) & 1 == 1
        if code < 0 or code >= 1 << len(queries) or over.sum() > self.cutoff:
            return -math.inf
        if over.sum() == self.cutoff:  # it stopped there
            last = int(np.flatnonzero(over)[-1]) + 1
            queries, over = queries[:last], over[:last]
        if not self.query_scale:
            low, high = queries[~over].max(initial=-math.inf), queries[over].min(initial=math.inf)
            return _log_between(float(low) / self.threshold_scale, float(high) / self.threshold_scale)
        signs = np.where(over, 1.0, -1.0)

        def log_answers(z: Array) -> Array:
            pairs = zip(signs.tolist(), queries.tolist(), strict=True)
            return np.asarray(sum(log_below(sign * (query - z) / self.query_scale) for sign, query in pairs))

        return float(log_means(log_answers, queries, self.threshold_scale, self.query_scale, np.array([math.inf]))[0])

    def scaled(self, factor: float) -> Self:
        """Return the same queries with `factor` times the noise."""
        return replace(self, threshold_scale=self.threshold_scale * factor, query_scale=self.query_scale * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        """Return queries half a move above the threshold, and after those of the pattern below rose and others fell.

        Without noise on queries those of the pattern below are at the threshold, and the others a move above it.
        """
        told = np.arange(self.horizon) >= self.horizon - self._told()
        move = self.linf_sensitivity
        before = np.where(told, move, 0.0) if not self.query_scale else np.full(self.horizon, move / 2)
        return before, before + np.where(told, 0.0 if self.queries == "monotone" else -move, move)

    def _told(self) -> int:
        """Return how many queries of the pattern are above."""
        return min(self.cutoff, self.horizon // 2)

    def _pattern(self) -> int:
        """Return below again and again, and then above."""
        return ((1 << self._told()) - 1) << (self.horizon - self._told())


def require_answerable(horizon: int, cutoff: int) -> None:
    """Refuse more queries than one integer holds, and a cutoff beyond them.

    Raises: FieldError: naming the field that is too large.
    """
    if horizon > LONGEST:
        raise FieldError("horizon", f"Expected horizon={horizon} to be at most {LONGEST}; ask in turns.")
    if cutoff > horizon:
        raise FieldError("cutoff", f"Expected cutoff={cutoff} to be at most horizon={horizon}.")


def log_means(
    log_answers: Callable[[Array], Array], queries: Array, threshold_scale: float, query_scale: float, tops: Array
) -> Array:
    """Return the logs of the means of e^log_answers over the noise of a threshold at 0, where it lies below each top.

    The integrand is analytic but at 0 and at each query. Gauss-Legendre panels that double in width away from these
    follow noise of any two scales, and 20 nodes of each are off by less than 1e-12 of the whole. Whole panels are
    added up once, and the part of one below each top.
    """
    far = _REACH * max(threshold_scale, query_scale)
    ends = (min(0.0, float(queries.min()), float(tops.min())) - far, max(0.0, float(queries.max())) + far)
    distances = _doubling(min(threshold_scale, query_scale) / 4, ends[1] - ends[0])
    breaks = np.unique(np.append(queries, 0.0))[:, None]
    edges = np.unique(np.clip(np.concatenate([breaks - distances, breaks + distances]), *ends))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)

    def panels(low: Array, high: Array) -> Array:
        half = (high - low)[:, None] / 2
        z = low[:, None] + half * (nodes + 1)
        logs = np.log(half * weights) - np.abs(z) / threshold_scale - math.log(2 * threshold_scale)
        return np.asarray(np.logaddexp.reduce(logs + log_answers(z), axis=-1))

    before = np.append(-np.inf, np.logaddexp.accumulate(panels(edges[:-1], edges[1:])))
    tops = np.minimum(tops, edges[-1])
    last = np.searchsorted(edges, tops, side="right") - 1
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(before[last], panels(edges[last], tops)))


def _doubling(first: float, last: float) -> Array:
    """Return 0 and distances that double from `first` until they reach `last`."""
    many = max(1, math.ceil(math.log2(last / first)))
    return np.append(0.0, first * 2.0 ** np.arange(many + 1))


def _log_between(low: float, high: float) -> float:
    """Return the log probability that unit Laplace noise lies between two places."""
    if low >= high:
        return -math.inf
    below, above = (np.exp(log_below(np.array([low, high]) * sign)) for sign in (1, -1))
    return float(np.log(above[0] - above[1] if low > 0 else below[1] - below[0]))


def log_below(x: Array) -> Array:
    """Return the log of the Laplace distribution function."""
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x >= 0, np.log1p(-tail), -np.abs(x) - math.log(2))


def event_loss(chance: float, epsilon: float) -> DiscreteLoss:
    """Return the loss of an event of probability `chance` before, and of e^-epsilon times it after, and of its absence.

    Neither is a difference of logarithms, which have no digits where epsilon is small.
    """
    absent = math.log1p(chance * math.expm1(-epsilon) / (1 - chance * math.exp(-epsilon)))
    return DiscreteLoss(atoms=((epsilon, chance), (absent, 1 - chance)))


EXAMPLES = (
    AboveThreshold(threshold_scale=0.8, query_scale=0.8, linf_sensitivity=1.0, neighbours="replace_one", horizon=2),
    AboveThreshold(
        threshold_scale=0.5,
        query_scale=0.5,
        linf_sensitivity=1.0,
        neighbours="replace_one",
        horizon=3,
        queries="monotone",
    ),
    AboveThreshold(
        threshold_scale=10.0,
        query_scale=7.0,
        linf_sensitivity=10.0,
        neighbours="add_remove",
        cutoff=2,
        horizon=4,
        queries="monotone",
    ),
)
