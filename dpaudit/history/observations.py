"""Observations: what one document, a report or a check, said of one subject on one day."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from dpaudit.configuration.files import json_value, read_text
from dpaudit.errors import ConfigError
from dpaudit.wording.escaping import one_line
from dpaudit.wording.measures import numbers_by_name
from dpaudit.wording.numerals import at_most

_SCHEMA = re.compile(r"urn:dpaudit:schema:(report|check):\d+")
_MOST_FILES = 5_000
_LARGEST = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one document says of one subject.

    `claimed` is the claimed epsilon; a claim in another measure has its numbers in `claim`, what is proved of them in
    `proved_numbers`, and neither `claimed` nor `proved`. `proved` is the upper bound on epsilon at the claim's delta:
    None without a certificate or with a condition that is violated, infinity where nothing finite is proved. `attacked`
    is the largest lower bound of the document's audits, of code and of scores, None without any; `error` is the sum of
    their significances. `open_issues` is None in a report, which has no issues. `spent` is the share of a ledger's
    account, None where the document names no account.
    """

    day: date
    document: str
    subject: str
    verdict: str
    claim: str
    claimed: float | None
    proved: float | None
    attacked: float | None
    error: float
    audits: int
    findings: int
    open_issues: int | None
    spent: float | None
    proved_numbers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The observations of some documents, by day and document; documents that could not be read, with the reason."""

    observations: tuple[Observation, ...]
    documents: int
    unread: tuple[str, ...]


def observations_in(places: tuple[Path, ...]) -> Observed:
    """Return what reports and checks say: files, and those below folders, where other JSON files are passed over.

    A document is known by the field `schema`. One that has it and cannot be read in full is listed in `unread`,
    and so is a file with the ending `.json` that is no JSON. A document below a folder is named by its path there.
    Raises: ConfigError: no such file or folder, or more than 5,000 JSON files below a folder.
    """
    observations: list[Observation] = []
    unread: list[str] = []
    documents = 0
    for path, name in (document for source in places for document in _documents(source)):
        try:
            seen = tuple(_of_document(path, name))
        except ConfigError as error:
            unread.append(one_line(str(error)))
            continue
        observations += seen
        documents += bool(seen)
    observations.sort(key=lambda seen: (seen.day, seen.document))
    return Observed(observations=tuple(observations), documents=documents, unread=tuple(unread))


def _documents(source: Path) -> list[tuple[Path, str]]:
    """Return a file, or the JSON files below a folder, each with its name."""
    if not source.exists():
        raise ConfigError(f"{source}: no such file or folder; name the reports, or the folder that holds them.")
    if source.is_file():
        return [(source, str(source))]
    files = sorted(path for path in source.rglob("*.json") if path.is_file())
    if len(files) > _MOST_FILES:
        raise ConfigError(f"{source}: holds {len(files)} JSON files; give a folder with at most {_MOST_FILES}.")
    return [(path, path.relative_to(source).as_posix()) for path in files]


def _of_document(path: Path, name: str) -> Iterator[Observation]:
    """Yield what one file says; nothing if it is neither a report nor a check.

    Raises: ConfigError: no JSON, or a document that lacks what its schema promises.
    """
    try:
        data = json_value(read_text(path, _LARGEST))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: invalid JSON ({error}).") from None
    schema = _SCHEMA.fullmatch(str(data.get("schema"))) if isinstance(data, dict) else None
    if schema is None:
        return
    try:
        read = {"report": _of_report, "check": _of_check}[schema[1]]
        yield from tuple(read(data, name))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ConfigError(f"{name}: is no complete {schema[1]} ({error!r}).") from None


def _of_report(data: dict[str, Any], name: str) -> Iterator[Observation]:
    """Yield the observation of a report; its subject is the name of the system, or of the document without one."""
    counts = data["ledger"].get("counts", []) if data.get("ledger") else []
    yield _observation(
        data["certificate"],
        [*data["audits"], *_scored(data)],
        day=date.fromisoformat(data["created"]),
        document=name,
        subject=str(data["system"]["name"]).strip() or name,
        verdict=str(data["verdict"]),
        open_issues=None,
        spent=min((_number(count["share"]) for count in counts), default=None),
    )


def _of_check(data: dict[str, Any], name: str) -> Iterator[Observation]:
    """Yield one observation a configuration of a check; its verdict is that of its certificate and its audits."""
    for configuration in data["configurations"]:
        certificate, audits = configuration.get("certificate"), [*configuration["audits"], *_scored(configuration)]
        issues = [issue for issue in data["issues"] if issue["config"] == configuration["path"]]
        still_open = sum("accepted" not in issue for issue in issues)
        words = [certificate["verdict"]] if certificate else ["unusable"]
        yield _observation(
            certificate,
            audits,
            day=date.fromisoformat(data["created"]),
            document=name,
            subject=str(configuration["path"]),
            verdict=", ".join(dict.fromkeys([*words, *(str(audit["verdict"]) for audit in audits)])),
            open_issues=still_open,
            spent=None,
        )


def _scored(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the audits of scores that stand beside the audits; versions before them have none."""
    return [score_evidence["result"] for score_evidence in data.get("scores", [])]


def _observation(certificate: dict[str, Any] | None, audits: list[dict[str, Any]], **fields: Any) -> Observation:
    """Return an observation with the numbers of a certificate and of the strongest audit."""
    strongest = max(audits, key=lambda audit: _number(audit["epsilon_lower"]), default=None)
    claim = certificate["claim"] if certificate else {}
    holds = certificate and all(condition["status"] != "violated" for condition in certificate["conditions"])
    in_epsilon = "epsilon" in claim
    names = ("delta", "rho", "xi", "mu", "renyi", "profile", "neighbours", "model", "unit")
    terms = ", ".join(f"{name} {_written(name, claim[name])}" for name in names if name in claim)
    proved = numbers_by_name(certificate["tight"]) if certificate and holds and not in_epsilon else {}
    return Observation(
        claim=one_line(terms),
        proved_numbers=", ".join(f"{name} at most {at_most(value)}" for name, value in proved.items()),
        claimed=_number(claim["epsilon"]) if in_epsilon else None,
        proved=_number(certificate["tight"]["epsilon"]["upper"]) if certificate and holds and in_epsilon else None,
        attacked=_number(strongest["epsilon_lower"]) if strongest else None,
        error=math.fsum(_number(audit["significance"]) for audit in audits),
        audits=len(audits),
        findings=len(certificate["findings"]) if certificate else 0,
        **fields,
    )


def _written(name: str, value: Any) -> str:
    """Return a term of a claim; points of a curve as in "epsilon 0.5 at order 2.0"."""
    if name not in ("renyi", "profile"):
        return str(value)
    number, at = ("epsilon", "order") if name == "renyi" else ("delta", "epsilon")
    return " and ".join(f"{number} {row[number]} at {at} {row[at]}" for row in value)


def _number(value: Any) -> float:
    """Return a number of a document; infinity is written as a word.

    Raises: ValueError: no number, or NaN.
    """
    number = float(value)
    if math.isnan(number):
        raise ValueError("expected a number, found NaN")
    return number
