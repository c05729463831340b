"""Sections 10, 12 and A: budget ledger, reproduction, and changes since the previous report."""

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

from dpaudit.ledger import Balance
from dpaudit.model.claim import Claim
from dpaudit.model.codec import decode_claim
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.report.compliance.fields import Grid, Part, declared, declared_fields, evidence, grid, unknown
from dpaudit.report.facts import Facts
from dpaudit.wording.certificates import finite
from dpaudit.wording.claims import budget_words
from dpaudit.wording.measures import uppers_phrase
from dpaudit.wording.numerals import at_least, at_most, exact, nearest, whole


def budget(facts: Facts) -> Iterator[Part]:
    """Yield section 10, from the ledger where one was given."""
    report, balance = facts.report, facts.report.balance
    if balance is None:
        yield unknown("Budget of the data set", "no ledger was given: what else was released is not known")
        return
    account, digest = balance.account, report.certificate.to_dict()["digest"]
    booked = ", ".join(whole(b["sequence"]) for b in balance.bookings if b["certificate"] == digest)
    opening = f"{budget_words(account.budget)} for {account.budget.unit}"
    yield evidence("Account", account.name, "ledger.name")
    yield evidence("Opening budget", opening, "ledger.budget")
    yield evidence("Bookings", whole(len(balance.bookings)), "ledger.bookings")
    yield evidence("This certificate", f"entry {booked}" if booked else "not booked", "ledger.bookings")
    yield evidence("Last digest of the chain", report.ledger_head, "ledger.head")
    yield declared("Next refresh", account.refresh or report.deployment.period.refresh, "period.refresh")
    yield _spent(balance)


def _spent(balance: Balance) -> Grid:
    """Return the amounts spent and left, by each theorem that still counts."""

    def so_far(budget: Claim, upper: str) -> str:
        """Return what was spent: epsilon at the delta at which it is read, or the measure of the budget."""
        if isinstance(budget, MeasuredClaim):
            return f"{budget.measure} at most {upper}"
        return f"epsilon at most {upper} at delta {exact(budget.delta)}"

    return grid(
        "spent",
        "Spent and left, by each theorem that still counts",
        ("Theorem", "Spent", "Left", "Limit", "So far"),
        (
            (
                spending.name,
                at_most(float(spending.spent.amount)),
                at_least(float(spending.remaining.amount)),
                nearest(float(spending.limit.amount)),
                so_far(spending.claim, at_most(balance.reading(spending))),
            )
            for spending in balance.alive
        ),
        note=f"No longer counting: {', '.join(balance.stopped)}." if balance.stopped else "",
    )


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def reproduction(facts: Facts) -> Iterator[Part]:
    """Yield section 12."""
    report, certificate = facts.report, facts.report.certificate
    yield evidence("Command", report.command, "command")
    yield evidence("Seeds", report.seeds, "audits")
    yield from declared_fields(report.deployment.identity, "identity", "version", "commit")
    yield evidence("Versions", _pairs(certificate.versions), "certificate.versions")
    if report.environment:
        yield evidence("Environment", _pairs(report.environment), "environment")
    yield evidence("Configuration digest", digest_of(report.config_text) if report.config_text else "", "config")
    yield evidence("Source digest", certificate.source_digest, "certificate.source_digest")
    yield evidence("Certificate digest", str(certificate.to_dict()["digest"]), "certificate.digest")
    yield from declared_fields(report.deployment.reproduction, "reproduction")


def _pairs(pairs: tuple[tuple[str, str], ...]) -> str:
    """Return names with their values in one line."""
    return ", ".join(f"{name} {value}" for name, value in pairs)


def appendix(facts: Facts) -> Iterator[Part]:
    """Yield section A: what changed since the previous report."""
    report, previous = facts.report, facts.report.previous
    if previous is None:
        yield unknown("Changes since the previous report", "no previous report was given")
        return
    certificate = report.certificate.to_dict()
    audits = [(audit.name, audit.epsilon_lower) for audit in report.audits]
    now = _deciding(facts.outcome.word, certificate, report.config_text, audits)
    earlier = [(audit["name"], audit["epsilon_lower"]) for audit in previous.get("audits") or ()]
    then = _deciding(str(previous["verdict"]), previous["certificate"], str(previous["config"]), earlier)
    changed = [name for name in dict.fromkeys((*now, *then)) if then.get(name) != now.get(name)]
    yield grid(
        "changes",
        f"Changes since the report of {previous['created']}",
        ("What", "Then", "Now"),
        ((name, then.get(name, "absent"), now.get(name, "absent")) for name in changed),
        note="" if changed else "Nothing of what is compared has changed.",
    )


def _deciding(
    word: str, certificate: Mapping[str, Any], config: str, audits: list[tuple[str, float]]
) -> dict[str, str]:
    """Return the figures of a report that decide, by their names; the certificate is as it is read from a file."""
    return {
        "Verdict": word,
        **_claimed_and_certified(certificate),
        "Source digest": certificate["source_digest"],
        "Configuration digest": digest_of(config),
        **{f"Audited epsilon, {name}": at_least(lower) for name, lower in audits},
    }


def _claimed_and_certified(certificate: Mapping[str, Any]) -> dict[str, str]:
    """Return the claimed and the certified numbers; a refuted claim and a stated one have no certified ones."""
    claim, tight = decode_claim(certificate["claim"]), certificate["tight"]
    proved = certificate["verdict"] not in ("refuted", "stated")
    if isinstance(claim, MeasuredClaim):
        return {"Claimed": claim.words, "Certified": uppers_phrase(Ends.read(tight, claim)) if proved else "none"}
    upper = tight["epsilon"]["upper"]
    return {
        "Claimed epsilon": exact(claim.epsilon),
        "Claimed delta": exact(claim.delta),
        "Certified epsilon": finite(math.inf if upper == "inf" else float(upper)) if proved else "none",
    }
