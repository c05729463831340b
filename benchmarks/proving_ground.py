"""The auditor on its proving ground: `python -m benchmarks.proving_ground [catalogue|alarms|mutants|variants] ...`.

catalogue [runs]         the table's sums: how near the best event, how near the published bounds
alarms [runs] [seeds]    false alarms of whole tables over many seeds
mutants | variants       planted defects caught, and correct programs accused
"""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from audits.proving.hunt import Hunt, hunt
from audits.proving.mutants import correct_variants, mutants
from audits.proving.table import measure_catalogue


def catalogue(runs: int = 100_000) -> None:
    started = time.process_time()
    rows = measure_catalogue(runs=runs, seed=0)
    known = [row for row in rows if row.best is not None and row.error is not None]
    near = [row for row in known if row.bound >= (row.best or 0) - (row.error or 0)]
    printed = [row for row in rows if row.published is not None]
    level = [row for row in printed if row.bound >= (row.published or 0)]
    limited = [row for row in printed if row not in level and (row.best or 99) < (row.published or 0)]
    below = [row.name for row in printed if row not in level and row not in limited]
    print(f"{len(rows)} mechanisms, {runs} runs each: {sum(row.seconds for row in rows):.1f} s of audits")
    print(f"{time.process_time() - started:.1f} s of processor time with the exact laws")
    print(f"within one standard error of the best event: {len(near)} of {len(known)}")
    print("not:", ", ".join(f"{row.name} ({row.bound:.3f} of {row.best:.3f})" for row in known if row not in near))
    print(f"published bound reached: {len(level)} of {len(printed)}; out of reach of the best event: {len(limited)}")
    print("below though within reach, or not known:", ", ".join(below))
    print("missed:", ", ".join(row.name for row in rows if row.missed))


def alarms(runs: int = 100_000, seeds: int = 20) -> int:
    found = [
        (seed, row.name, row.truth, row.sure_bound)
        for seed in range(seeds)
        for row in measure_catalogue(runs=runs, seed=seed, jobs=2)
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
            print(f"survives: {mutant.name} (bound {found.bound:.3f})")


def variants(runs: int = 20_000) -> int:
    held = [(name, hunt(program, seed=1, name=name, runs=(runs,))) for name, program in correct_variants()]
    accused = [name for name, found in held if found.caught]
    print(f"{len(accused)} of {len(held)} correct variants accused, slowest {_slowest(held):.1f} s", accused)
    return len(accused)


def _slowest(held: Sequence[tuple[object, Hunt]]) -> float:
    return max(found.seconds for _, found in held)


PARTS: dict[str, Callable[..., Any]] = {
    "catalogue": catalogue,
    "alarms": alarms,
    "mutants": planted,
    "variants": variants,
}

if __name__ == "__main__":
    part = sys.argv[1] if len(sys.argv) > 1 else "catalogue"
    sys.exit(bool(PARTS[part](*map(int, sys.argv[2:]))))
