"""The tight reading: brackets on what a declaration delivers, by every engine that covers it."""

from collections.abc import Callable
from functools import reduce

from dpaudit.accounting.normal_form import Alternatives, NormalForm, both_orders
from dpaudit.checks import non_negative, probability_below_one
from dpaudit.engines import (
    CLOSED,
    DEFAULT,
    ENGINES,
    PROVED_UPPERS,
    QUICK,
    RANGE,
    UPPERS,
    Engine,
    Precision,
)
from dpaudit.engines.basic import total_supremum
from dpaudit.errors import UnsupportedError
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import Composition, DiscreteLoss

Question = Callable[[Engine, Composition, Precision], Bracket]

_LAST_PLACES = 2.0**-50
"""How far two sums of the same decimals can lie apart, relative to them, where each ends in the nearest float."""


def bracket_epsilon(form: NormalForm, delta: float, precision: Precision = DEFAULT) -> Bracket:
    """Return a bracket on the smallest epsilon for which `form` is (epsilon, delta)-private.

    Guarantee: `upper` is proved for every neighbouring pair; `lower` is attained by some pair, if each
    stated sensitivity is. Infinity is a possible answer on both sides.

    Raises:
        EngineDisagreementError: two engines contradict each other.
        UnsupportedError: none of the engines that `precision` names covers what `form` holds.

    >>> from dpaudit import Stated, fold
    >>> bracket_epsilon(fold(Stated(epsilon=0.5, source="a supplier"), "replace_one"), 0.0).upper
    0.5
    """
    target = probability_below_one("delta", delta)
    return _bracket(form, precision, lambda engine, composition, asked: engine.epsilon(composition, target, asked))


def bracket_delta(form: NormalForm, epsilon: float, precision: Precision = DEFAULT) -> Bracket:
    """Return a bracket on the smallest delta for which `form` is (epsilon, delta)-private.

    Guarantee and errors: as for `bracket_epsilon`.

    >>> from dpaudit import Release, fold
    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    >>> round(bracket_delta(fold(Release(label="sum", mechanism=noise), "replace_one"), 1.0).upper, 6)
    0.126937
    """
    target = non_negative("epsilon", epsilon)
    return _bracket(form, precision, _delta_at(target))


def largest_epsilon_of(alternatives: Alternatives, delta: float) -> Composition:
    """Return the alternative whose epsilon at `delta` is largest from below."""
    return _largest(alternatives, lambda engine, composition, asked: engine.epsilon(composition, delta, asked))


def largest_delta_of(alternatives: Alternatives, epsilon: float) -> Composition:
    """Return the alternative whose delta at `epsilon` is largest from below."""
    return _largest(alternatives, _delta_at(epsilon))


def _delta_at(epsilon: float) -> Question:
    """Return the question for delta at `epsilon`; from the largest loss on closed forms answer it exactly.

    There `epsilon` stands for the ratio that it is the nearest float of, which engines with grids cannot know.
    """
    beyond_largest: dict[int, tuple[Composition, bool]] = {}  # by identity: an exact sum of many parts takes long

    def ask(engine: Engine, composition: Composition, precision: Precision) -> Bracket:
        if id(composition) not in beyond_largest:
            beyond_largest[id(composition)] = composition, epsilon >= total_supremum(composition)[1]
        beyond = beyond_largest[id(composition)][1] and engine is not RANGE  # which knows other pairs
        return (CLOSED if beyond else engine).delta(composition, epsilon, precision)

    return ask


def _largest(alternatives: Alternatives, question: Question) -> Composition:
    """Return the alternative with the largest lower bound; the slow engines decide only where the quick ones cannot.

    An upper bound on one pair does not bound a choice among pairs, which therefore stays.
    """
    quick = {a: _attained((a,), QUICK, question) for a in alternatives} if len(alternatives) > 1 else {}
    least = max((bracket.lower for bracket in quick.values()), default=0.0)
    close = [a for a in alternatives if a not in quick or quick[a].upper >= least or _chosen(a)]
    return close[0] if len(close) == 1 else max(close, key=lambda a: _attained((a,), DEFAULT, question).lower)


def _chosen(composition: Composition) -> bool:
    """Return whether the pair may be chosen for the question."""
    return RANGE.covers(composition) or _met_once(composition) is not None


def _attained(alternatives: Alternatives, precision: Precision, question: Question) -> Bracket:
    """Return a bracket whose lower end some pair of an alternative attains, chosen for the question where it may be."""
    return _by_strategies(_worst(alternatives, precision, question), alternatives, precision, question)


def _bracket(form: NormalForm, precision: Precision, question: Question) -> Bracket:
    """Return the worst alternative's bracket, each side from the alternatives that bound that side."""
    upper = _worst(form.upper, precision, question)
    if form.upper == form.lower:
        return upper
    upper = _within_ranges(upper, form.upper, precision, question)
    lower = _attained(form.lower, precision, question)
    names = tuple(dict.fromkeys(upper.engines + lower.engines))
    same = lower.lower <= upper.upper * (1 + _LAST_PLACES)  # one number, rounded in two ways
    return Bracket(lower=min(lower.lower, upper.upper) if same else lower.lower, upper=upper.upper, engines=names)


def _worst(alternatives: Alternatives, precision: Precision, question: Question) -> Bracket:
    """Return the largest answer over alternatives and over both orders of the neighbours.

    What takes long is asked only where the largest may be: quick upper bounds tell what comes first, and what lies
    below its lower bound, or below its upper one where that is asked for alone, is left out.
    """
    orders = both_orders(alternatives)
    if precision.soon or len(orders) == 1:
        return reduce(Bracket.largest, (narrowest(order, precision, question) for order in orders))
    quick = {order: narrowest(order, UPPERS, question).upper for order in orders}
    first, *others = sorted(orders, key=lambda order: -quick[order])
    bracket = narrowest(first, precision, question)
    for order in others:
        enough = bracket.upper if precision.above_alone else bracket.lower
        if quick[order] > enough and narrowest(order, PROVED_UPPERS, question).upper > enough:
            bracket = bracket.largest(narrowest(order, precision, question))
    return bracket


def _within_ranges(bracket: Bracket, alternatives: Alternatives, precision: Precision, question: Question) -> Bracket:
    """Return the bracket with the smaller upper end that bounded ranges prove, of all alternatives and both orders.

    Its lower side is that of the laws that dominate, which says nothing of a pair; it is no larger than the upper one.
    """
    orders = both_orders(alternatives)
    if not any(map(RANGE.covers, orders)):
        return bracket
    ends = []
    for order in orders:
        order_upper = bracket.upper if len(orders) == 1 else narrowest(order, precision, question).upper
        ends.append(min(order_upper, question(RANGE, order, precision).upper) if RANGE.covers(order) else order_upper)
    upper = min(bracket.upper, max(ends))
    return Bracket(lower=min(bracket.lower, upper), upper=upper, engines=(*bracket.engines, RANGE.name))


def _by_strategies(bracket: Bracket, alternatives: Alternatives, precision: Precision, question: Question) -> Bracket:
    """Return the bracket with the larger lower end of those that each choose the pair that answers the question best.

    Strategies over a bounded range attain it, and pairs of a release that is met once.
    """
    lows = [question(RANGE, a, precision) for a in alternatives if RANGE.covers(a)]
    lows += [question(CLOSED, once, precision) for once in map(_met_once, alternatives) if once is not None]
    best = max(lows, key=lambda low: low.lower, default=bracket)
    if best.lower <= bracket.lower:
        return bracket
    names = tuple(dict.fromkeys((*bracket.engines, *best.engines)))
    return Bracket(lower=best.lower, upper=max(best.lower, bracket.upper), engines=names)


def _met_once(composition: Composition) -> Composition | None:
    """Return the loss of which a single release attains each point by a pair of its own; None where there is none."""
    losses = [loss for loss, _ in composition.parts]
    is_once = composition.events == 1 and isinstance(losses[0], DiscreteLoss) and losses[0].once
    return Composition.of(is_once) if is_once else None


def narrowest(composition: Composition, precision: Precision, question: Question) -> Bracket:
    """Return what all engines that cover `composition` say together, of one order of the neighbours.

    Raises: UnsupportedError: none of the engines that `precision` names covers it.
    """
    asked = [engine for engine in ENGINES if not precision.engines or engine.name in precision.engines]
    answers = [question(engine, composition, precision) for engine in asked if engine.covers(composition)]
    if not answers:
        raise UnsupportedError(
            f"None of the engines {', '.join(precision.engines)} covers this composition; name none to ask all."
        )
    return reduce(Bracket.intersect, answers)
