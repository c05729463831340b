"""The proved epsilon for several units of a person and several releases of the same kind, for a reader to explore."""

import math
from dataclasses import dataclass

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import above, folded
from dpaudit.engines import CLOSED, UPPERS
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.declaration import Group, Repeat
from dpaudit.model.losses import ApproximateLoss, DiscreteLoss
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.numerals import at_most, exact

UNITS = (1, 2, 3, 4, 5, 6, 8, 10)
RELEASES = (1, 2, 3, 5, 7, 10, 12, 24, 52)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """Epsilons at the claim's delta, rounded up, as text; one row for each number of units, one column for releases."""

    delta: str
    units: tuple[int, ...]
    releases: tuple[int, ...]
    epsilons: tuple[tuple[str, ...], ...]


def explorer_of(report: ReportInputs) -> Explorer | None:
    """Return the table, by closed forms and sums of atoms; None where they cover nothing but the certificate itself.

    Releases are repetitions of the whole declaration on the same data, chosen in advance or one after another.
    """
    if report.void:
        return None
    rows = tuple(tuple(_epsilon(report, size, times) for times in RELEASES) for size in UNITS)
    covered = sum(text != _OPEN for row in rows for text in row)
    if covered <= 1:
        return None
    return Explorer(delta=exact(report.reading.claim.delta), units=UNITS, releases=RELEASES, epsilons=rows)


_OPEN = "not covered by a closed form"


def _epsilon(report: ReportInputs, size: int, times: int) -> str:
    """Return the proved epsilon of one cell; the first one is the certificate's."""
    certificate = report.certificate
    upper = report.reading.tight.epsilon.upper
    if (size, times) != (1, 1):
        declaration = Group(part=Repeat(part=certificate.declaration, times=times), size=size)
        try:
            form = folded(above(declaration, certificate.claim.neighbours), ())
            losses = [loss for held in form.upper for loss, _ in held.parts]
            atoms = all(isinstance(loss, ApproximateLoss | DiscreteLoss) for loss in losses)
            quick = UPPERS if atoms else UPPERS.by(CLOSED.name)
            upper = bracket_epsilon(form, report.reading.claim.delta, quick).upper
        except (DeclarationError, UnsupportedError):
            return _OPEN
    return at_most(upper) if upper < math.inf else _OPEN
