"""Measures how many privacy-breaking defects of the shipped algorithms a user's `dpaudit check` catches.

Each defect is planted in a copy of the four packages, and the copy certifies and audits the defect's configuration in
a process of its own.

    python benchmarks/algorithm_mutants.py [--runs N] [--match TEXT] [-o FILE.json]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.mutation.mutants import BREAKING, CONFIGURATIONS, HARMLESS, Mutant  # noqa: E402

PACKAGES = ("algorithms", "audits", "dpaudit", "mechanisms")

CHILD = """
import json, sys, time
from pathlib import Path
from dpaudit.configuration.config import read_config
from dpaudit.workflow import Stated, audits_of, cases_of, certificate_of, settings_of
configuration = read_config(Path(sys.argv[1]))
settings = settings_of(configuration, Stated(runs=int(sys.argv[2]), significance=0.01, seed=0))
said = {"verdict": "", "violated": [], "problems": [], "audits": []}
start = time.process_time()
certificate = certificate_of(configuration, 0)
said["certify_seconds"] = time.process_time() - start
said["verdict"] = certificate.verdict
said["violated"] = [c.text for c in certificate.conditions if c.status == "violated"]
said["problems"] = [str(r) for r in certificate.findings]
if "--attack" in sys.argv:
    for case in cases_of(configuration, None):
        try:
            (result,) = audits_of((case,), certificate, settings, 0)
        except Exception as error:
            said["audits"].append([case[1].name, f"raised {type(error).__name__}", 0.0])
        else:
            said["audits"].append([case[1].name, result.verdict, result.epsilon_lower])
said["seconds"] = time.process_time() - start
print(json.dumps(said))
"""


def tried(mutant: Mutant | None, configuration: str, runs: int, *, attack: bool) -> dict[str, Any]:
    """Return what the checks said about a copy of the packages with this defect, or without any."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for package in PACKAGES:
            shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            try:
                (folder / mutant.place).write_text(mutant.planted_text(), encoding="utf-8")
            except ValueError:
                return {"stale": True}
        (folder / "case.toml").write_text(CONFIGURATIONS[configuration], encoding="utf-8")
        (folder / "child.py").write_text(CHILD, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "child.py", "case.toml", str(runs), *(["--attack"] if attack else [])]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no output"}
    return json.loads(done.stdout.splitlines()[-1])


def caught_by(said: dict[str, Any], sound: dict[str, Any]) -> str:
    """Return what accused the defect, or an empty text."""
    if "stale" in said:
        return "STALE"
    if "error" in said:
        return f"stops: {said['error']}"
    for problem in said["problems"]:
        if problem not in sound["problems"]:
            return f"finding {problem}"
    for condition in said["violated"]:
        if condition not in sound["violated"]:
            return f"condition {condition}"
    for name, verdict, bound in said["audits"]:
        if verdict == "violation" or verdict.startswith("raised"):
            return f"audit {name}: {verdict} {bound:.3g}"
    return ""


def main() -> None:
    """Try every defect and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--match", default="")
    parser.add_argument("--no-attack", action="store_true")
    parser.add_argument("-o", dest="output")
    chosen = parser.parse_args()
    sound: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = []
    for mutant in (*BREAKING, *HARMLESS):
        if chosen.match not in mutant.name:
            continue
        (name,) = mutant.on
        if name not in sound:
            sound[name] = tried(None, name, chosen.runs, attack=not chosen.no_attack)
            print("SOUND", name, json.dumps(sound[name]), flush=True)
        start = time.perf_counter()
        said = tried(mutant, name, chosen.runs, attack=not chosen.no_attack)
        found = caught_by(said, sound[name])
        kind = "harmless" if mutant in HARMLESS else "breaking"
        rows.append({"name": mutant.name, "kind": kind, "caught": found})
        print(f"{kind} | {mutant.name} | {found or '-'} | {time.perf_counter() - start:.0f} s", flush=True)
    for kind in ("breaking", "harmless"):
        all_of = [row for row in rows if row["kind"] == kind]
        print(f"{kind}: {sum(bool(row['caught']) for row in all_of)} of {len(all_of)} accused")
    if chosen.output:
        Path(chosen.output).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
