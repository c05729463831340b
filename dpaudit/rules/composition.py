"""Rules about releases one after another."""

import math

from dpaudit.model.declaration import Parallel, Repeat, Sequential
from dpaudit.rules.step import Step, exceeding, rule

_COMPOSED = (Sequential, Repeat, Parallel)


def _sum(step: Step) -> float:
    """Dwork et al. (2006), Theorem 1: epsilons add up."""
    if step.printed.slots is not None:
        return step.printed.slots * step.largest.epsilon
    return math.fsum(part.epsilon * times for part, times in step.parts)


def _slots_premises(step: Step) -> tuple[str, ...]:
    """The premise that all rules of composition share: the slots cover the parts."""
    if step.printed.slots is not None and step.events > step.printed.slots * (1 + 1e-12):
        return (f"{step.events} parts are composed in {step.printed.slots:.6g} slots",)
    return ()


def _sum_premises(step: Step) -> tuple[str, ...]:
    """The slots cover the parts, and the deltas fit."""
    deltas = (
        step.printed.slots * step.largest.delta
        if step.printed.slots is not None
        else math.fsum(part.delta * times for part, times in step.parts)
    )
    return (*_slots_premises(step), *exceeding("delta", deltas, step.printed.delta))


def _spare_delta(step: Step) -> float:
    """Return what advanced composition has left for its own d' after the parts' deltas."""
    return step.printed.delta - step.count * step.largest.delta


def _advanced(step: Step) -> float:
    """Dwork, Rothblum and Vadhan (2010), Theorem III.3."""
    spare, k, epsilon = _spare_delta(step), step.count, step.largest.epsilon
    if spare <= 0:
        return math.inf
    return epsilon * math.sqrt(2 * k * math.log(1 / spare)) + k * epsilon * math.expm1(epsilon)


def _advanced_refined(step: Step) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.4 (second form), for equal parts."""
    spare, k, epsilon = _spare_delta(step), step.count, step.largest.epsilon
    if spare <= 0:
        return math.inf
    return epsilon * math.sqrt(2 * k * math.log(1 / spare)) + k * epsilon * math.tanh(epsilon / 2)


def _advanced_short(step: Step) -> float:
    """Dwork and Roth (2014), Corollary 3.21: parts of epsilon / sqrt(8 k ln(2 / delta))."""
    if step.printed.delta == 0:
        return math.inf
    return step.largest.epsilon * math.sqrt(8 * step.count * math.log(2 / step.printed.delta))


def _advanced_premises(step: Step) -> tuple[str, ...]:
    """The slots cover the parts, and something of delta is left for the theorem's own failure probability."""
    if _spare_delta(step) <= 0:
        return (*_slots_premises(step), "the parts use up the whole delta; the theorem needs some of it for itself")
    return _slots_premises(step)


def _advanced_short_premises(step: Step) -> tuple[str, ...]:
    """The slots cover the parts; the shorthand is proved for epsilon <= 1 and parts with delta / (2k)."""
    problems = [*_slots_premises(step)]
    if step.printed.epsilon > 1:
        problems.append(f"the shorthand needs epsilon <= 1, here {step.printed.epsilon:.6g}")
    return (*problems, *exceeding("delta of the parts", 2 * step.count * step.largest.delta, step.printed.delta))


def _optimal(step: Step) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.5, the closed form for unequal parts; nothing where one loses all."""
    if any(part.delta >= 1 for part, _ in step.parts):
        return math.inf
    parts = [(part.epsilon, times) for part, times in step.parts]
    log_kept = math.fsum(times * math.log1p(-part.delta) for part, times in step.parts)
    spare = -math.expm1(math.log1p(-step.printed.delta) - log_kept)
    total = math.fsum(e * n for e, n in parts)
    if spare <= 0:
        return total if -math.expm1(log_kept) <= step.printed.delta else math.inf
    drift = math.fsum(n * e * math.tanh(e / 2) for e, n in parts)
    squares = math.fsum(n * e * e for e, n in parts)
    return min(
        total,
        drift + math.sqrt(2 * squares * math.log(math.e + math.sqrt(squares) / spare)),
        drift + math.sqrt(2 * squares * math.log(1 / spare)),
    )


COMPOSITION_RULES = (
    rule("basic", _sum, _sum_premises, *_COMPOSED),
    rule("advanced", _advanced, _advanced_premises, *_COMPOSED),
    rule("advanced_refined", _advanced_refined, _advanced_premises, *_COMPOSED),
    rule("advanced_short", _advanced_short, _advanced_short_premises, *_COMPOSED),
    rule("optimal", _optimal, _slots_premises, *_COMPOSED),
)
