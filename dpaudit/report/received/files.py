"""A received report, checked from its files: its certificate derived again, its digests computed again.

A report is a folder with report.json, the same report for readers (HTML, PDF, Markdown), and a statement that names the
SHA-256 of each file. What an audit measured is not measured again here: the command in the report does that.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from dpaudit.configuration.audit_plan import received_plan
from dpaudit.configuration.files import LARGEST_FILE, json_object
from dpaudit.errors import ConfigError
from dpaudit.report.attachments.in_toto import PRIVACY_REPORT, predicate_of
from dpaudit.report.attachments.in_toto import STATEMENT as IN_TOTO
from dpaudit.report.plain import SCHEMA
from dpaudit.report.received.verdict import contradictions
from dpaudit.report.signed import signed_digest
from dpaudit.verifier import Verification, verify

DATA, STATEMENT = "report.json", "privacy-report.intoto.json"
PAGES = ("report.html", "report.pdf", "report.md", "annex.md")
_MOST_FILES = 1_000
_MOST_BYTES = 8 * LARGEST_FILE
"""How many bytes all files of a report may have together."""

_LISTED, _LONGEST_NAME = 5, 200

_CLEAN = ("CERTIFIED", "CERTIFIED WITH CAVEATS", "STATED")
"""Verdicts of a report that add nothing to what its certificate says."""


def is_report(path: Path) -> bool:
    """Return whether a path is that of a report: its folder, or one of its files by name.

    A file `report.json` is one unless it holds a certificate.
    """
    if path.name == DATA and path.is_file():
        return "certificate:" not in str(json_object(path).get("schema"))
    return path.name in (DATA, STATEMENT, *PAGES) or path.is_dir()


def verify_report(path: Path, digest: str | None = None) -> Verification:
    """Return what is wrong with a received report: a folder, or one of its files.

    Guarantee: without a complaint the certificate in report.json is confirmed as by `verify`, the digest to sign
    follows from report.json (and is `digest`, if one is demanded), every file that the statement of the report names is
    there with the SHA-256 that the statement gives, and the statement's own numbers are those of report.json. A page
    that no statement names is a complaint, and so is a report whose own verdict is a violation, or not certified. Who
    alters a file may alter the statement and the stated digest with it: only a demanded digest, or a signature, shows
    that. Even then the report's word is what follows from the certificate, the audits and the scores in report.json.
    Other files of the folder are named in a note.
    Edge cases: report.json without a statement beside it is checked alone, and a note says so.
    Raises: ConfigError: no report.json of this version, or a file that cannot be read.
    """
    folder = path if path.is_dir() else path.parent
    data = _data(path, folder)
    certificate = verify(json.dumps(data.get("certificate")))
    computed = _computed(data)
    audits = data.get("audits")
    planned = received_plan(data.get("plan"), audits if isinstance(audits, list) else [], data.get("config"))
    complaints = [*certificate.complaints, *_against_itself(data), *planned.complaints]
    if computed != data.get("digest_to_sign"):
        complaints.append(f"{DATA} was altered: its content has the digest {computed}, and it states another one")
    if digest not in (None, computed):
        complaints.append(f"the digest to sign is {computed}, and {digest} is demanded")
    altered, compared = _beside_statement(path, folder, data)
    unconfirmed = (
        *certificate.unconfirmed,
        *(f"the audits departed from their plan: {line}" for line in planned.departures),
    )
    if data.get("verdict") == "INCONCLUSIVE":
        unconfirmed += ("the report's own verdict is INCONCLUSIVE: no audit reached a result",)
    return replace(
        certificate,
        complaints=(*complaints, *altered),
        unconfirmed=unconfirmed,
        notes=(
            *compared,
            f"The digest to sign is {computed}.",
            *_not_measured(data),
            *planned.notes,
            *certificate.notes,
        ),
        digest=computed,
    )


def _beside_statement(path: Path, folder: Path, data: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return complaints of files that differ from the statement of a report, and notes on what was compared."""
    stated = _stated(folder)
    if stated is None:
        alone = [f"{path.name} cannot be checked without {STATEMENT} beside it"] if path.name in PAGES else []
        return alone, [f"{STATEMENT} is not there: no page of the report was compared with {DATA}."]
    complaints = [*_differing(folder, stated), *_against_data(json_object(folder / STATEMENT), data)]
    if not stated:  # a statement that names no file, or one twice, is read as naming none
        said = f"{STATEMENT} was altered: expected a name and a SHA-256 for each file, and no file twice"
        complaints.insert(0, said)
    unnamed = [name for name in (DATA, *PAGES) if name not in stated and (folder / name).exists()]
    complaints += [f"{name} is not named in {STATEMENT}" for name in unnamed]
    return complaints, [
        f"{len(stated)} files were compared with their SHA-256 in {STATEMENT}.",
        *_beside(folder, stated),
    ]


def _against_itself(data: dict[str, Any]) -> Iterator[str]:
    """Yield a complaint for a verdict against the claim, and for one that is not what the report amounts to."""
    word, audits = data.get("verdict"), data.get("audits")
    if word not in (*_CLEAN, "INCONCLUSIVE"):
        yield f"the report's own verdict is {word!s:.40}"
    for audit in audits if isinstance(audits, list) else ():
        if isinstance(audit, dict) and audit.get("verdict") == "violation":
            yield f"the report holds a violation: {audit.get('name')!s:.80}"
    yield from contradictions(data)


def _data(path: Path, folder: Path) -> dict[str, Any]:
    """Return the content of report.json."""
    file = folder / DATA
    if not file.exists():
        where = "in it" if path == folder else "beside it"
        raise ConfigError(f"{path}: no {DATA} {where}; keep all files of a report in one folder.")
    data = json_object(file)
    if data.get("schema") != SCHEMA:
        raise ConfigError(
            f"{file}: no report of this version; its schema is {str(data.get('schema'))!r:.80}, and {SCHEMA!r} is read."
        )
    return data


def _computed(data: dict[str, Any]) -> str:
    """Return the digest of what is signed; an empty text, which is no digest, where the form is wrong."""
    try:
        return signed_digest(data)
    except (TypeError, KeyError, AttributeError, RecursionError):
        return ""


def _stated(folder: Path) -> dict[str, str] | None:
    """Return the SHA-256 of each file by its name, from the statement; None where there is no statement.

    It is empty where the statement does not name a SHA-256 for each file, or names a file twice.
    """
    file = folder / STATEMENT
    if not file.exists():
        return None
    try:
        subjects = [(str(entry["name"]), str(entry["digest"]["sha256"])) for entry in json_object(file)["subject"]]
    except (KeyError, TypeError):
        return {}
    if len(subjects) > _MOST_FILES:
        raise ConfigError(f"{file}: expected at most {_MOST_FILES} files, got {len(subjects)}.")
    return dict(subjects) if len(dict(subjects)) == len(subjects) else {}


def _differing(folder: Path, stated: dict[str, str]) -> Iterator[str]:
    """Yield a complaint for each file that is missing, or whose content is not what the statement says."""
    left = _MOST_BYTES
    for name, digest in sorted(stated.items()):
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            yield f"{STATEMENT} names {name!r:.80}, which is not inside the folder"
            continue
        file = folder / inside
        if len(name) > _LONGEST_NAME or not file.is_file():
            yield f"{name!r:.80} is named in {STATEMENT} and is missing"
            continue
        left -= file.stat().st_size
        if left < 0:
            raise ConfigError(f"{folder}: the files of a report have at most {_MOST_BYTES} bytes together.")
        if _sha256(file) != digest:
            yield f"{name!r:.80} was altered: its SHA-256 is not the one in {STATEMENT}"


def _against_data(statement: dict[str, Any], data: dict[str, Any]) -> Iterator[str]:
    """Yield a complaint for each entry of a statement that is not what report.json says."""
    stated = statement.get("predicate")
    if not isinstance(stated, dict):
        yield f"{STATEMENT} states nothing of the report"
        return
    try:
        expected = {"_type": IN_TOTO, "predicateType": PRIVACY_REPORT} | predicate_of(data)
    except (KeyError, TypeError):
        yield f"{DATA} was altered: it lacks what {STATEMENT} says of it"
        return
    written = stated | {key: statement.get(key) for key in ("_type", "predicateType")}
    for key in sorted({*written, *expected}):
        if json.dumps(written.get(key), sort_keys=True) != json.dumps(expected.get(key), sort_keys=True):
            yield f"{STATEMENT} was altered: its {key!r:.80} is not that of {DATA}"


def _beside(folder: Path, stated: dict[str, str]) -> list[str]:
    """Return a note on files that lie beside a report and are no part of it."""
    names = sorted(file.name for file in folder.iterdir() if file.is_file() and file.name not in (*stated, STATEMENT))
    if not names:
        return []
    return [f"No part of the report, and not looked at: {', '.join(names[:_LISTED])}{' ...' * (len(names) > _LISTED)}."]


def _sha256(file: Path) -> str:
    """Return the SHA-256 of a file."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}).") from None


def _not_measured(data: dict[str, Any]) -> list[str]:
    """Return the note on audits, which are read and not run."""
    audits = data.get("audits")
    if not isinstance(audits, list) or not audits:
        return []
    return [f"The results of {len(audits)} audits were read, not measured again; run: {data.get('command') or 'them'}."]
