"""The contract of a mechanism: its members, its samples, its density and its loss."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from audits.checks.laws.mechanism_law import law_findings
from audits.checks.laws.uniforms import has_reference
from audits.testing.check import Check
from audits.testing.density import law_check
from dpaudit import Mechanism, Release, bracket_delta, fold
from dpaudit.model.mechanism import Array, is_mechanism

_RUNS = 40_000
_EPSILONS = (0.0, 0.3, 1.0, 2.0)
_ALARM = 1e-9


def mechanism_checks(mechanism: Mechanism, rng: np.random.Generator) -> tuple[Check, ...]:
    """Return every check of the contract of one mechanism, in order; a check that raises has failed.

    Without `worst_pair` neither law nor loss is looked at. False alarm: 1e-8 for all of them together.

    >>> from mechanisms import Laplace
    >>> laplace = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> [check.outcome for check in mechanism_checks(laplace, np.random.default_rng(0))]
    ['ok', 'ok', 'ok', 'ok', 'ok']
    """
    if not is_mechanism(mechanism):
        return (Check(what="members", outcome="failed", says="not a mechanism: members of the protocol are missing"),)
    steps: tuple[tuple[str, Callable[[Mechanism, np.random.Generator], Check]], ...] = (
        ("members", _members),
        ("samples", _samples),
        ("law", _law),
        ("loss", _loss),
        ("scaled", _scaled),
    )
    return tuple(_outcome(what, step, mechanism, rng) for what, step in steps)


def _outcome(
    what: str, step: Callable[[Mechanism, np.random.Generator], Check], mechanism: Mechanism, rng: np.random.Generator
) -> Check:
    """Return what a step says; an exception is a failure."""
    try:
        return step(mechanism, rng)
    except Exception as error:  # a contract may break in any way
        says = f"raised {type(error).__name__}: {' '.join(str(error).split())}"
        return Check(what=what, outcome="failed", says=says)


def _members(mechanism: Mechanism, rng: np.random.Generator) -> Check:
    """A frozen dataclass that equals its copy: certificates compare mechanisms by value."""
    del rng
    made: Any = mechanism
    stated: Any = getattr(type(mechanism), "__dataclass_params__", None)
    if stated is None:
        return Check(what="members", outcome="failed", says="not a dataclass")
    if not stated.frozen:
        return Check(what="members", outcome="failed", says="not frozen: its noise could change after it was declared")
    copy: Any = dataclasses.replace(made)
    same = copy == made and hash(copy) == hash(made)
    says = "a frozen dataclass, equal by value" if same else "a copy of it is another mechanism"
    return Check(what="members", outcome="ok" if same else "failed", says=says)


def _pair(mechanism: Any) -> tuple[Any, Any] | None:
    """Return the mechanism's own worst pair, if it has one."""
    return mechanism.worst_pair() if hasattr(mechanism, "worst_pair") else None


def _samples(mechanism: Mechanism, rng: np.random.Generator) -> Check:
    """Runs are independent rows, the answer is left alone, and all randomness comes from the generator."""
    pair = _pair(mechanism)
    answer = np.asarray(pair[0] if pair is not None else 0.0)
    value = np.broadcast_to(answer, (64, *answer.shape)).copy()
    before, seed = value.copy(), int(rng.integers(2**31))
    first, again = (np.asarray(mechanism.release(value, np.random.default_rng(seed))) for _ in range(2))
    if not np.array_equal(value, before):
        return Check(what="samples", outcome="failed", says="release changes the answer that it is given")
    if len(first) != len(value):
        says = f"release of 64 answers returns {len(first)} outputs; leading axes are independent releases"
        return Check(what="samples", outcome="failed", says=says)
    if not np.array_equal(first, again):
        return Check(
            what="samples", outcome="failed", says="equal generators give other noise: randomness from elsewhere"
        )
    numbers = first.reshape(len(first), -1)
    if first.dtype.kind == "f" and len(np.unique(numbers[:, 0])) < len(numbers) - 2:
        return Check(what="samples", outcome="failed", says="several releases of one call carry the same noise")
    return Check(what="samples", outcome="ok", says="one independent release a row, from the generator alone")


def _law(mechanism: Mechanism, rng: np.random.Generator) -> Check:
    """Samples follow the stated law: a reference where there is one, else the mechanism's own density."""
    pair = _pair(mechanism)
    if pair is None:
        return Check(what="law", outcome="not looked at", says="no worst_pair says what an answer is")
    item = np.shape(pair[0])
    if has_reference(mechanism):
        found = [finding.message for finding in law_findings([(mechanism, item, mechanism.name)])]
        if found:
            return Check(what="law", outcome="failed", says=found[0])
    checked = [law_check(mechanism, answer, rng) for answer in pair]
    failed = next((check for check in checked if check.failed), None)
    if failed is None and has_reference(mechanism):
        return Check(what="law", outcome="ok", says="samples follow the reference law of this kind, at every entrance")
    return failed or checked[0]


def _loss(mechanism: Mechanism, rng: np.random.Generator) -> Check:
    """The loss is no smaller than what the density shows at the worst pair, by Hoeffding's bound."""
    pair = _pair(mechanism)
    if pair is None:
        return Check(what="loss", outcome="not looked at", says="no worst_pair says where the loss is attained")
    slack = math.sqrt(math.log(4 * len(_EPSILONS) / _ALARM) / (2 * _RUNS))
    for first, second in (pair, pair[::-1]):
        ratios = _log_ratios(mechanism, first, second, rng)
        for epsilon, delta in _curve(ratios):
            stated = _stated(mechanism, epsilon)
            if delta - slack > stated:
                says = (
                    f"at epsilon {epsilon:g} the worst pair shows delta of at least {delta - slack:.4g}; loss() states "
                    f"{stated:.4g}"
                )
                return Check(what="loss", outcome="failed", says=says)
    says = f"the worst pair shows no more than loss() states, at {len(_EPSILONS)} epsilons and {_RUNS:,} samples"
    return Check(what="loss", outcome="ok", says=says)


def _log_ratios(mechanism: Mechanism, first: Any, second: Any, rng: np.random.Generator) -> Array:
    """Return the log likelihood ratio of the first answer to the second, on outputs of the first. Shape: (runs,)."""
    one, other = (np.broadcast_to(np.asarray(side), (_RUNS, *np.shape(side))) for side in (first, second))
    output = mechanism.release(one, rng)
    with np.errstate(invalid="ignore"):
        apart = np.asarray(mechanism.log_density(output, one)) - np.asarray(mechanism.log_density(output, other))
    ratios: Array = apart.reshape(_RUNS, -1).sum(axis=1)
    return ratios


def _stated(mechanism: Mechanism, epsilon: float) -> float:
    """Return an upper bound on the delta that `loss()` states."""
    loss = fold(Release(label=mechanism.name, mechanism=mechanism), mechanism.neighbours)
    return float(bracket_delta(loss, epsilon).upper)


def _curve(ratios: Array) -> Iterator[tuple[float, float]]:
    """Yield (epsilon, mean of (1 - e^(epsilon - ratio))+), which estimates delta from numbers between 0 and 1."""
    for epsilon in _EPSILONS:
        with np.errstate(over="ignore"):
            yield epsilon, float(np.maximum(0.0, -np.expm1(epsilon - ratios)).mean())


def _scaled(mechanism: Mechanism, rng: np.random.Generator) -> Check:
    """Twice the noise has no larger loss."""
    del rng
    twice = mechanism.scaled(2.0)
    worse = [epsilon for epsilon in _EPSILONS if _stated(twice, epsilon) > _stated(mechanism, epsilon) + 1e-9]
    if type(twice) is not type(mechanism):
        return Check(what="scaled", outcome="failed", says=f"scaled returns a {type(twice).__name__}")
    says = f"with twice the noise the loss is larger at epsilon {worse[0]:g}" if worse else "more noise, no more loss"
    return Check(what="scaled", outcome="failed" if worse else "ok", says=says)
