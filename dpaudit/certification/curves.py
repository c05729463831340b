"""A curve of a certificate's declaration, by its kind."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from dpaudit.accounting.curves.divergence_tables import concentrated_table, renyi_table
from dpaudit.accounting.curves.gaussian_dp import gaussian_table
from dpaudit.accounting.curves.groups import group_table
from dpaudit.accounting.curves.hockey_stick import POINTS, HockeyStick, hockey_stick
from dpaudit.accounting.curves.table import CurveKind, CurveTable
from dpaudit.accounting.curves.tails import tail_table
from dpaudit.accounting.curves.trade_off import trade_off_table
from dpaudit.accounting.derivation.walker import derived, removals_change_sizes
from dpaudit.accounting.fold import fold
from dpaudit.accounting.loss_tail import LossTail
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.certification.evidence import is_void
from dpaudit.checks import count, one_of
from dpaudit.errors import UnsupportedError
from dpaudit.model.certificate import CertificateRecord
from dpaudit.model.declaration import Group
from dpaudit.model.measures.claims import MeasuredClaim

KINDS: tuple[CurveKind, ...] = get_args(CurveKind)
"""Every kind of curve."""


@dataclass(frozen=True, kw_only=True)
class _Curves:
    """What the curves of one declaration are computed from."""

    record: CertificateRecord
    size: int
    points: int

    @property
    def violated(self) -> bool:
        """Return whether a condition of the proof was seen violated."""
        return is_void(self.record.conditions)

    @cached_property
    def form(self) -> NormalForm:
        """Return the normal form of the declaration."""
        return fold(self.record.declaration, self.record.claim.neighbours, self.record.conditions)

    @cached_property
    def stick(self) -> HockeyStick:
        """Return brackets on delta along epsilon, the claim's among them."""
        if isinstance(self.record.claim, MeasuredClaim):
            return hockey_stick(self.form, violated=self.violated, points=max(self.points, POINTS))
        tight = self.record.tight.epsilon
        epsilons = tuple(e for e in (self.record.claim.epsilon, tight.lower, tight.upper) if math.isfinite(e))
        return hockey_stick(self.form, violated=self.violated, points=max(self.points, POINTS), also=epsilons)

    def tail(self) -> CurveTable:
        """Return the tail of the privacy loss."""
        points = tuple(zip(self.stick.epsilons, self.stick.upper, strict=True))
        every = LossTail(points=points)
        return tail_table(self.form, every, violated=self.violated, points=min(self.points, 13))

    def group(self) -> CurveTable:
        """Return the curve of several records of one person, for which the group itself must have a rule.

        Its own normal form counts, and a chain of records that change one after another where that keeps all sizes.
        """
        group, neighbours = Group(part=self.record.declaration, size=self.size), self.record.claim.neighbours
        chain = not removals_change_sizes(derived(group, neighbours))
        try:
            grouped = fold(group, neighbours)
        except UnsupportedError:
            if not chain:
                raise
            grouped = None
        return group_table(self.stick, self.size, grouped, chain=chain, violated=self.violated, points=self.points)


def curve_of(record: CertificateRecord, kind: CurveKind, *, size: int = 2, points: int = POINTS) -> CurveTable:
    """Return one curve of the declaration that `record` carries, as `dpaudit.Certificate.curve` says.

    Raises: ValueError: an unknown kind, a size below 1, or fewer than three points.
        UnsupportedError: no engine covers the declaration, or no rule its group.
    """
    one_of("kind", kind, KINDS)
    if count("points", points) < 3 or points > 2000:
        raise ValueError(f"Expected points={points} in 3 .. 2000.")
    curves = _Curves(record=record, size=count("size", size), points=points)
    kinds: dict[CurveKind, Callable[[], CurveTable]] = {
        "tradeoff": lambda: trade_off_table(curves.stick, points),
        "gdp": lambda: gaussian_table(curves.stick, curves.form, violated=curves.violated),
        "renyi": lambda: renyi_table(curves.form, violated=curves.violated),
        "zcdp": lambda: concentrated_table(curves.form, violated=curves.violated),
        "tail": curves.tail,
        "group": curves.group,
    }
    return kinds[kind]()
