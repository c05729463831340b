"""Answers at which a mechanism adds other noise than at 0, from one state of its generator: where to sample its law.

A scale that switches at a threshold shows in no sample around other answers. Noise may depend on the answer and have
its law all the same, as where a sampler mirrors it: so the law of samples at such an answer decides.
"""

from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array, is_additive

_SEED = 40_961
_ROUNDING = 2.0**-22  # of single precision, with room
_WHOLE, _NEAR, _STEP = 2_048, 64, 0.125
_POWERS = 34
_MOST_NUMBERS = 100_000


def answers_apart(mechanism: Any, item: tuple[int, ...]) -> tuple[float, ...]:
    """Return up to two answers, the smallest and the largest in size, with other noise than 0 has; mostly none.

    Tried are all whole numbers up to 2,048, eighths up to 64, and powers of two up to 2^33, of both signs, in the unit
    of the answer, in every entry of an answer at once. Of answers with many entries fewer are tried, spread evenly.
    A difference that single precision makes beside a large answer is none.
    Where a mechanism refuses some, those that are not negative are tried, or none.

    >>> from mechanisms import Laplace
    >>> answers_apart(Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"), ())
    ()
    """
    if not is_additive(mechanism):
        return ()
    answers = _tried(whole_only=bool(getattr(mechanism, "exact_sampler", False)))
    for taken in (answers, answers[answers >= 0]):
        try:
            return _apart_at(mechanism, item, taken)
        except Exception:  # noqa: S112 - a mechanism may refuse answers in any way; it is then asked for fewer
            continue
    return ()


def _apart_at(mechanism: Any, item: tuple[int, ...], answers: Array) -> tuple[float, ...]:
    """Return the smallest and the largest of some answers with other noise than 0 has."""
    stride = max(1, -(-len(answers) * max(int(np.prod(item)), 1) // _MOST_NUMBERS))
    kind = np.int64 if getattr(mechanism, "exact_sampler", False) else np.float64
    answers = answers[::stride].astype(kind)
    value = np.broadcast_to(answers.reshape(-1, *(1,) * len(item)), (len(answers), *item))
    noise, usual = (
        np.asarray(mechanism.release(given, np.random.default_rng(_SEED))).astype(np.float64) - given
        for given in (value, np.zeros(value.shape, dtype=kind))
    )
    if noise.shape != value.shape or usual.shape != value.shape:
        return ()
    close = _ROUNDING * (np.abs(value) + np.abs(usual))
    apart = (np.abs(noise - usual) > close).reshape(len(answers), -1).any(axis=1)
    unlike = answers[apart]
    sizes = np.abs(unlike)
    return tuple(dict.fromkeys((float(unlike[sizes.argmin()]), float(unlike[sizes.argmax()])))) if unlike.size else ()


def _tried(*, whole_only: bool) -> Array:
    """Return the answers that are tried, whole numbers only if `whole_only`."""
    powers = 2.0 ** np.arange(_POWERS)
    near = np.arange(_STEP, _NEAR, _STEP)
    sizes = np.unique(np.concatenate([np.arange(1.0, _WHOLE + 1), powers, *([] if whole_only else [near, 1 / powers])]))
    return np.concatenate([-sizes[::-1], sizes])
