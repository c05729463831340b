"""Compare the default engines with the truth on random compositions.

    python -m benchmarks.accounting_truth NUMBER [SEED] [nodes]

With `nodes` the compositions hold samples, averages, secret places, groups and choices, and the truth is that of simple
losses of the same curve, which are derived apart. Prints each violation (there must be none) and each composition
without a truth, then widths and times by kind. An interrupted run prints the table of what it did.
"""

import statistics
import sys
import time
from functools import reduce

import numpy as np

from dpaudit.engines import ENGINES
from dpaudit.model.bracket import Bracket
from tests.accounting import drawing, drawing_nodes, oracle

DIGITS = 60
EVERY = 250
"""Compositions between two lines of progress."""
AGREED = (1e-9, 1e-6)
"""How far a truth may be off, relative; the second where the first cannot be had."""


def bracket_of(composition, delta) -> Bracket:
    return reduce(Bracket.intersect, [e.epsilon(composition, delta) for e in ENGINES if e.covers(composition)])


def contradiction(composition, delta, bracket) -> str:
    """Say which end of the bracket the truth contradicts; empty if none."""
    for agreed in AGREED:
        try:
            if bracket.upper > 0:
                truth = oracle.true_delta(composition, bracket.upper, DIGITS, agreed).real
                if truth > delta * (1 + agreed):
                    return "upper"
            if bracket.lower > 0:
                truth = oracle.true_delta(composition, bracket.lower, DIGITS, agreed).real
                if truth < delta * (1 - agreed):
                    return "lower"
            return ""
        except ArithmeticError as failure:
            reason = failure
    raise reason


def table(rows: dict[str, list[tuple[float, float]]]) -> None:
    print(f"{'kind':28} {'number':>7} {'median width':>13} {'largest':>9} {'> 1e-4':>7} {'median s':>9} {'largest':>8}")
    every = [row for held in rows.values() for row in held]
    for name, held in [*sorted(rows.items()), ("all", every)]:
        widths, seconds = zip(*held, strict=True)
        print(
            f"{name:28} {len(held):7} {statistics.median(widths):13.2e} {max(widths):9.1e} "
            f"{sum(width > 1e-4 for width in widths) / len(widths):7.1%} "
            f"{statistics.median(seconds):9.3f} {max(seconds):8.2f}"
        )


def main(number: int, seed: int, *, nodes: bool) -> int:
    rng = np.random.default_rng(seed)
    rows: dict[str, list[tuple[float, float]]] = {}
    wrong = unsettled = 0
    try:
        for index in range(number):
            if index and index % EVERY == 0:
                print(f"{index} compositions, {wrong} wrong, {time.process_time():.0f} s", file=sys.stderr, flush=True)
            kind, composition, *simple, delta = drawing_nodes.draw_nodes(rng) if nodes else drawing.draw(rng)
            started = time.process_time()
            bracket = bracket_of(composition, delta)
            width = (bracket.upper - bracket.lower) / bracket.upper if bracket.upper > 0 else 0.0
            rows.setdefault(kind, []).append((width, time.process_time() - started))
            try:
                side = contradiction(*(simple or [composition]), delta, bracket)
            except ArithmeticError as error:
                unsettled += 1
                print(f"no truth at {index}: {composition} delta={delta!r}: {error}", flush=True)
                continue
            if side:
                wrong += 1
                print(f"WRONG {side} at {index}: {composition} delta={delta!r} {bracket}", flush=True)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    print(f"seed {seed}: {sum(map(len, rows.values()))} compositions, {wrong} wrong, {unsettled} without a truth")
    table(rows)
    return wrong


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument != "nodes"]
    sys.exit(min(1, main(*(numbers + [200, 0][len(numbers) :]), nodes="nodes" in sys.argv)))
