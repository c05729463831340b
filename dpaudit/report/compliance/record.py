"""Sections 10, 12 and A: budget ledger, reproduction, and changes since the previous report."""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

from dpaudit.ledger import Balance
from dpaudit.model.claim import Claim
from dpaudit.model.codec import decode_claim
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.report.compliance.cover import finite
from dpaudit.report.compliance.fields import Field, Grid, Section, declared, evidence, unknown
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.verdicts import outcome_of
from dpaudit.wording.measures import uppers_phrase
from dpaudit.wording.numerals import at_least, at_most, exact, nearest, whole
from dpaudit.wording.verdicts import word_of_report


def budget(report: ReportInputs) -> Section:
    """Return section 10, from the ledger where one was given."""
    crosswalk = "Registry records: repeated releases"
    balance, refresh = report.balance, report.deployment.period.refresh
    if balance is None:
        return Section(
            number="10",
            ident="budget",
            title="Budget ledger",
            crosswalk=crosswalk,
            fields=(unknown("Budget of the data set", "no ledger was given: what else was released is not known"),),
        )
    account, digest = balance.account, report.certificate.to_dict()["digest"]
    booked = [b["sequence"] for b in balance.bookings if b["certificate"] == digest]
    return Section(
        number="10",
        ident="budget",
        title="Budget ledger",
        crosswalk=crosswalk,
        fields=(
            evidence("Account", account.name, "ledger.name"),
            evidence(
                "Opening budget",
                f"{_opening(account.budget)} for {account.budget.unit}",
                "ledger.budget",
            ),
            evidence("Bookings", whole(len(balance.bookings)), "ledger.bookings"),
            evidence(
                "This certificate",
                f"entry {', '.join(map(whole, booked))}" if booked else "not booked",
                "ledger.bookings",
            ),
            evidence("Last digest of the chain", report.ledger_head, "ledger.head"),
            declared("Next refresh", account.refresh or refresh, "period.refresh"),
        ),
        grids=(_spent(balance),),
    )


def _opening(budget: Claim) -> str:
    """Return the numbers of a budget, as they were stated."""
    if isinstance(budget, MeasuredClaim):
        return budget.words
    return f"epsilon {exact(budget.epsilon)}, delta {exact(budget.delta)}"


def _at_delta(budget: Claim) -> str:
    """Return the delta at which epsilon is read; the measure itself of a budget in another one."""
    return f" of {budget.measure}" if isinstance(budget, MeasuredClaim) else f" at delta {exact(budget.delta)}"


def _spent(balance: Balance) -> Grid:
    """Return the amounts spent and left, by each theorem that still counts."""
    alive = {spending.theorem.name for spending in balance.alive}
    rows = tuple(
        (
            spending.theorem.name,
            at_most(float(spending.spent.amount)),
            at_least(float(spending.remaining.amount)),
            nearest(float(spending.limit.amount)),
            f"at most {at_most(balance.reading(spending))}{_at_delta(spending.claim)}",
        )
        for spending in balance.alive
    )
    stopped = [spending.theorem.name for spending in balance.account.filters() if spending.theorem.name not in alive]
    return Grid(
        name="spent",
        caption="Spent and left, by each theorem that still counts",
        head=("Theorem", "Spent", "Left", "Limit", "Epsilon so far"),
        rows=rows,
        statuses=tuple("evidence" for _ in rows),
        note=f"No longer counting: {', '.join(stopped)}." if stopped else "",
    )


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def reproduction(report: ReportInputs) -> Section:
    """Return section 12."""
    certificate, sources, identity = report.certificate, report.deployment.reproduction, report.deployment.identity
    fields: list[Field] = [
        evidence("Command", report.command, "command") if report.command else unknown("Command"),
        evidence("Seeds", report.seeds, "audits") if report.seeds else unknown("Seeds"),
        declared("Version", identity.version, "identity.version"),
        declared("Commit", identity.commit, "identity.commit"),
        evidence("Versions", _pairs(certificate.versions), "certificate.versions"),
        *([evidence("Environment", _pairs(report.environment), "environment")] if report.environment else []),
        evidence("Configuration digest", digest_of(report.config_text), "config")
        if report.config_text
        else unknown("Configuration digest"),
        evidence("Source digest", certificate.source_digest, "certificate.source_digest"),
        evidence("Certificate digest", str(certificate.to_dict()["digest"]), "certificate.digest"),
        declared("Data", sources.data, "reproduction.data"),
        declared("Container", sources.container, "reproduction.container"),
    ]
    return Section(
        number="12",
        ident="reproduction",
        title="Reproduction",
        crosswalk="in-toto statements; SLSA provenance",
        fields=tuple(fields),
    )


def _pairs(pairs: tuple[tuple[str, str], ...]) -> str:
    """Return names with their values in one line."""
    return ", ".join(f"{name} {value}" for name, value in pairs)


def appendix(report: ReportInputs) -> Section:
    """Return section A: what changed since the previous report."""
    previous = report.previous
    grids: tuple[Grid, ...] = ()
    if previous is not None:
        rows = tuple(_changes(report, previous))
        grids = (
            Grid(
                name="changes",
                caption=f"Changes since the report of {_at(previous, 'created')}",
                head=("What", "Then", "Now"),
                rows=rows,
                statuses=tuple("evidence" for _ in rows),
                note="" if rows else "Nothing of what is compared has changed.",
            ),
        )
    return Section(
        number="A",
        ident="appendix",
        title="Changes since the previous report",
        crosswalk="ISO/IEC 20889: terms",
        fields=()
        if previous is not None
        else (unknown("Changes since the previous report", "no previous report was given"),),
        grids=grids,
    )


def _changes(report: ReportInputs, previous: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return what differs, among the figures that decide."""
    now = {
        "Verdict": outcome_of(report).word,
        **_deciding(report.certificate.to_dict()),
        "Source digest": report.certificate.source_digest,
        "Configuration digest": digest_of(report.config_text),
        **{f"Audited epsilon, {audit.name}": at_least(audit.epsilon_lower) for audit in report.audits},
    }
    audits = previous.get("audits") or ()
    then = {
        "Verdict": word_of_report(previous),
        **_deciding(_at(previous, "certificate")),
        "Source digest": _at(previous, "certificate", "source_digest"),
        "Configuration digest": digest_of(str(_at(previous, "config"))),
        **{f"Audited epsilon, {_at(audit, 'name')}": at_least(_at(audit, "epsilon_lower")) for audit in audits},
    }
    return [
        (name, str(then.get(name, "absent")), str(now.get(name, "absent")))
        for name in dict.fromkeys((*now, *then))
        if then.get(name) != now.get(name)
    ]


def _deciding(certificate: Mapping[str, Any]) -> dict[str, str]:
    """Return the claimed and the certified numbers of a certificate that was read from a file."""
    claim, verdict, tight = decode_claim(certificate["claim"]), certificate["verdict"], certificate["tight"]
    if isinstance(claim, MeasuredClaim):
        told = uppers_phrase(Ends.read(tight)) if verdict not in ("refuted", "stated") else "none"
        return {"Claimed": claim.words, "Certified": told}
    return {
        "Claimed epsilon": exact(claim.epsilon),
        "Claimed delta": exact(claim.delta),
        "Certified epsilon": _certified(verdict, tight["epsilon"]["upper"]),
    }


def _at(data: Mapping[str, Any], *keys: str) -> Any:
    """Return what lies at a path of a report that was read from a file."""
    value: Any = data
    for key in keys:
        value = value[key]
    return value


def _certified(verdict: Any, upper: Any) -> str:
    """Return the proved epsilon; a refuted claim and a stated one have none."""
    return "none" if verdict in ("refuted", "stated") else finite(math.inf if upper == "inf" else float(upper))
