"""Section 9a: what the certified setting is worth in simulation, from a study of the same configuration."""

from collections.abc import Iterator

from dpaudit.report.compliance.fields import Part, evidence, grid
from dpaudit.report.facts import Facts
from dpaudit.study.usefulness import HEAD


def usefulness(facts: Facts) -> Iterator[Part]:
    """Yield section 9a; without a study of this configuration it is not assessed, with the reason."""
    useful = facts.report.usefulness
    if useful.front is None:
        yield evidence("Regret a round", "", "sections", unless=useful.why)
    else:
        shown = "no" if "not_shown" in dict(useful.remarks) else "yes"
        yield evidence("Learning is shown, in simulation", shown, "sections")
    yield grid(
        "privacy_and_usefulness",
        useful.caption or "Privacy and usefulness",
        HEAD,
        useful.rows,
        note=" ".join(useful.sentences) or "No study says what this setting is worth.",
    )
