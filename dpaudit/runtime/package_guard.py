"""The guard of the four package names: code that is not ours is refused before it is imported."""

from importlib.util import find_spec
from pathlib import Path

from dpaudit.errors import ConfigError

PACKAGES = ("dpaudit", "mechanisms", "algorithms", "audits")
"""The four packages of the one distribution, which lie beside each other."""

_MARK = 'DISTRIBUTION = "dpaudit"'
_REMEDY = (
    "Another folder or distribution of that name is in the way: rename or leave that folder, clear PYTHONPATH, "
    "or install dpaudit in an environment of its own."
)


def root() -> Path:
    """Return the folder that holds this copy of the four packages."""
    return Path(__file__).resolve().parents[2]


def require_packages() -> None:
    """Refuse to go on unless Python finds all four packages beside each other, each with its own root file.

    Names as common as `algorithms` can be shadowed by a folder of the user's or overwritten by another
    distribution; a certificate would then describe code that does not run. Nothing is imported.
    Raises: ConfigError: naming the package, where it should be and where it was found.
    """
    for package in PACKAGES:
        require_package(package)


def require_package(package: str) -> None:
    """Refuse to go on unless `import package` reads this copy of the package. Nothing is imported.

    Raises: ConfigError: the package lies elsewhere, is missing, or its root file belongs to another distribution.
    """
    expected, actual = root() / package, _folder_of(package)
    if actual != expected:
        raise ConfigError(
            f"Expected the package '{package}' in {expected}, but Python would import it from "
            f"{actual or 'nowhere'}. {_REMEDY}"
        )
    if _MARK not in (expected / "__init__.py").read_text(encoding="utf-8", errors="replace").splitlines():
        raise ConfigError(
            f"The package '{package}' in {expected} was overwritten: its __init__.py is not dpaudit's. {_REMEDY}"
        )


def _folder_of(package: str) -> Path | None:
    """Return the folder that `import package` reads or has read, or None where it has none."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).resolve().parent
