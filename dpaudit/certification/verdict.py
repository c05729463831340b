"""From a declaration and a claim to a certificate: all readings, one verdict, and the reasons for it."""

from collections.abc import Iterator

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.accounting.views import delivered_model
from dpaudit.certification.certificate import Certificate
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition, conditions_of, merge
from dpaudit.model.declaration import Declaration
from dpaudit.model.readings import Tight, Verdict
from dpaudit.model.trace import Finding
from dpaudit.printed.argument import is_printed, replay
from dpaudit.printed.slack import slack_of
from dpaudit.runtime.provenance import source_digest, versions


def certify(
    declaration: Declaration,
    claim: Claim,
    *,
    conditions: tuple[Condition, ...] = (),
    findings: tuple[Finding, ...] = (),
) -> Certificate:
    """Return the certificate of `declaration` for `claim`.

    `conditions` are those that a run has looked at, `findings` what its trace did that the declaration does
    not admit. Guarantee: see `Certificate`.

    Raises:
        DeclarationError: a sensitivity stated for other neighbours than the claim's, or an unknown rule.
        UnsupportedError: a node that no engine covers, named in the message.

    >>> from dpaudit import Release
    >>> from mechanisms import Gaussian
    >>> claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    >>> noise = Gaussian.calibrated(claim, l2_sensitivity=1.0)
    >>> certify(Release(label="mean", mechanism=noise), claim).verdict
    'certified'
    """
    form = fold(declaration, claim.neighbours)
    tight = Tight(epsilon=bracket_epsilon(form, claim.delta), delta=bracket_delta(form, claim.epsilon))
    known = merge(conditions_of(declaration), conditions)
    objections = tuple(_objections(declaration, claim, tight, known, findings))
    verdict = _verdict(claim, tight, objections)
    return Certificate(
        verdict=verdict,
        reasons=objections or (_certified_because(claim, tight),),
        claim=claim,
        tight=tight,
        printed=replay(declaration, claim) if is_printed(declaration) else None,
        slack=slack_of(declaration, claim, tight.epsilon.upper),
        conditions=known,
        findings=findings,
        declaration=declaration,
        engines=tuple(dict.fromkeys(tight.epsilon.engines + tight.delta.engines)),
        versions=versions(),
        source_digest=source_digest(),
    )


def _verdict(claim: Claim, tight: Tight, objections: tuple[str, ...]) -> Verdict:
    """Return refuted above the lower bound, certified without objections, and not proved in between."""
    if _refuted(claim, tight):
        return "refuted"
    return "not_proved" if objections else "certified"


def _refuted(claim: Claim, tight: Tight) -> bool:
    """Return whether the declared mechanisms provably exceed the claim."""
    return tight.delta.lower > claim.delta or tight.epsilon.lower > claim.epsilon


def _met(claim: Claim, tight: Tight) -> bool:
    """Return whether the declared mechanisms provably meet the claim."""
    return tight.delta.upper <= claim.delta or tight.epsilon.upper <= claim.epsilon


def _objections(
    declaration: Declaration,
    claim: Claim,
    tight: Tight,
    conditions: tuple[Condition, ...],
    findings: tuple[Finding, ...],
) -> Iterator[str]:
    """Yield, in sentences, everything that stands against the claim."""
    if _refuted(claim, tight):
        yield (
            f"The declared releases deliver epsilon {tight.epsilon.lower:.6g} or more at delta {claim.delta:g}, "
            f"and delta {tight.delta.lower:.6g} or more at epsilon {claim.epsilon:g}: the claim is false."
        )
    elif not _met(claim, tight):
        yield (
            f"Epsilon is proved up to {tight.epsilon.upper:.6g} only at delta {claim.delta:g}; "
            f"the claim is {claim.epsilon:g}."
        )
    model = delivered_model(declaration)
    if not claim.implied_by(model):
        yield f"The declaration protects the {model} view; the claim is about the {claim.model} one."
    for condition in conditions:
        if condition.status == "violated":
            yield f"A condition of the proof is violated: {condition.text}"
    for finding in findings:
        yield f"The run and its declaration disagree ({finding.rule}): {finding.message}"


def _certified_because(claim: Claim, tight: Tight) -> str:
    """Return the reason for a certificate in one sentence."""
    return (
        f"The declared releases are proved to cost at most epsilon {tight.epsilon.upper:.6g} at delta "
        f"{claim.delta:g}, within the claimed {claim.epsilon:g}."
    )
