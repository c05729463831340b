"""The folder of a nightly wall: one file for each row, and one for the error rate that all of them share."""

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.checks import count
from dpaudit.configuration.files import json_value, read_text
from dpaudit.errors import ConfigError
from dpaudit.model.claim import Claim
from dpaudit.runtime.whole_files import replace_file

_BUDGET = "wall.json"
_KEYS = {"subject", "generation", "nights", "runs", "refuted", "lower", "wealth"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The evidence of one row: for the `generation`-th version or claim of it, from `nights` nights and `runs` runs.

    `subject` is library, version, name, pair and claim as text. `wealth` is what the audit continues with; None before
    the first night. `refuted` says that the claim has fallen; `lower` is the bound on epsilon at significance .01.
    """

    subject: str
    generation: int = 1
    nights: int = 0
    runs: int = 0
    refuted: bool = False
    lower: float = 0.0
    wealth: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFolder:
    """A folder of evidence for at most `family` rows, at one `significance` for all of them and for every night."""

    path: Path
    family: int
    significance: float

    def __post_init__(self) -> None:
        count("family", self.family)

    def level(self, generation: int) -> float:
        """Return the level of a row's k-th version or claim; over all k the levels add up to the row's share.

        >>> folder = EvidenceFolder(path=Path("evidence"), family=10, significance=0.01)
        >>> sum(folder.level(k) for k in range(1, 10_000)) < 0.001
        True
        """
        return self.significance / self.family * 6 / (math.pi * generation) ** 2

    def open(self) -> None:
        """Make the folder, or check that it was started with the same error rate.

        Raises: ConfigError: another significance or family, or a folder that cannot be used.
        """
        mine = {"family": self.family, "significance": self.significance}
        file = self.path / _BUDGET
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                replace_file(file, json.dumps(mine).encode())
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot hold evidence ({error.strerror or error}).") from None
        if (found := _json(file)) != mine:
            raise ConfigError(
                f"{file}: the folder was started with {found}, not {mine}; an error rate holds for the life of its "
                "folder. Keep it by --significance and --family, or name another folder."
            )

    def read(self, key: tuple[str, str, str], version: str, claim: Claim) -> Kept:
        """Return the evidence on a row for this version and claim; none yet where either is new.

        Raises: ConfigError: a file that is no evidence of this row.
        """
        subject = json.dumps([*key, version, repr(claim)])
        file = self._file(key)
        if not file.exists():
            return Kept(subject=subject)
        data = _json(file)
        if not isinstance(data, dict) or set(data) != _KEYS or not _counts(data):
            raise ConfigError(f"{file}: is no evidence of a row; move it away to start anew.")
        if data["subject"] != subject:
            return Kept(subject=subject, generation=data["generation"] + 1)
        return Kept(**data)

    def keep(self, key: tuple[str, str, str], before: Kept, after: Kept) -> bool:
        """Return whether `after` was written: not if another night was added since `before` was read."""
        file = self._file(key)
        found = _json(file) if file.exists() else None
        held = isinstance(found, dict) and found.get("subject") == before.subject
        if (found.get("nights") if held and isinstance(found, dict) else 0) != before.nights:
            return False
        data = {name: getattr(after, name) for name in _KEYS}
        replace_file(file, json.dumps(data, indent=1, sort_keys=True, allow_nan=False).encode())
        return True

    def _file(self, key: tuple[str, str, str]) -> Path:
        """Return the file of a row; nothing of the row's own text is in its name."""
        return self.path / f"{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:24]}.json"


def _counts(data: dict[str, Any]) -> bool:
    """Return whether the counts of a file are whole numbers that are not negative."""
    counts = [data[name] for name in ("generation", "nights", "runs")]
    whole = all(type(number) is int and number >= 0 for number in counts)
    return whole and data["generation"] >= 1 and isinstance(data["refuted"], bool) and isinstance(data["lower"], float)


def _json(file: Path) -> Any:
    """Return what a file holds.

    Raises: ConfigError: no JSON.
    """
    try:
        return json_value(read_text(file))
    except (ValueError, RecursionError):
        raise ConfigError(f"{file}: is no JSON; move it away to start anew.") from None
