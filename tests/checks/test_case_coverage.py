"""Tests of the coverage of audits: which releases were attacked, and which lines ran."""

import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from algorithms.capri import Capri
from algorithms.problems import load
from audits.checks.case_coverage import ProgramLines, coverage_of
from audits.experiment.lines_run import lines_run, own_files, spans
from dpaudit import AuditCase
from dpaudit.model.case import AuditCoverage, never_attacked
from dpaudit.model.mechanism import Array
from dpaudit.wording.audits import lines_sentence, releases_sentence
from tests.command_line import Write, dpaudit


def branch(*, upper: bool) -> int:
    """Return one of two numbers."""
    if upper:
        return 2
    return 1


def _capri() -> tuple[Capri, Any, ProgramLines]:
    """Return a small algorithm, its problem, and its lines."""
    capri, problem = Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=64), load("grid")()
    return capri, problem, ProgramLines(algorithm=capri, problem=problem)


def test_a_line_that_was_not_executed_is_not_listed() -> None:
    """Each branch of a function shows its own line and not the other one."""
    here = branch.__code__.co_filename

    def own(file: str) -> bool:
        return file == here

    low, high = (lines_run(partial(branch, upper=upper), own)[here] for upper in (False, True))
    first = branch.__code__.co_firstlineno
    assert (first + 3 in low, first + 4 in low) == (False, True)
    assert (first + 3 in high, first + 4 in high) == (True, False)


def test_a_branch_that_no_run_takes_is_a_line_of_its_function() -> None:
    """The branch is among the lines of the whole function; twin: a function that a run passes whole has no others."""
    here = branch.__code__.co_filename

    def own(file: str) -> bool:
        return file == here

    def passed() -> int:
        total = 0
        with suppress(KeyError):
            for number in [value + 1 for value in range(3)]:
                total += number * 2
            total = {0: 1}[total]
        return [total][0]

    whole, ran = (lines_run(partial(branch, upper=True), own, whole=case)[here] for case in (True, False))
    assert whole - ran == {branch.__code__.co_firstlineno + 4}
    assert lines_run(passed, own, whole=True)[here] == lines_run(passed, own)[here]


def test_an_exception_of_the_program_ends_the_record_and_an_outer_tracer_survives() -> None:
    """What the audited code raises is not raised here, and a tracer that was set before is set afterwards."""

    def tracer(*arguments: Any) -> None:
        del arguments

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert lines_run(lambda: 1 // 0, lambda file: False) == {}
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)


def test_neighbouring_lines_are_one_span() -> None:
    """Consecutive numbers are one span, files come in order."""
    assert spans({"b.py": {9}, "a.py": {2, 3, 4, 6}}) == ("a.py:2-4", "a.py:6", "b.py:9")


def test_own_files_leave_out_data_and_references() -> None:
    """The problems beside the algorithms are no part of them."""
    own = own_files(Capri.__module__)
    root = Path(sys.modules["algorithms"].__file__ or "").parent
    assert own(str(root / "capri" / "run.py"))
    assert not own(str(root / "problems" / "grid.py"))
    assert not own(np.__file__)


def test_the_first_epoch_is_attacked_and_no_later_one_by_a_case_that_ends_there() -> None:
    """A case that runs one epoch attacks that epoch's release and leaves out the others."""
    capri, problem, program = _capri()
    case = next(case for case in capri.cases(problem) if case.name == "capri transcript")
    seen = coverage_of(case, capri.declaration(), program)
    assert seen.recorded
    assert seen.attacked == ("epoch 1",)
    assert seen.left_out == tuple(label for label in seen.declared if label != "epoch 1")
    assert 0 < seen.missed_lines < seen.lines


def test_a_case_that_looks_at_another_function_attacks_nothing() -> None:
    """The twin: a case that never calls the program has no releases and none of its lines."""
    capri, _, program = _capri()

    def elsewhere(data: float, rng: np.random.Generator, n_runs: int) -> Array:
        return data + rng.normal(size=n_runs)

    case = AuditCase(
        name="elsewhere", view="output", description="", neighbours=(0.0, 1.0), relation="replace_one", run=elsewhere
    )
    seen = coverage_of(case, capri.declaration(), program)
    assert not seen.recorded
    assert seen.attacked == ()
    assert "is not known" in releases_sentence(seen)


def test_neighbours_that_agree_attack_nothing() -> None:
    """A pair without any difference runs the release and does not attack it."""
    capri, problem, program = _capri()
    case = capri.cases(problem)[0]
    first = case.neighbours[0]
    equal = AuditCase(
        name="equal", view=case.view, description="", neighbours=(first, first), relation="replace_one", run=case.run
    )
    seen = coverage_of(equal, capri.declaration(), program)
    assert (seen.recorded, seen.attacked) == (True, ())


def test_a_release_that_no_audit_attacked_is_named_once() -> None:
    """Several audits leave out what none of them attacked."""
    one = AuditCoverage(declared=("a", "b", "c"), attacked=("a",), recorded=True, lines=0, missed=())
    two = AuditCoverage(declared=("a", "b", "c"), attacked=("c",), recorded=True, lines=0, missed=())
    assert never_attacked([one, two]) == ("b",)
    assert releases_sentence(one) == "1 of 3 declared releases attacked; not: b, c."
    missed = AuditCoverage(declared=(), attacked=(), recorded=True, lines=5, missed=("m.py:2-3",))
    assert lines_sentence(missed) == "3 of the 5 lines of an ordinary run's functions were executed; not: m.py:2-3."


def test_the_report_names_on_its_cover_what_no_audit_attacked(write: Write) -> None:
    """A report of a run with five epochs, of which three are attacked, names the other two on its cover."""
    algorithm = '[algorithm]\nname = "capri"\nmodel = "joint"\nepsilon = 2.0\ndelta = 1e-5\nhorizon = 1000\n'
    done = dpaudit(
        "report", write(f'{algorithm}[problem]\nname = "grid"\n[audit]\nruns = 400\nseed = 1\n'), "-o", "out"
    )
    assert done.exit_code in (0, 4), done.stderr
    text = Path("out/report.md").read_text(encoding="utf-8")
    assert "- **not attacked**: epoch 2, epoch 4\n" in text
