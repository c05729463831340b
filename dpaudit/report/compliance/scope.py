"""Sections 1 to 4, 9, 9a, 11 and 13: scope, unit, trust, claim, utility, usefulness, governance and comparison."""

from collections.abc import Iterator

from dpaudit.report.compliance import fields
from dpaudit.report.compliance.fields import NOT_ASSESSED, Part, evidence, grid
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import share_sentence
from dpaudit.study.usefulness import HEAD
from dpaudit.wording.claims import observer, of_measure, of_model, of_neighbours
from dpaudit.wording.numerals import at_most, exact, nearest, whole


def scope(facts: Facts) -> Iterator[Part]:
    """Yield section 1."""
    report = facts.report
    yield from fields.declared_fields(report.deployment.scope, "scope", number_of_units=report.number_of_units)
    if report.origin:
        yield fields.evidence("Problem of the runs", report.origin, "config")


def unit(facts: Facts) -> Iterator[Part]:
    """Yield section 2, with the table of pairs of data sets."""
    report, claim = facts.report, facts.report.certificate.claim
    contributions = report.deployment.contributions
    yield fields.stated("Unit", report.unit, "certificate.claim.unit")
    if report.own_unit and report.own_unit != report.unit:
        yield fields.evidence("Unit in the algorithm's own words", report.own_unit, "own_unit")
    yield fields.stated("Neighbours", of_neighbours(claim.neighbours)["words"], "certificate.claim.neighbours")
    yield from fields.declared_fields(contributions, "contributions", units_per_person=report.units_per_person)
    first, whose, why = of_model(claim.model)["beyond"]
    drawn: list[tuple[str, str, str, str]] = [
        ("the data as they are", f"the same, with {other}", neighbours, covered)
        for other, neighbours, covered in of_neighbours(claim.neighbours)["others"]
    ]
    drawn.append((first, f"the same, for another value of {whose}", "yes", why))
    own = [(s.a, s.b, "yes" if s.neighbours else "no", s.covered) for s in contributions.scenarios]
    yield fields.grid(
        "scenarios",
        "Pairs of data sets: is their difference covered?",
        ("Data set A", "Data set B", "Neighbours", "Covered by the claim"),
        (*drawn, *own),
        statuses=["evidence" if row in drawn else "declared" for row in (*drawn, *own)],
        annex=True,
    )


def trust(facts: Facts) -> Iterator[Part]:
    """Yield section 3, with the table of actors."""
    claim, actors, source = facts.report.certificate.claim, facts.report.deployment.actors, "certificate.claim.model"
    yield fields.stated("Model", of_model(claim.model)["words"], source)
    yield fields.stated("Whose view is protected from", observer(claim.model), source)
    yield fields.stated("Left open by the model", of_model(claim.model)["left_open"], source)
    yield fields.declared("Trusted parties", sum(bool(a.trusted_for) for a in actors) if actors else "", "actors")
    views = dict.fromkeys(f"{audit.view} ({audit.attack})" for audit in facts.report.audits)
    if views:
        yield fields.evidence("Adversary of the audits", "; ".join(views), "audits")
    else:
        yield fields.not_applicable("Adversary of the audits", "no audit was made")
    yield fields.grid(
        "actors",
        "Actors: who sees what, and who is trusted for what",
        ("Actor", "Sees", "Trusted for", "May collude with"),
        ((a.name, a.sees, a.trusted_for or "nothing", a.colluding or NOT_ASSESSED) for a in actors),
        status="declared",
        note="" if actors else "No actors were declared.",
    )


def claimed(facts: Facts) -> Iterator[Part]:
    """Yield section 4: the variant of differential privacy, the numbers, and what follows in epsilon and delta."""
    report, claim, measured = facts.report, facts.report.reading.claim, facts.report.reading.measured
    if measured is None:
        variant = "approximate differential privacy" if claim.delta else "pure differential privacy"
        yield fields.stated("Variant", variant, "certificate.claim")
        yield fields.stated("Epsilon", exact(claim.epsilon), "certificate.claim.epsilon")
        yield fields.stated("Delta", exact(claim.delta), "certificate.claim.delta")
    else:
        follows = f"epsilon {at_most(claim.epsilon)} at delta {exact(claim.delta)}; tables in epsilon are read there"
        yield fields.stated("Variant", of_measure(measured)["variant"], "certificate.claim")
        yield fields.stated("Numbers", measured.words, "certificate.claim")
        yield fields.evidence("What follows", follows, "reading.claim")
    yield _share(report)
    source = "the published proof, repeated below" if report.certificate.printed else "the configuration"
    yield fields.evidence("Claimed by", source, "certificate.printed")
    yield from fields.declared_fields(report.deployment.period, "period")


def _share(report: ReportInputs) -> fields.Field:
    """Return delta times the number of units."""
    name, measured = "Delta times the number of units", report.reading.measured
    if measured is not None:
        return fields.not_applicable(name, f"the claim is in {measured.measure} and has no delta of its own")
    if report.reading.claim.delta == 0:
        return fields.not_applicable(name, "delta is 0")
    if report.units is None:
        return fields.unknown(name, "The number of units was not said")
    if report.void:
        return fields.not_applicable(name, f"no delta is proved: {report.void}")
    said, text = report.deployment.scope.number_of_units is not None, share_sentence(report)
    return (
        fields.declared(name, text, "scope.number_of_units") if said else fields.evidence(name, text, "number_of_units")
    )


def people(facts: Facts) -> Iterator[Part]:
    """Yield section 11."""
    yield from fields.declared_fields(facts.report.deployment.governance, "governance")


def utility(facts: Facts) -> Iterator[Part]:
    """Yield section 9."""
    results = facts.report.deployment.utility
    missing = "The cost of the noise was not measured."
    if facts.report.usefulness.assessed:
        missing = "No group was measured; section 9a has what a simulation says of all users together."
    yield fields.grid(
        "utility",
        "Usefulness at the certified setting, group by group",
        ("Measure", "Group (size)", "Value", "Interval", "Without privacy", "At random"),
        (
            (
                r.measure,
                r.group if r.size is None else f"{r.group} ({whole(r.size)})",
                nearest(r.value),
                NOT_ASSESSED if r.lower is None or r.upper is None else f"{nearest(r.lower)} to {nearest(r.upper)}",
                *(NOT_ASSESSED if baseline is None else nearest(baseline) for baseline in (r.non_private, r.random)),
            )
            for r in results
        ),
        status="declared",
        note="" if results else missing,
    )


def comparison(facts: Facts) -> Iterator[Part]:
    """Yield section 13: other deployments of the same unit and model, and no others."""
    report, given = facts.report, facts.report.deployment.comparisons
    same = [c for c in given if (c.unit, c.model) == (report.unit, report.certificate.claim.model)]
    note = "" if same else "No deployment of the same unit and model was given to compare with."
    if len(same) < len(given):
        left_out = whole(len(given) - len(same))
        note = f"{note} {left_out} of another unit or model left out: such numbers do not compare.".strip()
    yield fields.grid(
        "comparison",
        "Deployments of the same unit and the same model",
        ("Deployment", "Epsilon", "Delta", "Source"),
        ((c.name, exact(c.epsilon), exact(c.delta), c.source) for c in same),
        status="declared",
        note=note,
    )


def usefulness(facts: Facts) -> Iterator[Part]:
    """Yield section 9a; without a study of this configuration it is not assessed, with the reason."""
    useful = facts.report.usefulness
    if useful.front is None:
        yield evidence("Regret a round", "", "sections", unless=useful.why)
    else:
        shown = "no" if "not_shown" in dict(useful.remarks) else "yes"
        yield evidence("Learning is shown, in simulation", shown, "sections")
    yield grid(
        "privacy_and_usefulness",
        useful.caption or "Privacy and usefulness",
        HEAD,
        useful.rows,
        note=" ".join(useful.sentences) or "No study says what this setting is worth.",
    )
