"""All sections of the compliance report, in their order."""

from collections.abc import Callable, Iterator

from dpaudit.report.compliance.audited import audited, scored
from dpaudit.report.compliance.certified import certified
from dpaudit.report.compliance.composition import composition
from dpaudit.report.compliance.cover import cover
from dpaudit.report.compliance.fields import Field, Grid, Part, Section
from dpaudit.report.compliance.hazards import hazards
from dpaudit.report.compliance.record import appendix, budget, reproduction
from dpaudit.report.compliance.scope import claimed, comparison, people, scope, trust, unit, usefulness, utility
from dpaudit.report.facts import Facts
from dpaudit.runtime.tables import table_of

SECTIONS: tuple[tuple[str, str, str, Callable[[Facts], Iterator[Part]]], ...] = (
    ("0", "cover", "Cover and verdict", cover),
    ("1", "scope", "Scope and intended use", scope),
    ("2", "unit", "Unit of privacy", unit),
    ("3", "trust", "Trust and threat model", trust),
    ("4", "claim", "The claim", claimed),
    ("5", "derivation", "Composition", composition),
    ("6", "curve", "Certificate", certified),
    ("7", "audits", "Empirical audits", audited),
    ("7a", "scores", "Membership scores", scored),
    ("8", "hazards", "Hazards", hazards),
    ("9", "utility", "Utility and bias", utility),
    ("9a", "usefulness", "Privacy and usefulness", usefulness),
    ("10", "budget", "Budget ledger", budget),
    ("11", "governance", "Governance", people),
    ("12", "reproduction", "Reproduction", reproduction),
    ("13", "comparison", "Comparison", comparison),
    ("A", "appendix", "Changes since the previous report", appendix),
)
"""Number, name in links, title, and the function that yields the parts."""

CROSSWALK: dict[str, str] = table_of("dpaudit.report.compliance", "crosswalk.toml")
"""Which words of standards and guidance each section answers to."""


def sections_of(facts: Facts) -> tuple[Section, ...]:
    """Return sections 0 to 13, 9a and A, and 7a where there are scores; every field has a status."""
    return tuple(
        Section(
            number=number,
            ident=ident,
            title=title,
            crosswalk=CROSSWALK[ident],
            fields=tuple(part for part in parts if isinstance(part, Field)),
            grids=tuple(part for part in parts if isinstance(part, Grid)),
        )
        for number, ident, title, yielded in SECTIONS
        if (parts := tuple(yielded(facts))) or ident != "scores"
    )
