"""`dpaudit verify`: an independent check of a certificate, or of a witness of a violation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpaudit.cli.common.exits import Exit
from dpaudit.cli.common.options import Seed, option
from dpaudit.cli.common.points import POINT_KEYS, points
from dpaudit.cli.common.results import Result, resulting
from dpaudit.errors import CertificateError, ConfigError

if TYPE_CHECKING:
    from dpaudit.verifier import Verification

_NUMBERS = ("epsilon", "delta", "rho", "xi", "mu")
"""The numbers of a claim that can be demanded, and the names of the two of each point."""


Received = Annotated[
    Path,
    typer.Argument(
        metavar="CERTIFICATE|REPORT|WITNESS|PLAN",
        help="A certificate, a report (its folder or one of its files), a witness or a plan of an audit.",
    ),
]
Digest = Annotated[str | None, option("--digest", "DIGEST", "The digest that it must have.")]
_DEMANDED = "What the certificate must claim, as in epsilon=1,delta=1e-5,neighbours=replace_one or rho=.5."
Claimed = Annotated[str | None, option("--expect-claim", "KEY=VALUE,...", _DEMANDED)]


@resulting
def verify(certificate: Received, digest: Digest = None, expect_claim: Claimed = None, seed: Seed = None) -> Result:
    """Check a certificate or a received report again from its files alone.

    Passes if an independent reading comes to the same numbers and the verdict is certified. A certificate that was
    altered, or has another digest or claim than demanded, is a finding; one whose numbers are neither confirmed nor
    contradicted is inconclusive, and so is a claim that somebody else states; a file that is no JSON cannot be read. Of
    a report also the digest to sign and the
    SHA-256 of every file are computed again. A witness is counted again on fresh runs: a
    violation that stands is a finding, one that does not is inconclusive. Of a plan the digest is computed again.
    """
    from dpaudit.cli.common.output import doing
    from dpaudit.cli.witness import is_witness
    from dpaudit.configuration.audit_plan import is_plan
    from dpaudit.configuration.files import read_text
    from dpaudit.report.received.files import is_report, verify_report
    from dpaudit.report.training.report import is_training_report, verify_training_report
    from dpaudit.verifier import verify as verify_text

    demands = _demands(expect_claim)
    if is_report(certificate):
        with doing("Checking the report"):
            return _verified(_demanding(verify_report(certificate, digest), None, demands))
    text = read_text(certificate)
    if is_plan(text):
        return _plan(text, digest)
    read = verify_training_report if is_training_report(text) else verify_text
    with doing("Checking the certificate"):
        verification = _demanding(read(text), digest, demands)
    if verification.verdict == "unreadable":
        raise CertificateError(
            f"{certificate}: {verification.complaints[0]}. Give a certificate, as "
            "`dpaudit certify CONFIG --format json -o FILE` writes it."
        )
    return _witness(certificate, text, seed) if is_witness(text) else _verified(verification)


def _verified(verification: Verification) -> Result:
    """Return the result of an independent reading."""
    from dpaudit.cli.common.verdicts import verdict_exit, worst
    from dpaudit.model.codec import encode
    from dpaudit.render.verification import verification_document

    exit_code = Exit.FINDING if verification.complaints else verdict_exit(verification.verdict)
    return Result(
        document=lambda: verification_document(verification),
        data=lambda: {"accepted": verification.accepted, **encode(verification)},
        code=worst(exit_code, Exit.PASS if verification.accepted else Exit.INCONCLUSIVE),
    )


def _demanding(verification: Verification, digest: str | None, claim: dict[str, Any]) -> Verification:
    """Return a verification with complaints where the certificate has another digest, or claims something else.

    `claim` holds the fields of a claim that are demanded; the others may be anything.
    """
    stated = verification.claim or {}
    differing = {key: value for key, value in claim.items() if stated.get(key) != value}
    complaints = [f"the claim has {k}={stated.get(k)}, and {k}={v} is demanded" for k, v in differing.items()]
    if digest not in (None, verification.digest):
        complaints.append(f"the digest is {verification.digest or 'unknown'}, and {digest} is demanded")
    return replace(verification, complaints=(*verification.complaints, *complaints))


def _demands(expected: str | None) -> dict[str, Any]:
    """Return the fields of a claim from `key=value,...`; a unit comes last, as it may hold commas.

    Points are written as in `renyi=2:0.04;8:0.16`.

    Raises: ConfigError: an unknown key, a key twice, or a number that is none.
    """
    fields_of_claim: dict[str, Any] = {}
    unread = expected
    while unread:
        key, _, unread = unread.partition("=")
        if key not in (*_NUMBERS, *POINT_KEYS, "measure", "neighbours", "model", "unit") or key in fields_of_claim:
            raise ConfigError(
                f"--expect-claim: {key!r} is unknown or given twice; write epsilon=1,delta=1e-5,neighbours=replace_one "
                "(or rho=, xi=, mu=, renyi=ORDER:EPSILON, profile=EPSILON:DELTA; and measure=, model=, unit=)."
            )
        value, _, unread = (unread, "", "") if key == "unit" else unread.partition(",")
        try:
            number = float(value) if key in _NUMBERS else value
            fields_of_claim[key] = points(key, value) if key in POINT_KEYS else number
        except ValueError:
            kind = "point, as in 2:0.04" if key in POINT_KEYS else "number"
            raise ConfigError(f"--expect-claim: {key}={value!r} is no {kind}.") from None
    return fields_of_claim


def _plan(text: str, digest: str | None) -> Result:
    """Return whether a plan has the digest that it states, and the one that is demanded."""
    from dpaudit.configuration.audit_plan import AuditPlan

    try:
        plan = AuditPlan.from_json(text)
    except CertificateError as error:
        said = str(error)
        return Result(text=lambda: said, code=Exit.FINDING)
    stated = f"The plan has the digest that it states: {plan.digest}"
    if digest in (None, plan.digest):
        return Result(text=lambda: stated)
    return Result(text=lambda: f"{stated}\nThe digest {digest} is demanded.", code=Exit.FINDING)


def _witness(file: Path, text: str, seed: int | None) -> Result:
    """Return the count of a witness, repeated on fresh runs."""
    from dpaudit.cli.common.output import note
    from dpaudit.cli.witness import check_witness, witness_sentence
    from dpaudit.documents.document import Paragraph, document
    from dpaudit.workflow import drawn_seed

    recheck = check_witness(file, text, drawn_seed(seed, note))
    sentence = witness_sentence(recheck)
    return Result(
        document=lambda: document(Paragraph(sentence)),
        data=lambda: recheck,
        code=Exit.FINDING if recheck["stands"] else Exit.INCONCLUSIVE,
    )
