"""A known bug: two variants of the same code, and one check of either through a path that users have."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from audits.checks.paired_replay import Replayable, replay_neighbours
from audits.experiment.function_case import function_case
from audits.procedures.audit import audit
from dpaudit import Claim, Declaration, Recorder, certify
from dpaudit.model.case import Score
from dpaudit.model.trace import Finding, admit
from dpaudit.runtime.plugins import find_plugin

Look = Callable[["Variant", np.random.Generator], tuple[Finding, ...]]
"""look(variant, rng) -> the findings on that variant."""

Variant = Literal["broken", "fixed"]
Path = Literal["certify", "trace", "replay", "conformance", "audit"]

SIGNIFICANCE = 1e-6
"""Probability that one statistical check accuses a fixed variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBug:
    """A bug with its family, where it was found (`story`), and the path by which dpaudit checks it.

    `seeded` says whether the check depends on its seed; one that does not is run once and counts for every seed.
    `package` names what must be installed elsewhere, empty for an analogue.
    """

    name: str
    family: str
    story: str
    path: Path
    look: Look
    seeded: bool = True
    package: str = ""


def mechanism(name: str, **parameters: Any) -> Any:
    """Return a mechanism by its name."""
    return mechanism_type(name)(**parameters)


def mechanism_type(name: str) -> Any:
    """Return the class of a mechanism by its name, found at run time: audits do not import mechanisms."""
    return find_plugin("mechanisms", name)


def by_certificate(declaration: Declaration, claim: Claim) -> tuple[Finding, ...]:
    """Return a finding unless the claim is certified."""
    certificate = certify(declaration, claim)
    if certificate.verdict == "certified":
        return ()
    return (Finding(rule="DPA101", where="claim", message=f"{certificate.verdict}: {certificate.reasons[0]}"),)


def by_trace(
    declaration: Declaration, run: Callable[[Recorder], object], rng: np.random.Generator
) -> tuple[Finding, ...]:
    """Return the findings of a run's trace against its declaration."""
    recorder = Recorder(rng)
    run(recorder)
    return admit(declaration, recorder.trace())


def by_replay(function: Replayable, neighbours: tuple[Any, Any], rng: np.random.Generator) -> tuple[Finding, ...]:
    """Return the differences between two neighbours on one tape of noise."""
    return replay_neighbours(function, neighbours, rng)


def by_audit(
    function: Callable[[Any, np.random.Generator, int], Any],
    neighbours: tuple[Any, Any],
    claim: Claim,
    rng: np.random.Generator,
    *,
    runs: int = 4000,
    score: Score | None = None,
) -> tuple[Finding, ...]:
    """Return a finding where an audit refutes the claim."""
    case = function_case(function, neighbours, claim, score=score)
    result = audit(case, claim=claim, runs=runs, rng=rng, significance=SIGNIFICANCE)
    if result.verdict != "violation":
        return ()
    message = f"epsilon is at least {result.epsilon_lower:.4g}; {claim.epsilon:g} is claimed."
    return (Finding(rule="DPA301", where=result.name, message=message),)
