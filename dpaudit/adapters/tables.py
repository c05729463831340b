"""Counts and sums by group over a table, with bounded contributions: what the sensitivity is, and what enforces it."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpaudit.adapters.calls import number_or_nan
from dpaudit.checks import count
from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Release
from dpaudit.model.mechanism import Array
from dpaudit.runtime.plugins import find_plugin

_MOST_STEPS = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedSum:
    """Sums of `value` for each of the public `keys` of the column `by`, a unit's rows bounded; counts without `value`.

    `unit` is the column that names a person, all of whose rows are protected. Of each unit the first `contributions`
    rows that have a listed key count, in the order of the table; the choice reads no other unit. Values are clipped to
    [`low`, `high`] and rounded to multiples of `step`, so that sums are exact integers and the noise is exact.
    Unit: `scale` in steps. Sensitivity: `contributions` times the largest clipped value in steps, in the l1 norm over
    all groups, for one unit added or removed.
    Edge cases: a row without a unit or with another key is left out; a value that is no number, or NaN, counts as 0,
    clipped. Keys without rows are released too. Which keys there are must be public: never read them from the data.
    Both neighbours need the same type of column: pandas turns whole numbers into floats where a cell is missing, which
    may merge long numbers of persons. Use text or a nullable type for `unit`.
    Raises: ValueError: no key, a key twice, a range that is empty or not finite, or more than 2^31 steps.

    >>> visits = GroupedSum(by="city", unit="person", keys=("A", "B"), contributions=2, scale=2.0)
    >>> visits.sensitivity, visits.declaration("visits").label
    (2, 'visits')
    >>> visits.bounded({"city": ["A", "A", "A", "C"], "person": [1, 1, 1, 2]}).tolist()
    [2, 0]
    """

    by: str
    unit: str
    keys: tuple[Hashable, ...]
    contributions: int
    scale: float
    value: str | None = None
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0

    def __post_init__(self) -> None:
        count("contributions", self.contributions)
        if not self.keys or len(set(self.keys)) != len(self.keys) or any(key != key for key in self.keys):
            raise ValueError("Expected keys to be one or more different public values, none of them NaN.")
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ValueError(f"Expected low={self.low} and high={self.high} to be a finite range.")
        if not (math.isfinite(self.step) and self.step > 0):
            raise ValueError(f"Expected step={self.step} to be positive.")
        if not 1 <= self.sensitivity <= _MOST_STEPS:
            raise ValueError(
                f"Expected 1 to 2^31 steps of step={self.step} in one unit's share, got {self.sensitivity}."
            )

    @classmethod
    def calibrated(cls, claim: Claim, **fields: Any) -> Self:
        """Return the release with the smallest noise that meets a claim about one unit added or removed.

        Raises: ValueError: the claim is about replaced records.
        """
        if claim.neighbours != "add_remove":
            raise ValueError(
                f"Expected neighbours={claim.neighbours!r} to be 'add_remove': a unit is added or removed."
            )
        unit = cls(**fields, scale=1.0)
        kind = find_plugin("mechanisms", "discrete_laplace")
        return cls(**fields, scale=float(kind.calibrated(claim, l1_sensitivity=unit.sensitivity).scale))

    @property
    def sensitivity(self) -> int:
        """The most that one unit moves all groups together, in steps."""
        if self.value is None:
            return self.contributions
        return self.contributions * max(abs(self._steps(self.low)), abs(self._steps(self.high)))

    @property
    def mechanism(self) -> Any:
        """The exact integer noise on every group."""
        kind = find_plugin("mechanisms", "discrete_laplace")
        return kind(scale=self.scale, l1_sensitivity=self.sensitivity, neighbours="add_remove")

    def declaration(self, label: str) -> Release:
        """Return what `certify` and a ledger are told: one release of that noise."""
        return Release(label=label, mechanism=self.mechanism)

    def bounded(self, table: Mapping[str, Any]) -> Array:
        """Return the sums in steps before noise, shape (keys,): not private, for tests of the bound alone.

        `table` is a pandas frame, or any mapping from the names of columns to sequences of one length.
        """
        number_of_key: dict[Any, int] = {key: number for number, key in enumerate(self.keys)}
        taken: Counter[Any] = Counter()
        totals = [0] * len(self.keys)
        values = [None] * len(table[self.by]) if self.value is None else table[self.value]
        for group, unit, value in zip(table[self.by], table[self.unit], values, strict=True):
            if _missing(unit) or _missing(group) or group not in number_of_key or taken[unit] >= self.contributions:
                continue
            taken[unit] += 1
            totals[number_of_key[group]] += 1 if self.value is None else self._steps(self._clipped(value))
        return np.array(totals, dtype=np.int64)

    def release(self, table: Mapping[str, Any], rng: np.random.Generator) -> dict[Any, float]:
        """Return the noisy sums by key, in the unit of the values; this is what may be published."""
        noisy = self.mechanism.release(self.bounded(table), rng)
        return dict(zip(self.keys, (float(total) * self.step for total in noisy), strict=True))

    def case(self, name: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> AuditCase:
        """Return the experiment on two tables of which one has all rows of one unit more."""

        def run(table: Mapping[str, Any], rng: np.random.Generator, n_runs: int) -> Array:
            return self.mechanism.release(np.tile(self.bounded(table), (n_runs, 1)), rng)

        return AuditCase(
            name=name,
            view="sums",
            description="All rows of one unit are added.",
            neighbours=(first, second),
            relation="add_remove",
            run=run,
        )

    def _clipped(self, value: Any) -> float:
        """Return a value inside the range; 0, clipped, for what is no number."""
        number = number_or_nan(value)
        return min(self.high, max(self.low, 0.0 if math.isnan(number) else number))

    def _steps(self, value: float) -> int:
        """Return the nearest whole number of steps; rounding is monotone, so that clipped values stay in range."""
        return round(value / self.step)


def _missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or what cannot be a name."""
    try:
        hash(value)
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True
