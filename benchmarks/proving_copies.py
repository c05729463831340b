"""Measures how many planted defects a user's checks catch: `python -m benchmarks.proving_copies algorithms|mechanisms`.

Options: [--match TEXT] [-o FILE.json], and for algorithms [--runs N] [--no-attack]. Each defect is planted in a copy of
the four packages, whose checks run in a process of their own: for an algorithm those of `dpaudit check` on the defect's
configuration, for a mechanism the contract tests, which `dpaudit doctor NAME` runs. Harmless changes are tried beside.
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

from tests.mutation.mutants import BREAKING, CONFIGURATIONS, HARMLESS, Mutant, table

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("algorithms", "audits", "dpaudit", "mechanisms")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}

CHECKING = """
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

DOCTOR = """
import sys
from dpaudit.gate.plugin_check import check_plugin
for name in sys.argv[1:]:
    for check in check_plugin(name):
        if check.status == "failed":
            print(check.example, check.what, check.says)
"""


def answer(folder: Path, mutant: Mutant | None, child: str, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    """Return what a child says in the copy with this defect, or without any; None where its text is gone."""
    changed: dict[Path, str] = {}
    if mutant is not None:
        file = folder / mutant.place
        changed[file] = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutant.planted_text(), encoding="utf-8")
        except ValueError:
            return None
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", child, *arguments]
    said = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    for file, sound in changed.items():
        file.write_text(sound, encoding="utf-8")
    return said


class Algorithms:
    """What a check of a configuration says, against what it says of the sound code."""

    def __init__(self, folder: Path, chosen: argparse.Namespace) -> None:
        self.folder, self.runs = folder, str(chosen.runs)
        self.options = () if chosen.no_attack else ("--attack",)
        self.sound: dict[str, dict[str, Any]] = {}

    def mutants(self) -> list[tuple[str, Mutant]]:
        return [("breaking", mutant) for mutant in BREAKING] + [("harmless", mutant) for mutant in HARMLESS]

    def caught_by(self, mutant: Mutant) -> str:
        """Return what accused the defect, or an empty text."""
        (name,) = mutant.on
        (self.folder / "case.toml").write_text(CONFIGURATIONS[name], encoding="utf-8")
        if name not in self.sound:
            self.sound[name] = self._said(None)
            print("SOUND", name, json.dumps(self.sound[name]), flush=True)
        said, sound = self._said(mutant), self.sound[name]
        if "stops" in said:
            return str(said["stops"])
        news = [f"finding {problem}" for problem in said["problems"] if problem not in sound["problems"]]
        news += [f"condition {text}" for text in said["violated"] if text not in sound["violated"]]
        news += [
            f"audit {case}: {verdict} {bound:.3g}"
            for case, verdict, bound in said["audits"]
            if verdict == "violation" or verdict.startswith("raised")
        ]
        return news[0] if news else ""

    def _said(self, mutant: Mutant | None) -> dict[str, Any]:
        done = answer(self.folder, mutant, CHECKING, "case.toml", self.runs, *self.options)
        if done is None:
            return {"stops": "STALE"}
        if done.returncode:
            return {"stops": f"stops: {(done.stderr.strip() or 'no output').splitlines()[-1]}"}
        return json.loads(done.stdout.splitlines()[-1])


class Mechanisms:
    """What the contract tests say."""

    def __init__(self, folder: Path, chosen: argparse.Namespace) -> None:
        self.folder = folder

    def mutants(self) -> list[tuple[str, Mutant]]:
        kinds = ("obvious", "subtle", "harmless")
        return [(kind, mutant) for kind in kinds for mutant in table("mechanisms", kind)]

    def caught_by(self, mutant: Mutant) -> str:
        """Return the first complaint, or an empty text."""
        done = answer(self.folder, mutant, DOCTOR, *mutant.on)
        if done is None:
            return "STALE"
        stops = f"stops: {done.stderr.strip()[-200:]}" if done.returncode else ""
        return next(iter(done.stdout.strip().splitlines()), stops)


def main() -> None:
    """Try every defect and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subject", choices=("algorithms", "mechanisms"))
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--match", default="")
    parser.add_argument("--no-attack", action="store_true")
    parser.add_argument("-o", dest="output")
    chosen = parser.parse_args()
    rows: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        for package in PACKAGES:
            shutil.copytree(ROOT / package, Path(name) / package, ignore=shutil.ignore_patterns("__pycache__"))
        subject = {"algorithms": Algorithms, "mechanisms": Mechanisms}[chosen.subject](Path(name), chosen)
        for kind, mutant in subject.mutants():
            if chosen.match in mutant.name:
                start = time.perf_counter()
                found = subject.caught_by(mutant)
                rows.append({"name": mutant.name, "kind": kind, "caught": found})
                print(f"{kind} | {mutant.name} | {found or '-'} | {time.perf_counter() - start:.0f} s", flush=True)
    for kind in dict.fromkeys(row["kind"] for row in rows):
        all_of = [row for row in rows if row["kind"] == kind]
        print(f"{kind}: {sum(bool(row['caught']) for row in all_of)} of {len(all_of)} accused")
    if chosen.output:
        Path(chosen.output).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
