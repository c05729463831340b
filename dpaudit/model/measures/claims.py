"""A claim in its own measure: rho, mu, Renyi divergences of listed orders, or points of a profile.

Each is a claim of its own type. It has no epsilon and no delta: what reads them refuses it by name.
Source: Bun and Steinke (2016), Definitions 1.1 and 8.1 for rho and xi; Dong, Roth and Su (2022) for mu; Mironov (2017).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dpaudit.checks import FieldError, NonNegative, non_negative, probability_below_one
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import MEASURES, Claim, MeasureKind

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredClaim(Claim):
    """A claim that is not made in epsilon and delta; `measure` names what it is made in."""

    measure: ClassVar[MeasureKind]
    keys: ClassVar[tuple[str, ...]] = ()
    """The two numbers of each point; empty where the measure has a single number."""
    epsilon: float = field(init=False, repr=False, compare=False)
    delta: float = field(init=False, repr=False, compare=False)

    def __getattr__(self, name: str) -> Any:
        if name in ("epsilon", "delta"):
            raise UnsupportedError(
                f"This reads a claim in epsilon and delta, and the claim is {self.words}. `certify`, `verify`, "
                "`audit`, `check`, `explain`, `calibrate`, `smallest_noise` and `report` take it as it is; elsewhere "
                "claim what `dpaudit.implied_claim(claim, delta)` returns."
            )
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        numbers = {name: getattr(self, name) for name in self.numbers}
        return _made, (type(self), {**numbers, **self.whose})

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the fields that hold the claim's numbers."""
        return (self.measure,)

    @property
    def rows(self) -> tuple[tuple[float | None, float], ...]:
        """Each claimed number with its order or its epsilon, None where the measure has a single number."""
        stated = getattr(self, self.measure)
        return stated if isinstance(stated, tuple) else ((None, stated),)

    @property
    def words(self) -> str:
        """The claim's numbers, as in "rho = 0.5"."""
        return ", ".join(f"{name} = {_written(getattr(self, name))}" for name in self.numbers)


def _made(kind: type[Any], arguments: dict[str, Any]) -> Any:
    """Return a claim that was taken apart."""
    return kind(**arguments)


def _written(value: Any) -> str:
    """Return a number, or points, as they were claimed."""
    if isinstance(value, tuple):
        return ", ".join(f"{_written(second)} at {_written(first)}" for first, second in value)
    return repr(float(value)).removesuffix(".0")


@dataclass(frozen=True, slots=True, kw_only=True)
class RhoClaim(MeasuredClaim):
    """Concentrated privacy: every Renyi divergence of order a > 1 is at most xi + rho a, in both orders of a pair.

    >>> Claim(rho=0.5, neighbours="add_remove").words
    'rho = 0.5'
    """

    measure: ClassVar[MeasureKind] = "rho"
    rho: NonNegative
    xi: NonNegative = 0.0

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the fields that hold the claim's numbers."""
        return ("rho", "xi") if self.xi else ("rho",)


@dataclass(frozen=True, slots=True, kw_only=True)
class MuClaim(MeasuredClaim):
    """Gaussian privacy: no pair is easier to tell apart than N(0, 1) from N(mu, 1).

    >>> MuClaim(mu=1, neighbours="add_remove").words
    'mu = 1'
    """

    measure: ClassVar[MeasureKind] = "mu"
    mu: NonNegative


@dataclass(frozen=True, slots=True, kw_only=True)
class RenyiClaim(MeasuredClaim):
    """Renyi privacy at listed orders above 1: `renyi` holds (order, epsilon), by the order.

    >>> RenyiClaim(renyi=((8, 0.5), (2, 0.1)), neighbours="add_remove").renyi
    ((2.0, 0.1), (8.0, 0.5))
    """

    measure: ClassVar[MeasureKind] = "renyi"
    keys: ClassVar[tuple[str, ...]] = ("order", "epsilon")
    renyi: Points

    def __post_init__(self) -> None:
        Claim.__post_init__(self)
        points = _points("renyi", self.renyi, self.keys)
        for order, _ in points:
            if not 1 < order < math.inf:
                raise FieldError("renyi", f"Expected order={order:g} of renyi to be above 1 and finite.")
        object.__setattr__(self, "renyi", points)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileClaim(MeasuredClaim):
    """Points of a privacy profile, all claimed at once: `profile` holds (epsilon, delta), by epsilon.

    >>> ProfileClaim(profile=((1, 1e-5), (0.5, 1e-3)), neighbours="add_remove").profile
    ((0.5, 0.001), (1.0, 1e-05))
    """

    measure: ClassVar[MeasureKind] = "profile"
    keys: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    profile: Points

    def __post_init__(self) -> None:
        Claim.__post_init__(self)
        points = _points("profile", self.profile, self.keys)
        for _, delta in points:
            probability_below_one("delta", delta)
        object.__setattr__(self, "profile", points)


def _points(name: str, given: Any, keys: tuple[str, ...]) -> Points:
    """Return pairs of numbers from pairs, from tables, or from one table; sorted, each first number once."""
    rows = [given] if isinstance(given, Mapping) else given
    if isinstance(rows, str) or not isinstance(rows, Iterable) or not (listed := list(rows)):
        raise FieldError(name, f"Expected {name} to list tables of {keys[0]} and {keys[1]}, got {given!r:.60}.")
    second_of: dict[float, float] = {}
    for given_row in listed:
        row = given_row
        if isinstance(given_row, Mapping):
            if set(given_row) != set(keys):
                raise FieldError(name, f"Expected a row of {name} to have {keys[0]} and {keys[1]}: {given_row!r:.40}.")
            row = (given_row[keys[0]], given_row[keys[1]])
        if not isinstance(row, tuple | list) or len(row) != 2:
            raise FieldError(
                name, f"Expected a row of {name} to be a pair of {keys[0]} and {keys[1]}, got {row!r:.60}."
            )
        first, second = (non_negative(key, value) for key, value in zip(keys, row, strict=True))
        if first in second_of:
            raise FieldError(name, f"Expected each {keys[0]} of {name} once, got {first:g} twice.")
        second_of[first] = second
    return tuple(sorted(second_of.items()))


KINDS: dict[str, type[MeasuredClaim]] = {kind.measure: kind for kind in (RhoClaim, MuClaim, RenyiClaim, ProfileClaim)}
"""The type of claim of each measure."""

if tuple(KINDS) != MEASURES:
    raise TypeError(f"Expected the measures {MEASURES}, got {tuple(KINDS)}.")
