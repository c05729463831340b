"""The table [tool.dpaudit] of a project's pyproject.toml."""

from pathlib import Path

from dpaudit.configuration.files import parse_toml, read_text
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import suggestion

KEYS = ("profile", "evidence", "significance", "suite_size", "strict", "require")


def project_settings(root: Path) -> dict[str, str]:
    """Return the settings in `root`/pyproject.toml as text; empty without the file or the table.

    Raises: ConfigError: no TOML, an unknown key, or a value of another type.
    """
    path = root / "pyproject.toml"
    if not path.is_file():
        return {}
    table = parse_toml(path, read_text(path)).get("tool", {}).get("dpaudit", {})
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(f"{path}: [tool.dpaudit] unknown key {key!r:.80}{suggestion(key, KEYS)}")
        if key != "strict" and (isinstance(value, bool) or not isinstance(value, str | int | float)):
            raise ConfigError(f"{path}: [tool.dpaudit] expected {key}={value!r:.80} to be text or a number.")
        if key == "strict" and not isinstance(value, bool):
            raise ConfigError(f"{path}: [tool.dpaudit] expected strict={value!r:.80} to be true or false.")
    return {key: str(value).lower() if key == "strict" else str(value) for key, value in table.items()}
