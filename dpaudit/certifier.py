"""From a declaration and a claim to a certificate."""

from dpaudit.certificate import Certificate
from dpaudit.claim import Claim
from dpaudit.condition import Condition
from dpaudit.declaration import Declaration
from dpaudit.trace import Finding


def certify(
    declaration: Declaration,
    claim: Claim,
    *,
    conditions: tuple[Condition, ...] = (),
    findings: tuple[Finding, ...] = (),
) -> Certificate:
    """Return the certificate of `declaration` for `claim`."""
    raise NotImplementedError
