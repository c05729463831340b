"""The checks of a plug-in on a terminal and as Markdown."""

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.gate.plugin_check import PluginCheck, PluginStatus
from dpaudit.render.layout import columns, headline, section
from dpaudit.wording.markdown import table

_MARKS: dict[PluginStatus, tuple[str, str]] = {
    "ok": ("✓ ok", "green"),
    "not looked at": ("○ open", "yellow"),
    "failed": ("✗ failed", "bold red"),
}


def plugin_check_text(checks: tuple[PluginCheck, ...]) -> RenderableType:
    """Return the checks of a plug-in for a terminal of any width."""
    failed = sum(check.status == "failed" for check in checks)
    looked = sum(check.status != "not looked at" for check in checks)
    head = (
        headline("BROKEN CONTRACT", "red", f"{failed} of {looked} checks failed.")
        if failed
        else headline("CONTRACT HELD", "green", f"{looked} checks found nothing wrong; that is no proof.")
    )
    parts: list[RenderableType] = [head]
    for example in dict.fromkeys(check.example for check in checks):
        rows = [(Text(*_MARKS[check.status]), check.what, check.says) for check in checks if check.example == example]
        parts += [section(example), columns(rows, "", "", "dim")]
    return Group(*parts)


def plugin_check_markdown(checks: tuple[PluginCheck, ...]) -> str:
    """Return the checks of a plug-in as Markdown."""
    rows = [(_MARKS[check.status][0], check.example, check.what, check.says) for check in checks]
    return table(("", "example", "what", "says"), rows) + "\n"
