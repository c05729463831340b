"""Discretised loss distributions: a declaration's curve on multiples of a width, for other accountants and back.

What leaves dominates the declaration in both orders of the neighbours: straight lines in e^epsilon between proved upper
bounds. What comes in is somebody else's pessimistic estimate, taken on trust.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.accounting.accountant import bracket_delta
from dpaudit.accounting.curves.connected import convex_corners
from dpaudit.accounting.curves.hockey_stick import engines_for, reach
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.checks import positive
from dpaudit.errors import UnsupportedError

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_MOST = 4000
_RAISED = 1e-9  # relative, by which upper bounds are raised so that rounding of masses cannot lower the curve


@dataclass(frozen=True, slots=True, kw_only=True)
class LossDistribution:
    """Masses under P at whole multiples of `width`, and the mass at infinity.

    Mass that is missing has an unknown loss: it counts as infinite, beside the mass that is stated to be.
    Raises: ValueError: a width that is not positive, a negative mass, or masses that sum to more than 1 + 1e-6.
    """

    width: float
    masses: tuple[tuple[int, float], ...]
    infinite_mass: float = 0.0

    def __post_init__(self) -> None:
        positive("width", self.width)
        total = math.fsum(mass for _, mass in self.masses) + self.infinite_mass
        if min((mass for _, mass in self.masses), default=0.0) < 0 or self.infinite_mass < 0 or total > 1 + 1e-6:
            raise ValueError(f"Expected masses of 0 or more that sum to at most 1; they sum to {total}.")
        object.__setattr__(self, "infinite_mass", min(1.0, self.infinite_mass + max(0.0, 1 - total)))

    def delta(self, epsilon: float) -> float:
        """Return the delta at `epsilon`, in floating point."""
        above = ((k * self.width - epsilon, mass) for k, mass in self.masses if k * self.width > epsilon)
        return self.infinite_mass + math.fsum(-math.expm1(-gap) * mass for gap, mass in above)


def dominating_distribution(form: NormalForm, width: float) -> LossDistribution:
    """Return a distribution that dominates `form` in both orders of the neighbours.

    Guarantee: its curve is nowhere below that of any pair of neighbours. What lies beyond the last multiple, less than
    1e-12 or what is infinite, counts as infinite.
    Raises: UnsupportedError: no engine covers `form`, or the width asks for more than 4,000 multiples.
    """
    step = positive("width", width)
    knots = math.ceil(reach(form) / step) + 1
    if knots > _MOST:
        raise UnsupportedError(f"Expected width={width} to leave at most {_MOST} multiples, and it leaves {knots}.")
    engines = engines_for(form)
    heights = np.array([bracket_delta(form, step * k, engines).upper for k in range(knots + 1)]) * (1 + _RAISED)
    x = np.exp(step * np.arange(knots + 1))
    back = 1 / x[:0:-1]
    left = 1 - back + back * heights[:0:-1]
    places = np.concatenate([[0.0], back, x])
    curve = np.concatenate([[1.0], left, heights])
    corners = convex_corners(places, curve)
    points, curve = places[corners], curve[corners]
    slopes = np.append(np.diff(curve) / np.diff(points), 0.0)
    masses = np.maximum(np.diff(slopes), 0.0) * points[1:]
    atoms = tuple((c - 1 - knots, float(m)) for c, m in zip(corners[1:], masses, strict=True) if m > 0)
    return LossDistribution(width=step, masses=atoms, infinite_mass=float(heights[-1]))


def to_pld(distribution: LossDistribution) -> "PrivacyLossDistribution":
    """Return dp-accounting's pessimistic distribution, the same in both orders of the neighbours."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    pmf = pld_pmf.create_pmf(
        dict(distribution.masses), distribution.width, distribution.infinite_mass, pessimistic_estimate=True
    )
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)


def from_pld(pld: "PrivacyLossDistribution") -> tuple[LossDistribution, LossDistribution]:
    """Return the distributions of both orders (removed, added) that dp-accounting holds.

    Raises: UnsupportedError: an optimistic estimate, which bounds nothing from above, or an unknown layout.
    """
    return _read(pld, "_pmf_remove"), _read(pld, "_pmf_add")


def _read(pld: Any, name: str) -> LossDistribution:
    """Return one order of dp-accounting's object."""
    pmf = getattr(pld, name, None)
    if pmf is None or not hasattr(pmf, "to_dense_pmf"):
        raise UnsupportedError("This version of dp-accounting holds loss distributions in an unknown layout.")
    layout = vars(pmf.to_dense_pmf())
    if not layout["_pessimistic_estimate"]:
        raise UnsupportedError("An optimistic loss distribution bounds nothing from above; give the pessimistic one.")
    masses = ((int(layout["_lower_loss"] + k), float(mass)) for k, mass in enumerate(layout["_probs"]) if mass > 0)
    return LossDistribution(
        width=float(layout["_discretization"]), masses=tuple(masses), infinite_mass=float(layout["_infinity_mass"])
    )
