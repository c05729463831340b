"""Whether some noise lets a data set give an output: draws are chosen until the published numbers agree.

All draws are chosen at once, as each of them moves the numbers by itself; where that fails, they are chosen one by one.

Noise hides exact data only where each data set can give what its neighbours give. An output whose length, keys or
branch follow exact data beside noisy numbers is often one that the neighbour gives under no noise at all.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from audits.outputs.fields import NUMBER
from audits.replay.evidence import Event, differing
from audits.replay.one_call import Call, Calls
from dpaudit.model.mechanism import Array

_STREAM = 9_311
_MOST, _STEPS, _FAR = 16, 4, 8.0
"""So many draws are moved, each in so many calls at most; by so many scales where that moves no number that differs."""

_ROUNDED, _SINGLE = 1e-9, 1e-6
"""Relative sizes of what doubles round, at the scale of the noise, and of more than single precision rounds."""

_BELOW_NOISE = 1e-6
"""Of the scale of the noise: smaller differences are left to the attack on the last bits."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reachable(Event):
    """The event that some noise on `data`, the data set of `side`, gives the output of a run.

    Guarantee: it is a function of the output alone, as the search begins without noise on one fixed stream. So a claim
    bounds it as any other event, also where the search misses the noise; it supposes that calls keep no state.
    """

    calls: Calls
    data: Any

    def heard(self, call: Call, side: int) -> bool:
        """Return whether the noise that was found gives what the call returned."""
        del side
        return not apart(self.nearest(call), call)

    def nearest(self, wanted: Call) -> Call:
        """Return the call with noise that was chosen, from none on, to give another call's output."""
        current = self.calls.moved(self.data, _STREAM)
        together = self._at_once(current, wanted)
        if together is not None and not _rounded_apart(together, wanted):
            return together
        noise: tuple[float, ...] = ()
        while len(noise) < min(len(current.noise), _MOST) and _rounded_apart(current, wanted):
            moved = self._agreeing(noise, 0.0, current, wanted)
            if moved is None:
                added, nearer = self._nearer(noise, current, wanted)
                moved = (self._agreeing(noise, added, nearer, wanted) if added else None) or (added, nearer)
            noise, current = (*noise, moved[0]), moved[1]
        return current

    def _call(self, noise: tuple[float, ...]) -> Call:
        """Return the call whose first draws are `noise`, and further ones 0."""
        return self.calls.player.call(self.data, _STREAM, factor=0.0, shifts=noise)

    def _at_once(self, none: Call, wanted: Call) -> Call | None:
        """Return the call with all draws that agrees if the numbers follow them linearly; None if they cannot.

        `none` is the call without noise. A number that is cut, compared or rounded follows a draw as it does on the
        side of none on which it moves further.
        """
        names = [name for name in wanted.numbers if _finite(name, none) and _finite(name, wanted)]
        if not names or not 0 < len(none.scales) <= _MOST or (none.scales == 0).any():
            return None
        slopes = np.zeros((len(names), len(none.scales)))
        for index, far in enumerate((_FAR * none.scales).tolist()):
            above, below = (
                _moves(names, none, self.calls.moved(self.data, _STREAM, shifts=(*[0.0] * index, by))) / by
                for by in (far, -far)
            )
            slopes[:, index] = np.where(np.abs(above) >= np.abs(below), above, below)
        noise = np.linalg.lstsq(slopes, _moves(names, none, wanted), rcond=None)[0]
        return self._call(tuple(noise.tolist()))

    def _agreeing(
        self, noise: tuple[float, ...], added: float, before: Call, wanted: Call
    ) -> tuple[float, Call] | None:
        """Return the next draw, and its call, for which the number that it moves most agrees; None if it moves none.

        `before` is the call whose next draw is `added`.
        """
        numbers = [name for name in _rounded_apart(before, wanted) if _finite(name, before) and _finite(name, wanted)]
        step = wanted.columns[numbers[0]] - before.columns[numbers[0]] if numbers else 0.0
        name = ""
        for _ in range(_STEPS if numbers else 0):
            after = self._call((*noise, added + step))
            name = name or _moved_most(numbers, before, after)
            change = _change(name, before, after)
            if change == 0:
                break
            added, before, step = added + step, after, step * (wanted.columns[name] - after.columns[name]) / change
            if name not in _rounded_apart(after, wanted):
                break
        return (added, before) if name else None

    def _nearer(self, noise: tuple[float, ...], before: Call, wanted: Call) -> tuple[float, Call]:
        """Return the next draw, none or far from it, whose call differs in the fewest columns."""
        far = _FAR * float(before.scales[len(noise)])
        calls = (0.0, before), *((added, self._call((*noise, added))) for added in (far, -far))
        return min(calls, key=lambda candidate: len(_rounded_apart(candidate[1], wanted)))


def apart(first: Call, second: Call) -> list[str]:
    """Return the columns in which two calls differ, numbers by more than a small share of the first one's noise."""
    return differing(first, second, _SINGLE, _BELOW_NOISE * _largest_scale(first))


def _rounded_apart(first: Call, second: Call) -> list[str]:
    """Return the columns in which two calls differ by more than doubles round at the scale of the first one's noise."""
    return differing(first, second, _ROUNDED, _ROUNDED * _largest_scale(first))


def _largest_scale(call: Call) -> float:
    """Return the largest scale of the noise of a call."""
    return float(call.scales.max(initial=0.0))


def _finite(name: str, call: Call) -> bool:
    """Return whether a call has a finite number of this name."""
    return name.startswith(NUMBER) and isfinite(call.column(name))


def _change(name: str, before: Call, after: Call) -> float:
    """Return how far a number moved between two calls; 0 where one of them does not have it."""
    change = after.column(name) - before.column(name)
    return change if isfinite(change) else 0.0


def _moves(names: list[str], before: Call, after: Call) -> Array:
    """Return how far each number moved between two calls."""
    return np.array([_change(name, before, after) for name in names])


def _moved_most(names: list[str], before: Call, after: Call) -> str:
    """Return the first of the names whose numbers moved furthest between two calls; none where no number moved."""
    changes = np.abs(_moves(names, before, after))
    return names[int((changes >= (1 - _ROUNDED) * changes.max()).argmax())] if changes.any() else ""
