"""The body of a booking: its fields, and what each of them may be."""

import json
import re
from datetime import datetime
from typing import Any

from dpaudit.certification.certificate import Certificate
from dpaudit.errors import DPAuditError, LedgerError
from dpaudit.ledger.pricing import Price, encode_prices
from dpaudit.model.codec import decode_claim, encode
from dpaudit.model.measures.ends import Ends

_DIGEST = re.compile(r"[0-9a-f]{64}")


def booking_body(certificate: Certificate, label: str, priced: dict[str, Price]) -> dict[str, Any]:
    """Return the body of a booking: the whole certificate, so that its prices can be derived again.

    `counted` says by which rule each filter counts it.
    """
    document, tight = certificate.to_dict(), certificate.tight
    proved = {"proved": encode(tight)} if isinstance(tight, Ends) else {"proved_epsilon": encode(tight.epsilon.upper)}
    return {
        "label": label,
        "certificate": document["digest"],
        "document": document,
        "claim": encode(certificate.claim),
        **proved,
        "prices": encode_prices({name: price.cost for name, price in priced.items()}),
        "counted": {name: price.rule for name, price in priced.items()},
    }


def is_on_trust(body: dict[str, Any]) -> bool:
    """Return whether a booking counts what somebody else states: its certificate says so, or holds a stated part.

    Certificates of earlier versions called such a claim *certified*.
    """
    document = body.get("document", {})
    return document.get("verdict") == "stated" or '"node": "stated"' in json.dumps(document.get("declaration"))


def require_booking(body: dict[str, Any], created: Any) -> None:
    """Refuse a body whose fields are not what a booking writes.

    A booking of an earlier version has no `document`; it names its certificate by the digest alone.
    Raises: LedgerError: a field is missing, or is of another kind.
    """
    if not {"label", "certificate", "claim", "prices"} <= set(body):
        raise LedgerError("The booking lacks its label, its certificate, its claim or its prices.")
    if not isinstance(body["label"], str) or not body["label"].strip():
        raise LedgerError("The label of the booking is no text, or is empty.")
    if not isinstance(body["certificate"], str) or not _DIGEST.fullmatch(body["certificate"]):
        raise LedgerError("The booking does not name its certificate by a digest.")
    document = body.get("document", {"digest": body["certificate"]})
    if not isinstance(document, dict) or document.get("digest") != body["certificate"]:
        raise LedgerError("The certificate of the booking is not the one that the booking names.")
    try:
        decode_claim(body["claim"])
        datetime.fromisoformat(created)
    except (DPAuditError, TypeError, ValueError) as error:
        raise LedgerError(f"The claim or the time of the booking is malformed: {error!s:.200}") from None
