"""Write the golden derivations anew: `python tests/golden/regenerate.py`, together with a line in CHANGELOG.md.

Each configuration beside this file has the output of `dpaudit explain` in a .txt file of its name.
"""

import sys
from pathlib import Path

from typer.testing import CliRunner

HERE = Path(__file__).parent
NAMES = ("capri_paper.toml", "design.json", "nested_rl.json", "one_sided_wishart.json")
RULES = ("billboard", "advanced_short", "classic_gaussian", "wishart")


def explained(argument: str) -> str:
    """Return what `dpaudit explain ARGUMENT` writes to stdout."""
    from dpaudit.cli.app import app

    result = CliRunner().invoke(app, ["explain", argument])
    if result.exit_code:
        raise AssertionError(result.stderr)
    return result.stdout


def goldens() -> dict[Path, str]:
    """Return the file of each golden output, and the argument that it is the explanation of."""
    configured = {HERE / Path(name).with_suffix(".txt").name: str(HERE / name) for name in NAMES}
    return configured | {HERE / f"rule_{name}.txt": name for name in RULES}


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent.parent))
    for file, argument in goldens().items():
        file.write_text(explained(argument), encoding="utf-8")
