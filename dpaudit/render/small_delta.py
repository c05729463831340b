"""The words for the delta of a certificate, also where it is too small for a float."""

from dpaudit.certification.certificate import Certificate
from dpaudit.wording.certificates import below_floats, bracket_phrase

_SCARCE = 1e-300


def delta_phrase(certificate: Certificate) -> str:
    """Return the bracket on delta at the claimed epsilon in words; below 1e-300 by its order of magnitude."""
    bracket = certificate.tight.delta
    if bracket.upper >= _SCARCE or bracket.lower == bracket.upper == 0:
        return bracket_phrase(bracket)
    return below_floats(certificate.log10_delta_at(certificate.claim.epsilon))
