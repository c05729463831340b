"""How batches of users grow: epochs that double, and the factor by which the users so far grow before a batch ends."""

from dataclasses import dataclass
from typing import Annotated

from dpaudit.checks import FieldError, Within, positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One epoch: rounds `start` to `stop` - 1, counted from 0; `complete` unless the horizon cut it short."""

    number: int
    start: int
    stop: int
    complete: bool

    @property
    def length(self) -> int:
        """The number of rounds, which is also the number of users who arrive."""
        return self.stop - self.start


def doubling_epochs(horizon: int, first: int) -> tuple[Epoch, ...]:
    """Return the epochs of `horizon` rounds: the first of `first` rounds, each next twice as long, the last cut short.

    >>> [epoch.length for epoch in doubling_epochs(10_000, 2_000)]
    [2000, 4000, 4000]
    """
    epochs: list[Epoch] = []
    start, length = 0, first
    while start < horizon:
        stop = min(start + length, horizon)
        epochs.append(Epoch(number=len(epochs) + 1, start=start, stop=stop, complete=stop == start + length))
        start, length = stop, 2 * length
    return tuple(epochs)


def growth_factor(name: str, value: object) -> float:
    """Return `value` as a finite float above 1.

    Raises: ValueError: not a number, or 1 or less, with which no batch would ever be longer than one user.

    >>> growth_factor("growth", 1.2)
    1.2
    """
    number = positive(name, value)
    if number <= 1:
        raise FieldError(name, f"Expected {name}={value!r} above 1.")
    return number


Growth = Annotated[float, Within(above=1), growth_factor]
"""What `growth_factor` accepts."""
