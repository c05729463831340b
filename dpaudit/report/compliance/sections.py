"""All sections of the compliance report, in their order."""

from dpaudit.accounting.loss_tail import LossTail
from dpaudit.report.compliance.audited import audited
from dpaudit.report.compliance.certified import certified
from dpaudit.report.compliance.composition import composition
from dpaudit.report.compliance.cover import cover
from dpaudit.report.compliance.fields import Section
from dpaudit.report.compliance.hazards import hazards
from dpaudit.report.compliance.record import appendix, budget, reproduction
from dpaudit.report.compliance.scope import claimed, comparison, people, scope, trust, unit, utility
from dpaudit.report.compliance.scored import scored
from dpaudit.report.compliance.usefulness import usefulness
from dpaudit.report.curves import Curve
from dpaudit.report.derivation import Row
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import Person


def sections_of(
    report: ReportInputs, curve: Curve, nodes: tuple[Row, ...], tail: LossTail | None, person: Person | None
) -> tuple[Section, ...]:
    """Return sections 0 to 13, 9a and A, and 7a where there are scores; every field has a status."""
    return (
        cover(report, person),
        scope(report),
        unit(report),
        trust(report),
        claimed(report),
        composition(report, nodes),
        certified(report, curve, tail),
        audited(report),
        *scored(report),
        hazards(report),
        utility(report),
        usefulness(report),
        budget(report),
        people(report),
        reproduction(report),
        comparison(report),
        appendix(report),
    )
