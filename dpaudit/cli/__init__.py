"""The command line: one command a file. Nothing heavy is imported before a command needs it."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    from dpaudit.cli.app import app

    app(prog_name="dpaudit")
