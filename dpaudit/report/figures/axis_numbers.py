"""The numbers on the axis of claim, proof and attacks: epsilons, or those of a claim in its own measure."""

import math
from dataclasses import dataclass

from dpaudit.model.audit_result import AuditResult, MeasuredNumber
from dpaudit.model.bracket import Bracket
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import End, Ends
from dpaudit.report.attacks import Attack, attack_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import read_epsilon
from dpaudit.wording.audits import bound_phrase, provision, strongest
from dpaudit.wording.claims import claimed_number
from dpaudit.wording.numerals import at_least_beside, at_most, exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A lower bound of an attack and the number that it stands against; `ceiling` is the most that runs could show.

    `phrase` says the bound with what it takes for granted. `ceiling` is None where it is not known in the measure.
    """

    name: str
    attack: Attack
    lower: float
    claimed: float
    ceiling: float | None
    phrase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisNumbers:
    """What stands on one axis: the claimed number, the bracket of the declaration, and the bounds of attacks.

    `number` names what it is, and `said` whether it is claimed, or follows from the claim.
    """

    number: str
    said: str
    claimed: float
    written: str
    proved: Bracket
    attacks: tuple[Shown, ...]

    @property
    def axis(self) -> str:
        """The name of the axis."""
        return f"{self.number}, in nats" if self.number == "epsilon" else self.number


def axis_numbers(report: ReportInputs) -> AxisNumbers:
    """Return the numbers of a report: in the measure of the claim where proof and attacks are all in it.

    Else they are epsilons: of the claim, or such as follow from it at a delta, and say so. Of several claimed numbers
    the axis shows the one of which most is proved, or shown by an attack.
    """
    ends, claim = report.reading.ends, report.reading.measured
    if ends is not None and claim is not None and report.certificate.printed is None and not report.scores:
        in_measure = [
            _in_measure(claim, row, number, shown)
            for row, (_, number) in zip(ends.rows, claim.rows, strict=True)
            if (shown := _attacks_in(report, ends, row)) is not None
        ]
        if in_measure:
            return max(in_measure, key=_share)
    reading = report.reading
    said = "claimed" if reading.measured is None else f"implied at delta {exact(reading.claim.delta)}"
    return AxisNumbers(
        number="epsilon",
        said=said,
        claimed=reading.claim.epsilon,
        written=read_epsilon(reading),
        proved=reading.tight.epsilon,
        attacks=tuple(_epsilon(report, name, attack) for name, attack in _attacks(report)),
    )


def _in_measure(claim: MeasuredClaim, row: End, claimed: float, shown: tuple[Shown, ...]) -> AxisNumbers:
    """Return one number of a claim in its own measure, with the attacks on it."""
    return AxisNumbers(
        number=claimed_number(claim, claim.measure, row.at),
        said="claimed",
        claimed=claimed,
        written=exact(claimed),
        proved=Bracket(lower=row.lower, upper=row.upper, engines=()),
        attacks=shown,
    )


def _share(numbers: AxisNumbers) -> float:
    """Return how much of a claimed number is proved or shown; what is reached, where no upper end is known."""
    proved = numbers.proved.upper if numbers.proved.upper < math.inf else numbers.proved.lower
    largest = max(proved, *(shown.lower for shown in numbers.attacks), 0.0)
    return largest / numbers.claimed if numbers.claimed else largest


def _attacks(report: ReportInputs) -> tuple[tuple[str, Attack], ...]:
    """Return the lower bounds of a report: the strongest of each view of the audits first, then scores."""
    audits = ((name, attack_of(audit)) for audit, name in strongest(report.audits))
    return (*audits, *((f"scores of {scores.file}", attack_of(scores)) for scores in report.scores))


def _epsilon(report: ReportInputs, name: str, attack: Attack) -> Shown:
    """Return the epsilon that an attack shows."""
    result = attack.result
    bound = f"at least {at_least_beside(result.epsilon_lower, attack.claimed)}"
    phrase = bound_phrase(result) if isinstance(result, AuditResult) else f"{bound}, {attack.provision}"
    return Shown(
        name=name,
        attack=attack,
        lower=result.epsilon_lower,
        claimed=attack.claimed,
        ceiling=result.ceiling,
        phrase=f"{phrase}, ceiling {at_most(result.ceiling)}",
    )


def _attacks_in(report: ReportInputs, ends: Ends, row: End) -> tuple[Shown, ...] | None:
    """Return the attacks on one number of the claim; None where one of them says nothing of it."""
    shown: list[Shown] = []
    for audit, name in strongest(report.audits):
        number = _number_of(audit, ends, row)
        if number is None:
            return None
        phrase = f"at least {at_least_beside(number.lower, number.claimed)}{provision(audit)}"
        attack = attack_of(audit)
        one = Shown(name=name, attack=attack, lower=number.lower, claimed=number.claimed, ceiling=None, phrase=phrase)
        shown.append(one)
    return tuple(shown)


def _number_of(audit: AuditResult, ends: Ends, row: End) -> MeasuredNumber | None:
    """Return the number of an audit that stands beside a proved one."""
    if audit.tested is None or audit.tested.measure != ends.measure:
        return None
    return next((number for number in audit.tested.numbers if number.at == row.at), None)
