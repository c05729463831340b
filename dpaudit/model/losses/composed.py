"""Losses made of other losses: on a sample, averaged, at a secret step, chosen, or met together."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from dpaudit.checks import Count, OpenProbability, count, meant, non_negative, settle
from dpaudit.model.losses.approximate import ApproximateLoss
from dpaudit.model.losses.concentrated import ConcentratedLoss
from dpaudit.model.losses.discrete import DiscreteLoss
from dpaudit.model.losses.gaussian import GaussianLoss
from dpaudit.model.losses.laplace import LaplaceLoss
from dpaudit.model.losses.mixture import MixtureLoss
from dpaudit.model.losses.sampled_gaussian import SampledGaussianLoss, SampledOrder
from dpaudit.model.losses.sampled_ratios import loss_before, sampled_loss, share_without

_EXACT = 1000


def infinite_of(inside: "tuple[tuple[SimpleLoss, int], ...]") -> Fraction | float:
    """Return the mass at infinity of all losses together, exactly for up to a thousand, else rounded up."""
    masses = [(loss.infinite_mass, times) for loss, times in inside if loss.infinite_mass]
    if any(mass == 1 for mass, _ in masses):
        return Fraction(1)
    if sum(times for _, times in masses) <= _EXACT:
        return 1 - math.prod(((1 - meant(mass)) ** times for mass, times in masses), start=Fraction(1))
    return -math.expm1(math.fsum(times * math.log1p(-mass) for mass, times in masses)) * (1 + 1e-14)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledLoss:
    """The loss of (1 - rate) Q + rate P against Q, (P, Q) being all `inside` together; or of the reverse, order "add".

    Edge cases: the mass at infinity of (P, Q) counts `rate` times; a mass that only Q has is met as -ln(1 - rate).
    Raises: ValueError: nothing inside, a rate outside (0, 1), or an unknown order.
    Source: Zhu, Dong and Wang (2022), Theorem 11; Balle, Barthe and Gaboardi (2018), Theorem 2.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> noise = SampledLoss(inside=((LaplaceLoss(shift=1.0), 1),), rate=0.1)
    >>> round(noise.hockey_stick(0.05), 9), round(noise.reversed().hockey_stick(0.05), 9)
    (0.02540139, 0.008217948)
    """

    inside: "tuple[tuple[SimpleLoss, int], ...]"
    rate: OpenProbability
    order: SampledOrder = "remove"

    def __post_init__(self) -> None:
        settle(self)
        if not self.inside:
            raise ValueError("Expected one loss or more inside a sample, got none.")
        for _, times in self.inside:
            count("times", times)

    @property
    def supremum(self) -> float:
        """The largest finite loss, rounded up: ln(1 + rate (e^L - 1)), and the negative of it in the order "add".

        L is the largest loss inside, and in the order "add" the smallest one: minus infinity where only Q has a mass.
        """
        away = self.order == "add"
        inside = [(loss.reversed() if away else loss, times) for loss, times in self.inside]
        largest = math.fsum(loss.supremum * times for loss, times in inside)
        margin = 1e-14 + 2.0**-51 * min(largest, 700.0)  # of a sum of floats; no more is off in the result
        if away:
            lowest = -math.inf if infinite_of(tuple(inside)) else -largest
            return -sampled_loss(lowest, self.rate) * (1 + margin) + 1e-300
        return sampled_loss(max(0.0, largest), self.rate) * (1 + margin) + 1e-300

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        if self.order == "add":
            return 0.0
        lost = infinite_of(self.inside)
        return float(meant(self.rate) * lost) if isinstance(lost, Fraction) else self.rate * lost

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits.

        Of several losses inside, what their sum of curves gives: nowhere less, and about as large where it is small.
        """
        if self.order == "remove":
            inner = loss_before(epsilon, self.rate)
            return -math.expm1(epsilon) if inner == -math.inf else self.rate * self._plain(inner, back=False)
        inner = -loss_before(-epsilon, self.rate)
        return share_without(epsilon, self.rate) * self._plain(inner, back=True) if inner < math.inf else 0.0

    def _plain(self, epsilon: float, *, back: bool) -> float:
        """Return the delta of what is inside, of either order."""
        losses = ((loss.reversed() if back else loss, times) for loss, times in self.inside)
        return min(1.0, math.fsum(times * loss.hockey_stick(epsilon) for loss, times in losses))

    def reversed(self) -> "SampledLoss":
        """Return the loss of (Q, P)."""
        return replace(self, order="add" if self.order == "remove" else "remove")


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageLoss:
    """The loss of whichever of `options` a public coin picks: the average of their curves, by weight.

    Shape: `options` holds (weight, loss) pairs; weights are probabilities that sum to 1 within 1e-9.
    Source: an average of curves is a curve, that of a pair whose outputs show the coin.

    >>> from dpaudit.model.losses import GaussianLoss
    >>> AverageLoss(options=((0.5, GaussianLoss(mu=1.0)), (0.5, GaussianLoss(mu=0.0)))).infinite_mass
    0.0
    """

    options: "tuple[tuple[float, SimpleLoss], ...]"

    def __post_init__(self) -> None:
        if abs(math.fsum(non_negative("weight", weight) for weight, _ in self.options) - 1) > 1e-9:
            raise ValueError(f"Expected weights that sum to 1, got {[weight for weight, _ in self.options]}.")

    @property
    def supremum(self) -> float:
        """The largest finite loss of any option."""
        return max(loss.supremum for _, loss in self.options)

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return min(1.0, math.fsum(weight * loss.infinite_mass for weight, loss in self.options))

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        return math.fsum(weight * loss.hockey_stick(epsilon) for weight, loss in self.options)

    def reversed(self) -> "AverageLoss":
        """Return the loss of (Q, P)."""
        return AverageLoss(options=tuple((weight, loss.reversed()) for weight, loss in self.options))


@dataclass(frozen=True, slots=True, kw_only=True)
class StitchedLoss:
    """A loss that dominates `positive` at every epsilon of 0 or more and `negative` at every one below.

    Both orders of neighbours have their own worst data sets: what is worst for a positive epsilon need not be for a
    negative one, and no single pair need attain both.
    Source: Lebeda, Regehr, Kamath and Steinke (2024), on the worst pairs of samples without replacement.

    >>> from dpaudit.model.losses.laplace import LaplaceLoss
    >>> stitched = StitchedLoss(positive=LaplaceLoss(shift=1.0), negative=LaplaceLoss(shift=2.0))
    >>> stitched.supremum, stitched.reversed().supremum
    (1.0, 2.0)
    """

    positive: "SimpleLoss"
    negative: "SimpleLoss"

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return self.positive.supremum

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        return self.positive.infinite_mass

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        return (self.positive if epsilon >= 0 else self.negative).hockey_stick(epsilon)

    def reversed(self) -> "StitchedLoss":
        """Return the loss of (Q, P)."""
        return StitchedLoss(positive=self.negative.reversed(), negative=self.positive.reversed())


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedLoss:
    """The loss of `steps` runs of all `inside`, `places` of which, secret and uniform, use the record.

    With order "remove" it is the loss of the average over sets of `places` steps of the product of P at these steps and
    Q at all others, against Q^steps, (P, Q) being all `inside` together; with "add" that of the reverse.
    Raises: ValueError: nothing inside, less than one step or place, more places than steps, or an unknown order.
    Source: a secret position that is independent of the data is a mixture of products, which kernels from a dominating
    pair preserve (Blackwell 1953); Chua et al. (2024), for balls in bins.

    >>> from dpaudit.model.losses import GaussianLoss
    >>> AllocatedLoss(inside=((GaussianLoss(mu=1.0), 1),), steps=10).supremum
    inf
    """

    inside: "tuple[tuple[SimpleLoss, int], ...]"
    steps: Count
    order: SampledOrder = "remove"
    places: Count = 1

    def __post_init__(self) -> None:
        settle(self)
        if self.places > self.steps:
            raise ValueError(f"Expected places={self.places} to be at most steps={self.steps}.")
        if not self.inside:
            raise ValueError("Expected one loss or more inside an allocation, got none.")
        for _, times in self.inside:
            count("times", times)

    @property
    def supremum(self) -> float:
        """A bound on the largest finite loss, of steps that are known."""
        back = self.order == "add"
        epoch_supremum = math.fsum((loss.reversed() if back else loss).supremum * times for loss, times in self.inside)
        return epoch_supremum * self.places

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        if self.order == "add":
            back = tuple((loss.reversed(), times) for loss, times in self.inside)
            mass, least = float(infinite_of(back)), self.steps + 1 - self.places
            counts = range(least, self.steps + 1)
            return math.fsum(math.comb(self.steps, n) * mass**n * (1 - mass) ** (self.steps - n) for n in counts)
        return float(infinite_of(tuple((loss, times * self.places) for loss, times in self.inside)))

    def hockey_stick(self, epsilon: float) -> float:
        """Return the total variation of a known step, beyond which delta(epsilon) never lies."""
        back = self.order == "add"
        losses = ((loss.reversed() if back else loss, times) for loss, times in self.inside)
        return min(1.0, self.places * math.fsum(n * loss.hockey_stick(max(0.0, epsilon)) for loss, n in losses))

    def reversed(self) -> "AllocatedLoss":
        """Return the loss of (Q, P)."""
        return replace(self, order="add" if self.order == "remove" else "remove")


DerivedLoss: TypeAlias = SampledLoss | AverageLoss | StitchedLoss | AllocatedLoss
"""What folding makes of other losses; engines know a pair above it and one below it, not its law."""

PlainLoss: TypeAlias = (
    GaussianLoss
    | LaplaceLoss
    | ApproximateLoss
    | ConcentratedLoss
    | DiscreteLoss
    | SampledGaussianLoss
    | MixtureLoss
    | DerivedLoss
)
"""What a single release, or a sample of releases, can have."""


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

    options: tuple[PlainLoss, ...]

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


SimpleLoss: TypeAlias = PlainLoss | ChoiceLoss
"""What an engine can meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedLoss:
    """Several losses met together, each a number of times: what a composite mechanism returns.

    >>> from dpaudit.model.losses import Composition
    >>> Composition.of(ComposedLoss(parts=((LaplaceLoss(shift=0.5), 2),)), LaplaceLoss(shift=0.5)).parts
    ((LaplaceLoss(shift=0.5), 3),)
    """

    parts: tuple[tuple[SimpleLoss, int], ...]

    def __post_init__(self) -> None:
        for _, times in self.parts:
            count("times", times)


Loss: TypeAlias = SimpleLoss | ComposedLoss
"""What a mechanism can return."""
