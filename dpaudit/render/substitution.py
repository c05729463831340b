"""The formula of a cited theorem with its numbers."""

from dpaudit.model.declaration import Group, Release
from dpaudit.rules import Rule, Step
from dpaudit.wording.numerals import TIMES, nearest


def substituted(rule: Rule, step: Step, concluded: float) -> str:
    """Return the formula of the rule with the numbers of this step, and the concluded epsilon."""
    return f"{_formula(rule.name, step)} = {nearest(concluded)}"


def _formula(name: str, step: Step) -> str:
    """Return the left-hand side."""
    count, epsilon, delta = nearest(step.count), _factor(step.largest.epsilon), _factor(step.printed.delta)
    spare = _factor(step.printed.delta - step.count * step.largest.delta)
    match name:
        case "basic":
            return f"{count} {TIMES} {epsilon}" if step.printed.slots is not None else _sum(step)
        case "advanced":
            return f"{epsilon} √(2 {TIMES} {count} ln(1 / {spare})) + {count} {TIMES} {epsilon} (e^{epsilon} - 1)"
        case "advanced_refined":
            return f"{epsilon} √(2 {TIMES} {count} ln(1 / {spare})) + {count} {TIMES} {epsilon} tanh({epsilon} / 2)"
        case "advanced_short":
            return f"{epsilon} √(8 {TIMES} {count} ln(2 / {delta}))"
        case "classic_gaussian" | "classic_gaussian_2" if isinstance(step.node, Release):
            mu = getattr(step.node.mechanism.loss(), "mu", float("nan"))
            return f"{_factor(mu)} √(2 ln({'1.25' if name == 'classic_gaussian' else '2'} / {delta}))"
        case "group" if isinstance(step.node, Group):
            return f"{step.node.size} {TIMES} {epsilon}"
        case "optimal":
            return f"optimal over {_sum(step)}, at delta {delta},"
        case "parallel" | "post_processing" | "billboard" | "local":
            parts = dict.fromkeys(nearest(part.epsilon) for part, _ in step.parts)
            return f"max({', '.join(parts)})"
        case _:
            return f"the exact epsilon of this release at delta {delta}"


def _factor(value: float) -> str:
    """Return a number as a factor: in brackets if it is a product itself."""
    text = nearest(value)
    return f"({text})" if TIMES in text else text


def _sum(step: Step) -> str:
    """Return a sum with equal terms counted."""
    counted: dict[float, int] = {}
    for part, times in step.parts:
        counted[part.epsilon] = counted.get(part.epsilon, 0) + times
    terms = (f"{n} {TIMES} {nearest(e)}" if n > 1 else nearest(e) for e, n in counted.items())
    return " + ".join(terms)
