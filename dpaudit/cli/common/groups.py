"""A group of commands whose help shows the whole line of each command."""

from typing import Any

from typer.core import TyperGroup

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
"""The context settings of a group: its commands inherit them."""

_LONGEST = 10_000


class WrappedGroup(TyperGroup):
    """A group whose list of commands is wrapped at the terminal's width; nothing is cut."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands with the first sentence of each one's help."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(_LONGEST)) for name, command in commands if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return what completes a word; the options by which completion itself is installed are left out."""
        return [item for item in super().shell_complete(ctx, incomplete) if "completion" not in str(item.value)]
