"""The cost of each part of the outermost composition with its share, and the guarantee for several units together."""

import math
from collections.abc import Iterator

from dpaudit.accounting.additive_costs import cost_of, zcdp
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model import declaration as nodes
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration, children
from dpaudit.model.node_kinds import kind_of
from dpaudit.report.compliance.fields import Grid, grid
from dpaudit.report.curves import own_epsilon
from dpaudit.report.derivation import alike, unwrapped
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import guarantee_by_claim, resting_note
from dpaudit.wording.nodes import node_words
from dpaudit.wording.numerals import at_most, exact, nearest, whole

GROUPS = (2, 5, 10)
_MOST = 12
_NOT_COVERED = "not covered"


def groups(report: ReportInputs) -> Grid:
    """Return the guarantee for several units together, for groups of 2, 5 and 10."""
    part = report.certificate.declaration
    proved = [_own(report, nodes.Group(part=part, size=size)) for size in GROUPS]
    return grid(
        "groups",
        "Groups: several units of one person, or several people together",
        ("Units", "By the claim alone", f"Proved epsilon, at delta {exact(report.reading.claim.delta)}"),
        (
            (str(size), guarantee_by_claim(report, size), _bounded(epsilon))
            for size, epsilon in zip(GROUPS, proved, strict=True)
        ),
        statuses=["not_assessed" if epsilon == _NOT_COVERED else "evidence" for epsilon in proved],
        note=resting_note(report),
        annex=True,
    )


def _bounded(epsilon: str) -> str:
    """Return an upper bound on the epsilon of a group in words."""
    if epsilon == _NOT_COVERED:
        return "not covered by a rule"
    return epsilon if epsilon.startswith("no ") else f"at most {epsilon}"


def allocation(report: ReportInputs) -> Grid:
    """Return the cost of each part of the outermost composition, and its share of the sum of rho."""
    certificate = report.certificate
    node = unwrapped(certificate.declaration)
    kind = {"sequential": "in sequence", "repeat": "repeated", "parallel": "in parallel"}.get(kind_of(node), "one part")
    apart = isinstance(node, nodes.Parallel)
    parts = [(label, part, count, _rho(certificate.claim, part)) for label, part, count in _parts(node)]
    part_totals = [cost * count for _, _, count, cost in parts if cost is not None]
    total = math.fsum(part_totals)
    adds_up = len(part_totals) == len(parts) and total > 0
    rows: list[tuple[str, ...]] = []
    for label, part, count, cost in parts[:_MOST]:
        share = "does not add up" if apart else "not known"
        if adds_up and not apart and cost is not None:
            share = nearest(cost * count / total, 3)
        rows.append((label, whole(count), _own(report, part), share))
    more = f"{whole(len(parts) - _MOST)} further parts are in the certificate's JSON. " if len(parts) > _MOST else ""
    dearest = "Each record is used by one part only, so the total is the cost of the most expensive part."
    return grid(
        "allocation",
        f"Allocation: what each part costs by itself ({kind})",
        (
            "Part",
            "Times",
            f"Epsilon of one, at delta {exact(report.reading.claim.delta)}",
            "Share of the sum of rho",
        ),
        rows,
        note=more + (dearest if apart else ""),
        annex=True,
    )


def _parts(node: Declaration) -> Iterator[tuple[str, Declaration, int]]:
    """Yield label, part and number of runs; adjacent equal parts are one group."""
    if isinstance(node, nodes.Repeat):
        yield _label(node.part), node.part, node.times
        return
    for _, members in alike(node.parts if isinstance(node, nodes.Sequential | nodes.Parallel) else (node,)):
        first, last = _label(members[0]), _label(members[-1])
        yield first if len(members) == 1 else f"{first} … {last}", members[0], len(members)


def _label(node: Declaration) -> str:
    """Return a part's name: its release's label, or what it is."""
    if isinstance(node, nodes.Release):
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
    """Return an upper bound on a part's own epsilon at the claim's delta."""
    claim = report.reading.claim
    bracket = own_epsilon(part, claim.neighbours, claim.delta)
    if bracket is None:
        return _NOT_COVERED
    return "no finite epsilon" if bracket.upper == math.inf else at_most(bracket.upper)
