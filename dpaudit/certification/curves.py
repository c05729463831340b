"""A curve of a certificate's declaration, by its kind."""

import math
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


def curve_of(record: CertificateRecord, kind: CurveKind, *, size: int = 2, points: int = POINTS) -> CurveTable:
    """Return one curve of the declaration that `record` carries, as `dpaudit.Certificate.curve` says.

    Raises: ValueError: an unknown kind, a size below 1, or fewer than three points.
        UnsupportedError: no engine covers the declaration, or no rule its group.
    """
    one_of("kind", kind, KINDS)
    if count("points", points) < 3 or points > 2000:
        raise ValueError(f"Expected points={points} in 3 .. 2000.")
    members, violated = count("size", size), is_void(record.conditions)
    form = fold(record.declaration, record.claim.neighbours, record.conditions)
    if kind == "renyi":
        return renyi_table(form, violated=violated)
    if kind == "zcdp":
        return concentrated_table(form, violated=violated)
    stick = _stick(record, form, max(points, POINTS), violated=violated)
    match kind:
        case "tradeoff":
            return trade_off_table(stick, points)
        case "gdp":
            return gaussian_table(stick, form, violated=violated)
        case "tail":
            every = LossTail(points=tuple(zip(stick.epsilons, stick.upper, strict=True)))
            return tail_table(form, every, violated=violated, points=min(points, 13))
        case "group":
            return _group(record, stick, members, points, violated=violated)


def _stick(record: CertificateRecord, form: NormalForm, points: int, *, violated: bool) -> HockeyStick:
    """Return brackets on delta along epsilon, the claim's among them."""
    epsilons: tuple[float, ...] = ()
    if not isinstance(record.claim, MeasuredClaim):
        tight = record.tight.epsilon
        epsilons = tuple(e for e in (record.claim.epsilon, tight.lower, tight.upper) if math.isfinite(e))
    return hockey_stick(form, violated=violated, points=points, also=epsilons)


def _group(record: CertificateRecord, stick: HockeyStick, size: int, points: int, *, violated: bool) -> CurveTable:
    """Return the curve of several records of one person, for which the group itself must have a rule.

    Its own normal form counts, and a chain of records that change one after another where that keeps all sizes.
    """
    group, neighbours = Group(part=record.declaration, size=size), record.claim.neighbours
    chain = not removals_change_sizes(derived(group, neighbours))
    try:
        grouped = fold(group, neighbours)
    except UnsupportedError:
        if not chain:
            raise
        grouped = None
    return group_table(stick, size, grouped, chain=chain, violated=violated, points=points)
