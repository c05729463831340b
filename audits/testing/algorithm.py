"""The contract of an algorithm on a problem: trace, replays, conditions, claim, audits, and what these cover."""

from collections.abc import Iterator
from typing import Any

from audits.checks.case_coverage import ProgramLines, coverage_of
from audits.checks.program_replay import Replayed, replay_program
from audits.testing.attacked import audits_check, certificate_of, claim_check, draws_check
from audits.testing.check import Check
from dpaudit.model.case import AuditCoverage, never_attacked
from dpaudit.model.trace import Finding, admit
from dpaudit.model.transcript import RecordedRun, record_run

_RUNS = 4
_MOST = 3


def algorithm_checks(algorithm: Any, problem: Any, *, seed: int = 0) -> tuple[Check, ...]:
    """Return every check of the contract of an algorithm on one problem, in order.

    The trace of four runs is what is declared; replays of neighbours and of other people on one tape find nothing; the
    conditions that a run looked at hold; the claim is not refuted, and the independent checker agrees; the probes of an
    audit find independent draws; a short anytime audit of each case refutes nothing; all declared releases are attacked
    by some audit case, and the lines that no case executes are named. Coverage is never a failure: it says what is not
    known.

    >>> from algorithms.dp_ebs import DpEbs
    >>> from algorithms.problems import load
    >>> algorithm, problem = DpEbs(epsilon=1.0, horizon=16, arms=2), load("bradley_terry")(arms=2)
    >>> [check.what for check in algorithm_checks(algorithm, problem) if check.failed]
    []
    """
    try:
        declaration, cases = algorithm.declaration(), algorithm.cases(problem)
        recorded = record_run(algorithm, problem, n_runs=_RUNS, seed=seed)
    except Exception as error:  # an algorithm may break in any way
        says = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return (Check(what="run", outcome="failed", says=says),)
    replayed = replay_program(algorithm, problem, declaration, cases, recorded)
    program = ProgramLines(algorithm=algorithm, problem=problem)
    coverages = [coverage_of(case, declaration, program) for case in cases]
    certificate = certificate_of(algorithm, declaration, recorded, replayed)
    return (
        _found("trace", admit(declaration, recorded.transcript.trace), "what was sampled is what is declared"),
        _replays(replayed, recorded),
        *_conditions(recorded, replayed),
        claim_check(certificate),
        draws_check(cases),
        audits_check(cases, certificate, seed),
        *_covered(coverages, program),
    )


def _found(what: str, findings: tuple[Finding, ...], sound: str) -> Check:
    """Return a check that fails with the first few findings."""
    if not findings:
        return Check(what=what, outcome="ok", says=sound)
    said = " ".join(f"{finding.rule} {finding.message}" for finding in findings[:_MOST])
    more = f" {len(findings) - _MOST} more." if len(findings) > _MOST else ""
    return Check(what=what, outcome="failed", says=said + more)


def _replays(replayed: Replayed, recorded: RecordedRun) -> Check:
    """Return what the replays found."""
    if not recorded.tape.released:
        says = "the run is on no tape: take its generators from `Streams` and release through a `Recorder`"
        return Check(what="replays", outcome="not looked at", says=says)
    return _found("replays", replayed.findings, "neighbours and other people on one tape show nothing undeclared")


def _conditions(recorded: RecordedRun, replayed: Replayed) -> Iterator[Check]:
    """Yield what came of the conditions that the run and the replays looked at."""
    conditions = (*recorded.transcript.conditions, *replayed.conditions)
    violated = [condition.text for condition in conditions if condition.status == "violated"]
    if violated:
        yield Check(what="conditions", outcome="failed", says=" ".join(violated[:_MOST]))
    elif conditions:
        yield Check(what="conditions", outcome="ok", says=f"{len(conditions)} were looked at and hold")
    else:
        yield Check(what="conditions", outcome="not looked at", says="neither the run nor a replay looked at any")


def _covered(coverages: list[AuditCoverage], program: ProgramLines) -> Iterator[Check]:
    """Yield which releases and lines the audit cases cover."""
    if not coverages:
        yield Check(what="releases", outcome="not looked at", says="there is no audit case")
        return
    if not any(coverage.recorded for coverage in coverages):
        yield Check(what="releases", outcome="not looked at", says="the cases record no releases")
    else:
        left_out = never_attacked(coverages)
        declared = len(coverages[0].declared)
        says = f"{declared - len(left_out)} of {declared} declared releases are attacked"
        said = f"{says}; not: {', '.join(left_out)}" if left_out else says
        yield Check(what="releases", outcome="not looked at" if left_out else "ok", says=said)
    missed = set.intersection(*(set(_lines(coverage)) for coverage in coverages))
    total = sum(map(len, program.found.values()))
    says = f"{total - len(missed)} of the {total} lines of an ordinary run's functions are executed by some audit case"
    first = ", ".join(f"{file}:{number}" for file, number in sorted(missed)[:_MOST])
    said = f"{says}; not: {first}{', ...' if len(missed) > _MOST else ''}" if missed else says
    yield Check(what="lines", outcome="not looked at" if missed else "ok", says=said)


def _lines(coverage: AuditCoverage) -> Iterator[tuple[str, int]]:
    """Yield (file, number) of every line that an audit missed."""
    for span in coverage.missed:
        file, _, numbers = span.rpartition(":")
        first, _, last = numbers.partition("-")
        yield from ((file, number) for number in range(int(first), int(last or first) + 1))
