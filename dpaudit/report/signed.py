"""The digest to sign: what a second person computes again from report.json, or from a run with the same seed.

Left out are the title, and what differs between two such runs: the date, the command, the machine, the times of audits.
"""

from collections.abc import Mapping
from typing import Any

from dpaudit.model.certificate import digest_of
from dpaudit.report.facts import Facts
from dpaudit.report.plain import plain

_OWN = "digest_to_sign"
_UNSIGNED = ("title", "created", "command", "environment", _OWN)


def signed(facts: Facts) -> dict[str, Any]:
    """Return the document of a report, with the digest to sign on its cover."""
    data = plain(facts)
    data[_OWN] = signed_digest(data)
    for field in data["sections"][0]["fields"]:
        if field["evidence_ref"] == _OWN:
            field["value"] = data[_OWN]
    return data


def signed_digest(data: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what is signed in the data of report.json, whatever digest they state.

    >>> signed_digest({"verdict": "CERTIFIED", "created": "2026-01-01"}) == signed_digest({"verdict": "CERTIFIED"})
    True
    """
    content = {key: value for key, value in data.items() if key not in _UNSIGNED}
    if "audits" in content:
        content["audits"] = [{k: v for k, v in audit.items() if k != "seconds"} for audit in content["audits"]]
    if "sections" in content:
        content["sections"] = [section | {"fields": _signed(section["fields"])} for section in content["sections"]]
    return digest_of(content)


def _signed(fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the fields of a section, those that show what is not signed without their value."""
    return [field | {"value": ""} if field["evidence_ref"] in _UNSIGNED else field for field in fields]
