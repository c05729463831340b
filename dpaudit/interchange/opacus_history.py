"""The history of an Opacus accountant as a declaration.

Opacus records (noise_multiplier, sample_rate, num_steps) for each stretch of equal steps. It records neither whether
batches were in fact Poisson samples nor whether the noise was in fact added; both stay conditions of the declaration.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.checks import count, positive
from dpaudit.errors import ConfigError
from dpaudit.model.declaration import Declaration, Release, Repeat, Sequential, Subsample
from dpaudit.runtime.plugins import find_plugin


def from_history(history: Sequence[tuple[float, float, int]]) -> Declaration:
    """Return the declaration of a run from an accountant's `history`, for `add_remove`.

    Unit: noise in units of the clipping norm, which is the sensitivity of a sum of clipped gradients.
    Raises: ConfigError: an empty history, or an entry that is no (noise_multiplier, sample_rate, num_steps).

    >>> from_history([(1.1, 0.01, 1000)]).parts[0].times
    1000
    """
    if not history:
        raise ConfigError("The history is empty: no step was accounted for, or another accountant holds them.")
    return Sequential(parts=tuple(_stretch(number, entry) for number, entry in enumerate(history)))


def from_state_dict(state: Mapping[str, Any]) -> Declaration:
    """Return the declaration of a run from an accountant's `state_dict()`.

    Which accountant wrote it does not matter: the steps are the same.
    Raises: ConfigError: no history in it, or an unusable one.

    >>> from_state_dict({"history": [(1.1, 0.01, 1000)], "mechanism": "rdp"}).parts[0].times
    1000
    """
    history = state.get("history")
    if not isinstance(history, Sequence) or isinstance(history, str):
        raise ConfigError(
            f"Expected the accountant's state to hold a list 'history'; it holds {', '.join(map(repr, state))}."
        )
    return from_history(history)


def _stretch(number: int, entry: Any) -> Declaration:
    """Return the declaration of one entry."""
    if not isinstance(entry, Sequence) or isinstance(entry, str) or len(entry) != 3:
        raise ConfigError(f"history[{number}]: expected (noise_multiplier, sample_rate, num_steps), got {entry!r:.80}.")
    noise_multiplier, sample_rate, steps = entry
    try:
        noise = find_plugin("mechanisms", "gaussian")(
            stddev=noise_multiplier, l2_sensitivity=1.0, neighbours="add_remove"
        )
        step = Release(label=f"gradient sums {number + 1}", mechanism=noise)
        return Repeat(
            part=Subsample(part=step, rate=positive("sample_rate", sample_rate)), times=count("num_steps", steps)
        )
    except (ValueError, TypeError) as error:
        raise ConfigError(f"history[{number}]: {error}") from None
