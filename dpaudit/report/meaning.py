"""The meaning of a claim and of its proof for one person, in sentences with computed numbers."""

import math
from dataclasses import dataclass, replace

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.accounting.loss_tail import LossTail, loss_tail
from dpaudit.certification.reading import Reading
from dpaudit.checks import meant
from dpaudit.engines import QUICK
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.declaration import Group
from dpaudit.model.measures.ends import Ends
from dpaudit.report.curves import Curve
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.verdicts import provided_of
from dpaudit.wording.certificates import sources_phrase
from dpaudit.wording.claims import (
    LARGE,
    claim_parameters,
    claimed_factor,
    observer,
    promise,
    promised,
    was_promised,
)
from dpaudit.wording.measures import bounds_rows, measured_promise, number_name
from dpaudit.wording.numerals import at_least, at_least_beside, at_most, at_most_beside, ends, exact, whole
from dpaudit.wording.sentences import say

TWICE = math.log(2)
"""How far beyond epsilon the tail of a bare claim is told: odds move by twice e^epsilon with at most twice delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The guarantee of all units of one person: how many there are, and their epsilon at the claim's delta.

    `epsilon` is an upper bound, infinity where there is none, None where no rule covers so many units.
    """

    units: int
    epsilon: float | None


def meaning_of(report: ReportInputs) -> str:
    """Return the promise of the claim, with the name that the owner gives to the unit.

    Where the claim is refuted or the code differs from it, the promise is what was claimed; of a stated claim it is
    whose word it is, and no promise.
    """
    claim, measured = replace(report.reading.claim, unit=report.unit), report.reading.measured
    if report.certificate.verdict == "stated":
        sources, parameters = sources_phrase(report.certificate), claim_parameters(report.certificate.claim)
        return say("stated_claim", parameters=parameters, unit=claim.unit, sources=sources)
    if measured is None:
        return was_promised(claim) if report.void else promise(claim)
    tense, follows = ("was", "would follow") if report.void else ("is", "follows")
    return f"The claim {tense} {measured_promise(measured)} It {follows} that, {promised(claim)}."


def tail_of(report: ReportInputs, curve: Curve) -> LossTail | None:
    """Return the tail of the privacy loss of the declaration, or None where no upper bound is known of the code."""
    claim = report.reading.claim
    if report.void or not curve.epsilons or claim.epsilon == math.inf:
        return None
    known = tuple((epsilon, delta.upper) for epsilon, delta in zip(curve.epsilons, curve.deltas, strict=True))
    form = fold(report.certificate.declaration, claim.neighbours)
    return loss_tail(form, claim.epsilon, claim.delta, known)


def person_of(report: ReportInputs) -> Person | None:
    """Return the guarantee of one person with several units, or None where nobody knows how many there are."""
    certificate, units = report.certificate, report.per_person
    if units is None:
        return None
    if units == 1:
        return Person(units=1, epsilon=report.reading.tight.epsilon.upper)
    try:
        form = fold(Group(part=certificate.declaration, size=units), certificate.claim.neighbours)
        return Person(units=units, epsilon=bracket_epsilon(form, report.reading.claim.delta, QUICK).upper)
    except (UnsupportedError, DeclarationError):
        return Person(units=units, epsilon=None)


def odds_of(report: ReportInputs, tail: LossTail | None) -> str:
    """Return what an output can do to the odds between two guesses: by the claim, and as proved."""
    claim = report.reading.claim
    if report.void:
        return f"Nothing holds of odds: {report.void}."
    if claim.epsilon == math.inf:
        return "The claim promises nothing of odds."
    if claim.delta == 0:
        by_claim = say("never", observer=observer(claim.model), unit=report.unit, factor=claimed_factor(claim))
    else:
        by_claim = say(
            "claim_tail",
            observer=observer(claim.model),
            unit=report.unit,
            factor=factor_of(claim.epsilon + TWICE),
            probability=at_most(min(1.0, 2 * claim.delta)),
        )
    return f"{by_claim} {_proved_odds(report, tail)}".strip()


def _proved_odds(report: ReportInputs, tail: LossTail | None) -> str:
    """Return the tail of the loss of the declaration at the claim's epsilon and at its delta."""
    claim = report.reading.claim
    provided, seen_by = provided_of(report), observer(claim.model)
    if tail is None:
        return ""
    probability, rarely = tail.above(claim.epsilon), tail.exceeded_with(claim.delta)
    if probability == 0:
        return say("tail_never", provided=provided, observer=seen_by, factor=claimed_factor(claim))
    if probability == 1 or rarely == math.inf:
        return ""
    lines = [
        say(
            "tail",
            provided=provided,
            observer=seen_by,
            factor=claimed_factor(claim),
            probability=at_most(probability),
            rarely=factor_of(rarely),
            delta=exact(claim.delta),
        )
    ]
    itself, seldom = tail.above_in_releases(claim.epsilon), tail.exceeded_in_releases(claim.delta)
    if itself is not None and seldom is not None:
        lines.append(
            say(
                "tail_of_releases",
                factor=claimed_factor(claim),
                probability=at_most(itself),
                rarely=factor_of(seldom),
                delta=exact(claim.delta),
            )
        )
    return " ".join(lines)


def proved_of(report: ReportInputs) -> str:
    """Return the proved epsilon in relation to the claim, in one sentence."""
    if report.reading.ends is not None:
        return _proved_in_measure(report, report.reading.ends)
    claim, tight = report.reading.claim, report.reading.tight.epsilon
    beside = f", plus {exact(claim.delta)}" if claim.delta else ""
    if tight.lower == math.inf:
        return "The declaration has no finite epsilon at this delta."
    if tight.lower > claim.epsilon:
        factor = at_least(math.exp(tight.lower)) if tight.lower <= LARGE else f"e^{at_least(tight.lower)}"
        return say("reaches", epsilon=at_least_beside(tight.lower, claim.epsilon), factor=factor, beside=beside)
    if report.certificate.verdict == "stated":
        return say("stated", epsilon=at_most_beside(tight.upper, claim.epsilon), delta=exact(claim.delta))
    if report.void:
        return say("no_proof_of_code", why=report.void)
    if tight.upper == math.inf:
        return say("no_proof", known=f", and it is at least {at_least(tight.lower)}" if tight.lower > 0 else "")
    if tight.upper <= claim.epsilon:
        return say(
            "proved",
            provided=provided_of(report),
            epsilon=at_most_beside(tight.upper, claim.epsilon),
            factor=factor_of(tight.upper),
            beside=beside,
        )
    lower, upper = ends(tight)
    return say("open", provided=provided_of(report), lower=lower, upper=upper)


def _proved_in_measure(report: ReportInputs, ends: Ends) -> str:
    """Return the proved numbers of a claim in another measure, and the epsilon that they give at a delta."""
    told = ", ".join(f"{name} {bounds}" for name, bounds in bounds_in_measure(report, ends))
    if report.certificate.verdict == "stated":
        return say("stated_in_measure", ends=told)
    if report.void:
        void = say("no_proof_of_code", why=report.void)
        return f"{void} {say('reached_in_measure', ends=told)}" if any(row.lower for row in ends.rows) else void
    in_measure = say("proved_in_measure", provided=provided_of(report), ends=told)
    upper, delta = report.reading.tight.epsilon.upper, report.reading.claim.delta
    if upper == math.inf:
        return in_measure
    beside = f", plus {exact(delta)}" if delta else ""
    at_delta = say("at_delta", delta=exact(delta), epsilon=at_most(upper), factor=factor_of(upper), beside=beside)
    return f"{in_measure} {at_delta}"


def bounds_in_measure(report: ReportInputs, ends: Ends) -> tuple[tuple[str, str], ...]:
    """Return each number of a claim with its bounds; the lower ends alone where no upper bound is known of the code."""
    if report.void and report.certificate.verdict != "stated":
        return tuple((number_name(ends.measure, row.at), f"at least {at_least(row.lower)}") for row in ends.rows)
    return bounds_rows(ends)


def person_sentence(report: ReportInputs, person: Person) -> str:
    """Return the guarantee of one person in one sentence."""
    claim = report.reading.claim
    if person.units == 1:
        return say("one_unit")
    if person.epsilon is None or person.epsilon == math.inf:
        return say("person_by_claim", units=whole(person.units), guarantee=guarantee_by_claim(report, person.units))
    return say(
        "person",
        units=whole(person.units),
        epsilon=at_most(person.epsilon),
        delta=exact(claim.delta),
        provided=provided_of(report),
    )


def guarantee_by_claim(report: ReportInputs, size: int) -> str:
    """Return the guarantee for several units that (epsilon, delta) for one unit implies."""
    claim = report.reading.claim
    epsilon = size * claim.epsilon
    if epsilon == math.inf:
        return "nothing"
    if claim.delta == 0:
        return f"epsilon {at_most(epsilon)}"
    delta = claim.delta * math.fsum(math.exp(min(700.0, step * claim.epsilon)) for step in range(size))
    return f"epsilon {at_most(epsilon)}, delta {at_most(delta)}" if delta < 1 else "nothing"


def share_sentence(report: ReportInputs) -> str:
    """Return delta times the number of units, or nothing where the number is not known."""
    units = report.units
    if units is None:
        return ""
    return say("share", units=whole(units), share=at_most(float(meant(report.reading.claim.delta) * units)))


def factor_of(epsilon: float) -> str:
    """Return e^epsilon, rounded up; as a power where it is too large to read."""
    return at_most(math.exp(epsilon)) if epsilon <= LARGE else f"e^{at_most(epsilon)}"


def read_epsilon(reading: Reading) -> str:
    """Return the epsilon of a claim as it was claimed; rounded up where it follows from a claim in another measure."""
    return exact(reading.claim.epsilon) if reading.measured is None else at_most(reading.claim.epsilon)


def resting_note(report: ReportInputs) -> str:
    """Return what proved figures of a table rest on without evidence, as a sentence; empty for nothing."""
    clause = provided_of(report)
    return f"The proved figures hold{clause}." if clause else ""
