"""A certificate of one stated number, for a proof that rests on mechanisms which the checker does not know."""

from dpaudit.certification.certificate import Certificate
from dpaudit.certification.verdict import certify
from dpaudit.errors import DeclarationError
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import Billboard, Declaration, Local, Release, Stated, walk


def as_stated(certificate: Certificate) -> Certificate:
    """Return the certificate of what `certificate` proves, as one statement taken on trust.

    `dpaudit verify` and the ledger derive every number again, and cannot derive the loss of a plug-in's mechanism. The
    new certificate states the proved epsilon at the claim's delta, names the certificate and the mechanisms that it
    rests on, and keeps the claim and what a run has looked at.
    Guarantee: it proves no more than `certificate` does, nothing is known below it, and it says STATED.
    Raises: DeclarationError: `certificate` does not meet its claim, so there is nothing to state.

    >>> from dpaudit import Claim
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")
    >>> proved = certify(Release(label="sum", mechanism=noise), Claim(epsilon=1.0, neighbours="replace_one"))
    >>> stated = as_stated(proved)
    >>> stated.verdict, stated.tight.epsilon.upper, stated.tight.epsilon.lower
    ('stated', 0.5, 0.0)
    """
    if certificate.verdict not in ("certified", "stated"):
        raise DeclarationError(
            f"Expected a certified or stated claim to state it; it is {certificate.verdict.replace('_', ' ')}. Look "
            "at the certificate first."
        )
    claim = certificate.claim
    names = sorted({node.mechanism.name for _, node in walk(certificate.declaration) if isinstance(node, Release)})
    source = f"certificate {certificate.to_dict()['digest']}, by the mechanisms {', '.join(names) or 'of stated parts'}"
    part = Stated(
        epsilon=min(certificate.tight.epsilon.upper, claim.epsilon),
        delta=claim.delta,
        source=source,
        neighbours=claim.neighbours,
    )
    own = {condition.kind for condition in conditions_of(certificate.declaration, claim.neighbours)}
    looked_at = tuple(row for row in certificate.conditions if row.kind not in own and row.kind != "attained")
    return certify(_in_its_model(certificate.declaration, part), claim, conditions=looked_at)


def _in_its_model(declaration: Declaration, part: Stated) -> Declaration:
    """Return the statement for the view that the declaration protects."""
    match declaration:
        case Local():
            return Local(part=part)
        case Billboard(reads=reads):
            return Billboard(part=part, reads=reads)
        case _:
            return part
