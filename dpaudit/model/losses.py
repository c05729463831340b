"""The privacy losses a mechanism can have, as a small closed family.

A loss stands for a worst-case pair (P, Q) of output laws, through its hockey-stick divergence

    delta(epsilon) = E_P[(1 - e^(epsilon - L))_+],   L = log dP/dQ,

and everything an engine needs to compose it. Members:

    GaussianLoss        N(mu, 1) against N(0, 1)
    LaplaceLoss         Laplace(shift, 1) against Laplace(0, 1)
    ApproximateLoss     the pair that dominates every (epsilon, delta)-private one;
                        randomised response where delta is 0
    DiscreteLoss        finitely many loss values, and a mass at infinity
    SampledGaussianLoss (1 - rate) N(0, 1) + rate N(mu, 1) against N(0, 1), or the reverse
    ChoiceLoss          one of several of the above, picked by what was released before
    ComposedLoss        several of the above, released together

A mechanism opens the family by returning one of these; it never adds a member.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from scipy.special import log_ndtr

from dpaudit.checks import count, non_negative, one_of, open_probability, probability_below_one
from dpaudit.errors import UnsupportedError

SampledOrder = Literal["remove", "add"]
"""Which of the two neighbours holds the record: the first one (it is removed) or the second (it is added)."""


def group_delta(epsilon: float, delta: float, size: int) -> float:
    """Return delta (e^(size epsilon) - 1) / (e^epsilon - 1), rounded up and at most 1: what a group's delta grows to.

    Source: Dwork and Roth (2014), Theorem 2.2, with the geometric sum in place of its bound.
    """
    if size == 1:
        return delta
    if delta == 0 or epsilon == 0:
        return min(1.0, size * delta * (1 + 2.0**-52))
    log_growth = (size - 1) * epsilon + math.log(-math.expm1(-size * epsilon)) - math.log(-math.expm1(-epsilon))
    return min(1.0, delta * math.exp(min(log_growth, 700.0)) * (1 + 1e-12))


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLoss:
    """The loss of N(mu, 1) against N(0, 1); `mu` is l2 sensitivity over standard deviation.

    Source: Balle and Wang (2018), Theorem 8; Dong, Roth and Su (2022), Corollary 2.13.

    >>> round(GaussianLoss(mu=1.0).hockey_stick(1.0), 6)
    0.126937
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", non_negative("mu", self.mu))

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return math.inf if self.mu > 0 else 0.0

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return 0.0

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        if self.mu == 0:
            return max(0.0, -math.expm1(epsilon))
        first = float(log_ndtr(self.mu / 2 - epsilon / self.mu))
        second = epsilon + float(log_ndtr(-self.mu / 2 - epsilon / self.mu))
        return math.exp(first) * -math.expm1(min(0.0, second - first))

    def reversed(self) -> "GaussianLoss":
        """Return the loss of (Q, P), which is the same."""
        return self

    def group(self, size: int) -> "GaussianLoss":
        """Return the exact loss for `size` records moved together."""
        return GaussianLoss(mu=self.mu * size)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceLoss:
    """The loss of Laplace(shift, 1) against Laplace(0, 1); `shift` is l1 sensitivity over scale.

    It is the exact worst case of a Laplace vector under an l1 sensitivity: spreading the distance over
    coordinates never helps. A chain of moves of one coordinate each leads from one answer to the other; the
    power of a test against the whole move grows no faster along it than along one coordinate alone, where
    thresholds are optimal and moves compose to a longer move of the same kind, so that the chain is attained.
    Source: Dong, Roth and Su (2022), on group privacy, for chains. Dwork and Roth (2014), Theorem 3.6, has the
    pure bound alone.

    >>> LaplaceLoss(shift=1.0).group(3).supremum
    3.0
    """

    shift: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift", non_negative("shift", self.shift))

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return self.shift

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return 0.0

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        if epsilon >= self.shift:
            return 0.0
        if epsilon <= -self.shift:
            return -math.expm1(epsilon)
        return -math.expm1((epsilon - self.shift) / 2)

    def reversed(self) -> "LaplaceLoss":
        """Return the loss of (Q, P), which is the same."""
        return self

    def group(self, size: int) -> "LaplaceLoss":
        """Return the exact loss for `size` records moved together."""
        return LaplaceLoss(shift=self.shift * size)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateLoss:
    """The loss that dominates every (epsilon, delta)-private mechanism; at delta = 0, randomised response.

    Under P: +epsilon with probability (1 - delta) e^epsilon / (1 + e^epsilon), -epsilon with
    (1 - delta) / (1 + e^epsilon), infinity with delta.
    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3.

    >>> ApproximateLoss(epsilon=1.0, delta=1e-6).hockey_stick(1.0)
    1e-06
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))
        object.__setattr__(self, "delta", probability_below_one("delta", self.delta))

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return self.epsilon

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return self.delta

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        if epsilon >= self.epsilon:
            return self.delta
        if epsilon <= -self.epsilon:
            pure = -math.expm1(epsilon)
        else:
            pure = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))
        return self.delta + (1 - self.delta) * pure

    def reversed(self) -> "ApproximateLoss":
        """Return the loss of (Q, P), which is the same."""
        return self

    def group(self, size: int) -> "ApproximateLoss":
        """Return a loss that dominates `size` records changed one after another.

        Guarantee: an upper bound; for a mechanism that sees one record at a time it can be loose.
        Source: Dwork and Roth (2014), Theorem 2.2, with the geometric sum in place of its bound.
        """
        delta = group_delta(self.epsilon, self.delta, size)
        return ApproximateLoss(epsilon=size * self.epsilon, delta=min(delta, math.nextafter(1, 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLoss:
    """Finitely many loss values with their probabilities under P, and a mass at infinity.

    Shape: `atoms` holds (loss, probability) pairs; the probabilities and `infinite_mass` sum to 1
    within 1e-9 under both laws. `reverse_infinite_mass` is the mass that Q puts where P has none.
    Raises: ValueError: a probability outside [0, 1], a loss that is not finite, or a sum that is not 1.

    >>> fair_or_told = DiscreteLoss(atoms=((0.0, 0.75),), infinite_mass=0.25, reverse_infinite_mass=0.25)
    >>> fair_or_told.hockey_stick(5.0)
    0.25
    """

    atoms: tuple[tuple[float, float], ...]
    infinite_mass: float = 0.0
    reverse_infinite_mass: float = 0.0

    def __post_init__(self) -> None:
        merged: dict[float, float] = {}
        for loss, probability in self.atoms:
            if not math.isfinite(loss):
                raise ValueError(f"Expected a finite loss, got {loss}; put infinite losses in infinite_mass.")
            non_negative("probability", probability)
            merged[float(loss)] = merged.get(float(loss), 0.0) + float(probability)
        object.__setattr__(self, "atoms", tuple(sorted((v, p) for v, p in merged.items() if p > 0)))
        for name in ("infinite_mass", "reverse_infinite_mass"):
            mass = non_negative(name, getattr(self, name))
            if mass > 1:
                raise ValueError(f"Expected {name}={mass} in [0, 1].")
            object.__setattr__(self, name, mass)
        forward = math.fsum(p for _, p in self.atoms) + self.infinite_mass
        backward = math.fsum(p * math.exp(-v) for v, p in self.atoms) + self.reverse_infinite_mass
        if abs(forward - 1) > 1e-9 or abs(backward - 1) > 1e-9:
            raise ValueError(
                f"Expected probabilities that sum to 1 under both laws; they sum to {forward} and {backward}."
            )

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return max((loss for loss, _ in self.atoms), default=0.0)

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        return self.infinite_mass + math.fsum(-p * math.expm1(epsilon - v) for v, p in self.atoms if v > epsilon)

    def reversed(self) -> "DiscreteLoss":
        """Return the loss of (Q, P)."""
        return DiscreteLoss(
            atoms=tuple((-v, p * math.exp(-v)) for v, p in self.atoms),
            infinite_mass=self.reverse_infinite_mass,
            reverse_infinite_mass=self.infinite_mass,
        )

    def group(self, size: int) -> ApproximateLoss:
        """Return a loss that dominates `size` records changed one after another (an upper bound)."""
        both = (self, self.reversed())
        worst = ApproximateLoss(
            epsilon=max(0.0, *(loss.supremum for loss in both)),
            delta=min(max(loss.infinite_mass for loss in both), math.nextafter(1, 0)),
        )
        return worst.group(size)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledGaussianLoss:
    """The loss of a Gaussian release on a Poisson sample: each record is in it with probability `rate`.

    With `order` "remove" it is the loss of (1 - rate) N(0, 1) + rate N(mu, 1) against N(0, 1), with "add"
    that of N(0, 1) against the mixture: the two orders of neighbours that differ by one record, and two
    different losses. `mu` is l2 sensitivity over standard deviation, as if the record were surely there.
    Source: Zhu, Dong and Wang (2022), Theorem 11; Mironov, Talwar and Zhang (2019), Theorem 4.

    >>> removed = SampledGaussianLoss(mu=1.0, rate=0.01, order="remove")
    >>> round(removed.hockey_stick(0.0) / GaussianLoss(mu=1.0).hockey_stick(0.0), 6)
    0.01
    """

    mu: float
    rate: float
    order: SampledOrder = "remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", non_negative("mu", self.mu))
        object.__setattr__(self, "rate", open_probability("rate", self.rate))
        one_of("order", self.order, get_args(SampledOrder))

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        if self.mu == 0:
            return 0.0
        return math.inf if self.order == "remove" else math.nextafter(-math.log1p(-self.rate), math.inf)

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return 0.0

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits.

        Both orders follow from the unsampled curve at the epsilon that sampling maps to this one.
        Source: Balle, Barthe and Gaboardi (2018), Theorem 2 and Section 4.
        """
        plain = GaussianLoss(mu=self.mu)
        keep = 1 - self.rate
        if self.order == "remove":
            inner = math.expm1(epsilon) + self.rate
            if inner <= 0:
                return -math.expm1(epsilon)
            return self.rate * plain.hockey_stick(math.log(inner / self.rate))
        outer = -math.expm1(epsilon) + math.exp(epsilon) * self.rate
        if outer <= 0:
            return 0.0
        return outer * plain.hockey_stick(epsilon + math.log(self.rate) - math.log(outer)) if keep else 0.0

    def reversed(self) -> "SampledGaussianLoss":
        """Return the loss of (Q, P)."""
        return replace(self, order="add" if self.order == "remove" else "remove")

    def group(self, size: int) -> "SampledGaussianLoss":
        """Return the loss itself for one record; several sampled records are not covered.

        Raises: UnsupportedError: size above 1.
        """
        if size == 1:
            return self
        raise UnsupportedError(
            f"'group' of size {size} over 'subsample' is not covered: the sample may hold any number of the "
            "person's records. Sample persons, not records, and put the group inside the sample."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceLoss:
    """The loss of whichever of `options` is met, when earlier releases may pick it: their curves' maximum.

    The maximum of curves is the curve of some pair, and that pair dominates every way of picking, also among
    further releases. Folding makes this loss; no mechanism returns it.
    Raises: ValueError: no option.
    Source: Zhu, Dong and Wang (2022), Proposition 8 and Theorem 10.

    >>> either = ChoiceLoss(options=(LaplaceLoss(shift=1.0), GaussianLoss(mu=0.5)))
    >>> either.hockey_stick(0.0) == LaplaceLoss(shift=1.0).hockey_stick(0.0), either.supremum
    (True, inf)
    """

    options: tuple["PlainLoss", ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(sorted(set(self.options), key=repr)))
        if not self.options:
            raise ValueError("Expected one option or more, got none.")

    @property
    def supremum(self) -> float:
        """The largest finite loss of any option; the choice's own is no larger."""
        return max(loss.supremum for loss in self.options)

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return max(loss.infinite_mass for loss in self.options)

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        return max(loss.hockey_stick(epsilon) for loss in self.options)

    def reversed(self) -> "ChoiceLoss":
        """Return the loss of (Q, P): the choice between the reversed options."""
        return ChoiceLoss(options=tuple(loss.reversed() for loss in self.options))

    def group(self, size: int) -> "ChoiceLoss | ComposedLoss":
        """Return a loss that dominates `size` records, which may meet different options: all of them, moved so far."""
        if size == 1:
            return self
        return ComposedLoss(parts=tuple((loss.group(size), 1) for loss in self.options))


PlainLoss: TypeAlias = GaussianLoss | LaplaceLoss | ApproximateLoss | DiscreteLoss | SampledGaussianLoss
"""What a single release can have."""

SimpleLoss: TypeAlias = PlainLoss | ChoiceLoss
"""What an engine can meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedLoss:
    """Several losses met together, each a number of times: what a composite mechanism returns.

    >>> Composition.of(ComposedLoss(parts=((LaplaceLoss(shift=0.5), 2),)), LaplaceLoss(shift=0.5)).parts
    ((LaplaceLoss(shift=0.5), 3),)
    """

    parts: tuple[tuple[SimpleLoss, int], ...]

    def __post_init__(self) -> None:
        for _, times in self.parts:
            count("times", times)


Loss: TypeAlias = SimpleLoss | ComposedLoss
"""What a mechanism can return."""


def _flat(loss: Loss, times: int) -> Iterable[tuple[SimpleLoss, int]]:
    """Return the losses that `times` copies of a loss stand for."""
    return ((part, held * times) for part, held in loss.parts) if isinstance(loss, ComposedLoss) else ((loss, times),)


@dataclass(frozen=True, slots=True)
class Composition:
    """A multiset of losses: what adaptive composition leaves of a declaration, in any order.

    Equal losses are merged and counted once, here and nowhere else. The parts are sorted, so that equal
    compositions are equal objects. The empty composition is a perfectly private release.

    >>> Composition.of(LaplaceLoss(shift=1), LaplaceLoss(shift=1)).parts
    ((LaplaceLoss(shift=1.0), 2),)
    """

    parts: tuple[tuple[SimpleLoss, int], ...] = ()

    @classmethod
    def of(cls, *losses: Loss) -> "Composition":
        """Return the multiset of `losses`, with composed ones taken apart."""
        return cls._merged((loss, 1) for loss in losses)

    @classmethod
    def _merged(cls, pairs: Iterable[tuple[Loss, int]]) -> "Composition":
        """Return composed losses taken apart, equal ones counted once and harmless ones dropped."""
        counts: dict[SimpleLoss, int] = {}
        flat = (part for pair in pairs for part in _flat(*pair))
        for loss, times in flat:
            if times and (loss.supremum > 0 or loss.infinite_mass > 0):
                counts[loss] = counts.get(loss, 0) + times
        return cls(tuple(sorted(counts.items(), key=repr) if len(counts) > 1 else counts.items()))

    def __add__(self, other: "Composition") -> "Composition":
        return self._merged((*self.parts, *other.parts))

    def __mul__(self, times: int) -> "Composition":
        return self._merged((loss, times * held) for loss, held in self.parts)

    def reversed(self) -> "Composition":
        """Return the composition of the reversed losses: the same claim read from the other neighbour."""
        return self._merged((loss.reversed(), times) for loss, times in self.parts)

    def group(self, size: int) -> "Composition":
        """Return a composition that dominates `size` records changed together."""
        return self._merged((loss.group(size), times) for loss, times in self.parts)

    @property
    def events(self) -> int:
        """How many losses are composed, counted with repetition."""
        return sum(times for _, times in self.parts)
