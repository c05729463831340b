"""Tables of Renyi divergences and of rho, by the bounds on which a claim in these measures is decided."""

import math
from fractions import Fraction

from dpaudit.accounting.curves.measures import Number, renyi_between, rho_between
from dpaudit.accounting.curves.renyi_divergence import ORDERS
from dpaudit.accounting.curves.table import CurveTable, Range
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.checks import meant
from dpaudit.engines.exact import outwards
from dpaudit.model.losses import SampledGaussianLoss


def renyi_table(form: NormalForm, *, violated: bool) -> CurveTable:
    """Return the Renyi divergences of the worst neighbours at the usual orders."""
    rows = ((order, *_ends(renyi_between(form, order), violated=violated)) for order in ORDERS)
    return CurveTable(
        kind="renyi",
        meaning="the largest Renyi divergence of the outputs of two neighbours, in nats, by its order",
        columns=("order", "lower", "upper"),
        rows=tuple(rows),
    )


def concentrated_table(form: NormalForm, *, violated: bool) -> CurveTable:
    """Return rho, the supremum over all orders of the divergence over its order, with the divergences that show it."""
    low, high = _ends(rho_between(form), violated=violated)
    rows = ((order, below / order, above / order) for order, below, above in renyi_table(form, violated=violated).rows)
    return CurveTable(
        kind="zcdp",
        meaning="the largest Renyi divergence over its order, by the order; rho is its supremum over all orders: the "
        "declaration is rho-zCDP",
        columns=("order", "lower", "upper"),
        rows=tuple(rows),
        ranges=(Range(name="rho", lower=low, upper=high),),
        notes=_notes(form),
    )


def _ends(bounds: tuple[Number, Number], *, violated: bool) -> tuple[float, float]:
    """Return bounds as floats, rounded outwards; nothing is known from above where the proof is violated."""
    low, high = (_floats(bound)[end] for end, bound in enumerate(bounds))
    return low, math.inf if violated else max(low, high)


def _floats(bound: Number) -> tuple[float, float]:
    """Return the floats next to a bound, below and above; both are the one whose shortest decimal is the bound."""
    if not isinstance(bound, Fraction):
        return bound, bound
    low, high = outwards(bound)
    exact = [end for end in (low, high) if end < math.inf and meant(end) == bound]
    return (exact[0], exact[0]) if exact else (low, high)


def _notes(form: NormalForm) -> tuple[str, ...]:
    """Return the remark on samples."""
    sampled = any(isinstance(loss, SampledGaussianLoss) for a in form.upper for loss, _ in a.parts)
    return ("rho credits no sampling: at large orders a sampled Gaussian release is the whole one.",) if sampled else ()
