"""The table [tool.dpaudit] of a project's pyproject.toml."""

from pathlib import Path

from dpaudit.configuration.files import parse_toml, read_text
from dpaudit.errors import ConfigError
from dpaudit.pytest_plugin.settings import SETTINGS
from dpaudit.runtime.plugins import suggestion

_BOOLEAN = ("true", "false")


def project_settings(root: Path) -> dict[str, str]:
    """Return the settings in `root`/pyproject.toml as text; empty without the file or the table.

    Raises: ConfigError: no TOML, an unknown key, or a value of another type.
    """
    path = root / "pyproject.toml"
    if not path.is_file():
        return {}
    table = parse_toml(path, read_text(path)).get("tool", {}).get("dpaudit", {})
    for key, value in table.items():
        if key not in SETTINGS:
            raise ConfigError(f"{path}: [tool.dpaudit] unknown key {key!r:.80}{suggestion(key, tuple(SETTINGS))}")
        wanted = "true or false" if SETTINGS[key].values == _BOOLEAN else "text or a number"
        if isinstance(value, bool) != (wanted == "true or false") or not isinstance(value, str | int | float):
            raise ConfigError(f"{path}: [tool.dpaudit] expected {key}={value!r:.80} to be {wanted}.")
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in table.items()}
