"""The claim of an algorithm in its contract: certified, confirmed by the independent checker, and attacked."""

from typing import Any

import numpy as np

from audits.checks.program_replay import Replayed
from audits.experiment.probes import probe
from audits.experiment.settings import Settings
from audits.procedures.anytime import when_refuted
from audits.procedures.audit import audit
from audits.procedures.replayed import with_replay
from audits.testing.check import Check
from dpaudit import AuditCase, Certificate, Condition, Declaration, DPAuditError, certify, verify
from dpaudit.model.trace import Finding, admit
from dpaudit.model.transcript import RecordedRun

_RUNS, _PROBED = 2_000, 256
_ALARM = 1e-6
_MOST = 3


def certificate_of(
    algorithm: Any, declaration: Declaration, recorded: RecordedRun, replayed: Replayed
) -> Certificate | None:
    """Return the certificate of an algorithm's claim on what a run and its replays looked at; None without a claim."""
    if not hasattr(algorithm, "claim"):
        return None
    conditions: tuple[Condition, ...] = getattr(algorithm, "conditions", tuple)()
    findings: tuple[Finding, ...] = getattr(algorithm, "findings", tuple)()
    transcript = recorded.transcript
    return certify(
        declaration,
        algorithm.claim(),
        conditions=(*conditions, *transcript.conditions, *replayed.conditions),
        findings=(*findings, *admit(declaration, transcript.trace), *replayed.findings),
    )


def claim_check(certificate: Certificate | None) -> Check:
    """Return whether the claim is certified, and the independent checker agrees.

    *Not proved* and *stated* are no failures.
    """
    if certificate is None:
        return Check(what="claim", outcome="not looked at", says="the algorithm has no claim()")
    verification = verify(certificate.to_json())
    if verification.verdict == certificate.verdict and verification.complaints:
        return Check(what="claim", outcome="failed", says=f"the independent checker: {verification.complaints[0]}")
    says = " ".join(certificate.reasons[:_MOST])
    if certificate.verdict in ("certified", "refuted"):
        return Check(what="claim", outcome="ok" if certificate.verdict == "certified" else "failed", says=says)
    return Check(what="claim", outcome="not looked at", says=f"{certificate.verdict.replace('_', ' ')}: {says}")


def draws_check(cases: tuple[AuditCase, ...]) -> Check:
    """Return whether the probes of an audit find all runs of the cases to be independent draws from their streams.

    At most about 100 calls a case. What every audit looks at first: noise that does not follow the stream, one draw for
    all runs of a call, data beside the outputs, published seeds, types and precision that follow the data.
    """
    raised: list[str] = []
    for case in cases:
        try:
            probed = probe(case, _PROBED)
        except (DPAuditError, ValueError) as error:
            raised.append(f"{case.name}: {' '.join(str(error).split())}")
            continue
        if probed.raised:
            raised.append(f"{case.name}: every run raised {probed.raised}")
        elif not (probed.sound and probed.repeatable) or probed.shared:
            says = f"case '{case.name}', view '{case.view}': {' '.join(probed.remarks)}"
            return Check(what="draws", outcome="failed", says=says)
    if raised or not cases:
        says = f"not probed: {'; '.join(raised[:_MOST])}" if raised else "there is no audit case"
        return Check(what="draws", outcome="not looked at", says=says)
    return Check(what="draws", outcome="ok", says="runs are independent draws, and no probe sees the data beside them")


def audits_check(cases: tuple[AuditCase, ...], certificate: Certificate | None, seed: int) -> Check:
    """Return whether a replay or a short anytime audit of some case shows more than is claimed or certified.

    Each audit has at most 2,000 runs, and as many again confirm what its replay shows. False alarm: 1e-6 for all of
    them together.
    """
    if certificate is None or not cases:
        return Check(what="audits", outcome="not looked at", says="there is no claim, or no audit case")
    left_out: list[str] = []
    for number, case in enumerate(cases):
        rng = np.random.default_rng([seed, number])
        try:
            how = Settings(certified=certificate.tight.epsilon.upper, control_runs=0)
            claim, level = certificate.claim, _ALARM / len(cases)
            result = audit(case, claim=claim, runs=_RUNS, rng=rng, significance=level, stop=when_refuted, how=how)
            result = with_replay(result, case, claim, rng)
        except (DPAuditError, ValueError) as error:
            left_out.append(f"{case.name}: {' '.join(str(error).split())}")
            continue
        if result.verdict == "violation":
            shown = f"epsilon of at least {result.epsilon_lower:.4g} is shown. {' '.join(result.remarks)}".strip()
            says = f"case '{case.name}', view '{case.view}': {shown}"
            return Check(what="audits", outcome="failed", says=says)
    if left_out:
        return Check(what="audits", outcome="not looked at", says=f"not audited: {'; '.join(left_out[:_MOST])}")
    audits = "one audit" if len(cases) == 1 else f"{len(cases)} audits"
    says = f"nothing is refuted in {audits} of at most {_RUNS:,} runs; dpaudit audit attacks with more"
    return Check(what="audits", outcome="ok", says=says)
