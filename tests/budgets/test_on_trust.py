"""The verdict *stated*: a claim that follows only from somebody else's word is never called certified."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from dpaudit import Claim, Release, Sequential, Stated, Subsample, certify
from dpaudit.certification.certificate import Certificate
from dpaudit.model.certificate import digest_of
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from dpaudit.verifier import verify
from mechanisms import Laplace

COUNT = Release(label="count", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"))
TOLD = Stated(epsilon=1.4, source="a vendor")
MIXED = Sequential(parts=(COUNT, TOLD))


def claimed(epsilon: float, delta: float = 0.0) -> Claim:
    """A claim for records that are added or removed."""
    return Claim(epsilon=epsilon, delta=delta, neighbours="add_remove")


@pytest.mark.parametrize(
    ("declaration", "claim", "verdict"),
    [
        (TOLD, claimed(1.4), "stated"),
        (TOLD, claimed(1.3), "not_proved"),
        (MIXED, claimed(2.4), "stated"),
        (MIXED, claimed(2.3), "not_proved"),
        (MIXED, claimed(0.9), "refuted"),
        (COUNT, claimed(1.0), "certified"),
        (Subsample(part=TOLD, rate=0.01), claimed(0.5, 0.005), "stated"),
        (Subsample(part=TOLD, rate=0.01), claimed(0.5, 0.02), "certified"),
    ],
)
def test_the_verdict_says_whether_the_claim_needs_somebody_elses_word(
    declaration: Declaration, claim: Claim, verdict: str
) -> None:
    """Refuted by proved parts; not proved above the word; stated where the word is needed; certified without it."""
    certificate = certify(declaration, claim)
    assert certificate.verdict == verdict
    assert verify(certificate.to_json()).accepted
    assert (certificate.trust is None) == (verdict != "stated")
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_a_mixture_says_what_is_proved_alone_and_what_share_is_on_trust() -> None:
    certificate = certify(MIXED, claimed(3.0))
    assert certificate.reasons == (
        "STATED by a vendor: nothing here was proved or checked.",
        "In epsilon at delta 0: proved parts alone 1; with stated parts at their word 2.4; share on trust 58.3 %.",
    )


def test_a_condition_that_only_the_supplier_knows_is_on_trust() -> None:
    promised = Condition(kind="stated", about=("the cloud's sampler",))
    certificate = certify(COUNT, claimed(1.0), conditions=(promised,))
    assert (certificate.verdict, certificate.reasons[0]) == (
        "stated",
        "STATED by the cloud's sampler: nothing here was proved or checked.",
    )
    assert verify(certificate.to_json()).accepted


def _certified(data: dict[str, Any]) -> None:
    del data["trust"]
    data["verdict"] = "certified"
    data["reasons"] = ["The declared releases are proved to cost at most epsilon 2.4 at delta 0, within the claimed 3."]


def _smaller(data: dict[str, Any]) -> None:
    data["trust"]["share"] = 0.1


def _other(data: dict[str, Any]) -> None:
    data["trust"]["sources"] = ["a proof"]


def _more_proved(data: dict[str, Any]) -> None:
    data["trust"] |= {"proved": 0.5, "share": 1 - 0.5 / 2.4}


def _old(data: dict[str, Any]) -> None:
    _certified(data)
    data["schema"] = "urn:dpaudit:schema:certificate:5"


@pytest.mark.parametrize(
    ("forge", "complaint"),
    [
        (_certified, "what is on trust is not as a stated claim says it"),
        (_smaller, "the share on trust"),
        (_other, "the sources of what is on trust"),
        (_more_proved, "does not follow"),
        (_old, "certified of what somebody else states"),
    ],
)
def test_a_forged_certificate_gets_no_other_word_from_the_checker(
    forge: Callable[[dict[str, Any]], None], complaint: str
) -> None:
    data = json.loads(certify(MIXED, claimed(3.0)).to_json())
    forge(data)
    found = verify(json.dumps(data | {"digest": digest_of(data)}))
    assert any(complaint in line for line in found.complaints), found
