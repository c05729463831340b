"""From a declaration and a claim to a certificate: all readings, one verdict, and the reasons for it."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from dpaudit.accounting.derivation.table import needs_others
from dpaudit.arguments import named_arguments
from dpaudit.certification.certificate import Certificate, verdict_of
from dpaudit.certification.digits import least, most, stated
from dpaudit.certification.evidence import Evidence, evidence_on
from dpaudit.certification.measured import beside_brackets, measured, pair_of
from dpaudit.certification.on_trust import sentences_on, trust_of
from dpaudit.checks import one_of
from dpaudit.errors import DeclarationError
from dpaudit.model.bracket import Effort
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition, conditions_of, merge
from dpaudit.model.declaration import Declaration, Release, walk
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.mechanism import Mechanism
from dpaudit.model.readings import Tight, Trust
from dpaudit.model.trace import Finding
from dpaudit.printed.argument import is_printed, replay
from dpaudit.printed.slack import slack_of
from dpaudit.runtime.provenance import source_digest, versions

_BESIDE = ", and if others move a sample's answer as far the other way, or not at all, where the scheme needs this"


@named_arguments
def certify(
    declaration: Declaration | Mechanism,
    claim: Claim,
    *,
    conditions: tuple[Condition, ...] = (),
    findings: tuple[Finding, ...] = (),
    effort: Effort = "default",
) -> Certificate:
    """Return the certificate of `declaration` for `claim`; a mechanism by itself is one release of its own name.

    `conditions` are those that a run has looked at, `findings` what its trace did that the declaration does
    not admit. `effort` trades time for the width of the brackets: every effort proves what it says, and the
    certificate names it.
    Guarantee: see `Certificate`.

    Raises:
        DeclarationError: a sensitivity stated for other neighbours than the claim's, or an unknown rule.
        UnsupportedError: a node that no engine covers, named in the message.
        ValueError: an unknown effort.
        TypeError: no claim, or neither a declaration nor a mechanism.

    >>> from dpaudit import Release
    >>> from mechanisms import Gaussian
    >>> claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    >>> noise = Gaussian.calibrated(claim, l2_sensitivity=1.0)
    >>> certify(Release(label="mean", mechanism=noise), claim).verdict, certify(noise, claim).verdict
    ('certified', 'certified')
    """
    if isinstance(declaration, Mechanism):
        declaration = Release(label=declaration.name, mechanism=declaration)
    _require_declarations(declaration)
    if isinstance(claim, MeasuredClaim):
        return measured(declaration, claim, conditions, findings, effort)
    return _in_epsilon_and_delta(declaration, claim, conditions, findings, effort)


def _in_epsilon_and_delta(
    declaration: Declaration,
    claim: Claim,
    conditions: tuple[Condition, ...],
    findings: tuple[Finding, ...],
    effort: Effort,
) -> Certificate:
    """Return the certificate of a claim of epsilon and delta; raises as `certify`."""
    merged, evidence = _known(declaration, claim, conditions, effort)
    tight = _with_all_engines(evidence.tight)
    objections = tuple(_objections(declaration, claim, evidence, merged, findings))
    trust = None if objections else trust_of(declaration, claim, merged, effort, tight.epsilon.upper)
    return Certificate(
        verdict=verdict_of(objections, trust, refuted=evidence.refutes(claim)),
        reasons=objections or _reasons(claim, tight, trust),
        trust=trust,
        claim=claim,
        tight=tight,
        printed=replay(declaration, claim) if is_printed(declaration) else None,
        slack=slack_of(declaration, claim, tight.epsilon.upper),
        witnesses=evidence.witnesses,
        conditions=merged,
        findings=findings,
        declaration=declaration,
        engines=tight.epsilon.engines,
        effort=effort,
        versions=versions(),
        source_digest=source_digest(),
        derivation=evidence.derivation,
    )


def _known(
    declaration: Declaration, claim: Claim, conditions: tuple[Condition, ...], effort: Effort
) -> tuple[tuple[Condition, ...], Evidence]:
    """Return all conditions of the proof, and the evidence on the claim under them.

    Raises: DeclarationError: a tree that is nested too deeply. ValueError: an unknown effort.
    """
    try:
        merged = merge(conditions_of(declaration, claim.neighbours), conditions)
        evidence = evidence_on(declaration, claim, merged, one_of("effort", effort, get_args(Effort)))
    except RecursionError:
        raise DeclarationError("The declaration is nested too deeply to be read; write it flatter.") from None
    return merged if evidence.assumed is None else merge(merged, (Condition(kind="attained"),)), evidence


def _with_all_engines(tight: Tight) -> Tight:
    """Return both brackets with the engines of either."""
    engines = tuple(dict.fromkeys(tight.epsilon.engines + tight.delta.engines))
    return Tight(epsilon=replace(tight.epsilon, engines=engines), delta=replace(tight.delta, engines=engines))


def _require_declarations(declaration: Declaration) -> None:
    """Refuse a tree that holds something else than declarations.

    Raises: TypeError: naming the first of it. DeclarationError: a tree that is nested too deeply.
    """
    try:
        nodes: Iterator[tuple[str, object]] = walk(declaration)
        for path, node in nodes:
            if not isinstance(node, Declaration):
                where = "" if path == "root" else f" at {path}"
                many = isinstance(node, list | tuple)
                meant = "Sequential(parts=(a, b))" if many else "Release(label='sums', mechanism=...)"
                raise TypeError(
                    f"Expected a declaration or a mechanism, got {type(node).__name__}{where}; write {meant}."
                )
    except RecursionError:
        raise DeclarationError("The declaration is nested too deeply to be read; write it flatter.") from None


def _objections(
    declaration: Declaration,
    claim: Claim,
    evidence: Evidence,
    conditions: tuple[Condition, ...],
    findings: tuple[Finding, ...],
) -> Iterator[str]:
    """Yield, in sentences, everything that stands against the claim."""
    yield from _about_brackets(declaration, claim, evidence)
    yield from beside_brackets(declaration, claim, conditions, findings)


def _about_brackets(declaration: Declaration, claim: Claim, evidence: Evidence) -> Iterator[str]:
    """Yield what the brackets say against the claim, and what they would say under an assumption."""
    tight, epsilon, delta = evidence.tight, stated(claim.epsilon), stated(claim.delta)
    if evidence.refutes(claim):
        yield (
            f"The declared releases deliver epsilon {least(tight.epsilon.lower)} or more at delta {delta}, "
            f"and delta {least(tight.delta.lower)} or more at epsilon {epsilon}: the claim is false. "
            + " ".join(pair_of(witness) for witness in evidence.witnesses)
        )
    elif evidence.meets(claim):
        pass
    elif tight.epsilon.upper == math.inf:
        yield f"No finite epsilon is proved at delta {delta}; the claim is {epsilon}."
    else:
        upper = most(tight.epsilon.upper, math.inf)
        yield f"Epsilon is proved up to {upper} only at delta {delta}; the claim is {epsilon}."
    if evidence.assumed is not None:
        beside = needs_others(declaration, claim.neighbours)
        yield (
            f"The claim is false if one pair attains these sensitivities at once{_BESIDE if beside else ''}: "
            f"epsilon is then {least(evidence.assumed.epsilon.lower)} or more at delta {delta}, and delta "
            f"{least(evidence.assumed.delta.lower)} or more at epsilon {epsilon}."
        )


def _reasons(claim: Claim, tight: Tight, trust: Trust | None) -> tuple[str, ...]:
    """Return what is taken on trust, or the reason for a certificate in one sentence."""
    if trust is not None:
        return sentences_on(trust, f"epsilon at delta {stated(claim.delta)}", claim.epsilon, tight.epsilon.upper)
    return (
        f"The declared releases are proved to cost at most epsilon {most(tight.epsilon.upper, claim.epsilon)} at delta "
        f"{stated(claim.delta)}, within the claimed {stated(claim.epsilon)}.",
    )
