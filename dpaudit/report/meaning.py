"""The meaning of a claim and of its proof for one person, in sentences with computed numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpaudit.accounting.fold import fold
from dpaudit.accounting.loss_tail import LossTail, loss_tail
from dpaudit.certification.reading import Reading
from dpaudit.checks import meant
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Group
from dpaudit.model.measures.ends import Ends
from dpaudit.report.curves import Curve, own_epsilon
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.verdicts import provided_of
from dpaudit.wording.certificates import sources_phrase
from dpaudit.wording.claims import (
    LARGE,
    claim_parameters,
    claimed_factor,
    measured_promise,
    observer,
    promise,
    promised,
)
from dpaudit.wording.measures import bounds_rows
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
        return f"The claim was that, {promised(claim)}." if report.void else promise(claim)
    tense, follows = ("was", "would follow") if report.void else ("is", "follows")
    return f"The claim {tense} {measured_promise(measured)} It {follows} that, {promised(claim)}."


def tail_of(report: ReportInputs, curve: Curve) -> LossTail | None:
    """Return the tail of the privacy loss of the declaration, or None where no upper bound is known of the code."""
    claim = report.reading.claim
    if report.void or not curve.points or claim.epsilon == math.inf:
        return None
    curve_points = tuple((epsilon, bracket.upper) for epsilon, bracket in curve.points)
    form = fold(report.certificate.declaration, claim.neighbours)
    return loss_tail(form, claim.epsilon, claim.delta, curve_points)


def person_of(report: ReportInputs) -> Person | None:
    """Return the guarantee of one person with several units, or None where nobody knows how many there are."""
    certificate, units = report.certificate, report.per_person
    if units is None:
        return None
    if units == 1:
        return Person(units=1, epsilon=report.reading.tight.epsilon.upper)
    together = Group(part=certificate.declaration, size=units)
    bracket = own_epsilon(together, certificate.claim.neighbours, report.reading.claim.delta)
    return Person(units=units, epsilon=None if bracket is None else bracket.upper)


def _words(report: ReportInputs) -> dict[str, str]:
    """Return the words that many sentences on the claim and on its proof share."""
    claim = report.reading.claim
    return {
        "observer": observer(claim.model),
        "unit": report.unit,
        "provided": provided_of(report),
        "delta": exact(claim.delta),
        "beside": f", plus {exact(claim.delta)}" if claim.delta else "",
    }


def odds_of(report: ReportInputs, tail: LossTail | None) -> str:
    """Return what an output can do to the odds between two guesses: by the claim, and as proved."""
    claim = report.reading.claim
    if report.void:
        return f"Nothing holds of odds: {report.void}."
    if claim.epsilon == math.inf:
        return "The claim promises nothing of odds."
    words = _words(report) | {"factor": claimed_factor(claim)}
    if claim.delta == 0:
        by_claim = say("never", **words)
    else:
        probability = at_most(min(1.0, 2 * claim.delta))
        by_claim = say("claim_tail", **words | {"factor": factor_of(claim.epsilon + TWICE), "probability": probability})
    return " ".join((by_claim, *(_proved_odds(claim, tail, words) if tail is not None else ())))


def _proved_odds(claim: Claim, tail: LossTail, words: dict[str, str]) -> Iterator[str]:
    """Yield what the tail of the loss says at the claim's epsilon and at its delta, of the view and of the releases."""
    probability, rarely = tail.above(claim.epsilon), tail.exceeded_with(claim.delta)
    if probability == 0:
        yield say("tail_never", **words)
    elif probability < 1 and rarely < math.inf:
        yield say("tail", **words, probability=at_most(probability), rarely=factor_of(rarely))
        itself, seldom = tail.above_in_releases(claim.epsilon), tail.exceeded_in_releases(claim.delta)
        if itself is not None and seldom is not None:
            yield say("tail_of_releases", **words, probability=at_most(itself), rarely=factor_of(seldom))


def proved_of(report: ReportInputs) -> str:
    """Return the proved epsilon in relation to the claim, in one sentence."""
    if report.reading.ends is not None:
        return _proved_in_measure(report, report.reading.ends)
    claim, tight, words = report.reading.claim, report.reading.tight.epsilon, _words(report)
    if tight.lower == math.inf:
        return "The declaration has no finite epsilon at this delta."
    if tight.lower > claim.epsilon:
        factor = at_least(math.exp(tight.lower)) if tight.lower <= LARGE else f"e^{at_least(tight.lower)}"
        return say("reaches", **words, epsilon=at_least_beside(tight.lower, claim.epsilon), factor=factor)
    upper = at_most_beside(tight.upper, claim.epsilon)
    if report.certificate.verdict == "stated":
        return say("stated", **words, epsilon=upper)
    if report.void:
        return say("no_proof_of_code", why=report.void)
    if tight.upper == math.inf:
        return say("no_proof", known=f", and it is at least {at_least(tight.lower)}" if tight.lower > 0 else "")
    if tight.upper <= claim.epsilon:
        return say("proved", **words, epsilon=upper, factor=factor_of(tight.upper))
    lower, upper = ends(tight)
    return say("open", **words, lower=lower, upper=upper)


def _proved_in_measure(report: ReportInputs, ends: Ends) -> str:
    """Return the proved numbers of a claim in another measure, and the epsilon that they give at a delta."""
    told, words = ", ".join(map(" ".join, bounds_in_measure(report, ends))), _words(report)
    if report.certificate.verdict == "stated":
        return say("stated_in_measure", ends=told)
    if report.void:
        void = say("no_proof_of_code", why=report.void)
        return f"{void} {say('reached_in_measure', ends=told)}" if any(row.lower for row in ends.rows) else void
    in_measure, upper = say("proved_in_measure", **words, ends=told), report.reading.tight.epsilon.upper
    if upper == math.inf:
        return in_measure
    return f"{in_measure} {say('at_delta', **words, epsilon=at_most(upper), factor=factor_of(upper))}"


def bounds_in_measure(report: ReportInputs, ends: Ends) -> tuple[tuple[str, str], ...]:
    """Return each number of a claim with its bounds; the lower ends alone where no upper bound is known of the code."""
    return bounds_rows(ends, void=bool(report.void) and report.certificate.verdict != "stated")


def person_sentence(report: ReportInputs, person: Person) -> str:
    """Return the guarantee of one person in one sentence."""
    if person.units == 1:
        return say("one_unit")
    units = whole(person.units)
    if person.epsilon is None or person.epsilon == math.inf:
        return say("person_by_claim", units=units, guarantee=guarantee_by_claim(report, person.units))
    once = any(condition.kind == "one_appearance" for condition in report.certificate.conditions)
    apart = say("units_as_users", units=units) if once else ""
    return say("person", **_words(report), units=units, epsilon=at_most(person.epsilon)) + apart


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
