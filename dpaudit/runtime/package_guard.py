"""The guard at the start of the command line: refuse to certify code that is not the code that runs."""

from importlib.util import find_spec
from pathlib import Path

from dpaudit.errors import ConfigError

PACKAGES = ("dpaudit", "mechanisms", "algorithms", "audits")
"""The four packages of the one distribution, which lie beside each other."""


def root() -> Path:
    """Return the folder that holds this copy of the four packages."""
    return Path(__file__).resolve().parents[2]


def require_siblings() -> None:
    """Refuse to go on unless Python finds all four packages beside each other.

    Names as common as `algorithms` can be shadowed by a folder of the user's or overwritten by another
    distribution; a certificate would then describe code that does not run. Nothing is imported.
    Raises: ConfigError: naming the package, where it should be and where it was found.
    """
    for package in PACKAGES:
        found = _folder_of(package)
        expected = root() / package
        if found != expected:
            raise ConfigError(
                f"Expected the package '{package}' in {expected}, but Python would import it from "
                f"{found or 'nowhere'}. Another folder or distribution of that name is in the way: leave its folder, "
                "clear PYTHONPATH, or install dpaudit in an environment of its own."
            )


def _folder_of(package: str) -> Path | None:
    """Return the folder that `import package` reads or has read, or None where it has none."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).resolve().parent
