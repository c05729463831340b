"""Print which planted defects of the checker survive: `python benchmarks/checker_mutants.py [--number N] [--seed S]`.

Comparisons, terms, roundings, minima and maxima of `dpaudit/verifier` are turned round one at a time, a seeded sample
of them. A mutant dies if an honest certificate of the corpus in tests/checker/forging.py, or a printed argument at the
end of its rule, is no longer accepted, if a forged one is, if a bracket loses a delta of tests/checker/truths.py, or if
an end next to the truth is judged otherwise. The cheapest checks come first; those that are dear are left out.
Survivors are printed with their place; some are equivalent, such as a limit moved by one.
"""

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

# The repository's root must be on the path before its tests can be imported: E402 below.
from tests.checker import forging, truths  # noqa: E402

DIGITS = 3e-7
"""Relative: what the known deltas are rounded to."""
PATIENCE, SHARE = 60, 0.3
"""Seconds of processor time: of all checks of one mutant, one that hangs counting as dead; and of one check at most."""
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


def changed(source: str, number: int) -> tuple[CodeType, str]:
    """Return a module with one change, and what the change is."""
    tree = ast.parse(source)
    node, field, i = next(itertools.islice(sites(tree), number, None))
    before = ast.unparse(node)
    held = getattr(node, field)
    if field == "ops":
        held[i] = OPERATORS[type(held[i])]()
    else:
        setattr(node, field, CALLS[held] if isinstance(held, str) else OPERATORS[type(held)]())
    line = getattr(node, "lineno", 0)
    return compile(tree, "<mutant>", "exec"), f"line {line}: {before} -> {ast.unparse(node)}"


def battery(seed: int) -> list[Check]:
    """Return all checks that the checker passes in no more than their share of time, the cheapest first."""
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
    checks += [partial(says, *row) for row in truths.ends()]
    checks += [partial(refuses, "attained", *row, []) for row in truths.no_pairs()]
    checks += [partial(refuses, "fold", *row) for row in truths.no_declarations()]
    checks.append(partial(reads, "[" * 500 + "]" * 500, "unreadable"))
    loaded = Loaded()
    costs: list[tuple[float, int, Check]] = []
    for check in checks:
        start = time.process_time()
        if check(loaded):
            costs.append((time.process_time() - start, len(costs), check))
    return [check for cost, _, check in sorted(costs, key=lambda row: row[:2]) if cost < SHARE]


class Loaded:
    """The functions of the checker that is loaded now."""

    def __init__(self) -> None:
        self.verify = importlib.import_module("dpaudit.verifier").verify
        self.fold = importlib.import_module("dpaudit.verifier.folding").fold
        self.worst = importlib.import_module("dpaudit.verifier.curve").Worst
        self.attained = importlib.import_module("dpaudit.verifier.attained").attained
        self.compared = importlib.import_module("dpaudit.verifier.stated_ends").compared


def judges(text: str, loaded: Loaded, *, honest: bool) -> bool:
    """Return whether a certificate is accepted that is honest, and rejected that is forged."""
    return bool(loaded.verify(text).accepted == honest)


def holds(tree: Any, relation: str, epsilon: float, delta: float, loaded: Loaded) -> bool:
    """Return whether a narrow bracket holds a known delta."""
    return _narrow(loaded.worst(loaded.fold(tree, relation)).delta(epsilon), delta)


def attains(tree: Any, relation: str, pair: Any, epsilon: float, delta: float, loaded: Loaded) -> bool:
    """Return whether a narrow bracket holds the known delta of a pair."""
    return _narrow(loaded.worst(loaded.attained(tree, relation, pair, [])).delta(epsilon), delta)


def says(tree: Any, relation: str, side: str, data: Any, ends: Any, word: str, loaded: Loaded) -> bool:
    """Return whether a stated end is judged as it is to be."""
    return bool(truths.said(loaded.compared(side, data, ends, loaded.worst(loaded.fold(tree, relation)))) == word)


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


def _narrow(bracket: tuple[float, float], delta: float) -> bool:
    """Return whether a bracket holds a number, and is narrow."""
    low, high = bracket
    return low <= delta * (1 + DIGITS) and high >= delta * (1 - DIGITS) and high - low <= 2e-3 * high


def survives(module: str, code: CodeType, checks: list[Check]) -> bool:
    """Return whether no check of the battery tells a mutant from the checker."""
    finder = Mutated(f"dpaudit.verifier.{module}", code)
    held = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("dpaudit.verifier")}
    sys.meta_path.insert(0, finder)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        loaded = Loaded()
        return all(check(loaded) for check in checks)
    except Exception:  # a crash shows the defect
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.startswith("dpaudit.verifier")]:
            del sys.modules[name]
        sys.modules.update(held)


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
    checks = battery(asked.seed)
    print(f"{len(checks)} checks.", flush=True)
    places = [
        (path.stem, path.read_text(encoding="utf-8"), number)
        for path in sorted((ROOT / "dpaudit" / "verifier").glob("[!_]*.py"))
        for number in range(sum(1 for _ in sites(ast.parse(path.read_text(encoding="utf-8")))))
    ]
    chosen = random.Random(asked.seed).sample(places, min(asked.number, len(places)))
    alive = 0
    for tried, (module, source, number) in enumerate(chosen, start=1):
        code, said = changed(source, number)
        if survives(module, code, checks):
            alive += 1
            print(f"survives ({alive} of {tried}): {module}.py {said}", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} mutants die, out of {len(places)}; {len(checks)} checks.")
    return int(alive > 0.05 * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
