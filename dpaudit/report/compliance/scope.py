"""Sections 1 to 4, 9, 11 and 13: scope, unit, trust, claim, utility, governance and comparison."""

from dpaudit.model.claim import Model, Neighbours
from dpaudit.report.compliance.fields import (
    NOT_ASSESSED,
    Field,
    Grid,
    Section,
    Status,
    declared,
    evidence,
    not_applicable,
    stated,
    unknown,
)
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import share_sentence
from dpaudit.wording.claims import MODEL_WORDS, NEIGHBOUR_WORDS, observer
from dpaudit.wording.numerals import at_most, exact, nearest, whole

_SCENARIOS: dict[Neighbours, tuple[tuple[str, str, str, str], ...]] = {
    "replace_one": (
        ("the data as they are", "the same, with one unit's value replaced by any other", "yes", "yes"),
        ("the data as they are", "the same, with one unit fewer or one more", "no", "no: how many there are is public"),
        ("the data as they are", "the same, with two units' values replaced", "no", "at the price of a group of 2"),
    ),
    "add_remove": (
        ("the data as they are", "the same, with one unit added or taken away", "yes", "yes"),
        (
            "the data as they are",
            "the same, with one unit's value replaced",
            "no",
            "at the price of a group of 2: one removed, one added",
        ),
        ("the data as they are", "the same, with two units added or taken away", "no", "at the price of a group of 2"),
    ),
    "zero_out": (
        ("the data as they are", "the same, with one unit's contributions set to zero", "yes", "yes"),
        ("the data as they are", "the same, with one unit fewer or one more", "no", "no: how many there are is public"),
        (
            "the data as they are",
            "the same, with one unit's value replaced",
            "no",
            "at the price of a group of 2: one set to zero, one set anew",
        ),
    ),
}
_BEYOND: dict[Model, tuple[str, str, str, str]] = {
    "central": (
        "what the curator holds before any noise",
        "the same, for another value of one unit",
        "yes",
        "no: the curator is trusted with it",
    ),
    "joint": (
        "what a person is shown about themself",
        "the same, for another value of that person",
        "yes",
        "no: only what all others see is protected from",
    ),
    "local": (
        "what the device holds before any noise",
        "the same, for another value",
        "yes",
        "no: the device is trusted with it",
    ),
}


LEFT_OPEN: dict[Model, str] = {
    "central": "the curator, who sees the data before any noise",
    "joint": (
        "each person's own output: it may depend on that person's data without noise, and whoever sees it may learn it"
    ),
    "local": "what the device holds and does before the message is sent",
}
"""What each model of the claim leaves unprotected."""


def scope(report: ReportInputs) -> Section:
    """Return section 1."""
    declared_scope = report.deployment.scope
    return Section(
        number="1",
        ident="scope",
        title="Scope and intended use",
        crosswalk="Registry records, first tiers; model cards: intended use",
        fields=(
            declared("Purpose", declared_scope.purpose, "scope.purpose"),
            declared("Data subjects", declared_scope.data_subjects, "scope.data_subjects"),
            _known_or_declared(
                "Number of units", declared_scope.number_of_units, report.number_of_units, "scope.number_of_units"
            ),
            declared("Sector", declared_scope.sector, "scope.sector"),
            declared("Region", declared_scope.region, "scope.region"),
            declared("Data product", declared_scope.data_product, "scope.data_product"),
            declared("Release type", declared_scope.release_type, "scope.release_type"),
            declared("Access", declared_scope.access, "scope.access"),
            declared("Static or dynamic data", declared_scope.static_or_dynamic, "scope.static_or_dynamic"),
            declared("Out of scope", declared_scope.out_of_scope, "scope.out_of_scope"),
            *([evidence("Problem of the runs", report.origin, "config")] if report.origin else []),
        ),
    )


def _known_or_declared(name: str, said: int | None, known: int | None, ref: str) -> Field:
    """Return a number that the deployment declares, or else the one that algorithm or problem know."""
    if said is None and known is not None:
        return evidence(name, whole(known), ref.split(".")[1])
    return declared(name, said, ref)


def unit(report: ReportInputs) -> Section:
    """Return section 2, with the table of pairs of data sets."""
    claim, contributions = report.certificate.claim, report.deployment.contributions
    drawn = (*_SCENARIOS[claim.neighbours], _BEYOND[claim.model])
    own = tuple((s.a, s.b, "yes" if s.neighbours else "no", s.covered) for s in contributions.scenarios)
    by_definition: tuple[Status, ...] = tuple("evidence" for _ in drawn)
    by_owner: tuple[Status, ...] = tuple("declared" for _ in own)
    return Section(
        number="2",
        ident="unit",
        title="Unit of privacy",
        crosswalk="NIST SP 800-226: the unit of privacy; registry records, third tier",
        fields=(
            stated("Unit", report.unit, "certificate.claim.unit"),
            *_own_unit(report),
            stated("Neighbours", NEIGHBOUR_WORDS[claim.neighbours], "certificate.claim.neighbours"),
            _known_or_declared(
                "Units that one person contributes",
                contributions.units_per_person,
                report.units_per_person,
                "contributions.units_per_person",
            ),
            declared("Contribution bound", contributions.bound, "contributions.bound"),
            declared("How the bound is enforced", contributions.enforcement, "contributions.enforcement"),
            declared("Not protected, and invariants", contributions.unprotected, "contributions.unprotected"),
        ),
        grids=(
            Grid(
                name="scenarios",
                annex=True,
                caption="Pairs of data sets: is their difference covered?",
                head=("Data set A", "Data set B", "Neighbours", "Covered by the claim"),
                rows=(*drawn, *own),
                statuses=by_definition + by_owner,
            ),
        ),
    )


def _own_unit(report: ReportInputs) -> tuple[Field, ...]:
    """Return the algorithm's own words for a unit where the owner's words replace them."""
    own = report.own_unit
    return (evidence("Unit in the algorithm's own words", own, "own_unit"),) if own and own != report.unit else ()


def trust(report: ReportInputs) -> Section:
    """Return section 3, with the table of actors."""
    claim, actors = report.certificate.claim, report.deployment.actors
    rows = tuple((a.name, a.sees, a.trusted_for or "nothing", a.colluding or NOT_ASSESSED) for a in actors)
    views = tuple(dict.fromkeys(f"{audit.view} ({audit.attack})" for audit in report.audits))
    trusted = sum(bool(actor.trusted_for) for actor in actors) if actors else None
    return Section(
        number="3",
        ident="trust",
        title="Trust and threat model",
        crosswalk="NIST SP 800-226: middle layers; ISO/IEC 27559: modelling of attacks; UK ICO, guidance on "
        "anonymisation (28 March 2025): the motivated intruder",
        fields=(
            stated("Model", MODEL_WORDS[claim.model], "certificate.claim.model"),
            stated("Whose view is protected from", observer(claim.model), "certificate.claim.model"),
            stated("Left open by the model", LEFT_OPEN[claim.model], "certificate.claim.model"),
            declared("Trusted parties", trusted, "actors"),
            evidence("Adversary of the audits", "; ".join(views), "audits")
            if views
            else not_applicable("Adversary of the audits", "no audit was made"),
        ),
        grids=(
            Grid(
                name="actors",
                caption="Actors: who sees what, and who is trusted for what",
                head=("Actor", "Sees", "Trusted for", "May collude with"),
                rows=rows,
                statuses=tuple("declared" for _ in rows),
                note="" if rows else "No actors were declared.",
            ),
        ),
    )


def claimed(report: ReportInputs) -> Section:
    """Return section 4."""
    period = report.deployment.period
    source = "the printed argument, replayed below" if report.certificate.printed else "the configuration"
    return Section(
        number="4",
        ident="claim",
        title="The claim",
        crosswalk="NIST SP 800-226: parameters",
        fields=(
            *_numbers(report),
            _share(report),
            evidence("Claimed by", source, "certificate.printed"),
            declared("Each release, or all together", period.per, "period.per"),
            declared("Period", period.period, "period.period"),
            declared("When the budget begins anew", period.refresh, "period.refresh"),
        ),
    )


_VARIANTS = {
    "rho": "zero-concentrated differential privacy",
    "mu": "Gaussian differential privacy",
    "renyi": "Renyi differential privacy",
    "profile": "a privacy profile: several points of epsilon and delta, all at once",
}


def _numbers(report: ReportInputs) -> tuple[Field, ...]:
    """Return the variant of differential privacy, the numbers of the claim, and what follows in epsilon and delta."""
    reading, claim = report.reading, report.reading.claim
    if reading.measured is None:
        variant = "approximate differential privacy" if claim.delta else "pure differential privacy"
        return (
            stated("Variant", variant, "certificate.claim"),
            stated("Epsilon", exact(claim.epsilon), "certificate.claim.epsilon"),
            stated("Delta", exact(claim.delta), "certificate.claim.delta"),
        )
    follows = f"epsilon {at_most(claim.epsilon)} at delta {exact(claim.delta)}; tables in epsilon are read there"
    return (
        stated("Variant", _VARIANTS[reading.measured.measure], "certificate.claim"),
        stated("Numbers", reading.measured.words, "certificate.claim"),
        evidence("What follows", follows, "reading.claim"),
    )


def _share(report: ReportInputs) -> Field:
    """Return delta times the number of units."""
    name = "Delta times the number of units"
    if report.reading.measured is not None:
        return not_applicable(name, f"the claim is in {report.reading.measured.measure} and has no delta of its own")
    if report.reading.claim.delta == 0:
        return not_applicable(name, "delta is 0")
    if report.units is None:
        return unknown(name, "The number of units was not said")
    if report.void:
        return not_applicable(name, f"no delta is proved: {report.void}")
    said = report.deployment.scope.number_of_units is not None
    text = share_sentence(report)
    return declared(name, text, "scope.number_of_units") if said else evidence(name, text, "number_of_units")


def people(report: ReportInputs) -> Section:
    """Return section 11."""
    governance = report.deployment.governance
    return Section(
        number="11",
        ident="governance",
        title="Governance",
        crosswalk="ISO/IEC 27559: governance; GDPR: impact assessment",
        fields=(
            declared("Privacy officer", governance.officer, "governance.officer"),
            declared("Approved by", governance.approver, "governance.approver"),
            declared("Impact assessment", governance.assessment, "governance.assessment"),
            declared("Incident contact", governance.incident_contact, "governance.incident_contact"),
            declared("What makes somebody look again", governance.triggers, "governance.triggers"),
            declared("Expires", governance.expiry, "governance.expiry"),
        ),
    )


def utility(report: ReportInputs) -> Section:
    """Return section 9."""
    rows = tuple(
        (
            r.measure,
            r.group if r.size is None else f"{r.group} ({whole(r.size)})",
            nearest(r.value),
            f"{nearest(r.lower)} to {nearest(r.upper)}"
            if r.lower is not None and r.upper is not None
            else NOT_ASSESSED,
            NOT_ASSESSED if r.non_private is None else nearest(r.non_private),
            NOT_ASSESSED if r.random is None else nearest(r.random),
        )
        for r in report.deployment.utility
    )
    return Section(
        number="9",
        ident="utility",
        title="Utility and bias",
        crosswalk="NIST SP 800-226: utility and bias",
        grids=(
            Grid(
                name="utility",
                caption="Usefulness at the certified setting, group by group",
                head=("Measure", "Group (size)", "Value", "Interval", "Without privacy", "At random"),
                rows=rows,
                statuses=tuple("declared" for _ in rows),
                note="" if rows else _unmeasured(report),
            ),
        ),
    )


def _unmeasured(report: ReportInputs) -> str:
    """Return what stands in place of measures that nobody declared."""
    if report.usefulness.assessed:
        return "No group was measured; section 9a has what a simulation says of all users together."
    return "The cost of the noise was not measured."


def comparison(report: ReportInputs) -> Section:
    """Return section 13: other deployments of the same unit, neighbours' model and no others."""
    claim = report.certificate.claim
    same = [c for c in report.deployment.comparisons if (c.unit, c.model) == (report.unit, claim.model)]
    left_out = len(report.deployment.comparisons) - len(same)
    note = "" if same else "No deployment of the same unit and model was given to compare with."
    if left_out:
        note = f"{note} {whole(left_out)} of another unit or model left out: such numbers do not compare.".strip()
    return Section(
        number="13",
        ident="comparison",
        title="Comparison",
        crosswalk="Registry records of the same unit and model",
        grids=(
            Grid(
                name="comparison",
                caption="Deployments of the same unit and the same model",
                head=("Deployment", "Epsilon", "Delta", "Source"),
                rows=tuple((c.name, exact(c.epsilon), exact(c.delta), c.source) for c in same),
                statuses=tuple("declared" for _ in same),
                note=note,
            ),
        ),
    )
