"""What the JSON of a training report says that its audit and its attacks showed, and what in it contradicts itself."""

from collections.abc import Iterator

from dpaudit.certification.certificate import Certificate
from dpaudit.model.condition import Condition
from dpaudit.model.condition_kinds import KINDS
from dpaudit.training.evidence import LoopAudit, ModelAttack

_REPLAYS = ("replays",)


def unlisted(conditions: tuple[Condition, ...], certificate: Certificate) -> Iterator[str]:
    """Yield where a certificate and an audit of a loop differ in what was looked at.

    Each condition of the audit stands in the certificate as the audit says it; and what the certificate calls checked,
    beside what a computation shows about every input, the audit looked at.
    """
    for condition in conditions:
        if condition not in certificate.conditions:
            yield f"the certificate does not list what the audit looked at: {condition.text}"
    for condition in certificate.conditions:
        by_a_run = condition.status == "checked" and KINDS[condition.kind].shown_by != "computation"
        if by_a_run and condition not in conditions:
            yield f"the certificate calls checked what the audit did not look at: {condition.text}"


def contradictions(loop: LoopAudit, attacks: tuple[ModelAttack, ...], certificate: Certificate) -> Iterator[str]:
    """Yield what the results of a loop's audit and of attacks say that their own entries contradict."""
    has_findings = loop.findings or any(check.verdict == "violation" for check in loop.checks)
    broken = [condition for condition in loop.conditions if condition.status == "violated"]
    if (has_findings or broken) and loop.verdict != "violation":
        yield "the training report lists findings of the loop, and calls it no violation"
    if loop.not_observed and loop.verdict in ("consistent", "more_noise"):
        yield f"the training report lists what was not observed, and calls the loop {loop.verdict}"
    if loop.verdict == "consistent" and not any(check.verdict == "consistent" for check in loop.checks):
        yield "the training report calls the loop consistent, and none of its checks"
    for check in loop.checks:
        if check.verdict == "consistent" and not check.noise_caught:
            yield f"the check {check.name!r:.80} is called consistent, and would have caught nothing"
    for condition in loop.conditions:
        if condition.status == "checked" and _unseen(condition, loop):
            yield f"the training report calls checked what was not observed: {condition.text}"
    if _blind(loop) and not has_findings and not any(_is_open(condition) for condition in loop.conditions):
        yield "the training report says that not all was observed, and lists no condition that is open for it"
    for attack in attacks:
        if attack.epsilon_lower > certificate.claim.epsilon and attack.verdict != "violation":
            yield f"the attack {attack.name!r:.80} shows more than is claimed, and is called no violation"
    yield from unlisted(loop.conditions, certificate)


def _unseen(condition: Condition, loop: LoopAudit) -> bool:
    """Return whether the audit of a loop cannot have seen that a condition holds.

    Replays are seen where something was watched and all was observed; what rests on them, and so speaks of more than
    one run's steps, where nothing was found besides.
    """
    if condition.kind == "training_loop" and condition.about != _REPLAYS:
        return any(name in loop.not_observed for name in condition.about)
    return _blind(loop) or (condition.kind != "training_loop" and bool(loop.findings))


def _blind(loop: LoopAudit) -> bool:
    """Return whether a loop was not watched, or not all of it observed."""
    return not loop.watched or bool(loop.not_observed)


def _is_open(condition: Condition) -> bool:
    """Return whether a condition is one of the loop that nobody saw."""
    return condition.kind == "training_loop" and condition.status == "assumed"
