"""The coverage of an audit: which declared releases it attacked, and which lines of the program it ran."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCoverage:
    """What one audit saw of a program.

    `declared` holds the labels of all releases that are declared, `attacked` those of them whose exact answer differs
    between the neighbours of the audit: what the adversary sees depends on them. `recorded` is false where the code of
    the audit records no release; then nothing is known of `attacked`. `lines` counts the lines of the program's own
    modules that an ordinary run executes, `missed` names those of them that the audit did not execute, as
    "package/module.py:first-last". Lines are of one run each; another run may take other branches.

    >>> seen = AuditCoverage(declared=("a", "b"), attacked=("a",), recorded=True, lines=40, missed=("m.py:7-9",))
    >>> seen.left_out, seen.missed_lines
    (('b',), 3)
    """

    declared: tuple[str, ...]
    attacked: tuple[str, ...]
    recorded: bool
    lines: int
    missed: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The declared releases that were not attacked, or of which nothing is known."""
        return tuple(label for label in self.declared if label not in self.attacked)

    @property
    def missed_lines(self) -> int:
        """How many lines of an ordinary run the audit did not execute."""
        return sum(_length(span.rpartition(":")[2]) for span in self.missed)


def never_attacked(coverages: Iterable[AuditCoverage]) -> tuple[str, ...]:
    """Return the declared releases that none of several audits is known to have attacked, in their order.

    >>> one = AuditCoverage(declared=("a", "b"), attacked=("a",), recorded=True, lines=0, missed=())
    >>> never_attacked([one]), never_attacked([])
    (('b',), ())
    """
    seen = tuple(coverages)
    attacked = {label for coverage in seen for label in coverage.attacked}
    declared = dict.fromkeys(label for coverage in seen for label in coverage.declared)
    return tuple(label for label in declared if label not in attacked)


def _length(span: str) -> int:
    """Return the number of lines of "first-last" or of a single line."""
    first, _, last = span.partition("-")
    return int(last or first) - int(first) + 1
