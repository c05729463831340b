"""Compare every default engine with the truth on random compositions: `python benchmarks/accounting_truth.py 10000`.

Prints each violation (there must be none) and the widths and times of the brackets.
"""

import importlib.util
import statistics
import sys
import time
from functools import reduce
from pathlib import Path

import numpy as np

from dpaudit.bracket import Bracket
from dpaudit.engines import ENGINES

TESTS = Path(__file__).parent.parent / "tests" / "accounting"


def load(name):
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(number: int, seed: int) -> int:
    drawing, oracle = load("drawing"), load("oracle")
    rng = np.random.default_rng(seed)
    widths, seconds, wrong, unsettled = [], [], 0, 0
    for index in range(number):
        composition, delta = drawing.draw(rng)
        started = time.process_time()
        answers = [engine.epsilon(composition, delta) for engine in ENGINES if engine.covers(composition)]
        seconds.append(time.process_time() - started)
        bracket = reduce(Bracket.intersect, answers)
        widths.append((bracket.upper - bracket.lower) / bracket.upper if bracket.upper > 0 else 0.0)
        try:
            above = bracket.upper > 0 and oracle.true_delta(composition, bracket.upper, 30).real > delta
            below = bracket.lower > 0 and oracle.true_delta(composition, bracket.lower, 30).real < delta
        except ArithmeticError:
            unsettled += 1
            continue
        if above or below:
            wrong += 1
            print(f"WRONG at {index}: {composition} delta={delta} {bracket}")
    print(f"{number} compositions, {wrong} wrong, {unsettled} without a truth")
    print(f"relative width: median {statistics.median(widths):.2e}, largest {max(widths):.2e}")
    print(f"seconds of processor: median {statistics.median(seconds):.3f}, largest {max(seconds):.2f}")
    return wrong


if __name__ == "__main__":
    arguments = [int(argument) for argument in sys.argv[1:]]
    sys.exit(min(1, main(arguments[0] if arguments else 200, arguments[1] if len(arguments) > 1 else 0)))
