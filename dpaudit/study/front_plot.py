"""The plot of a front, the same in a report and in a study: regret a round against certified epsilon."""

import math
from collections.abc import Iterator

from dpaudit.figures.plot import CROSS, Plot, Point, Series, Words, stepped
from dpaudit.figures.scale import Scale, reach
from dpaudit.study.front import Front, FrontPoint

_ROOM = 1.6
"""The axis of epsilon reaches so far beyond its outermost points, as a factor."""
HUES, SHAPES, DASHES = 8, 5, 5
"""So many colours, marks and dashes there are before the first comes again."""


def front_plot(front: Front, title: str = "", caption: tuple[str, ...] = ()) -> Plot:
    """Return the plot of a front; without a present setting every contender has a colour of its own."""
    epsilons = [point.epsilon for point in front.points] or [1.0]
    across = Scale(
        low=min(epsilons) / _ROOM, high=max(epsilons) * _ROOM, name="certified epsilon, in nats (logarithmic)"
    )
    walls = [value for point in front.points for value in (point.bound, _wall(point)) if value is not None]
    low, high = reach([*(point.regret for point in front.points), *(level.regret for level in front.levels), *walls])
    kind = " (logarithmic)" if low > 0 else ""
    return Plot(
        across=across,
        up=Scale(low=low, high=high, name=f"regret a round{kind}; lower is better"),
        layers=(*_levels(front, across), *_bounds(front), *_contenders(front), *_remarks(front)),
        title=title,
        caption=caption,
    )


def _wall(point: FrontPoint) -> float | None:
    """Return what a point loses at most: what is proved of it, or what anybody can lose."""
    return point.proved if point.speaks or point.most == math.inf else point.most


def _levels(front: Front, across: Scale) -> Iterator[Series]:
    """Yield floors and ceilings as lines from end to end, and the most that can be lost where a proof says no less."""
    silent = [point.most for point in front.points if point.proved is not None and not point.speaks]
    levels = [(f"{level.label} ({level.role})", f"level {level.role}", level.regret) for level in front.levels]
    levels += [("most that can be lost", "level most", max(silent))] if silent else []
    for number, (name, style, regret) in enumerate(levels):
        ends = ((across.low, regret), (across.high, regret))
        yield Series(points=ends, line=f"{style} dash{number % DASHES}", name=name)


def _bounds(front: Front) -> Iterator[Series]:
    """Yield the lower bounds on regret of each trust model, in the order of epsilon."""
    bounded = [point for point in front.points if point.bound is not None]
    for number, model in enumerate(sorted({point.model for point in bounded})):
        places = sorted({(p.epsilon, p.bound) for p in bounded if p.model == model and p.bound is not None})
        name = f"lower bound ({model}), worst instance"
        yield Series(points=tuple(places), line=f"bound dash{number % DASHES}", name=name)


def _contenders(front: Front) -> Iterator[Series]:
    """Yield the points of each contender with its spans, its running minimum, and what is proved of it."""
    labels = list(dict.fromkeys(point.label for point in front.points))
    whose = next((point.label for point in front.points if point.present), "")
    for number, label in sorted(enumerate(labels), key=lambda entry: entry[1] == whose):
        own = [point for point in front.points if point.label == label]
        look = ("ours" if label == whose else "other") if whose else f"hue{number % HUES}"
        hollow = " empty" if own[0].model == "local" else ""
        places: tuple[Point, ...] = tuple((point.epsilon, point.regret) for point in own)
        yield Series(
            points=places,
            line=f"front {look}",
            mark=(number % SHAPES, f"mark {look}{hollow}"),
            name=f"{label} ({own[0].model})",
            spans=tuple((point.epsilon, point.lower, point.upper) for point in own),
        )
        served = running_minimum(places)
        if served != places:
            yield Series(points=stepped(served), line=f"front {look} served")
        proved = tuple((point.epsilon, point.proved) for point in own if point.speaks and point.proved is not None)
        if proved:
            yield Series(points=proved, line=f"front {look} proof", name=f"{label}: proved upper bound")


def running_minimum(places: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return each place with the smallest value so far: a certificate at a smaller epsilon serves a larger one.

    >>> running_minimum(((1.0, 3.0), (2.0, 1.0), (4.0, 2.0)))
    ((1.0, 3.0), (2.0, 1.0), (4.0, 1.0))
    """
    return tuple((x, min(value for _, value in places[: point_index + 1])) for point_index, (x, _) in enumerate(places))


def _remarks(front: Front) -> Iterator[Series | Words]:
    """Yield a cross on each point at which learning is not shown, and a ring around the present setting."""
    unseen = tuple((point.epsilon, point.regret) for point in front.points if not point.visible)
    if unseen:
        yield Series(points=unseen, mark=(CROSS, "crossed"), name="crossed: learning is not shown")
    for point in front.points:
        if point.present:
            yield Words(at=(point.epsilon, point.regret), text="this setting", ring=True)
