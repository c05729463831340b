"""Counts how often ends of the accountant were compared with the game of a seed, by outer node, inner node and move.

    python -m benchmarks.seed_counts            # the seeds at three x: a few minutes
    python -m benchmarks.seed_counts 10000      # and so many random nestings

A seed counts for each row of the whitelist that it rests on. The last line holds all counts. A nesting whose game does
not end within a minute of processor time is counted as too large.
"""

import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from types import FrameType

import numpy as np

from benchmarks.random_nestings import random_tables, random_tree
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.declaration import Declaration
from dpaudit.semantics.game import MOST_QUERIES
from dpaudit.semantics.seeds import TABLES
from tests.semantics.judging import FEW, MANY, THREE, Judged, judged, of_one_and_of_two, releases
from tests.semantics.rows import rows_of
from tests.semantics.seeds import seeds

MOST_RELEASES = 4
MOVES = "remove", "replace", "zero", "exchange"
MOST_SECONDS = 60.0
"""Of processor time for one random nesting."""


def every_seed() -> Iterator[tuple[Declaration, Neighbours, Judged]]:
    """Yield each seed, for one record and for two of a person, under each relation."""
    rng = np.random.default_rng(7)
    for _, tree in of_one_and_of_two(seeds()):
        for relation in NEIGHBOURS:
            yield tree, relation, judged(tree, TABLES, relation, "tables", THREE, rng)


def random_nestings(number: int) -> Iterator[tuple[Declaration, Neighbours, Judged | None]]:
    """Yield those of so many random nestings that have few releases, under one relation each."""
    for seed in range(number):
        rng = np.random.default_rng([33, seed])
        tree, relation = random_tree(1 + seed % 3, 3, rng), NEIGHBOURS[seed // 2 % 3]
        if releases(tree) > MOST_RELEASES:
            continue
        yield tree, relation, judged_in_time(tree, relation, rng)


def judged_in_time(tree: Declaration, relation: Neighbours, rng: np.random.Generator) -> Judged | None:
    """Return what is said of a nesting beside its game; None where its game is too large.

    Where a lower end lies above the game, the game is played again with more queries, twice if need be.
    """
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        tables = random_tables(rng)
        for most_queries in (FEW, MANY, MOST_QUERIES):
            held = judged(tree, tables, relation, "tables", THREE, rng, most_queries)
            if not held.too_high:
                break
        return held
    except TimeoutError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"Signal {number}: the game did not end in {MOST_SECONDS:g} s.")


def counted(judgements: Iterable[tuple[Declaration, Neighbours, Judged | None]], title: str) -> None:
    """Print a table of comparisons, those that are equal in brackets, and a line of all counts."""
    started, total = time.process_time(), Counter[str]()
    rows: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: {move: [0, 0] for move in MOVES})
    for tree, relation, held in judgements:
        if held is None:
            total["too large"] += 1
            continue
        told = "refused" if held.refused else "undefined" if held.undefined else "compared"
        total[told] += 1
        total["comparisons"] += len(held.upper) + len(held.checked)
        total["equal"] += held.equal
        total["wrong"] += held.wrong or held.too_high
        for outer, inner, move in set(rows_of(tree, relation)) if held.upper else ():
            if inner != "stated":
                rows[outer, inner][move][0] += len(held.upper)
                rows[outer, inner][move][1] += held.equal
    print(f"\n## {title}\n\n| outer | inner | {' | '.join(MOVES)} |\n|---|---|{'---|' * len(MOVES)}")
    for (outer, inner), moves in sorted(rows.items()):
        cells = (f"{n} ({equal})" if n else "" for n, equal in moves.values())
        print(f"| {outer} | {inner} | {' | '.join(cells)} |")
    print(f"\n{dict(total)}, {time.process_time() - started:.0f} s of processor time")


if __name__ == "__main__":
    counted(every_seed(), "Seeds")
    if len(sys.argv) > 1:
        counted(random_nestings(int(sys.argv[1])), "Random nestings")
