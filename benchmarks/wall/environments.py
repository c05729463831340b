"""Rows of libraries that cannot live in one environment: each is measured by an interpreter of its own."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.wall.row import RowResult, row_result
from dpaudit.errors import ConfigError, DPAuditError

_ROOT = Path(__file__).parents[2]
"""The folder in which Python finds `benchmarks`, which no wheel holds."""

_SECONDS = 3600


def interpreter_of(library: str, folder: Path | None) -> Path:
    """Return the interpreter that measures a library: `folder`/`library`/bin/python if it is there, else this one."""
    if folder is not None:
        own = folder / library / "bin" / "python"
        if own.exists():
            return own
    return Path(sys.executable)


def measured_elsewhere(
    interpreter: Path, library: str, family: int, significance: float, seed: int, nightly: Path | None = None
) -> tuple[RowResult, ...]:
    """Return the results of one library that another interpreter, in which dpaudit is installed, wrote as JSON.

    Raises: ConfigError: the interpreter failed, took more than an hour, or wrote something else.
    """
    command = [str(interpreter), "-m", "benchmarks.wall", "--library", library, "--format", "json"]
    options = ["--family", str(family), "--significance", repr(significance), "--seed", str(seed)]
    options += [] if nightly is None else ["--nightly", str(nightly.resolve())]
    try:
        ended = subprocess.run(  # noqa: S603 - the interpreter is the user's own
            [*command, *options], cwd=_ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"{interpreter}: cannot measure {library} ({_line(str(error))}).") from None
    try:
        return tuple(row_result(row) for row in json.loads(ended.stdout)["rows"])
    except (ValueError, KeyError, TypeError, DPAuditError):
        said = _line((ended.stderr.strip() or "it wrote nothing").splitlines()[-1])
        raise ConfigError(
            f"{interpreter}: cannot measure {library} ({said}). Install dpaudit of the same version beside the library."
        ) from None


def _line(text: str) -> str:
    """Return text on one line of at most 200 characters."""
    return " ".join(text.split())[:200]
