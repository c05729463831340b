"""The contract of a mechanism: its members, its samples, its density and its loss."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from audits.checks.laws.entrances import is_sampled
from audits.checks.laws.mechanism_law import law_findings
from audits.testing.check import Check
from audits.testing.density import law_check
from audits.testing.losses import certificate_check, loss_check, pairs_check, stated
from dpaudit import Mechanism
from dpaudit.model.mechanism import is_mechanism

_EPSILONS = (0.0, 0.3, 1.0, 2.0)
_FAR = 1_000
_BY_PAIR = {"law": "what an answer is", "loss": "where the loss is attained", "pairs": "what an answer is"}
"""The checks that need a worst pair, with what it tells them."""

_EVERYWHERE = "samples follow log_density, at every entrance"


def mechanism_checks(mechanism: Mechanism, rng: np.random.Generator) -> tuple[Check, ...]:
    """Return every check of the contract of one mechanism, in order; a check that raises has failed.

    Without `worst_pair` neither law nor loss nor other pairs are looked at. False alarm: 1e-8 for those that draw
    afresh; at their fixed seeds, samples of shipped kinds are flagged with probability 1e-7 each.

    >>> from mechanisms import Laplace
    >>> laplace = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> [check.outcome for check in mechanism_checks(laplace, np.random.default_rng(0))]
    ['ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok']
    """
    if not is_mechanism(mechanism):
        return (Check(what="members", outcome="failed", says="not a mechanism: members of the protocol are missing"),)
    steps: tuple[tuple[str, Callable[[Any], Check]], ...] = (
        ("members", lambda _: _members(mechanism)),
        ("samples", lambda _: _samples(mechanism, rng)),
        ("law", lambda pair: _law(mechanism, pair, rng)),
        ("loss", lambda pair: loss_check(mechanism, pair, rng)),
        ("pairs", lambda pair: pairs_check(mechanism, pair, rng)),
        ("certificate", lambda _: certificate_check(mechanism)),
        ("scaled", lambda _: _scaled(mechanism)),
    )
    return tuple(_outcome(what, step, mechanism) for what, step in steps)


def _outcome(what: str, step: Callable[[Any], Check], mechanism: Mechanism) -> Check:
    """Return what a step says, given the worst pair where it needs one; an exception is a failure."""
    try:
        pair = _pair(mechanism) if what in _BY_PAIR else None
        if pair is None and what in _BY_PAIR:
            return Check(what=what, outcome="not looked at", says=f"no worst_pair says {_BY_PAIR[what]}")
        return step(pair)
    except Exception as error:  # a contract may break in any way
        says = f"raised {type(error).__name__}: {' '.join(str(error).split())}"
        return Check(what=what, outcome="failed", says=says)


def _members(mechanism: Mechanism) -> Check:
    """A frozen dataclass that equals its copy: certificates compare mechanisms by value."""
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
    other = np.asarray(mechanism.release(value, np.random.default_rng(seed + 1)))
    if np.array_equal(first, other) and len(np.unique(first)) > 1:
        return Check(
            what="samples", outcome="failed", says="other generators give the same noise: it is drawn elsewhere"
        )
    column = numbers[:, 0][np.isfinite(numbers[:, 0])] if first.dtype.kind == "f" else numbers[:0, 0]
    if len(np.unique(column)) < len(column) - 2:
        return Check(what="samples", outcome="failed", says="several releases of one call carry the same noise")
    return Check(what="samples", outcome="ok", says="one independent release a row, from the generator alone")


def _law(mechanism: Mechanism, pair: tuple[Any, Any], rng: np.random.Generator) -> Check:
    """Samples follow the mechanism's own density, at every entrance where answers of all kinds are known."""
    if is_sampled(mechanism):
        item = np.shape(pair[0])[1:] if mechanism.name == "tree_aggregation" else np.shape(pair[0])
        said = next((finding.message for finding in law_findings([(mechanism, item, mechanism.name)])), "")
        return Check(what="law", outcome="failed" if said else "ok", says=said or _EVERYWHERE)
    answers = [(pair[0], pair[1]), (pair[1], pair[0]), *_far(mechanism, pair)]
    checked = [law_check(mechanism, answer, rng, other) for answer, other in answers]
    return next((check for check in checked if check.failed), checked[0])


def _far(mechanism: Mechanism, pair: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    """Return answers far from 0 of both signs, each beside one near 0, for noise that should not depend on the answer.

    Only for densities that shift with the answer. A square answer stays symmetric.
    """
    first = np.asarray(pair[0])
    if first.dtype.kind not in "iuf":
        return []
    places = np.arange(first.size).reshape(first.shape)
    steps = np.minimum(places, places.T) if first.ndim == 2 else places
    far = _FAR * (1 + steps).astype(first.dtype)
    if not _shifts(mechanism, first, far):
        return []
    return [(first + far, first), (first - far, first)]


def _shifts(mechanism: Mechanism, answer: Any, move: Any) -> bool:
    """Return whether far answers are taken and the density of an output that moves with its answer stays the same."""
    try:
        for there in (answer + move, answer - move):
            mechanism.release(np.broadcast_to(there, (2, *answer.shape)), np.random.default_rng(0))
        outputs = mechanism.release(np.broadcast_to(answer, (8, *answer.shape)), np.random.default_rng(0))
        near, far = (np.asarray(mechanism.log_density(outputs + m, answer + m)) for m in (0 * move, move))
    except Exception:  # a mechanism may refuse far answers in any way
        return False
    return np.shape(outputs) == (8, *answer.shape) and bool(np.allclose(near, far, rtol=1e-6, atol=1e-6))


def _scaled(mechanism: Mechanism) -> Check:
    """Twice the noise has no larger loss."""
    twice = mechanism.scaled(2.0)
    worse = [epsilon for epsilon in _EPSILONS if stated(twice, epsilon)[0] > stated(mechanism, epsilon)[0] + 1e-9]
    if type(twice) is not type(mechanism):
        return Check(what="scaled", outcome="failed", says=f"scaled returns a {type(twice).__name__}")
    says = f"with twice the noise the loss is larger at epsilon {worse[0]:g}" if worse else "more noise, no more loss"
    return Check(what="scaled", outcome="failed" if worse else "ok", says=says)
