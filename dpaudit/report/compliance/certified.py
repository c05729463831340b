"""Section 6: the certificate, engine by engine, and what it means for one person, for groups, and for each part."""

import math
from collections.abc import Iterator

from dpaudit.accountant import bracket_epsilon
from dpaudit.bracket import Bracket
from dpaudit.claim import Claim
from dpaudit.currencies import concentrated, cost_of
from dpaudit.declaration import (
    Billboard,
    Declaration,
    Group,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    children,
)
from dpaudit.engines import ENGINES, QUICK
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.folding import fold
from dpaudit.report.compliance.fields import Field, Grid, Section, Status, evidence, not_applicable, unknown
from dpaudit.report.curves import FALSE_POSITIVE_RATES, Curve, claimed_advantage, highest_true_positive_rate
from dpaudit.report.document import Report
from dpaudit.report.numerals import at_least, at_most, both_ends, nearest, times, whole
from dpaudit.report.slackness import noise_sentence
from dpaudit.report.wording import node_name
from dpaudit.stopping import GAUSSIAN

GROUPS = (2, 5, 10)
_PRIORS = (0.01, 0.1, 0.5)
_MOST = 12


def certified(report: Report, curve: Curve) -> Section:
    """Return section 6."""
    certificate = report.certificate
    claim, tight = certificate.claim, certificate.tight
    slack = noise_sentence(certificate.slack) if certificate.slack is not None else ""
    statuses = [condition.status for condition in certificate.conditions]
    counted = ", ".join(f"{statuses.count(s)} {s}" for s in ("checked", "assumed", "violated") if s in statuses)
    return Section(
        number="6",
        ident="curve",
        title="Certificate",
        crosswalk="ISO/IEC 27559: quantification; census disclosure avoidance: allocation of the budget",
        fields=(
            evidence(f"Epsilon at delta {nearest(claim.delta)}", both_ends(tight.epsilon), "certificate.tight.epsilon"),
            evidence(f"Delta at epsilon {nearest(claim.epsilon)}", both_ends(tight.delta), "certificate.tight.delta"),
            _equivalent(report),
            evidence("Slack", slack, "certificate.slack") if slack else unknown("Slack"),
            evidence("Assumptions", counted or "none", "certificate.conditions"),
        ),
        grids=(
            _engines(report),
            _meaning(report, curve),
            _beliefs(report),
            _groups(report),
            _allocation(report),
            *_argument(report),
        ),
    )


def _argument(report: Report) -> Iterator[Grid]:
    """Yield what the proof loses, what it needs, and what was found wrong without statistics, as tables of text."""
    certificate = report.certificate
    factors = certificate.slack.factors if certificate.slack is not None else ()
    tables = (
        (
            "slack",
            "Slack factor by factor",
            ("Factor", "In noise", "In epsilon", "In words"),
            tuple((f.name, times(f.noise_factor), times(f.factor), f.sentence) for f in factors),
        ),
        (
            "conditions",
            "Conditions: what the proof needs beside its arithmetic",
            ("", "Status", "Condition"),
            tuple((f"C{n}", c.status, c.text) for n, c in enumerate(certificate.conditions, start=1)),
        ),
        (
            "findings",
            "Findings: what is wrong without any statistics",
            ("Rule", "Where", "What"),
            tuple((f.rule, f.where, f.message) for f in certificate.findings),
        ),
    )
    for name, caption, head, rows in tables:
        if rows:
            statuses: tuple[Status, ...] = tuple("evidence" for _ in rows)
            yield Grid(name=name, caption=caption, head=head, rows=rows, statuses=statuses)


def _equivalent(report: Report) -> Field:
    """Return the Gaussian mechanism that gives away as much, as the distance mu of its two laws."""
    name = "Gaussian equivalent"
    claim, upper = report.certificate.claim, report.certificate.tight.epsilon.upper
    if claim.delta == 0:
        return not_applicable(name, "a Gaussian mechanism has no finite epsilon at delta 0")
    if not 0 < upper < math.inf:
        return unknown(name)
    mu = math.sqrt(GAUSSIAN.amount(upper, claim.delta))
    text = f"mu = {nearest(mu)}: one Gaussian release of noise multiplier {nearest(1 / mu)} has this epsilon and delta"
    return evidence(name, text, "certificate.tight.epsilon.upper")


def _engines(report: Report) -> Grid:
    """Return what each engine says by itself."""
    certificate = report.certificate
    rows: list[tuple[str, ...]] = []
    try:
        form = fold(certificate.declaration, certificate.claim.neighbours)
        orders = [order for one in (*form.upper, *form.lower) for order in (one, one.reversed())]
        for engine in ENGINES:
            if all(engine.covers(order) for order in orders):
                found = bracket_epsilon(form, certificate.claim.delta, (engine,))
                rows.append((engine.name, at_least(found.lower), at_most(found.upper)))
    except (UnsupportedError, DeclarationError):
        rows = []
    return Grid(
        name="engines",
        caption=f"Epsilon at delta {nearest(certificate.claim.delta)}, engine by engine",
        head=("Engine", "At least", "At most"),
        rows=tuple(rows),
        statuses=tuple("evidence" for _ in rows),
        note="" if rows else "No engine covers the whole declaration by itself.",
    )


def _meaning(report: Report, curve: Curve) -> Grid:
    """Return by how much a positive answer of any test can move the odds, at small false positive rates."""
    claim = report.certificate.claim
    advantage = curve.advantage if curve.epsilons else None
    rows: list[tuple[str, ...]] = [
        (
            "advantage (true minus false positive rate)",
            at_most(claimed_advantage(claim.epsilon, claim.delta)),
            "not known" if advantage is None else at_most(advantage),
            "",
        )
    ]
    for rate in FALSE_POSITIVE_RATES:
        allowed = highest_true_positive_rate(claim.epsilon, claim.delta, rate)
        proved = curve.true_positive_rate(rate) if curve.epsilons else None
        rows.append(
            (
                f"true positive rate at false positive rate {rate:g}",
                at_most(allowed),
                "not known" if proved is None else at_most(proved),
                "not known" if proved is None else f"{at_most(proved / rate)} times",
            )
        )
    return Grid(
        name="operating",
        caption="The most that any attacker can gain, whatever they know besides",
        head=("Measure", "The claim allows", "The certificate allows", "Odds after a positive, by the certificate"),
        rows=tuple(rows),
        statuses=tuple("evidence" for _ in rows),
    )


def _beliefs(report: Report) -> Grid:
    """Return how far a belief can move, for some beliefs held before."""
    claim, upper = report.certificate.claim, report.certificate.tight.epsilon.upper
    rows = tuple(
        (f"{prior:g}", at_most(_posterior(prior, claim.epsilon)), at_most(_posterior(prior, upper)))
        for prior in _PRIORS
    )
    beside = f", except with probability {nearest(claim.delta)}" if claim.delta else ""
    return Grid(
        name="beliefs",
        caption=f"A belief about one unit before and, at most, after{beside}",
        head=("Before", "After, by the claim", "After, as proved"),
        rows=rows,
        statuses=tuple("evidence" for _ in rows),
    )


def _posterior(prior: float, epsilon: float) -> float:
    """Return the largest belief that odds times e^epsilon allow."""
    return prior / (prior + (1 - prior) * math.exp(-epsilon))


def _groups(report: Report) -> Grid:
    """Return what the guarantee is worth to several units together."""
    claim = report.certificate.claim
    rows = tuple(
        (str(size), _by_claim(claim, size), _bounded(_epsilon_of_group(report, size), claim)) for size in GROUPS
    )
    statuses: tuple[Status, ...] = tuple("not_assessed" if "not covered" in row[2] else "evidence" for row in rows)
    return Grid(
        name="groups",
        caption="Groups: several units of one person, or several people together",
        head=("Units", "By the claim alone", f"Proved epsilon, at delta {nearest(claim.delta)}"),
        rows=rows,
        statuses=statuses,
    )


def _by_claim(claim: Claim, size: int) -> str:
    """Return what (epsilon, delta) for one unit implies for several."""
    epsilon = size * claim.epsilon
    if claim.delta == 0:
        return f"epsilon {nearest(epsilon)}"
    delta = claim.delta * math.fsum(math.exp(min(700.0, step * claim.epsilon)) for step in range(size))
    return f"epsilon {nearest(epsilon)}, delta {at_most(delta)}" if delta < 1 else "nothing"


def _epsilon_of_group(report: Report, size: int) -> Bracket | None:
    """Return the group's bracket at the claim's delta, or None where no rule covers it."""
    certificate = report.certificate
    try:
        form = fold(Group(part=certificate.declaration, size=size), certificate.claim.neighbours)
        return bracket_epsilon(form, certificate.claim.delta, QUICK)
    except (UnsupportedError, DeclarationError):
        return None


def _bounded(bracket: Bracket | None, claim: Claim) -> str:
    """Return an upper bound in words."""
    if bracket is None:
        return "not covered by a rule"
    return "no finite epsilon" if bracket.upper == math.inf else f"at most {at_most(bracket.upper)}"


def _allocation(report: Report) -> Grid:
    """Return what each part of the outermost composition costs by itself, and its share of the sum of rho."""
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
        caption=f"Allocation: what each part costs by itself ({kind})",
        head=(
            "Part",
            "Times",
            f"Epsilon of one, at delta {nearest(certificate.claim.delta)}",
            "Share of the sum of rho",
        ),
        rows=tuple(rows),
        statuses=tuple("evidence" for _ in rows),
        note=more + ("A record meets one part only, so that the dearest counts." if isinstance(node, Parallel) else ""),
    )


def _outermost(node: Declaration) -> tuple[Declaration, str]:
    """Return the first node that composes, below those that only change the view, and what it does."""
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
    """Yield label, part and how often it runs, equal neighbours told once."""
    if isinstance(node, Repeat):
        yield _label(node.part), node.part, node.times
        return
    if not isinstance(node, Sequential | Parallel):
        yield _label(node), node, 1
        return
    held: list[tuple[str, Declaration, int]] = []
    for part in node.parts:
        label, plain = _label(part), _anonymous(part)
        if held and _anonymous(held[-1][1]) == plain:
            first, same, count = held[-1]
            held[-1] = (f"{first.partition(' … ')[0]} … {label}", same, count + 1)
        else:
            held.append((label, part, 1))
    yield from held


def _anonymous(node: Declaration) -> object:
    """Return what makes two parts equal but for a release's label."""
    return node.mechanism if isinstance(node, Release) else node


def _label(node: Declaration) -> str:
    """Return a part's name: its release's label, or what it is."""
    if isinstance(node, Release):
        return node.label
    inner = children(node)
    return f"{node_name(node).lower()} of {_label(inner[0])}" if len(inner) == 1 else node_name(node).lower()


def _rho(claim: Claim, part: Declaration) -> float | None:
    """Return a part's rho, or None where it has none."""
    anybody = Claim(epsilon=0.0, neighbours=claim.neighbours, model="joint" if claim.model == "joint" else "central")
    try:
        cost = cost_of(part, anybody, concentrated)
    except (DeclarationError, UnsupportedError):
        return None
    return float(cost.amount) if cost is not None and not cost.mass else None


def _own(report: Report, part: Declaration) -> str:
    """Return a part's own epsilon at the claim's delta."""
    claim = report.certificate.claim
    try:
        found = bracket_epsilon(fold(part, claim.neighbours), claim.delta, QUICK)
    except (DeclarationError, UnsupportedError):
        return "not covered"
    return "no finite epsilon" if found.upper == math.inf else at_most(found.upper)
