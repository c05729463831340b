"""Draws that a mechanism really makes, beside the event that it declares: scales and numbers of noise."""

import inspect
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.adapters.calls import number_or_nan

_SAME, _SHOWN = 1e-9, 4
_NO_NOISE = 1e-150
_OTHER_NOISE = {"exponential", "geometric", "gumbel", "laplace", "logistic", "multivariate_normal"}
_UNREAD = _OTHER_NOISE | {"spawn", "standard_exponential", "standard_normal"}


class RecordingGenerator(np.random.Generator):
    """A generator that keeps the smallest scale of every normal draw and the epsilon of every choice.

    The epsilon of a choice is the argument `epsilon` of the function that draws it, over its argument `sensitivity`
    where it has one; a choice that has none is not kept. `unread` names other draws that may be noise.

    >>> rng = RecordingGenerator(np.random.PCG64(0))
    >>> _ = rng.normal(0.0, 2.0, size=3), rng.choice(2)
    >>> rng.draws, rng.unread
    ([('normal', 2.0)], set())
    """

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        self.draws: list[tuple[str, float]] = []
        self.unread: set[str] = set()

    def __getattribute__(self, name: str) -> Any:
        """Return an attribute; the name of one that may draw noise is kept."""
        if name in _UNREAD:
            self.unread.add(name)
        return super().__getattribute__(name)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return normal noise."""
        self.draws.append(("normal", float(np.min(scale))))
        return super().normal(loc, scale, size)

    def choice(self, *args: Any, **kwargs: Any) -> Any:
        """Return a random choice."""
        frame = inspect.currentframe()
        caller = {} if frame is None or frame.f_back is None else frame.f_back.f_locals
        if "epsilon" in caller:
            self.draws.append(("choice", float(caller["epsilon"]) / float(caller.get("sensitivity", 1.0))))
        return super().choice(*args, **kwargs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What an event declares beside what was drawn. `finding` is empty where the draws keep to the event.

    `open_points` say what the comparison could not decide.
    """

    finding: str = ""
    open_points: tuple[str, ...] = field(default=())


def compare(event: Any, generator: RecordingGenerator, records: int) -> Comparison:
    """Return the comparison of an event of dp-accounting with the draws of one run of its mechanism.

    Each draw counts as noise on a query that one record moves by 1, as the noise multipliers of events do; a person has
    `records` records. A draw at a declared scale is what the event declares. The others share what is left of it: in
    squares of mu, (records / scale)^2 for normal noise, epsilon^2 / 4 for a choice by the exponential mechanism, and 2
    rho for a zCDP bound.
    Guarantee: what exceeds that is a finding. More draws at a declared scale than are declared, and than what is left
    has room for, are an open point: they may read disjoint records, or none. Only numbers are read: what a query's
    sensitivity is, no draw tells.
    """
    declared, spare, unknown = _declared(event)
    if any(math.isnan(number) for _, number in [*declared, *generator.draws]) or math.isnan(spare):
        return Comparison(open_points=("A number of the event or of a draw is none: they are not compared.",))
    if unknown:
        return Comparison(open_points=(f"Draws are not compared with {', '.join(sorted(unknown))}.",))
    drawn = Counter(
        (kind, number / records if kind == "normal" else number * records) for kind, number in generator.draws
    )
    drawn_as_declared, surplus, others = _matched(declared, drawn)
    spare += _total(declared - drawn_as_declared)
    needed, more = _total(others), _total(surplus)
    points = [f"draws by {', '.join(sorted(generator.unread))}"] if generator.unread else []
    finding = ""
    if needed > spare * (1 + _SAME):
        shown = ", ".join(f"{times} × {_text(draw)}" for draw, times in sorted(others.items())[:_SHOWN])
        finding = (
            f"The declared event leaves mu^2 = {spare:.6g} for draws of undeclared scale, which need {needed:.6g} "
            f"if each is noise on data: {shown}{', and more' if len(others) > _SHOWN else ''}."
        )
    if needed + more > spare * (1 + _SAME):
        points += [f"{times} × {_text(leaf)} beyond what is declared" for leaf, times in surplus.items()]
    return Comparison(finding=finding, open_points=(f"Not decided: {'; '.join(points)}.",) if points else ())


def _declared(event: Any) -> tuple[Counter[tuple[str, float]], float, set[str]]:
    """Return the scales that an event declares, the squares of mu that its rho allow, and the classes not read."""
    declared: Counter[tuple[str, float]] = Counter()
    spare, unknown = 0.0, set[str]()
    for kind, number, times in _leaves(event):
        if kind == "rho":
            spare += 2 * number * times
        elif kind in ("normal", "choice"):
            declared[kind, number] += times
        else:
            unknown.add(kind)
    return declared, spare, unknown


def _leaves(event: Any, times: int = 1) -> Iterator[tuple[str, float, int]]:
    """Yield kind, number and count of each release of an event; the kind of a class that is not read is its name."""
    match type(event).__name__:
        case "NoOpDpEvent":
            return
        case "ComposedDpEvent":
            for part in event.events:
                yield from _leaves(part, times)
        case "SelfComposedDpEvent":
            yield from _leaves(event.event, times * int(event.count))
        case "GaussianDpEvent":
            yield "normal", number_or_nan(event.noise_multiplier), times
        case "ExponentialMechanismDpEvent":
            yield "choice", number_or_nan(event.epsilon), times
        case "ZCDpEvent":
            yield "rho", number_or_nan(event.rho), times
        case "EpsilonDeltaDpEvent" if event.epsilon == 0:  # a failure probability, which draws nothing
            return
        case name:
            yield name, math.nan, times


def _matched(declared: Counter[Any], drawn: Counter[Any]) -> tuple[Counter[Any], Counter[Any], Counter[Any]]:
    """Return declared releases that were drawn, draws beyond them at declared scales, and draws at other scales."""
    drawn_as_declared, surplus, others = Counter[Any](), Counter[Any](), Counter[Any]()
    for (kind, number), times in drawn.items():
        same = [leaf for leaf in declared if leaf[0] == kind and math.isclose(leaf[1], number, rel_tol=_SAME)]
        if not same:
            others[kind, number] += times
            continue
        free = min(times, declared[same[0]] - drawn_as_declared[same[0]])
        drawn_as_declared[same[0]] += free
        surplus[same[0]] += times - free
    return drawn_as_declared, +surplus, others


def _total(draws: Counter[Any]) -> float:
    """Return the sum of the squares of mu."""
    return math.fsum(_mu_squared(*draw) * times for draw, times in draws.items())


def _mu_squared(kind: str, number: float) -> float:
    """Return the square of mu of normal noise, or twice the rho of a choice (Cesar and Rogers 2021, epsilon^2 / 8)."""
    if kind == "choice":
        return number**2 / 4
    return math.inf if abs(number) < _NO_NOISE else number**-2


def _text(draw: tuple[str, float]) -> str:
    """Return one draw in words, for one record of a person."""
    kind, number = draw
    return f"{'normal noise of scale' if kind == 'normal' else 'a choice at epsilon'} {number:.6g}"
