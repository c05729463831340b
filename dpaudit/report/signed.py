"""The digest to sign: what a second person computes again from report.json, or from a run with the same seed.

Left out are the title, and what differs between two such runs: the date, the command, the machine, the times of audits.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpaudit.model.certificate import digest_of
from dpaudit.report.compliance.fields import Section
from dpaudit.report.facts import Facts, gather
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.plain import plain

_OWN = "digest_to_sign"
_UNSIGNED = ("title", "created", "command", "environment", _OWN)


def signed_facts(report: ReportInputs) -> Facts:
    """Return all facts of a report, with the digest to sign on its cover."""
    facts = gather(report)
    digest = signed_digest(plain(facts))
    return replace(facts, digest=digest, sections=tuple(_with_digest(section, digest) for section in facts.sections))


def signed_digest(data: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what is signed in the data of report.json, whatever digest they state.

    >>> signed_digest({"verdict": "CERTIFIED", "created": "2026-01-01"}) == signed_digest({"verdict": "CERTIFIED"})
    True
    """
    held = {key: value for key, value in data.items() if key not in _UNSIGNED}
    if "audits" in held:
        held["audits"] = [{k: v for k, v in audit.items() if k != "seconds"} for audit in held["audits"]]
    if "sections" in held:
        held["sections"] = [section | {"fields": _signed(section["fields"])} for section in held["sections"]]
    return digest_of(held)


def _signed(fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the fields of a section without those that show what is not signed."""
    return [field for field in fields if field["evidence_ref"] not in _UNSIGNED]


def _with_digest(section: Section, digest: str) -> Section:
    """Return a section whose field of the digest, if it has one, shows it."""
    fields = (replace(f, value=digest) if f.evidence_ref == _OWN else f for f in section.fields)
    return replace(section, fields=tuple(fields))
