"""The best of a secret number of runs, from above: one number for each x = e^epsilon.

The bound on one run's pair is `weighed_scores`. It grows where the pair is replaced by one that dominates it, so that a
dominating pair may stand for the run. A part is read as the symmetric pair whose curve is the larger one of both
orders. For a pure part the largest loss has a closed form, where the share above the best output is 1 / (1 + p) and
p = e^epsilon: there both slopes lie furthest apart. A fixed number of runs is also bounded by its composition, which is
exact for two runs of a table. Source: Liu and Talwar (2019), Papernot and Steinke (2022).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpaudit.accounting.accountant import bracket_delta
from dpaudit.accounting.curves.beyond_atoms import rho_beyond
from dpaudit.accounting.curves.connected import connected
from dpaudit.accounting.curves.hockey_stick import engines_for
from dpaudit.accounting.curves.measures import renyi_between, rho_between
from dpaudit.accounting.normal_form import Alternatives, NormalForm, both_orders
from dpaudit.accounting.run_counts import RunCount
from dpaudit.accounting.weighed_scores import WeighedScores
from dpaudit.engines import QUICK
from dpaudit.engines.basic import total_infinite_mass, total_supremum
from dpaudit.engines.tilted.engine import upper_near
from dpaudit.engines.transform import Floats
from dpaudit.errors import UnsupportedError
from dpaudit.model.losses import LOST, Composition, DiscreteLoss
from dpaudit.model.losses.moment_tail import MomentTail

_KNOTS, _FEWER = 300, 160  # of a curve in closed form, and by transforms
_BEYOND = 16  # where next to nothing is left of a curve
_AIMS = (0.25, 1.0, 4.0, 16.0, 64.0)  # epsilons at which a transform is sharp
_HALFWAY = (0.5, 2.0, 8.0, 32.0)  # between them
_HEIGHTS, _RARE, _MOST = 500, 120, 2000  # knots of the result, and beyond; outcomes of a table whose corners are knots
_SHOWN = 2  # of so many heights one is that of all runs
_RAISED, _UNIT, _END = 1e-9, 1e-15, 1e-12  # relative: what heights are raised by, and the largest loss; of a place
_NEAR, _CLOSE, _APART = 0.25, 1e-2, 1e-5  # where an end is looked for first, how closely; of knots, relative
_SMALL, _MOST_RUNS = 1e-6, 1e6  # epsilons that are not told apart, but for one largest loss; runs on average
_POWERS = np.geomspace(1e-4, 1e3, 120)  # at which the moments of one run are known
_TINY, _LARGEST = 1e-36, 300.0  # what is left of a curve where knots are dense; the largest epsilon of a part
_SPARSE = 1.35  # so far again knots go on; of Gaussian noise 1e-60 is left there


@lru_cache(maxsize=32)
def best_above(part: Alternatives, count: RunCount) -> DiscreteLoss:
    """Return a symmetric loss that dominates the best run, where one of the alternatives of `part` dominates one run.

    Raises: UnsupportedError: a part whose curve falls to nothing beyond an epsilon of 300 alone, or too many runs.
    """
    if count.expected > _MOST_RUNS:
        raise UnsupportedError(
            f"'best_of' is covered for {_MOST_RUNS:g} runs on average at most, and these are {count.expected:.3g}; "
            "run the part less often."
        )
    lost = max(total_infinite_mass(order)[1] for order in both_orders(part))
    if lost >= 1:
        return LOST
    supremum = max(total_supremum(order)[1] for order in both_orders(part))
    if supremum <= _SMALL and not lost:
        return _two_answers(_largest(part, count) if supremum > 0 else 0.0)
    once, dense, surely = symmetric_curve(part, lost)
    if not once.atoms:  # next to all of it is lost, so that rounding leaves nothing
        return LOST
    chosen = WeighedScores(once, count)
    largest = _largest(part, count) if surely else chosen.end(dense)
    if largest > 2 * _LARGEST:
        raise _too_far()
    epsilons = np.linspace(0.0, largest, _HEIGHTS)
    log_runs, log_share = _counted(count)
    furthest = once.atoms[-1][0] - log_share
    if not (surely or count.runs) and largest < furthest:
        epsilons = np.append(epsilons, np.linspace(largest, furthest, _RARE)[1:])
    heights = chosen.heights(epsilons)
    if count.runs:
        heights = np.minimum(heights, _composed(part, count.runs, epsilons))
    else:
        rare = [math.exp(log_runs) * once.hockey_stick(epsilon + log_share) for epsilon in epsilons.tolist()]
        heights = np.minimum(heights, rare)
    if surely:
        heights[-1] = 0.0
    best_loss = _ended(connected(np.exp(epsilons), _raised(heights, epsilons)), largest if surely else 0.0)
    return _with_tail(best_loss, part, count) if best_loss.infinite_mass > 0 and not lost else best_loss


def _with_tail(loss: DiscreteLoss, part: Alternatives, count: RunCount) -> DiscreteLoss:
    """Return a loss of outputs without end with a bound on its moments and its rho, where one run has them.

    Of a fixed number of runs all are shown.
    """
    form = NormalForm(upper=part, lower=part)
    times = max(1, count.runs)
    moments = ((float(s), s * float(renyi_between(form, 1 + float(s))[1]) * times) for s in _POWERS)
    finite_moments = tuple((s, moment) for s, moment in moments if moment < math.inf)
    if len(finite_moments) < len(_POWERS):
        return loss
    log_runs, log_share = (0.0, 0.0) if count.runs else _counted(count)
    tail = MomentTail(log_runs=log_runs, log_share=log_share, moments=finite_moments)
    rho = rho_beyond(loss, tail, float(rho_between(form)[1]) * times)
    return replace(loss, tail=tail, rho=Fraction(rho) if rho < math.inf else None)


def _counted(count: RunCount) -> tuple[float, float]:
    """Return ln r and ln c: whatever the score, h(x) of the best run is at most r h_0(c x) for one run's h_0.

    An output counts E K = f'(1) times at most and f'(0) times at least; c is their ratio.
    """
    best, worst = (float(count.log_slope(np.full(1, a), np.full(1, 1 - a))[0]) for a in (0.0, 1.0))
    return best, worst - best


def _two_answers(epsilon: float) -> DiscreteLoss:
    """Return the loss that dominates whatever loses at most epsilon."""
    likely, rare = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    return DiscreteLoss(atoms=((epsilon, likely), (-epsilon, rare)), symmetric=True)


def _raised(heights: Floats, epsilons: Floats) -> Floats:
    """Return heights above all that rounding may make of a slope between two knots."""
    return np.asarray(np.minimum(1.0, heights * (1 + _RAISED + _UNIT / float(np.diff(epsilons).min()))))


def symmetric_curve(part: Alternatives, lost: float) -> tuple[DiscreteLoss, float, bool]:
    """Return the symmetric loss whose curve lies on or above that of one run, where next to nothing of it is left.

    The last number says whether nothing is beyond its last atom.
    Raises: UnsupportedError: as for `best_above`.
    """
    form, deltas = NormalForm(upper=part, lower=part), _upper_deltas(part)
    supremum = max(total_supremum(order)[1] for order in both_orders(part))
    end = last = max(supremum, _SMALL)
    if supremum > _NEAR:
        end = min(supremum, _reached(deltas, lost * (1 + _RAISED) + _TINY))
        last = _SPARSE * end if _SPARSE * end < supremum else end
    near = _APART * end  # a slope between knots that are closer would be rounding
    corners = np.unique([value for order in both_orders(part) for value in _listed(order) if near < value < end - near])
    corners = corners[np.diff(corners, prepend=0.0) > near]
    surely = supremum <= _LARGEST and not lost
    beyond = np.linspace(end, supremum if surely else last, _BEYOND)
    count = _FEWER if engines_for(form) == QUICK else _KNOTS
    even = np.linspace(0.0, end, count)
    even = even[np.abs(even[:, None] - corners).min(axis=1, initial=math.inf) > near]
    knots = np.unique(np.concatenate([even, corners, beyond]))
    return connected(np.exp(knots), _raised(deltas(knots), knots)), end, surely


def _upper_deltas(part: Alternatives) -> Callable[[Floats], Floats]:
    """Return the proved upper ends of delta over alternatives and orders: in closed form, or by few transforms."""
    form = NormalForm(upper=part, lower=part)
    engines, near = engines_for(form), lru_cache(maxsize=None)(upper_near)

    def of_order(order: Composition, epsilons: Floats) -> Floats:
        deltas = np.full(len(epsilons), total_infinite_mass(order)[1])
        aims = np.where(epsilons < total_supremum(order)[1], np.searchsorted(_HALFWAY, epsilons), -1)
        for aim in set(aims.tolist()) - {-1}:
            curve, asked = near(order, _AIMS[aim]), aims == aim
            if curve is not None:
                deltas[asked] = curve.deltas(epsilons[asked])
            else:
                deltas[asked] = closed(NormalForm(upper=(order,), lower=(order,)), epsilons[asked])
        return deltas

    def closed(form: NormalForm, epsilons: Floats) -> Floats:
        return np.array([bracket_delta(form, float(epsilon), engines).upper for epsilon in epsilons])

    def deltas(epsilons: Floats) -> Floats:
        if engines == QUICK:
            return np.asarray(np.max([of_order(order, epsilons) for order in both_orders(part)], axis=0))
        return closed(form, epsilons)

    return deltas


def _listed(composition: Composition) -> tuple[float, ...]:
    """Return the losses of one finite table, where its curve has corners; of any other part none."""
    ((loss, times), *others) = composition.parts or ((None, 0),)
    one_table = isinstance(loss, DiscreteLoss) and times == 1 and not others and len(loss.atoms) <= _MOST
    return tuple(value for value, _ in loss.atoms) if one_table and isinstance(loss, DiscreteLoss) else ()


def _reached(deltas: Callable[[Floats], Floats], floor: float) -> float:
    """Return an epsilon at which delta has fallen to `floor`, about the first one.

    Raises: UnsupportedError: it is beyond the largest epsilon.
    """
    low, high = 0.0, _NEAR
    while deltas(np.array([high]))[0] > floor:
        low, high = high, 2 * high
        if high > _LARGEST:
            raise _too_far()
    while high - low > _CLOSE * high and high > _SMALL:
        middle = (low + high) / 2
        low, high = (middle, high) if deltas(np.array([middle]))[0] > floor else (low, middle)
    return high


def _too_far() -> UnsupportedError:
    """Return the refusal of curves that no grid holds."""
    return UnsupportedError(
        f"'best_of' is covered for a part whose curve falls to nothing up to an epsilon of {_LARGEST:g}, and for at "
        "most twice as much of the best run; state the (epsilon, delta) of the whole as a 'stated' node."
    )


def _largest(part: Alternatives, count: RunCount) -> float:
    """Return the largest loss of the best run of a pure part, rounded up; of a fixed number that of its composition."""
    if count.runs:
        return max(total_supremum(order * count.runs)[1] for order in both_orders(part))
    epsilon = max(total_supremum(order)[1] for order in both_orders(part))
    rare, common = np.array([1 / (1 + math.exp(epsilon))]), np.array([1 / (1 + math.exp(-epsilon))])
    slopes = count.log_slope(rare, common) - count.log_slope(common, rare)
    return (epsilon + float(slopes[0])) * (1 + _END)


def _composed(part: Alternatives, runs: int, epsilons: Floats) -> Floats:
    """Return the curve of as many runs that are all shown, by chords."""
    places = np.append(epsilons[::_SHOWN], epsilons[-1])
    heights = _upper_deltas(tuple(alternative * runs for alternative in part))(places)
    return np.asarray(np.interp(np.exp(epsilons), np.exp(places), heights))


def _ended(loss: DiscreteLoss, largest: float) -> DiscreteLoss:
    """Return a loss whose largest value is `largest` where a logarithm rounded it; unchanged where it ends before."""
    if len(loss.atoms) < 2:
        return loss
    (_, first), *inner, (end, last) = loss.atoms
    if abs(end - largest) > _END * largest:
        return loss
    return replace(loss, atoms=((-largest, first), *inner, (largest, last)))
