"""Print which planted defects of the checker survive: `python -m benchmarks.checker_mutants [--number N] [--seed S]`.

Comparisons, terms, roundings, minima and maxima of `dpaudit/verifier` are turned round one at a time, a seeded sample
of them. A mutant dies if an honest certificate of the corpus in tests/checker/forging.py, or a printed argument at the
end of its rule, is no longer accepted, if a forged one is, if a bracket loses a delta of tests/checker/truths.py, if
an end next to the truth is judged otherwise, or if a test of single functions fails (test_derivations.py and
numerics/test_margins.py there). Each mutant is a forked process that runs the checks that reach its line, the cheapest
first; those that are dear are left out. Survivors are printed with their place.

Of 448 that the checks had not been written for (seed 47), 393 died. 37 of the 55 others were no defects, though they
count against the share that is printed; of the rest, 96 % died. In 30 a limit is moved by one (< for <=) or the same
value is written otherwise: no float meets the limit, or either side is right. In 7 the resolution of what is proved
anyway is another: the number of cells, the tilts of Chernoff's bound, where a window begins.
"""

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import os
import random
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

import mpmath
import numpy as np

from tests.checker import forging, test_derivations, truths
from tests.checker.numerics import test_margins

ROOT = Path(__file__).parent.parent
DIGITS = 3e-7
"""Relative: what the known deltas are rounded to."""
SHARE, SLOWER, SPARE = 0.3, 30, 2.0
"""Seconds of processor time: of one check at most; a mutant that takes so many times as long and so much more dies."""
MEMORY = 8 * 2**30
"""Bytes that a mutant may ask for."""
OPERATORS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
}
Check = Callable[["Loaded"], bool]
CALLS = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor", "minimum": "maximum", "maximum": "minimum"}


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from changed code."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for the changed module alone."""
        if name != self.name:
            return None
        origin = ROOT / Path(*name.split(".")).with_suffix(".py")
        return importlib.util.spec_from_file_location(name, origin, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        exec(self.code, module.__dict__)


def sites(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int]]:
    """Yield what can be changed: the node, the field that holds its operator, and a place in a list."""
    for node in ast.walk(tree):
        for i, operator in enumerate(node.ops if isinstance(node, ast.Compare) else []):
            if type(operator) in OPERATORS:
                yield node, "ops", i
        if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp) and type(node.op) in OPERATORS:
            yield node, "op", 0
        if isinstance(node, ast.Name) and node.id in CALLS:
            yield node, "id", 0
        if isinstance(node, ast.Attribute) and node.attr in CALLS:
            yield node, "attr", 0


class Mutant(NamedTuple):
    """A module with one change, what the change is, and the lines of what is changed."""

    module: str
    code: CodeType
    said: str
    lines: range


class Timed(NamedTuple):
    """A check that the checker passes, its processor time, and the lines of the checker that it reaches."""

    check: Check
    cost: float
    reached: frozenset[tuple[str, int]]


def changed(module: str, source: str, number: int) -> Mutant:
    """Return a module with one change."""
    tree = ast.parse(source)
    node, field, i = next(itertools.islice(sites(tree), number, None))
    before = ast.unparse(node)
    held = getattr(node, field)
    if field == "ops":
        held[i] = OPERATORS[type(held[i])]()
    else:
        setattr(node, field, CALLS[held] if isinstance(held, str) else OPERATORS[type(held)]())
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    code = compile(tree, "<mutant>", "exec")
    return Mutant(module, code, f"line {first}: {before} -> {ast.unparse(node)}", range(first, last + 1))


def checks_of(seed: int) -> list[Check]:
    """Return all checks."""
    rng = np.random.default_rng(seed)
    drawn = [forging.drawn(rng) for _ in range(8)]
    trees = list(forging.honest(every=9))
    samples = list(forging.sampled(((1e-6, 1.25),), every=6))
    argued = [c for factor in (1 + 1e-6, 1 - 1e-6) for c in truths.argued(factor.__mul__)]
    pairs = list(truths.paired())
    rare = list(truths.rare())
    certificates = (*rare, *argued, *pairs, *drawn, *trees, *samples)
    forged = [text for c in (*drawn[:2], *trees[::7], *pairs[:2], *rare) for _, text in forging.forgeries(c)]
    checks: list[Check] = [partial(judges, c.to_json(), honest=True) for c in certificates]
    checks += [partial(judges, text, honest=False) for text in forged]
    checks += [partial(holds, *row) for row in truths.truths()]
    checks += [partial(attains, *row) for row in truths.lower_truths()]
    checks += [partial(meets, *row) for row in truths.met_from_below()]
    checks += [partial(fits, *row) for row in truths.widths()]
    checks += [partial(says, *row) for row in truths.ends()]
    checks += [partial(refuses, "attained", *row, []) for row in truths.no_pairs()]
    checks += [partial(refuses, "fold", *row) for row in truths.no_declarations()]
    tests = vars(test_margins) | vars(test_derivations)
    checks += [partial(passes, test) for name, test in tests.items() if name.startswith("test_")]
    checks.append(partial(reads, "[" * 500 + "]" * 500, "unreadable"))
    return checks


def battery(checks: list[Check]) -> list[Timed]:
    """Return the checks that the checker passes in no more than their share of time, the cheapest first."""
    loaded, found = Loaded(), []
    for check in checks:
        loaded.forget()
        start = time.process_time()
        holds = check(loaded)
        cost = time.process_time() - start
        if holds and cost < SHARE:
            found.append(Timed(check, cost, _reached(check, loaded)))
    return sorted(found, key=lambda row: row.cost)


def _reached(check: Check, loaded: "Loaded") -> frozenset[tuple[str, int]]:
    """Return the modules and lines of the checker that a check runs."""
    seen: set[tuple[str, int]] = set()
    folder = str(ROOT / "dpaudit" / "verifier")

    def line(frame: FrameType, event: str, given: object) -> Any:
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def call(frame: FrameType, event: str, given: object) -> Any:
        return line(frame, event, given) if frame.f_code.co_filename.startswith(folder) else None

    loaded.forget()
    sys.settrace(call)
    try:
        check(loaded)
    finally:
        sys.settrace(None)
    return frozenset((Path(name).stem, number) for name, number in seen)


class Loaded:
    """The functions of the checker that is loaded now."""

    def __init__(self) -> None:
        self.verify = importlib.import_module("dpaudit.verifier").verify
        folds = importlib.reload(importlib.import_module("tests.checker.proofs.folds"))
        self.fold, self.attained = folds.fold, folds.attained
        self.worst = importlib.import_module("dpaudit.verifier.curve").Worst
        self.compared = importlib.import_module("dpaudit.verifier.stated_ends").compared
        self.pairs = importlib.import_module("dpaudit.verifier.pairs")

    def forget(self) -> None:
        """Forget the losses that were cut before."""
        self.pairs.looked.cache_clear()
        self.pairs.cut_finely.cache_clear()


def judges(text: str, loaded: Loaded, *, honest: bool) -> bool:
    """Return whether a certificate is accepted that is honest, and rejected that is forged."""
    return bool(loaded.verify(text).accepted == honest)


def holds(tree: Any, relation: str, epsilon: float, delta: float, loaded: Loaded) -> bool:
    """Return whether a narrow bracket holds a known delta."""
    return _narrow(loaded.worst(loaded.fold(tree, relation)).delta(epsilon), delta)


def attains(tree: Any, relation: str, pair: Any, epsilon: float, delta: float, loaded: Loaded) -> bool:
    """Return whether a narrow bracket holds the known delta of a pair."""
    return _narrow(loaded.worst(loaded.attained(tree, relation, pair, [])).delta(epsilon), delta)


def meets(tree: Any, relation: str, pair: Any, epsilon: float, delta: float, loaded: Loaded) -> bool:
    """Return whether the lower end of a bracket meets the known delta of a pair."""
    low, high = loaded.worst(loaded.attained(tree, relation, pair, [])).delta(epsilon)
    return bool(delta * (1 - DIGITS) <= low <= delta * (1 + DIGITS) and low <= high)


def fits(tree: Any, relation: str, epsilon: float, width: float, loaded: Loaded) -> bool:
    """Return whether a bracket is as narrow as it is to be."""
    low, high = loaded.worst(loaded.fold(tree, relation)).delta(epsilon)
    return bool(0 < high - low <= width * high)


def says(tree: Any, relation: str, side: str, data: Any, ends: Any, word: str, loaded: Loaded) -> bool:
    """Return whether a stated end is judged as it is to be."""
    curve = loaded.worst(loaded.fold(tree, relation))
    return bool(truths.said(loaded.compared(side, data, ends, curve, curve)) == word)


def refuses(name: str, *rest: Any) -> bool:
    """Return whether a function of the checker refuses its arguments, what is loaded being the last."""
    *given, loaded = rest
    try:
        getattr(loaded, name)(*given)
    except importlib.import_module("dpaudit.verifier.refusals").Rejection:
        return True
    return False


def reads(text: str, verdict: str, loaded: Loaded) -> bool:
    """Return whether a text that is no certificate is called what it is."""
    return bool(loaded.verify(text).verdict == verdict)


def passes(test: Callable[[], None], loaded: Loaded) -> bool:
    """Return whether a test of single functions passes; it fails with an error."""
    with mpmath.workdps(50):
        test()
    return True


def _narrow(bracket: tuple[float, float], delta: float) -> bool:
    """Return whether a bracket holds a number, and is narrow."""
    low, high = bracket
    return low <= delta * (1 + DIGITS) and high >= delta * (1 - DIGITS) and high - low <= 2e-3 * high


def survives(mutant: Mutant, checks: list[Timed]) -> bool:
    """Return whether no check that reaches a mutant tells it from the checker; a forked process asks."""
    child = os.fork()
    if not child:
        os._exit(_found(mutant, checks))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _found(mutant: Mutant, checks: list[Timed]) -> int:
    """Return 1 if some check finds a mutant in this process, which is of no use afterwards; else 0."""
    lines = {(mutant.module, line) for line in mutant.lines}
    reaching = [row for row in checks if lines & row.reached] or checks  # what is run on import, no check reaches
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for name in [name for name in sys.modules if name.startswith("dpaudit.verifier")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Mutated(f"dpaudit.verifier.{mutant.module}", mutant.code))
    try:
        loaded = Loaded()
        for row in reaching:
            signal.setitimer(signal.ITIMER_VIRTUAL, SPARE + SLOWER * row.cost)
            if not row.check(loaded):
                return 1
    except BaseException:  # a crash shows the defect, and so does what hangs
        return 1
    return 0


def too_long(*_: object) -> None:
    """Stop a mutant that hangs."""
    raise TimeoutError("the check did not end")


def main() -> int:
    """Print survivors and the share of the dead; 1 below 95 %."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=150)
    parser.add_argument("--seed", type=int, default=16)
    asked = parser.parse_args()
    signal.signal(signal.SIGVTALRM, too_long)
    checks = battery(checks_of(asked.seed))
    print(f"{len(checks)} checks, {sum(row.cost for row in checks):.1f} s.", flush=True)
    chosen = random.Random(asked.seed).sample(places := all_places(), min(asked.number, len(places)))
    alive = 0
    for tried, place in enumerate(chosen, start=1):
        mutant = changed(*place)
        if survives(mutant, checks):
            alive += 1
            print(f"survives ({alive} of {tried}): {mutant.module}.py {mutant.said}", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} mutants die, out of {len(places)}; {len(checks)} checks.")
    return int(alive > 0.05 * len(chosen))


def all_places() -> list[tuple[str, str, int]]:
    """Return all that can be changed: the module, its source and the number of the site."""
    paths = sorted((ROOT / "dpaudit" / "verifier").glob("[!_]*.py"))
    sources = [(path.stem, path.read_text(encoding="utf-8")) for path in paths]
    return [(module, text, number) for module, text in sources for number in range(len([*sites(ast.parse(text))]))]


if __name__ == "__main__":
    sys.exit(main())
