"""An event that tells two data sets apart under the laws that replays show, with its probabilities on both sides."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp, inf, log

import numpy as np
from scipy.special import ndtr

from audits.bounds.binomial import proportion_lower, proportion_upper
from audits.replay.allowance import beside_others, measured_beside_others
from audits.replay.law_in_measure import event_numbers, excess, gaussian_numbers, laplace_numbers, numbers_beside
from audits.replay.noise_model import NoiseModel
from audits.replay.recording import WHOLE
from dpaudit import Claim
from dpaudit.model.audit_result import MeasuredNumber
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Array

_SAME = 1e-7
_ROUNDED = 1e-12
"""The relative error, at most, of an answer that a function computes in doubles."""

_GAUSSIAN = ("normal", "standard_normal")
KNOWN = frozenset(("laplace", *_GAUSSIAN))
"""The laws that are read."""

_NEVER = 1e-12
_FAR = 1e-5
"""Two scales part in tails that may be too rare for any number of runs; without a delta the loss has no bound."""

_CERTAIN = 1.0, 0.0
"""The probabilities of an event that every run of one data set shows, and none of the other."""

_SIMULATED, _SIMULATION_ERROR, _SINGULAR = 1 << 16, 5e-11, 1e8
"""So many draws give limits of probabilities, each wrong with so small a probability; the largest condition number."""

_MOST = 12
"""A joint event of Laplace noise takes at most so many draws: it is 2^12 times rarer than one draw's."""


Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLoss:
    """What the seen law of both sides shows: the privacy loss `epsilon`, and an event with its probabilities.

    `often` is the probability of the event on one data set, `seldom` on the other one; `often` exceeds exp(epsilon)
    times `seldom` plus delta by `margin`, which is not positive where the law keeps the claim. `names` are the numbers
    that show it, `sites` the lines of their draws, `kind` is a short name and `cause` says in words what is wrong.
    Where noise of one law moves, `moves` are the distances in its scales: one of Gaussian noise, those of single draws
    of Laplace noise. `numbers` are those of a claim in its own `measure`; the law exceeds what is allowed by `excess`,
    as a part of it. The loss shows where noise reaches `reach` times its scale.
    """

    epsilon: float
    often: float
    seldom: float
    margin: float
    names: tuple[str, ...]
    sites: tuple[str, ...]
    kind: str
    cause: str
    law: str = ""
    moves: tuple[float, ...] = ()
    measure: str = ""
    numbers: tuple[MeasuredNumber, ...] = ()
    excess: float = 0.0
    reach: float = 3.0

    @property
    def telling(self) -> float:
        """By how much the law exceeds what is claimed, in probability or as a part of a claimed number."""
        return max(self.margin, self.excess)

    def at(self, delta: float) -> float:
        """Return the epsilon that the event shows at `delta`; a large number where the other side never shows it."""
        return max(0.0, log((self.often - delta) / max(self.seldom, _NEVER))) if self.often > delta else 0.0


def seen_loss(
    first: NoiseModel, second: NoiseModel, claim: Claim, made: MeasuredClaim | None = None, *, unseen: float = 0.0
) -> SeenLoss | None:
    """Return the event with the largest margin under the seen laws; None where the laws show no exact loss.

    `made` is the claim in its own measure from which `claim` follows: the laws are held against both. A share `unseen`
    of runs may have the law of the other data set.

    Guarantee: if both models hold, the probabilities are exact; those of numbers whose noise is mixed otherwise are
    limits from simulated draws, wrong with probability at most 1e-10. Laplace and Gaussian noise are read; other laws
    show only what no noise covers.
    """
    names = [name for name in first.names if name in second.names]
    if not names:
        return None
    left, right = first.of(names), second.of(names)
    if left.laws != right.laws:  # where the laws agree, lines of code may differ: other branches draw the same noise
        draws = tuple(dict.fromkeys((*left.draws, *right.draws)))
        left, right = left.over(draws), right.over(draws)
    losses = _losses(left, right, beside_others(claim, unseen))
    if made is not None:
        losses = (_in_measure(loss, made, unseen) for loss in losses)
    return max(losses, key=lambda loss: (loss.telling, loss.epsilon), default=None)


def _in_measure(loss: SeenLoss, made: MeasuredClaim, unseen: float) -> SeenLoss:
    """Return the loss with what its law shows of each number of a claim in its own measure."""
    if loss.law == "gaussian":
        shown = gaussian_numbers(made, loss.moves[0])
    elif loss.law == "laplace":
        shown = laplace_numbers(made, loss.moves)
    else:
        shown = event_numbers(made, loss.often, loss.seldom)
    numbers = numbers_beside(made, shown)
    beyond = excess(numbers, measured_beside_others(made, unseen))
    return replace(loss, measure=made.measure, numbers=numbers, excess=beyond)


def _losses(first: NoiseModel, second: NoiseModel, claim: Claim) -> Iterator[SeenLoss]:
    """Yield the losses that numbers with equal noise, and numbers with unequal noise, show."""
    size = np.maximum(np.abs(first.matrix), np.abs(second.matrix)).max(axis=1, initial=0.0)
    equal = (np.abs(first.matrix - second.matrix) <= _SAME * size[:, None]).all(axis=1)
    moved = second.exact - first.exact
    answers = np.abs(first.exact) + np.abs(second.exact)
    rounding = 1e-9 * (answers + size)
    moved = np.where(np.abs(moved) <= rounding, 0.0, moved)
    bare = equal & (size == 0) & (moved != 0)
    names = np.array(first.names, dtype=object)
    if bare.any():
        yield loss_of_event(claim, _CERTAIN, (tuple(names[bare]), ()), "no noise", "no draw of noise moves it", inf)
    rows = np.flatnonzero(equal & (size > 0))
    if len(rows) and (moved[rows] != 0).any():
        slack = _ROUNDED * answers[rows]
        yield from _equal_noise((first.matrix[rows], moved[rows], slack), first, rows, claim)
    for row in np.flatnonzero(~equal):
        yield from _other_scale(first, second, int(row), claim)
    if not equal.all():
        yield from _other_map(first, second, claim)


def loss_of_event(
    claim: Claim, shares: tuple[float, float], by: tuple[Names, Names], kind: str, cause: str, epsilon: float
) -> SeenLoss:
    """Return the loss of an event with the probabilities `shares`, which the numbers and the lines `by` show."""
    often, seldom = shares
    margin, (names, sites) = often - exp(claim.epsilon) * seldom - claim.delta, by
    return SeenLoss(
        epsilon=epsilon, often=often, seldom=seldom, margin=margin, names=names, sites=sites, kind=kind, cause=cause
    )


def _equal_noise(noise: tuple[Array, Array, Array], model: NoiseModel, rows: Array, claim: Claim) -> Iterator[SeenLoss]:
    """Yield the losses of numbers whose noise has one law on both sides.

    `noise` holds the map of the draws, how far the answers move, and how much of that may be rounding.
    """
    matrix, moved, slack = noise
    used = np.flatnonzero((matrix != 0).any(axis=0))
    map_ = matrix[:, used]
    shift, _, rank, _ = np.linalg.lstsq(map_, moved, rcond=1e-9)
    names = np.array(model.names, dtype=object)[rows]
    left = np.abs(map_ @ shift - moved) > 1e-6 * np.abs(moved).max() + 10 * slack.max()

    def named(draws: Array) -> tuple[Names, Names]:
        return tuple(names[(map_[:, draws] != 0).any(axis=1)]), _sites(model, used[draws])

    if left.any():
        cause = "some combination of them has no noise: one draw serves several of them, or draws cancel"
        yield loss_of_event(claim, _CERTAIN, named((map_[left] != 0).any(axis=0)), "shared noise", cause, inf)
        return
    shift = shift * max(0.0, 1 - float((slack[moved != 0] / np.abs(moved[moved != 0])).max()))
    laws = np.array(model.laws, dtype=object)[used]
    gaussian = np.isin(laws, _GAUSSIAN)

    full_rank = rank == len(used)
    if gaussian.all() or (full_rank and gaussian.any()):
        draws = np.flatnonzero(gaussian & (shift != 0))
        distance = float(np.linalg.norm(shift[gaussian]))
        nothing = loss_of_event(claim, (0.5, 0.5), ((), ()), "", "", 0.0)
        yield _gaussian(distance, claim, named(draws)) if len(draws) else nothing
    laplace = np.flatnonzero((laws == "laplace") & (np.abs(shift) > 1e-9))
    if full_rank and len(laplace):
        order = laplace[np.argsort(-np.abs(shift[laplace]), kind="stable")]
        for most in range(1, min(len(order), _MOST) + 1):
            moves = tuple(np.abs(shift[order[:most]]).tolist())
            yield _laplace(moves, claim, named(order[:most]))


def _sites(model: NoiseModel, draws: Array) -> tuple[str, ...]:
    """Return the lines of some draws, each once."""
    return tuple(dict.fromkeys(model.sites[draw] for draw in draws))


def _laplace(moves: tuple[float, ...], claim: Claim, by: tuple[Names, Names]) -> SeenLoss:
    """Return the loss of the event that each of some draws of Laplace noise falls beyond both centres, on one side."""
    loss, often = sum(moves), 2.0 ** -len(moves)
    cause = f"{_answers(by[0])} {loss:.4g} times the scale of {'its' if len(by[0]) == 1 else 'their'} Laplace noise"
    return replace(
        loss_of_event(claim, (often, often * exp(-loss)), by, "moves", cause, loss), law="laplace", moves=moves
    )


def _answers(names: tuple[str, ...]) -> str:
    """Return the beginning of a cause: one answer moves, or several move in all."""
    return "the answer moves by" if len(names) == 1 else f"{len(names)} answers move, in all by"


def _gaussian(distance: float, claim: Claim, by: tuple[Names, Names]) -> SeenLoss:
    """Return the loss of the best half space between two Gaussian laws. Source: Balle and Wang (2018), Theorem 8."""
    often, seldom = (float(ndtr(half - claim.epsilon / distance)) for half in (distance / 2, -distance / 2))
    exceeds = often - exp(claim.epsilon) * seldom > claim.delta
    shown = log((often - claim.delta) / seldom) if exceeds and seldom > 0 else 0.0
    cause = f"{_answers(by[0])} {distance:.4g} standard deviations of the Gaussian noise"
    seen = loss_of_event(claim, (often, seldom), by, "moves", cause, max(0.0, shown))
    return replace(seen, law="gaussian", moves=(distance,))


def _other_scale(first: NoiseModel, second: NoiseModel, row: int, claim: Claim) -> Iterator[SeenLoss]:
    """Yield the loss of one number that adds one draw at a scale that differs between the data sets."""
    draws = [np.flatnonzero(model.matrix[row]) for model in (first, second)]
    names = (first.names[row],)
    if min(map(len, draws)) == 0:
        sites = _sites(first, np.concatenate(draws))
        if any(first.laws[draw] in WHOLE for draw in np.concatenate(draws)):
            return  # a whole number of noise may be none
        cause = "noise is added on one data set and none on the other"
        yield loss_of_event(claim, _CERTAIN, (names, sites), "noise missing", cause, inf)
        return
    if any(len(entering) != 1 for entering in draws) or draws[0][0] != draws[1][0]:
        return
    law = first.laws[draws[0][0]]
    if law not in KNOWN:
        return
    scales = [abs(float(model.matrix[row, draws[0][0]])) for model in (first, second)]
    cause = f"the scale of its noise follows the data: {scales[0]:.6g} or {scales[1]:.6g}"
    often, seldom, margin = _best_interval(law, (first.exact[row], second.exact[row]), scales, claim)
    reach = _reach(law, float(second.exact[row] - first.exact[row]), scales, claim)
    if claim.delta == 0:
        margin = max(margin, _FAR)
    shown = log(often / seldom) if 0 < seldom < often else 0.0
    epsilon = inf if claim.delta == 0 else shown
    loss = loss_of_event(claim, (often, seldom), (names, _sites(first, draws[0])), "scale", cause, epsilon)
    yield replace(loss, margin=margin, reach=reach)


def _other_map(first: NoiseModel, second: NoiseModel, claim: Claim) -> Iterator[SeenLoss]:
    """Yield the loss of numbers that mix as many draws, by maps that differ between the data sets.

    The event is that the logarithm of the ratio of both densities exceeds the claim's epsilon.
    """
    used = np.flatnonzero((first.matrix != 0).any(axis=0) | (second.matrix != 0).any(axis=0))
    models = [(model.matrix[:, used], model.exact) for model in (first, second)]
    laws = [first.laws[draw] for draw in used]
    if not 1 < len(used) == len(first.names) or not KNOWN.issuperset(laws):
        return
    if max(np.linalg.cond(matrix) for matrix, _ in models) > _SINGULAR:
        return
    gaussian, rng = np.isin(laws, _GAUSSIAN), np.random.default_rng(_SIMULATED)
    size = (_SIMULATED, len(used))
    noise = np.where(gaussian, rng.standard_normal(size), rng.laplace(size=size))
    sides = [exact + noise @ matrix.T for matrix, exact in models]
    for here, there in ((0, 1), (1, 0)):
        ours, theirs = models[here], models[there]
        above = [
            int((_log_density(side, *ours, gaussian) - _log_density(side, *theirs, gaussian) > claim.epsilon).sum())
            for side in (sides[here], sides[there])
        ]
        often = float(proportion_lower(above[0], _SIMULATED, _SIMULATION_ERROR))
        seldom = float(proportion_upper(above[1], _SIMULATED, _SIMULATION_ERROR))
        shown = log(often / seldom) if often > seldom else 0.0
        cause = "the data decide how these numbers mix their draws of noise, as an exact divisor or matrix does"
        yield loss_of_event(claim, (often, seldom), (first.names, _sites(first, used)), "map", cause, shown)


def _log_density(released: Array, matrix: Array, exact: Array, gaussian: Array) -> Array:
    """Return the logarithm of the density of `released` (runs, numbers), but for a constant. Shape: (runs,)."""
    noise = np.linalg.solve(matrix, (released - exact).T).T
    return -np.where(gaussian, noise**2 / 2, np.abs(noise)).sum(axis=1) - np.linalg.slogdet(matrix)[1]


def _best_interval(
    law: str, centres: tuple[float, float], scales: list[float], claim: Claim
) -> tuple[float, float, float]:
    """Return (often, seldom, margin) of the best tail, of one or both sides, on either data set."""
    places = np.concatenate([-np.geomspace(1e-3, 60, 200)[::-1], [0.0], np.geomspace(1e-3, 60, 200)])
    points = np.concatenate([centres[0] + scales[0] * places, centres[1] + scales[1] * places])
    low, high = (_below(law, (points - centre) / scale) for centre, scale in zip(centres, scales, strict=True))
    above = [_below(law, -(points - centre) / scale) for centre, scale in zip(centres, scales, strict=True)]
    wide = int(np.argmax(scales))
    reach = np.abs(points - centres[wide])
    both = [
        _below(law, (centres[wide] - reach - centre) / scale) + _below(law, -(centres[wide] + reach - centre) / scale)
        for centre, scale in zip(centres, scales, strict=True)
    ]
    events = [(low, high), (high, low), (above[0], above[1]), (above[1], above[0])]
    events += [(both[0], both[1]), (both[1], both[0])]
    best_event = (0.0, 0.0, -inf)
    for often, seldom in events:
        margins = often - exp(claim.epsilon) * seldom - claim.delta
        best = int(np.argmax(margins))
        if margins[best] > best_event[2]:
            best_event = (float(often[best]), float(seldom[best]), float(margins[best]))
    return best_event


def _reach(law: str, moved: float, scales: list[float], claim: Claim) -> float:
    """Return how many of its scales wider noise must reach, on either side, to exceed the claim beside narrower noise.

    An output that is cut before is nowhere so much more likely.
    """
    narrow, wide = sorted(scales)
    places = np.geomspace(1.0, 1e9, 10_000)
    inner = np.maximum(0.0, (places * wide - abs(moved)) / narrow)
    far = (inner - places if law == "laplace" else (inner**2 - places**2) / 2) > claim.epsilon + log(wide / narrow)
    return float(places[far.argmax()]) if far.any() else inf


def _below(law: str, places: Array) -> Array:
    """Return the distribution function of standard noise."""
    tail = 0.5 * np.exp(-np.abs(places))
    return np.where(places < 0, tail, 1 - tail) if law == "laplace" else ndtr(places)
