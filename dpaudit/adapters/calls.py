"""Functions for an audit from a library's calls, one output a call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.adapters.outcomes import one_by_one, outcome_columns


def published(call: Callable[[Any], Any], released: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """Return a call with what is published of its output; all of it where `released` is None."""
    if released is None:
        return call
    picked = released

    def picking(data: Any) -> Any:
        return picked(call(data))

    return picking


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Runs of `call(data)`, whose noise is the library's own: the generator of the audit is not used."""

    call: Callable[[Any], Any]

    def __call__(self, data: Any, rng: np.random.Generator, n_runs: int) -> dict[str, Any]:
        """Return the outcomes of `n_runs` calls as columns."""
        del rng
        return outcome_columns(one_by_one(lambda: self.call(data), n_runs))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededCalls:
    """Runs of `prepare(seed)(data)`: one prepared call for each batch, seeded by the audit's generator."""

    prepare: Callable[[int], Callable[[Any], Any]]

    def __call__(self, data: Any, rng: np.random.Generator, n_runs: int) -> dict[str, Any]:
        """Return the outcomes of `n_runs` calls as columns."""
        call = self.prepare(int(rng.integers(2**32)))
        return outcome_columns(one_by_one(lambda: call(data), n_runs))
