"""Processor time of commands: the command line, help, and the proof of each shipped configuration.

Run with OMP_NUM_THREADS=1: python -m benchmarks.command_line [WORD ...] prints the rows that hold one of the words.
"""

import resource
import subprocess
import sys
from pathlib import Path

REPEATS = 3
COMMAND = "import sys; from dpaudit.cli import main; sys.argv = ['dpaudit', *{!r}]; main()"
EXAMPLES = sorted(Path(__file__).parents[1].joinpath("examples").glob("*.toml"))
COMMANDS = {
    "dpaudit --help": ["--help"],
    "dpaudit list": ["list"],
    "dpaudit check --help": ["check", "--help"],
    **{f"dpaudit check --proof-only {path.name}": ["check", "--proof-only", str(path)] for path in EXAMPLES},
}
ROWS = {
    "python, nothing else": "pass",
    "import scipy.special": "import scipy.special",
    "from audits import audit": "from audits import audit",
    **{name: COMMAND.format(arguments) for name, arguments in COMMANDS.items()},
}


def seconds(program: str) -> float:
    """Return the processor time of a program, the smallest of some starts."""
    taken: list[float] = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(taken)


def main(words: list[str]) -> None:
    """Print a row of a Markdown table for each program."""
    for name, program in ROWS.items():
        if not words or any(word in name for word in words):
            print(f"| {name} | {seconds(program):.2f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
