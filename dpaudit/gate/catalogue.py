"""The rules by which the gate reports, with identifiers that never change their meaning."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """One kind of issue: what it means, and what to do about it."""

    id: str
    name: str
    level: Level
    short: str
    remedy: str


def _rule(identifier: str, name: str, short: str, remedy: str, level: Level = "error") -> GateRule:
    """Return a rule."""
    return GateRule(id=identifier, name=name, level=level, short=short, remedy=remedy)


_RULES = (
    _rule(
        "DPA001",
        "UnusableConfiguration",
        "The configuration cannot be read or is wrong.",
        "Correct the line that the message names.",
    ),
    _rule(
        "DPA101",
        "ClaimRefuted",
        "The declared releases provably exceed the claim.",
        "Add noise (dpaudit calibrate says how much), release less, or claim a larger epsilon or delta.",
    ),
    _rule(
        "DPA102",
        "ClaimNotProved",
        "What is declared and seen does not prove the claim.",
        "Read the reasons; declare what is missing, or claim what can be proved.",
    ),
    _rule(
        "DPA103",
        "ConditionViolated",
        "A run broke a condition on which the proof rests.",
        "Make the code keep the condition (clip, bound, fix the schedule) or drop it from the argument.",
    ),
    _rule(
        "DPA104",
        "PrintedArgumentInvalid",
        "A step of the argument as printed does not hold as written.",
        "Correct the argument; a certificate that holds anyway rests on the tight reading.",
        "warning",
    ),
    _rule("DPA210", "UndeclaredRelease", "A run released something that is not declared.", "Declare it, or remove it."),
    _rule("DPA211", "MissingRelease", "A declared release never happened.", "Declare what the code does."),
    _rule(
        "DPA212",
        "OtherNoise",
        "A run used other noise, or another sensitivity, than declared.",
        "Sample the mechanism object that is declared.",
    ),
    _rule(
        "DPA213",
        "OtherNumberOfReleases",
        "A run released more or less often than declared.",
        "Declare the number of releases that the code makes.",
    ),
    _rule("DPA214", "ReusedNoise", "The same noise was used twice.", "Draw fresh noise for each release."),
    _rule(
        "DPA301",
        "AuditViolation",
        "An attack on the code shows more leakage than is claimed or declared.",
        "Look for missing noise, a wrong sensitivity or a second read of the data; dpaudit audit repeats the attack.",
    ),
    _rule(
        "DPA302",
        "AuditInconclusive",
        "The audit could not have seen even a gross violation.",
        "Give the audit more runs or a sharper score.",
        "warning",
    ),
)
RULES: dict[str, GateRule] = {rule.id: rule for rule in _RULES}
"""Every rule by its identifier, in order."""


def rule_of(identifier: str) -> GateRule:
    """Return a rule; one that this version does not know is an error that explains itself."""
    if identifier in RULES:
        return RULES[identifier]
    return _rule(identifier, identifier, "The run contradicts its declaration.", "Read the message.")
