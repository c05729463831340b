"""The prices of booked certificates, derived again from the certificates that the chain holds."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpaudit.budgets.filters import Filter
from dpaudit.certification.certificate import Certificate
from dpaudit.errors import DPAuditError
from dpaudit.ledger.account import Account
from dpaudit.ledger.balance import EntryFinding
from dpaudit.ledger.entry import Entry
from dpaudit.ledger.pricing import decode_prices, prices
from dpaudit.model.certificate import SCHEMA
from dpaudit.model.codec import encode
from dpaudit.verifier import verify


@dataclass(frozen=True, slots=True, kw_only=True)
class Repricing:
    """How many bookings were derived again, how many carry no certificate of this version, and what was found."""

    derived: int = 0
    without: int = 0
    findings: tuple[EntryFinding, ...] = ()


def reprice(entries: Iterable[Entry]) -> Repricing:
    """Return the result of deriving the prices of an intact chain again from its certificates.

    Guarantee: where nothing is found, the independent checker accepts each certificate that the chain holds, and no
    booking costs less than its certificate does. A booking without a certificate, or with one of another schema
    version, cannot be derived again by this version and is counted.
    """
    accounts: dict[str, tuple[Filter, ...]] = {}
    seen: dict[str, str] = {}
    derived = without = 0
    findings: list[EntryFinding] = []
    for number, entry in enumerate(entries, start=1):
        data = entry.data
        if data["kind"] == "open":
            accounts[data["account"]] = Account.from_dict(data["body"]).filters()
        elif data["body"].get("document", {}).get("schema") != SCHEMA:
            without += 1
        else:
            derived += 1
            fault = _fault(data["body"], accounts[data["account"]], seen)
            findings += [EntryFinding.at(number, "DPA502", fault)] if fault else []
    return Repricing(derived=derived, without=without, findings=tuple(findings))


def _fault(body: dict[str, Any], filters: tuple[Filter, ...], seen: dict[str, str]) -> str:
    """Return what is wrong with a booking beside its certificate, or an empty text."""
    text = json.dumps(body["document"])
    if text not in seen:
        verification = verify(text)
        wrong, open_ends = "; ".join(verification.complaints), "; ".join(verification.unconfirmed)
        said = f"rejected: {wrong}" if wrong else f"neither confirmed nor contradicted: {open_ends}"
        seen[text] = "" if verification.accepted else f"The certificate is {said}"
    if seen[text]:
        return seen[text]
    try:
        certificate = Certificate.from_json(text)
        if body["claim"] != encode(certificate.claim):
            return "The booking states another claim than its certificate."
        priced, booked = prices(certificate, filters), decode_prices(body["prices"])
    except DPAuditError as error:
        return f"The certificate cannot be priced: {error}"
    cheap = [name for name, cost in booked.items() if name not in priced or not priced[name].cost.within(cost)]
    return f"The booking costs less than its certificate by the {cheap[0]} filter." if cheap else ""
