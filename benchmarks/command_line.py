"""How fast the command line starts, beside an empty Python and beside what it must not import.

Run: python -m benchmarks.command_line
"""

import subprocess
import sys
import time

REPEATS = 15
ROWS = {
    "python, nothing else": ["-c", "pass"],
    "import typer": ["-c", "import typer"],
    "dpaudit --help": ["-c", "import sys; from dpaudit.cli import main; sys.argv = ['dpaudit', '--help']; main()"],
    "dpaudit list": ["-c", "import sys; from dpaudit.cli import main; sys.argv = ['dpaudit', 'list']; main()"],
    "import numpy": ["-c", "import numpy"],
    "import scipy.stats": ["-c", "import scipy.stats"],
}


def seconds(arguments: list[str]) -> float:
    """Return the fastest of several starts, the one that the machine disturbed least."""
    taken: list[float] = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        taken.append(time.perf_counter() - started)
    return min(taken)


def main() -> None:
    """Print one row a start: seconds, and how many empty Pythons that is."""
    empty = seconds(ROWS["python, nothing else"])
    for name, arguments in ROWS.items():
        taken = seconds(arguments)
        print(f"{name:24} {taken:6.3f} s  {taken / empty:5.1f} x")


if __name__ == "__main__":
    main()
