"""Section 6: the certificate by engine, and its meaning for one person, for groups and for each part."""

import math
from collections import Counter
from collections.abc import Iterator

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.curves.gaussian_dp import mu_above, mu_at_every_delta
from dpaudit.accounting.fold import fold
from dpaudit.certification.evidence import proved_under
from dpaudit.engines import DEFAULT, ENGINES
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.bracket import Bracket
from dpaudit.model.declaration import Declaration, Subsample, walk
from dpaudit.model.readings import Factor, Slack
from dpaudit.report.compliance.allocation import allocation, groups
from dpaudit.report.compliance.attacker import beliefs, operating, reviewer
from dpaudit.report.compliance.fields import Field, Grid, Part, evidence, grid, not_applicable
from dpaudit.report.curves import Curve
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.marks import MARKS, marked
from dpaudit.report.meaning import bounds_in_measure, odds_of
from dpaudit.wording.certificates import UNNAMED, noise_sentence
from dpaudit.wording.claims import capital
from dpaudit.wording.numerals import at_least, at_most, ends, exact, nearest


def certified(facts: Facts) -> Iterator[Part]:
    """Yield section 6; without figures of at most so much where no upper bound is known of the code."""
    report, reading, certificate = facts.report, facts.report.reading, facts.report.certificate
    claim, tight, source = reading.claim, reading.tight, reading.source
    at_claim = f"epsilon {exact(claim.epsilon)}" if reading.measured is None else "the implied epsilon"
    yield from measured_fields(report)
    yield evidence(f"Epsilon at delta {exact(claim.delta)}", _ends(report, tight.epsilon), f"{source}.tight.epsilon")
    yield evidence(f"Delta at {at_claim}", _ends(report, tight.delta), f"{source}.tight.delta")
    yield _gaussian(report, facts.curve)
    yield evidence("Odds", odds_of(report, facts.tail), "tail")
    slack = noise_sentence(certificate.slack) if certificate.slack is not None else ""
    yield evidence("Slack", slack, "certificate.slack")
    marks = Counter(line.mark for line in marked(report))
    counts = ", ".join(f"{marks[mark]} {mark}" for mark in reversed(MARKS) if marks[mark])
    yield evidence("Conditions", counts or "none", "certificate.conditions")
    yield from _argument(report)
    if not report.void:
        yield operating(facts)
        yield beliefs(facts)
        yield reviewer(facts)
        yield groups(report)
        yield allocation(report)
    yield _engines(report)


def measured_fields(report: ReportInputs) -> tuple[Field, ...]:
    """Return a field for each number of a claim in another measure than epsilon and delta, and what is proved of it."""
    ends = report.reading.ends
    if ends is None:
        return ()
    ref = f"certificate.tight.{ends.measure}"
    return tuple(evidence(f"{capital(name)}, proved", told, ref) for name, told in bounds_in_measure(report, ends))


def _argument(report: ReportInputs) -> Iterator[Grid]:
    """Yield the tables of findings, of conditions and of slack factors; a table without rows is left out."""
    certificate, factors = report.certificate, _factors(report.certificate.slack)
    tables = (
        grid(
            "findings",
            "Findings: what is wrong without any statistics",
            ("Rule", "Where", "What"),
            ((finding.rule, finding.where, finding.message) for finding in certificate.findings),
        ),
        grid(
            "conditions",
            "Conditions: what the proof needs beside its arithmetic",
            ("", "Mark", "Condition"),
            ((f"C{line.number}", line.mark, line.text) for line in marked(report)),
            annex=True,
        ),
        grid(
            "slack",
            "Slack factor by factor",
            ("Factor", "In noise", "In epsilon", "In words"),
            ((f.name, nearest(f.noise_factor, 3), nearest(f.factor, 3), f.sentence) for f in factors),
            annex=True,
        ),
    )
    yield from (table for table in tables if table.rows)


def _factors(slack: Slack | None) -> tuple[Factor, ...]:
    """Return the factors of the slack; nothing where none of them changes the noise by half a per cent."""
    factors = () if slack is None else slack.factors
    return factors if any(abs(factor.noise_factor - 1) > UNNAMED for factor in factors) else ()


def _ends(report: ReportInputs, bracket: Bracket) -> str:
    """Return a bracket with both ends, or with its lower end alone where no upper bound is known of the code."""
    return f"at least {at_least(bracket.lower)}" if report.void else "between {} and {}".format(*ends(bracket))


def _gaussian(report: ReportInputs, curve: Curve) -> Field:
    """Return mu of the Gaussian mechanism with the same delta at epsilon 0, at the claimed delta, and everywhere."""
    name, certificate = "Gaussian mu", report.certificate
    if report.void or not curve.points:
        return not_applicable(name, f"no curve is proved: {report.void or curve.unavailable}")
    single = [f"{at_most(mu_above(0.0, curve.advantage))} at epsilon 0"]
    upper, delta = report.reading.tight.epsilon.upper, report.reading.claim.delta
    if delta > 0 and upper < math.inf:
        single.append(f"{at_most(mu_above(upper, delta))} at delta {exact(delta)}")
    _, high = mu_at_every_delta(fold(certificate.declaration, certificate.claim.neighbours, certificate.conditions))
    if high == math.inf:
        return evidence(name, f"at most {', '.join(single)}; no mu is known that holds at every delta", "curve")
    loose_bound = "; this bound ignores the sampling" if _sampled(certificate.declaration) else ""
    narrower = "" if single[0].startswith(f"{at_most(high)} ") else f"; at most {', '.join(single)}"
    return evidence(name, f"mu = {at_most(high)} (Gaussian differential privacy){loose_bound}{narrower}", "curve")


def _sampled(node: Declaration) -> bool:
    """Return whether a part of the tree sees a sample."""
    return any(isinstance(part, Subsample) for _, part in walk(node))


def _engines(report: ReportInputs) -> Grid:
    """Return the bracket of each engine by itself."""
    certificate, delta = report.certificate, report.reading.claim.delta
    head: tuple[str, ...] = ("Engine", "At least") if report.void else ("Engine", "At least", "At most")
    rows: list[tuple[str, ...]] = []
    try:
        form = fold(certificate.declaration, certificate.claim.neighbours, certificate.conditions)
        orders = [order for loss in (*form.upper, *form.lower) for order in (loss, loss.reversed())]
        for engine in ENGINES:
            if all(engine.covers(order) for order in orders):
                bracket = bracket_epsilon(form, delta, DEFAULT.by(engine.name))
                bracket = proved_under(certificate.conditions, bracket, math.inf)
                rows.append((engine.name, *ends(bracket))[: len(head)])
    except (UnsupportedError, DeclarationError):
        rows = []
    return grid(
        "engines",
        f"Epsilon at delta {exact(delta)}, engine by engine",
        head,
        rows,
        note="" if rows else "No engine covers the whole declaration by itself.",
        annex=True,
    )
