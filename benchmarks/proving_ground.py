"""The auditor on its proving ground: `python -m benchmarks.proving_ground [part] ...`.

catalogue [runs]         the table's sums: how near the best event, how near the published bounds
suite [runs] [seeds]     the fifteen of the standard suite whose epsilon is finite, on average over seeds
published [runs] [name]  each published bound against ours, in little memory (the peers had 2e8 runs to count)
alarms [runs] [seeds]    false alarms of whole tables over many seeds
mutants | variants       planted defects caught, and correct programs accused
"""

import resource
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.catalogue.catalogue import CATALOGUE, SUITE
from benchmarks.catalogue.hunt import Hunt, hunt
from benchmarks.catalogue.mutants import SURVIVORS, correct_variants, mutants
from benchmarks.catalogue.table import Row, measure_catalogue, measure_published

LEVEL = 0.05
"""The significance of a single bound, so that the rows compare with published ones; audits have .01 by default."""


def catalogue(runs: int = 100_000) -> None:
    started = time.process_time()
    rows = measure_catalogue(runs=runs, seed=0, significance=LEVEL)
    known = [row for row in rows if row.best is not None and row.error is not None]
    near = [row for row in known if distance(row) >= -1]
    suite = [row for row in known if row.name in SUITE]
    printed = [row for row in rows if row.published is not None]
    level = [row for row in printed if row.bound >= (row.published or 0)]
    limited = [row for row in printed if row not in level and (row.best or 99) < (row.published or 0)]
    below = [row.name for row in printed if row not in level and row not in limited]
    print(f"{len(rows)} mechanisms, {runs} runs each: {sum(row.seconds for row in rows):.1f} s of audits")
    print(f"{time.process_time() - started:.1f} s of processor time with the exact laws")
    print(f"within one standard error of the best event: {len(near)} of {len(known)}")
    print(f"of the standard suite: {sum(row in near for row in suite)} of {len(suite)}")
    print("not:", ", ".join(f"{row.name} ({row.bound:.3f} of {row.best:.3f})" for row in known if row not in near))
    print(f"published bound reached: {len(level)} of {len(printed)}; out of reach of the best event: {len(limited)}")
    print("below though within reach, or not known:", ", ".join(below))
    print("missed:", ", ".join(row.name for row in rows if row.missed))
    print("false alarms:", ", ".join(row.name for row in rows if row.false_alarm) or "none")


def suite(runs: int = 1_000_000, seeds: int = 5) -> None:
    tables = [measure_catalogue(runs=runs, seed=seed, names=SUITE, significance=LEVEL) for seed in range(seeds)]
    far = np.array([[distance(row) for row in rows] for rows in tables])
    print(f"{runs} runs, seeds 0 to {seeds - 1}; distances from the best event's bound in its standard errors")
    for place, row in enumerate(tables[0]):
        mean = np.mean([rows[place].bound for rows in tables])
        print(f"{row.name:22s} best {row.best:.4f} +- {row.error:.4f}  mean bound {mean:.4f}  ", far[:, place].round(1))
    print(f"within one: {(far >= -1).sum(axis=1)} of {len(SUITE)} seed by seed")
    print(f"within one on average: {(far.mean(axis=0) >= -1).sum()} of {len(SUITE)}")


def published(runs: int = 20_000_000, *names: str) -> None:
    chosen = [entry for entry in CATALOGUE if entry.published is not None and (not names or entry.name in names)]
    print("| mechanism | truth | best event | published | bound | seconds | |\n|---|---|---|---|---|---|---|")
    for entry in chosen:
        law = None if entry.law is None else entry.law()
        best = None if law is None else law.best_bound(runs, entry.claim.delta, 0.05)[0]
        start = f"| {entry.name} | {number(entry.exact())} | {number(best)} | {number(entry.published)} |"
        if best is not None and round(best, 3) < (entry.published or 0):
            print(start, " - | - | out of reach |", flush=True)
            continue
        row = measure_published(entry, runs=runs, seed=0, rows=len(chosen), significance=LEVEL)
        verdict = "reached" if row.bound >= (row.published or 0) else "below"
        print(start, f"{row.bound:.4f} | {row.seconds:.0f} | {verdict} |", flush=True)
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def distance(row: Row) -> float:
    return (row.bound - (row.best or 0)) / (row.error or 1)


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def alarms(runs: int = 100_000, seeds: int = 20) -> int:
    found = [
        (seed, row.name, row.truth, row.sure_bound)
        for seed in range(seeds)
        for row in measure_catalogue(runs=runs, seed=seed)
        if row.false_alarm
    ]
    print(f"{len(found)} false alarms in {seeds} tables", found)
    return len(found)


def planted() -> None:
    held = [(mutant, hunt(mutant.program, seed=1, name=mutant.name)) for mutant in mutants()]
    caught = sum(bool(found.caught) for _, found in held)
    print(f"{caught} of {len(held)} mutants caught ({caught / len(held):.1%}), slowest {_slowest(held):.1f} s")
    for mutant, found in held:
        if not found.caught:
            reason = SURVIVORS.get(mutant.name, "NOT LISTED")
            print(f"survives: {mutant.name} (bound {found.bound:.3f}); {reason}")
    print("listed though caught:", [mutant.name for mutant, found in held if found.caught and mutant.name in SURVIVORS])


def variants(runs: int = 20_000) -> int:
    held = [(name, hunt(program, seed=1, name=name, runs=(runs,))) for name, program in correct_variants()]
    accused = [name for name, found in held if found.caught]
    print(f"{len(accused)} of {len(held)} correct variants accused, slowest {_slowest(held):.1f} s", accused)
    return len(accused)


def _slowest(held: Sequence[tuple[object, Hunt]]) -> float:
    return max(found.seconds for _, found in held)


PARTS: dict[str, Callable[..., Any]] = {
    "catalogue": catalogue,
    "suite": suite,
    "published": published,
    "alarms": alarms,
    "mutants": planted,
    "variants": variants,
}

if __name__ == "__main__":
    part = sys.argv[1] if len(sys.argv) > 1 else "catalogue"
    sys.exit(bool(PARTS[part](*(int(word) if word.isdigit() else word for word in sys.argv[2:]))))
