"""The stated loss of a mechanism: against its density, against the independent checker, and over other pairs."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from audits.testing.check import Check
from audits.testing.moves import moved_answers
from dpaudit import Claim, Mechanism, Release, bracket_delta, bracket_epsilon, certify, fold, verify
from dpaudit.model.losses import DiscreteLoss
from dpaudit.model.mechanism import Array, attained_loss, is_plugged_in

_RUNS = 60_000
_SEARCHED = 8_000
_EPSILONS = (0.0, 0.3, 1.0, 2.0)
_SHARES = (0.5, 0.9, 0.99)
_ALARM = 1e-9
_DELTA = 1e-6
_POINTS, _ERROR = 40_001, 2e-4


def loss_check(mechanism: Mechanism, pair: tuple[Any, Any], rng: np.random.Generator) -> Check:
    """Return whether `loss()` is no smaller than the density shows at a pair, and no larger where it is to be attained.

    Deltas of single numbers are integrals of the densities, within 2e-4; others are means of numbers between 0 and 1,
    bounded by Maurer and Pontil's inequality on both sides. A loss that
    is exact (no `attained_loss`) is attained by the worst pair, in one of both orders; a plug-in may state a larger
    one, which makes its certificates no less true about what is proved. False alarm: 1e-9.
    """
    shown: dict[float, float] = {}
    epsilons = tuple(_epsilons(log_ratios(mechanism, *pair, _SEARCHED, rng)))
    for first, second in (pair, pair[::-1]):
        ratios = log_ratios(mechanism, first, second, _RUNS, rng)
        integrals = _integrated(mechanism, first, second, epsilons, rng)
        for number, epsilon in enumerate(epsilons):
            low, high = _bounds(_gains(ratios, epsilon), _ALARM / 32) if integrals is None else integrals[number]
            upper, _ = stated(mechanism, epsilon)
            if low > upper + _DELTA:
                shows = f"at epsilon {epsilon:.4g} the worst pair shows delta of at least {low:.4g}"
                says = f"{shows}; loss() states {upper:.4g}"
                return Check(what="loss", outcome="failed", says=says)
            shown[epsilon] = max(high, shown.get(epsilon, 0.0))
    return _attained(mechanism, shown)


def _attained(mechanism: Mechanism, shown: dict[float, float]) -> Check:
    """Return whether upper bounds on a pair's deltas, by epsilon, reach what it is stated to attain."""
    for epsilon in _EPSILONS:
        lower = _stated_of_pair(mechanism, epsilon)
        if shown[epsilon] < lower - _DELTA:
            says = (
                f"at epsilon {epsilon:g} some pair is stated to have delta {lower:.4g}; worst_pair() has at most "
                f"{shown[epsilon]:.4g}: a loss that no pair attains needs attained_loss()"
            )
            return Check(what="loss", outcome="not looked at" if is_plugged_in(mechanism) else "failed", says=says)
    says = "the worst pair shows no more than loss() states, and attains what it says"
    return Check(what="loss", outcome="ok", says=says)


def pairs_check(mechanism: Mechanism, pair: tuple[Any, Any], rng: np.random.Generator) -> Check:
    """Return whether another pair of answers, as far apart as the sensitivities allow, loses more than is stated.

    Pairs: moves of one number, of all, in both signs, in random directions, and from other places. False alarm: 1e-9.
    """
    pairs = tuple(moved_answers(mechanism, pair, rng))
    if not pairs:
        return Check(
            what="pairs", outcome="not looked at", says="no known sensitivity says which answers are neighbours"
        )
    epsilons = tuple(_epsilons(log_ratios(mechanism, *pair, _SEARCHED, rng)))
    alarm = _ALARM / (2 * len(epsilons) * len(pairs))
    for says, answer, moved in (*pairs, *((says, second, first) for says, first, second in pairs)):
        ratios = log_ratios(mechanism, answer, moved, _SEARCHED, rng)
        for epsilon in epsilons:
            low, _ = _bounds(_gains(ratios, epsilon), alarm)
            if low > stated(mechanism, epsilon)[0] + _DELTA:
                shows = f"{says}: delta of at least {low:.4g} at epsilon {epsilon:.4g}, more than loss() states"
                return Check(what="pairs", outcome="failed", says=shows)
    return Check(what="pairs", outcome="ok", says=f"a search over {len(pairs)} other pairs found none that loses more")


def _integrated(
    mechanism: Mechanism, first: Any, second: Any, epsilons: tuple[float, ...], rng: np.random.Generator
) -> list[tuple[float, float]] | None:
    """Return bounds on the delta of a pair at each epsilon by integrals of its densities; None but for single numbers.

    They hold for densities that are smooth but for a few kinks; None as well where a mass is not 1 on the grid.
    """
    outputs = [
        np.asarray(mechanism.release(np.broadcast_to(side, (1_000, *np.shape(side))), rng)) for side in (first, second)
    ]
    if any(output.shape != (1_000,) or output.dtype.kind not in "iuf" for output in outputs):
        return None
    low, high = (float(end) for end in (min(o.min() for o in outputs), max(o.max() for o in outputs)))
    reach = int(5 * (high - low + 8)) if outputs[0].dtype.kind in "iu" else 5 * max(high - low, 1e-300)
    integers = isinstance(reach, int)
    grid = (
        np.arange(low - reach, high + reach + 1).astype(np.int64)
        if integers
        else np.linspace(low - reach, high + reach, _POINTS)
    )
    weights = np.ones(len(grid)) if integers else np.full(len(grid), grid[1] - grid[0])
    with np.errstate(all="ignore"):
        densities = [
            np.exp(np.asarray(mechanism.log_density(grid, np.broadcast_to(side, (len(grid), *np.shape(side))))))
            for side in (first, second)
        ]
    if any(not abs(float(density @ weights) - 1) < _ERROR / 4 for density in densities):
        return None
    deltas = [float(np.maximum(densities[0] - np.exp(epsilon) * densities[1], 0.0) @ weights) for epsilon in epsilons]
    return [(delta - _ERROR, delta + _ERROR) for delta in deltas]


def certificate_check(mechanism: Mechanism) -> Check:
    """Return whether the independent checker derives what the accountant certifies for one release."""
    form = fold(Release(label=mechanism.name, mechanism=mechanism), mechanism.neighbours)
    delta = next((delta for delta in (0.0, _DELTA, 0.5) if bracket_epsilon(form, delta).upper < math.inf), None)
    if delta is None:
        return Check(what="certificate", outcome="not looked at", says="no finite epsilon at delta 0.5")
    epsilon = math.nextafter(bracket_epsilon(form, delta).upper, math.inf)
    claim = Claim(epsilon=epsilon, delta=delta, neighbours=mechanism.neighbours)
    certificate = certify(Release(label=mechanism.name, mechanism=mechanism), claim)
    verification = verify(certificate.to_json())
    if verification.verdict != certificate.verdict:
        return Check(what="certificate", outcome="not looked at", says="the independent checker does not know it")
    if verification.complaints:
        return Check(
            what="certificate", outcome="failed", says=f"the independent checker: {verification.complaints[0]}"
        )
    says = f"the independent checker confirms epsilon {epsilon:.4g} at delta {delta:g}"
    return Check(what="certificate", outcome="ok", says=says)


def log_ratios(mechanism: Mechanism, first: Any, second: Any, runs: int, rng: np.random.Generator) -> Array:
    """Return the log likelihood ratio of the first answer to the second, on outputs of the first. Shape: (runs,)."""
    firsts, seconds = (np.broadcast_to(np.asarray(side), (runs, *np.shape(side))) for side in (first, second))
    output = mechanism.release(firsts, rng)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        apart = np.asarray(mechanism.log_density(output, firsts)) - np.asarray(mechanism.log_density(output, seconds))
        ratios: Array = apart.reshape(runs, -1).sum(axis=1)
    return ratios


def stated(mechanism: Mechanism, epsilon: float) -> tuple[float, float]:
    """Return an upper bound on the delta that `loss()` states, and a lower one on the delta that a pair attains."""
    hashable: Any = mechanism
    return _stated(hashable, epsilon)


def _stated_of_pair(mechanism: Mechanism, epsilon: float) -> float:
    """Return a lower bound on the delta of the worst pair alone.

    Where a law says of other pairs that they attain more, each at a point of its own, its atoms alone are counted.
    """
    own = attained_loss(mechanism)
    if isinstance(own, DiscreteLoss) and (own.span is not None or own.once is not None):
        return replace(own, span=None, once=None).hockey_stick(epsilon)
    return stated(mechanism, epsilon)[1]


@lru_cache(maxsize=512)
def _stated(mechanism: Any, epsilon: float) -> tuple[float, float]:
    """Return both bounds; each takes a while where a loss has many atoms."""
    bracket = bracket_delta(fold(Release(label=mechanism.name, mechanism=mechanism), mechanism.neighbours), epsilon)
    return float(bracket.upper), float(bracket.lower)


def _epsilons(ratios: Array) -> Iterator[float]:
    """Yield fixed epsilons, and some at which many and few of the losses are larger."""
    yield from _EPSILONS
    losses = ratios[np.isfinite(ratios) & (ratios > 0)]
    if losses.size:
        yield from np.quantile(losses, _SHARES).tolist()


def _gains(ratios: Array, epsilon: float) -> Array:
    """Return (1 - e^(epsilon - ratio))+, whose mean is delta."""
    with np.errstate(over="ignore"):
        gains: Array = np.maximum(0.0, -np.expm1(epsilon - ratios))
    return gains


def _bounds(values: Array, alarm: float) -> tuple[float, float]:
    """Return bounds on the mean of numbers between 0 and 1, each wrong with probability `alarm` at most.

    Source: Maurer and Pontil (2009), Theorem 4.
    """
    n, log = len(values), math.log(2 / alarm)
    mean = float(values.mean())
    slack = math.sqrt(2 * float(values.var(ddof=1)) * log / n) + 7 * log / (3 * (n - 1))
    return mean - slack, mean + slack
