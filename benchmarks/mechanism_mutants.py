"""Measures how many defects of the shipped mechanisms the contract tests catch, which `dpaudit doctor NAME` runs.

Each defect is planted in a copy of the four packages, and the copy checks the examples of the mechanism in a process of
its own. Harmless changes are tried beside them.

    python benchmarks/mechanism_mutants.py [--match TEXT] [-o FILE.json]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.mutation.mutants import Mutant, table  # noqa: E402

PACKAGES = ("algorithms", "audits", "dpaudit", "mechanisms")

CHILD = """
import sys
from dpaudit.gate.plugin_check import check_plugin
for name in sys.argv[1:]:
    for check in check_plugin(name):
        if check.status == "failed":
            print(check.example, check.what, check.says)
"""


def said_of(mutant: Mutant, folder: Path) -> str:
    """Return what the contract tests say against a defect that is planted in a copy of the packages."""
    file = folder / mutant.place
    sound = file.read_text(encoding="utf-8")
    try:
        file.write_text(mutant.planted_text(), encoding="utf-8")
    except ValueError:
        return "STALE"
    environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", CHILD, *mutant.on]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    file.write_text(sound, encoding="utf-8")
    return done.stdout.strip() or (f"stops: {done.stderr.strip()[-200:]}" if done.returncode else "")


def main() -> None:
    """Try every defect and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--match", default="")
    parser.add_argument("-o", dest="output")
    chosen = parser.parse_args()
    rows: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        for package in PACKAGES:
            shutil.copytree(ROOT / package, Path(name) / package, ignore=shutil.ignore_patterns("__pycache__"))
        for kind in ("obvious", "subtle", "harmless"):
            for mutant in table("mechanisms", kind):
                if chosen.match in mutant.name:
                    found = said_of(mutant, Path(name))
                    rows.append({"name": mutant.name, "kind": kind, "caught": found})
                    print(f"{kind} | {mutant.name} | {found.splitlines()[0] if found else '-'}", flush=True)
    for kind in ("obvious", "subtle", "harmless"):
        all_of = [row for row in rows if row["kind"] == kind]
        print(f"{kind}: {sum(bool(row['caught']) for row in all_of)} of {len(all_of)} accused")
    if chosen.output:
        Path(chosen.output).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
