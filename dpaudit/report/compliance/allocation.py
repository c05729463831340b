"""The table of allocation: the cost of each part of the outermost composition, and its share."""

import math
from collections.abc import Iterator

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.additive_costs import cost_of, zcdp
from dpaudit.accounting.fold import fold
from dpaudit.engines import QUICK
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import (
    Billboard,
    Declaration,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    children,
)
from dpaudit.report.compliance.fields import Grid
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.nodes import node_words
from dpaudit.wording.numerals import at_most, exact, nearest, whole

_MOST = 12


def allocation(report: ReportInputs) -> Grid:
    """Return the cost of each part of the outermost composition, and its share of the sum of rho."""
    certificate = report.certificate
    node, kind = _outermost(certificate.declaration)
    parts = list(_parts(node))
    costs = [_rho(certificate.claim, part) for _, part, _ in parts]
    total = math.fsum(cost * count for cost, (_, _, count) in zip(costs, parts, strict=True) if cost is not None)
    known = all(cost is not None for cost in costs) and total > 0 and not isinstance(node, Parallel)
    rows: list[tuple[str, ...]] = []
    for cost, (label, part, count) in list(zip(costs, parts, strict=True))[:_MOST]:
        share = "does not add up" if isinstance(node, Parallel) else "not known"
        if known and cost is not None:
            share = nearest(cost * count / total, 3)
        rows.append((label, whole(count), _own(report, part), share))
    more = f"{whole(len(parts) - _MOST)} further parts are in the certificate's JSON. " if len(parts) > _MOST else ""
    return Grid(
        name="allocation",
        annex=True,
        caption=f"Allocation: what each part costs by itself ({kind})",
        head=(
            "Part",
            "Times",
            f"Epsilon of one, at delta {exact(report.reading.claim.delta)}",
            "Share of the sum of rho",
        ),
        rows=tuple(rows),
        statuses=tuple("evidence" for _ in rows),
        note=more
        + (
            "Each record is used by one part only, so the total is the cost of the most expensive part."
            if isinstance(node, Parallel)
            else ""
        ),
    )


def _outermost(node: Declaration) -> tuple[Declaration, str]:
    """Return the outermost node that composes, and its name in words."""
    while isinstance(node, PostProcess | Billboard | Local):
        node = node.part
    match node:
        case Sequential():
            return node, "in sequence"
        case Repeat():
            return node, "repeated"
        case Parallel():
            return node, "in parallel"
        case _:
            return node, "one part"


def _parts(node: Declaration) -> Iterator[tuple[str, Declaration, int]]:
    """Yield label, part and number of runs; adjacent equal parts are one group."""
    if isinstance(node, Repeat):
        yield _label(node.part), node.part, node.times
        return
    if not isinstance(node, Sequential | Parallel):
        yield _label(node), node, 1
        return
    groups: list[tuple[str, Declaration, int]] = []
    for part in node.parts:
        label, plain = _label(part), _anonymous(part)
        if groups and _anonymous(groups[-1][1]) == plain:
            first, same, count = groups[-1]
            groups[-1] = (f"{first.partition(' … ')[0]} … {label}", same, count + 1)
        else:
            groups.append((label, part, 1))
    yield from groups


def _anonymous(node: Declaration) -> object:
    """Return the part without the label of a release."""
    return node.mechanism if isinstance(node, Release) else node


def _label(node: Declaration) -> str:
    """Return a part's name: its release's label, or what it is."""
    if isinstance(node, Release):
        return node.label
    parts, name = children(node), node_words(node).name.lower()
    return f"{name} of {_label(parts[0])}" if len(parts) == 1 else name


def _rho(claim: Claim, part: Declaration) -> float | None:
    """Return a part's rho, or None where it has none."""
    anybody = Claim(epsilon=0.0, neighbours=claim.neighbours, model="joint" if claim.model == "joint" else "central")
    try:
        cost = cost_of(part, anybody, zcdp)
    except (DeclarationError, UnsupportedError):
        return None
    return float(cost.amount) if cost is not None and not cost.mass else None


def _own(report: ReportInputs, part: Declaration) -> str:
    """Return a part's own epsilon at the claim's delta."""
    claim = report.reading.claim
    try:
        bracket = bracket_epsilon(fold(part, claim.neighbours), claim.delta, QUICK)
    except (DeclarationError, UnsupportedError):
        return "not covered"
    return "no finite epsilon" if bracket.upper == math.inf else at_most(bracket.upper)
