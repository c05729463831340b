"""The refusal of runs and checkpoints that need the extra "opacus" where it is not installed."""

from importlib.util import find_spec

from dpaudit.errors import ConfigError


def require_opacus(purpose: str) -> None:
    """Refuse `purpose` unless torch and opacus are installed; nothing is imported.

    Raises: ConfigError: one of them is missing; the message says how to install both.
    """
    if missing := missing_packages():
        raise ConfigError(
            f"{purpose} needs the extra 'opacus', which is incomplete (missing: {', '.join(missing)}): "
            "pip install torch==2.13.0 'dpaudit[opacus]' (PyTorch's CPU build is enough)."
        )


def missing_packages() -> list[str]:
    """Return which packages of the extra are not installed; nothing is imported."""
    return [name for name in ("torch", "opacus") if find_spec(name) is None]
