"""The replay experiment: code runs twice on the same randomness, and what sets the two runs apart follows the data.

A run is set by its seed, the salts of its streams, what is pinned to it from an earlier run, and the factor of its
noise. Shipped programs run on a tape, functions on a generator that writes down draws, and training loops on a watch
with prescribed sums. What such runs publish, how they end and what they show beside is read and compared here.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from audits.experiment.channels import shown_beside

Channels = Mapping[str, Any]
"""What a run showed beside what it published, by the name of the channel."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ending:
    """How a program ended: what it returned, or the exception that ended it; and what it showed beside."""

    returned: Any
    raised: Exception | None
    channels: Channels


def ending(program: Callable[[], Any]) -> Ending:
    r"""Return how a program ends; an exception is an outcome, as it is an output of the audited code.

    >>> dict(ending(lambda: print("sum 3")).channels)
    sum 3
    {'printed text': 'sum 3\n'}
    """
    returned, raised = None, None
    with shown_beside() as shown:
        try:
            returned = program()
        except Exception as error:  # an exception is an output of the audited code
            raised = error
    return Ending(returned=returned, raised=raised, channels=shown.channels)


def apart(
    first: Mapping[Any, Any], second: Mapping[Any, Any], same: Callable[[Any, Any], bool] = operator.eq
) -> tuple[Any, ...]:
    """Return the names whose values differ, or that one run has alone, in their order.

    >>> apart({"sum": 1, "n": 2}, {"sum": 3, "n": 2, "mean": 1.5})
    ('sum', 'mean')
    """
    return tuple(
        name
        for name in {**first, **second}
        if name not in first or name not in second or not same(first[name], second[name])
    )


def following(pair: tuple[Channels, Channels], again: Callable[[], tuple[Channels, Channels]]) -> tuple[str, ...]:
    """Return the channels that follow the data: in some place each run shows another word, and both when repeated.

    Times and counters differ between two runs on the same data, so that they follow none. `again` repeats both runs.

    >>> repeated = {"log": "at 3: sum 3"}, {"log": "at 4: sum 4"}
    >>> following(({"log": "at 1: sum 3"}, {"log": "at 2: sum 4"}), lambda: repeated)
    ('log',)
    """
    names = apart(*pair)
    repeated = again() if names else ({}, {})
    return tuple(name for name in names if _follows(*(_words(shown.get(name)) for shown in (*pair, *repeated))))


def _follows(first: list[str], second: list[str], first_again: list[str], second_again: list[str]) -> bool:
    """Return whether words differ in a place where each run has the same one when it is repeated."""
    if len(first) != len(first_again) or len(second) != len(second_again):
        return False
    places = zip(first, second, first_again, second_again, strict=False)
    return len(first) != len(second) or any(a != b and a == c and b == d for a, b, c, d in places)


def _words(shown: Any) -> list[str]:
    """Return the words, numbers and signs of what a channel holds."""
    return re.findall(r"[\w.+-]+|[^\w\s]", repr(shown))
