"""Section 6: the certificate by engine, and its meaning for one person, for groups and for each part."""

import math
from collections import Counter
from collections.abc import Iterator

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.curves.gaussian_dp import mu_above, mu_at_every_delta
from dpaudit.accounting.fold import fold
from dpaudit.accounting.loss_tail import LossTail
from dpaudit.budgets.filter_theorems import GAUSSIAN
from dpaudit.certification.evidence import proved_under
from dpaudit.engines import DEFAULT, ENGINES
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.bracket import Bracket
from dpaudit.model.declaration import Declaration, Subsample, walk
from dpaudit.report.compliance.allocation import allocation
from dpaudit.report.compliance.beliefs import beliefs
from dpaudit.report.compliance.fields import Field, Grid, Section, Status, evidence, not_applicable, unknown
from dpaudit.report.compliance.groups import groups
from dpaudit.report.compliance.in_measure import measured_fields
from dpaudit.report.compliance.reviewer import reviewer
from dpaudit.report.curves import FALSE_POSITIVE_RATES, Curve
from dpaudit.report.gains import Gain, gains_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.marks import MARKS, Marked, marked
from dpaudit.report.meaning import odds_of, resting_note
from dpaudit.report.slackness import loose
from dpaudit.wording.certificates import noise_sentence
from dpaudit.wording.numerals import at_least, at_most, both_ends, ends, exact, times
from dpaudit.wording.sentences import say


def certified(report: ReportInputs, curve: Curve, tail: LossTail | None) -> Section:
    """Return section 6; without figures of at most so much where no upper bound is known of the code."""
    certificate = report.certificate
    claim, tight, source = report.reading.claim, report.reading.tight, report.reading.source
    at_claim = f"epsilon {exact(claim.epsilon)}" if report.reading.measured is None else "the implied epsilon"
    slack = noise_sentence(certificate.slack) if certificate.slack is not None else ""
    marks = Counter(line.mark for line in marked(report))
    counted = ", ".join(f"{marks[mark]} {mark}" for mark in reversed(MARKS) if marks[mark])
    return Section(
        number="6",
        ident="curve",
        title="Certificate",
        crosswalk="ISO/IEC 27559: quantification; census disclosure avoidance: allocation of the budget",
        fields=(
            *measured_fields(report),
            evidence(f"Epsilon at delta {exact(claim.delta)}", _ends(report, tight.epsilon), f"{source}.tight.epsilon"),
            evidence(f"Delta at {at_claim}", _ends(report, tight.delta), f"{source}.tight.delta"),
            _equivalent(report),
            _gaussian(report, curve),
            evidence("Odds", odds_of(report, tail), "tail"),
            evidence("Slack", slack, "certificate.slack") if slack else unknown("Slack"),
            evidence("Conditions", counted or "none", "certificate.conditions"),
        ),
        grids=(
            *_argument(report),
            *(
                ()
                if report.void
                else (
                    _meaning(report, curve),
                    beliefs(report, tail),
                    reviewer(report, curve, tail),
                    groups(report),
                    allocation(report),
                )
            ),
            _engines(report),
        ),
    )


def _argument(report: ReportInputs) -> Iterator[Grid]:
    """Yield the tables of findings, of conditions and of slack factors; a table without rows is left out."""
    certificate = report.certificate
    factors = certificate.slack.factors if certificate.slack is not None and loose(certificate.slack) else ()
    tables = (
        (
            "findings",
            "Findings: what is wrong without any statistics",
            ("Rule", "Where", "What"),
            tuple((f.rule, f.where, f.message) for f in certificate.findings),
        ),
        (
            "conditions",
            "Conditions: what the proof needs beside its arithmetic",
            ("", "Mark", "Condition"),
            tuple((f"C{line.number}", line.mark, _told(line)) for line in marked(report)),
        ),
        (
            "slack",
            "Slack factor by factor",
            ("Factor", "In noise", "In epsilon", "In words"),
            tuple((f.name, times(f.noise_factor), times(f.factor), f.sentence) for f in factors),
        ),
    )
    for name, caption, head, rows in tables:
        if rows:
            statuses: tuple[Status, ...] = tuple("evidence" for _ in rows)
            yield Grid(name=name, annex=name != "findings", caption=caption, head=head, rows=rows, statuses=statuses)


def _told(line: Marked) -> str:
    """Return the text of a condition, with the reason that a person gave."""
    return f"{line.condition.text} Asserted: {line.because}" if line.because else line.condition.text


def _ends(report: ReportInputs, bracket: Bracket) -> str:
    """Return a bracket with both ends, or with its lower end alone where no upper bound is known of the code."""
    return f"at least {at_least(bracket.lower)}" if report.void else both_ends(bracket)


def _equivalent(report: ReportInputs) -> Field:
    """Return the Gaussian mechanism with the same epsilon and delta, as the distance mu of its two laws."""
    name = f"Gaussian equivalent at delta {exact(report.reading.claim.delta)}"
    if report.void:
        return not_applicable(name, f"no upper bound is known: {report.void}")
    claim, upper = report.reading.claim, report.reading.tight.epsilon.upper
    if claim.delta == 0:
        return not_applicable(name, "a Gaussian mechanism has no finite epsilon at delta 0")
    if not 0 < upper < math.inf:
        return unknown(name)
    mu = math.sqrt(GAUSSIAN.amount(upper, claim.delta))
    text = say("mu", mu=at_most(mu), multiplier=at_least(1 / mu), delta=exact(claim.delta))
    return evidence(name, text, f"{report.reading.source}.tight.epsilon.upper")


def _gaussian(report: ReportInputs, curve: Curve) -> Field:
    """Return mu of the Gaussian mechanism with the same delta at epsilon 0, at the claimed delta, and everywhere."""
    name, certificate = "Gaussian mu", report.certificate
    if report.void or not curve.deltas:
        return not_applicable(name, f"no curve is proved: {report.void or curve.unavailable}")
    told = [f"{at_most(mu_above(0.0, curve.deltas[0].upper))} at epsilon 0"]
    upper, delta = report.reading.tight.epsilon.upper, report.reading.claim.delta
    if delta > 0 and upper < math.inf:
        told.append(f"{at_most(mu_above(upper, delta))} at delta {exact(delta)}")
    _, high = mu_at_every_delta(fold(certificate.declaration, certificate.claim.neighbours, certificate.conditions))
    if high == math.inf:
        return evidence(name, f"at most {', '.join(told)}; no mu is known that holds at every delta", "curve")
    useless = "; this bound ignores the sampling" if _sampled(certificate.declaration) else ""
    narrower = "" if told[0].startswith(f"{at_most(high)} ") else f"; at most {', '.join(told)}"
    return evidence(name, f"mu = {at_most(high)} (Gaussian differential privacy){useless}{narrower}", "curve")


def _sampled(node: Declaration) -> bool:
    """Return whether a part of the tree sees a sample."""
    return any(isinstance(part, Subsample) for _, part in walk(node))


def _engines(report: ReportInputs) -> Grid:
    """Return the bracket of each engine by itself."""
    certificate = report.certificate
    head: tuple[str, ...] = ("Engine", "At least") if report.void else ("Engine", "At least", "At most")
    rows: list[tuple[str, ...]] = []
    try:
        form = fold(certificate.declaration, certificate.claim.neighbours, certificate.conditions)
        orders = [order for loss in (*form.upper, *form.lower) for order in (loss, loss.reversed())]
        for engine in ENGINES:
            if all(engine.covers(order) for order in orders):
                bracket = bracket_epsilon(form, report.reading.claim.delta, DEFAULT.by(engine.name))
                bracket = proved_under(certificate.conditions, bracket, math.inf)
                rows.append((engine.name, *ends(bracket))[: len(head)])
    except (UnsupportedError, DeclarationError):
        rows = []
    return Grid(
        name="engines",
        annex=True,
        caption=f"Epsilon at delta {exact(report.reading.claim.delta)}, engine by engine",
        head=head,
        rows=tuple(rows),
        statuses=tuple("evidence" for _ in rows),
        note="" if rows else "No engine covers the whole declaration by itself.",
    )


def _meaning(report: ReportInputs, curve: Curve) -> Grid:
    """Return the largest gains of a test, and the odds after a positive answer."""
    advantage, *true_positives = gains_of(report.reading.claim, curve)
    rows = [(*_gain(advantage), "")]
    for rate, gain in zip(FALSE_POSITIVE_RATES, true_positives, strict=True):
        odds = "not known" if gain.certificate is None else f"{at_most(gain.certificate / rate)} times"
        rows.append((*_gain(gain), odds))
    return Grid(
        name="operating",
        annex=True,
        caption="The most that any attacker can gain, whatever they know besides",
        head=("Measure", "The claim allows", "The certificate allows", "Odds after a positive, by the certificate"),
        rows=tuple(rows),
        statuses=tuple("evidence" for _ in rows),
        note=resting_note(report),
    )


def _gain(gain: Gain) -> tuple[str, str, str]:
    """Return the measure of a gain, and its largest value by claim and by certificate."""
    proved = "not known" if gain.certificate is None else at_most(gain.certificate)
    return gain.measure, at_most(gain.claim), proved
