"""What must catch a defect of the checker or of the accountant: certificates, known deltas, and games of tiny data."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import mpmath
import numpy as np

from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.declaration import Declaration
from dpaudit.semantics.seeds import TABLES
from dpaudit.verifier import verify
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.refusals import Rejection
from dpaudit.verifier.stated_ends import compared
from tests.checker import forging, test_derivations, truths
from tests.checker.numerics import test_margins
from tests.checker.proofs.folds import attained, fold
from tests.mutation.battery import CHECKS, whole
from tests.semantics.judging import FEW, THREE, Judged, judged
from tests.semantics.test_accountant_against_the_game import QUICK
from tests.semantics.test_guarded_premises import GUARDS

Check = Callable[[], bool]
DIGITS = 3e-7
"""Relative: what the known deltas are rounded to."""


def of_the_checker(seed: int) -> Iterator[Check]:
    """Yield whether honest and forged certificates are told apart, and whether known deltas lie in narrow brackets."""
    rng = np.random.default_rng(seed)
    drawn = [forging.drawn(rng) for _ in range(8)]
    trees, pairs, rare = list(forging.honest(every=9)), list(truths.paired()), list(truths.rare())
    argued = [c for factor in (1 + 1e-6, 1 - 1e-6) for c in truths.argued(factor.__mul__)]
    samples = forging.sampled(((1e-6, 1.25),), every=6)
    for certificate in (*rare, *argued, *pairs, *drawn, *trees, *samples):
        yield partial(judges, certificate.to_json(), honest=True)
    for certificate in (*drawn[:2], *trees[::7], *pairs[:2], *rare):
        yield from (partial(judges, text, honest=False) for _, text in forging.forgeries(certificate))
    tables = (holds, truths.truths()), (holds, truths.lower_truths()), (meets, truths.met_from_below())
    others = (fits, truths.widths()), (says, truths.ends())
    for check, rows in (*tables, *others):
        yield from (partial(check, *row) for row in rows)
    yield from (partial(refuses, attained, *row, []) for row in truths.no_pairs())
    yield from (partial(refuses, fold, *row) for row in truths.no_declarations())
    tests = vars(test_margins) | vars(test_derivations)
    yield from (partial(passes, test) for name, test in tests.items() if name.startswith("test_"))
    yield lambda: verify("[" * 500 + "]" * 500).verdict == "unreadable"


def of_the_accountant(seed: int) -> Iterator[Check]:
    """Yield whether both ends of a seed are on their sides of its game, and whether a table of tests passes."""
    yield from (partial(is_right, guard.judged) for guard in GUARDS)
    yield from (partial(passes, check) for check in CHECKS.values())
    names = sorted(QUICK)
    chosen = np.random.default_rng(seed).permutation(len(names))[: len(names) // 3]
    for number, relation, statement in itertools.product(chosen, NEIGHBOURS, ("tables", "black boxes")):
        yield partial(is_right, partial(played, QUICK[names[number]], relation, statement))


def played(tree: Declaration, relation: Neighbours, statement: str) -> Judged:
    """Return a seed as it is judged at two x."""
    return judged(tree, TABLES, relation, statement, THREE[:2], np.random.default_rng(7), FEW)


def is_right(judge: Callable[[], Judged]) -> bool:
    """Return whether both ends of a tree are on their sides of its game."""
    found = judge()
    return not (found.wrong or found.too_high)


def judges(text: str, *, honest: bool) -> bool:
    """Return whether a certificate is accepted that is honest, and rejected that is forged."""
    return bool(verify(text).accepted == honest)


def holds(*row: Any) -> bool:
    """Return whether a narrow bracket holds a known delta, of a tree under a relation or of a pair of it."""
    *of, epsilon, delta = row
    low, high = _curve(*of).delta(epsilon)
    return bool(low <= delta * (1 + DIGITS) and high >= delta * (1 - DIGITS) and high - low <= 2e-3 * high)


def meets(tree: Any, relation: str, pair: Any, epsilon: float, delta: float) -> bool:
    """Return whether the lower end of a bracket meets the known delta of a pair."""
    low, high = _curve(tree, relation, pair).delta(epsilon)
    return bool(delta * (1 - DIGITS) <= low <= delta * (1 + DIGITS) and low <= high)


def fits(tree: Any, relation: str, epsilon: float, width: float) -> bool:
    """Return whether a bracket is as narrow as it is to be."""
    low, high = _curve(tree, relation).delta(epsilon)
    return bool(0 < high - low <= width * high)


def says(tree: Any, relation: str, side: str, data: Any, ends: Any, word: str) -> bool:
    """Return whether a stated end is judged as it is to be."""
    curve = _curve(tree, relation)
    return bool(truths.said(compared(side, data, ends, curve, curve)) == word)


def refuses(derived: Callable[..., object], *given: Any) -> bool:
    """Return whether the checker refuses what it is to derive."""
    try:
        derived(*given)
    except Rejection:
        return True
    return False


def passes(test: Callable[[], None]) -> bool:
    """Return whether all members of a test of single functions pass; one that fails ends in an error."""
    with mpmath.workdps(50):
        whole(test)()
    return True


def _curve(tree: Any, relation: str, pair: Any = None) -> Worst:
    """Return the checker's curve of a tree, or of a pair."""
    return Worst(fold(tree, relation) if pair is None else attained(tree, relation, pair, []))
