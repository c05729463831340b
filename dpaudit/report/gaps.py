"""The gaps of a report: what was not assessed, for lack of evidence or because dpaudit never assesses it."""

from dataclasses import dataclass

from dpaudit.model.case import never_attacked
from dpaudit.model.declaration import Stated, walk
from dpaudit.report.inputs import ReportInputs

_NEVER: tuple[tuple[str, str], ...] = (
    (
        "Timing and other side channels",
        "How long an answer takes, and what else leaks beside it, is outside the views.",
    ),
    ("Choices made on the data", "Tuning, clipping bounds or domains picked by looking at the data spend budget too."),
    ("Other releases of the same data", "Budgets of separate releases add up; only this declaration is accounted for."),
    ("Security of the raw data", "Who can read the data before any noise is added."),
    ("Usefulness of the output", "Whether the noisy answers still serve their purpose, also for small groups."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A subject that was not assessed, and why it matters."""

    what: str
    why: str


def gaps_of(report: ReportInputs) -> tuple[Gap, ...]:
    """Return the gaps; those of this report come before those of every report."""
    return (*_missing(report), *(Gap(what=what, why=why) for what, why in _NEVER))


def _missing(report: ReportInputs) -> tuple[Gap, ...]:
    """Return the gaps that further evidence would close."""
    gaps: list[Gap] = []
    if not report.audits:
        gaps.append(Gap(what="The running code", why="No audit was made: the code may differ from its declaration."))
    left_out = never_attacked(c for audit in report.audits if (c := audit.coverage) is not None and c.recorded)
    if left_out:
        gaps.append(
            Gap(what=f"The noise of {', '.join(left_out)}", why="No audit attacked these releases of the running code.")
        )
    if report.certificate.printed is None:
        gaps.append(Gap(what="The printed argument", why="No rules of a paper were declared, so none were replayed."))
    sources = dict.fromkeys(n.source for _, n in walk(report.certificate.declaration) if isinstance(n, Stated))
    gaps.extend(Gap(what=f"What {source} states", why="It is taken on trust.") for source in sources)
    if not report.system.name.strip():
        gaps.append(Gap(what="The system around the algorithm", why="It was not named; actors and access are unknown."))
    return tuple(gaps)
