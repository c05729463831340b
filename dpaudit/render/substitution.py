"""The formula of a cited theorem with its numbers."""

from dpaudit.model.declaration import Release
from dpaudit.rules import Rule, Step
from dpaudit.wording.numerals import TIMES, nearest


def substituted(rule: Rule, step: Step, concluded: float) -> str:
    """Return the formula of the rule with the numbers of this step, and the concluded epsilon."""
    node, count, epsilon = step.node, nearest(step.count), _factor(step.largest.epsilon)
    parts = [nearest(part.epsilon) for part, _ in step.parts] or ["0"]
    numbers = {
        "count": count,
        "epsilon": epsilon,
        "delta": _factor(step.printed.delta),
        "spare": _factor(step.printed.delta - step.count * step.largest.delta),
        "mu": _factor(getattr(node.mechanism.loss(), "mu", float("nan"))) if isinstance(node, Release) else "",
        "size": str(getattr(node, "size", 1)),
        "terms": _sum(step),
        "sum": _sum(step) if step.printed.slots is None else f"{count} {TIMES} {epsilon}",
        "parts": ", ".join(dict.fromkeys(parts)),
        "first": parts[0],
        "last": parts[-1],
    }
    return f"{rule.here.format(**numbers)} = {nearest(concluded)}"


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
