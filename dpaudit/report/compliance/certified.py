"""Section 6: the certificate by engine, and its meaning for one person, for groups and for each part."""

import math
from collections.abc import Iterator

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.budgets.filter_theorems import GAUSSIAN
from dpaudit.certification.evidence import proved_under
from dpaudit.engines import ENGINES
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.report.compliance.allocation import allocation
from dpaudit.report.compliance.fields import Field, Grid, Section, Status, evidence, not_applicable, unknown
from dpaudit.report.compliance.groups import groups
from dpaudit.report.curves import FALSE_POSITIVE_RATES, Curve
from dpaudit.report.gains import Gain, gains_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.certificates import noise_sentence
from dpaudit.wording.numerals import at_least, at_most, both_ends, nearest, times

_PRIORS = (0.01, 0.1, 0.5)


def certified(report: ReportInputs, curve: Curve) -> Section:
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
            groups(report),
            allocation(report),
            *_argument(report),
        ),
    )


def _argument(report: ReportInputs) -> Iterator[Grid]:
    """Yield the tables of slack factors, of conditions and of findings."""
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


def _equivalent(report: ReportInputs) -> Field:
    """Return the Gaussian mechanism with the same epsilon and delta, as the distance mu of its two laws."""
    name = "Gaussian equivalent"
    claim, upper = report.certificate.claim, report.certificate.tight.epsilon.upper
    if claim.delta == 0:
        return not_applicable(name, "a Gaussian mechanism has no finite epsilon at delta 0")
    if not 0 < upper < math.inf:
        return unknown(name)
    mu = math.sqrt(GAUSSIAN.amount(upper, claim.delta))
    text = f"mu = {nearest(mu)}: one Gaussian release of noise multiplier {nearest(1 / mu)} has this epsilon and delta"
    return evidence(name, text, "certificate.tight.epsilon.upper")


def _engines(report: ReportInputs) -> Grid:
    """Return the bracket of each engine by itself."""
    certificate = report.certificate
    rows: list[tuple[str, ...]] = []
    try:
        form = fold(certificate.declaration, certificate.claim.neighbours, certificate.conditions)
        orders = [order for loss in (*form.upper, *form.lower) for order in (loss, loss.reversed())]
        for engine in ENGINES:
            if all(engine.covers(order) for order in orders):
                bracket = bracket_epsilon(form, certificate.claim.delta, (engine,))
                bracket = proved_under(certificate.conditions, bracket, math.inf)
                rows.append((engine.name, at_least(bracket.lower), at_most(bracket.upper)))
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


def _meaning(report: ReportInputs, curve: Curve) -> Grid:
    """Return the largest gains of a test, and the odds after a positive answer."""
    advantage, *true_positives = gains_of(report.certificate.claim, curve)
    rows = [(*_gain(advantage), "")]
    for rate, gain in zip(FALSE_POSITIVE_RATES, true_positives, strict=True):
        odds = "not known" if gain.certificate is None else f"{at_most(gain.certificate / rate)} times"
        rows.append((*_gain(gain), odds))
    return Grid(
        name="operating",
        caption="The most that any attacker can gain, whatever they know besides",
        head=("Measure", "The claim allows", "The certificate allows", "Odds after a positive, by the certificate"),
        rows=tuple(rows),
        statuses=tuple("evidence" for _ in rows),
    )


def _gain(gain: Gain) -> tuple[str, str, str]:
    """Return the measure of a gain, and its largest value by claim and by certificate."""
    proved = "not known" if gain.certificate is None else at_most(gain.certificate)
    return gain.measure, at_most(gain.claim), proved


def _beliefs(report: ReportInputs) -> Grid:
    """Return the largest posterior belief for some prior beliefs."""
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
