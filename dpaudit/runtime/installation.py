"""The installed files of this distribution, compared with the record that the installer wrote."""

import hashlib
import json
from base64 import urlsafe_b64encode
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dpaudit.runtime.package_guard import PACKAGES, root
from dpaudit.runtime.provenance import source_digest

_SHOWN = 5  # files named in one message


def installation_summary() -> str:
    """Return how this copy was installed, once its files are known to be the distribution's own.

    A regular installation: every file of the four packages is compared with the record of the installed
    distribution, by name and SHA-256. An editable installation has no such record: the source digest identifies its
    content. A copy that runs beside the installed one, or that was never installed, is named so.
    Raises: RuntimeError: naming missing, changed, unverifiable and foreign files.
    """
    try:
        installed = distribution("dpaudit")
    except PackageNotFoundError:
        return f"not installed, runs from {root()}; source digest {source_digest()[:12]}"
    recorded = {Path(str(installed.locate_file(file))).resolve(): file for file in _package_files(installed)}
    if recorded and any(path.is_relative_to(root()) for path in recorded):
        return _require_recorded(recorded)
    folder = editable_folder(installed)
    if folder != root():
        return f"runs from {root()}, not from the installed {folder or 'copy'}; source digest {source_digest()[:12]}"
    return f"editable installation of {root()}; source digest {source_digest()[:12]}"


def editable_folder(installed: Distribution) -> Path | None:
    """Return the folder of an editable installation, or None where the distribution is none.

    Source: PEP 610, the file direct_url.json.
    """
    text = installed.read_text("direct_url.json")
    written = json.loads(text) if text else {}
    if not written.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(written["url"]).path)).resolve()


def file_faults(recorded: dict[Path, PackagePath], folders: tuple[Path, ...]) -> tuple[str, ...]:
    """Return one phrase for each missing, changed, unverifiable or foreign file, in the order of their paths.

    `recorded` maps each file to its entry in the record; an entry without a SHA-256 cannot be verified. Every file
    below `folders` must be one of them, except compiled bytecode.
    """
    present = {path.resolve() for folder in folders for path in folder.rglob("*") if path.is_file()}
    foreign = {path for path in present - set(recorded) if "__pycache__" not in path.parts}
    faults = {path: f"foreign {path}" for path in foreign}
    for path, entry in recorded.items():
        if path not in present:
            faults[path] = f"missing {path}"
        elif entry.hash is None or entry.hash.mode != "sha256":
            faults[path] = f"unverifiable {path}"
        elif _digest(path) != entry.hash.value:
            faults[path] = f"changed {path}"
    return tuple(faults[path] for path in sorted(faults))


def _require_recorded(recorded: dict[Path, PackagePath]) -> str:
    """Return a sentence on a regular installation whose files are all as recorded."""
    faults = file_faults(recorded, tuple(root() / package for package in PACKAGES))
    if faults:
        more = f", and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise RuntimeError(
            f"{len(faults)} files are not the distribution's own: {', '.join(faults[:_SHOWN])}{more}. "
            "Install dpaudit again, in an environment of its own."
        )
    return f"{len(recorded)} files in {root()} are as the installer recorded them"


def _package_files(installed: Distribution) -> list[PackagePath]:
    """Return the recorded files of the four packages, without compiled bytecode."""
    files = installed.files or []
    return [file for file in files if file.parts[0] in PACKAGES and "__pycache__" not in file.parts]


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file as the record writes it."""
    return urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
