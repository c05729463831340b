"""The complaints of the independent checker against a certificate that a check has just made."""

from dpaudit.certification.certificate import Certificate
from dpaudit.verifier import verify


def disagreements(certificate: Certificate) -> tuple[str, ...]:
    """Return the complaints of the independent checker; none where it cannot derive the certificate's losses.

    An upper end below what the checker proves is one too, although no pair is known to contradict it. A mechanism that
    the checker does not know, or a declaration beyond its limits, is refused before any number is compared. That says
    nothing against the certificate, and `dpaudit verify` tells it.
    """
    verification = verify(certificate.to_json())
    if verification.verdict != certificate.verdict:
        return ()
    return (*verification.complaints, *verification.sharper)
