"""Every bad configuration gives one clear message with its line, and exit code 2."""

import re
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from dpaudit.cli.common.exits import Exit, internal_error
from tests.cli.conftest import CODED, WRITTEN, DividesByZero
from tests.command_line import Write, dpaudit
from tests.configurations import CAPRI

FULL = f"""\
{CAPRI}
[problem]
name = "rand_hie"

[audit]
view = "transcript"
runs = 200
"""

COLUMNS = "mdvis,lncoins,physlm,disea,hlthf,hlthp"

MESSAGES = {
    "unknown key": ("epsilon = 1.0", "epsilom = 1.0", ":4: [algorithm] unknown key 'epsilom'; did you mean 'epsilon'?"),
    "missing key": ("delta = 1e-5\n", "", ":1: [algorithm] missing key 'delta', which is a number."),
    "wrong type": ("horizon = 1000", 'horizon = "long"', ":6: Expected horizon='long' to be a whole number."),
    "boolean for a number": ("epsilon = 1.0", "epsilon = true", ":4: Expected epsilon=True to be a number."),
    "number with a fraction": ("runs = 200", "runs = 1.5", ":13: Expected runs=1.5 to be a whole number."),
    "negative epsilon": ("epsilon = 1.0", "epsilon = -1.0", ":4: Expected epsilon=-1.0 to be positive and finite."),
    "NaN epsilon": (
        "epsilon = 1.0",
        "epsilon = nan",
        ":4: Expected epsilon=nan to be a number; check where the NaN came from.",
    ),
    "delta of 1": ("delta = 1e-5", "delta = 1", ":5: Expected delta=1 strictly between 0 and 1."),
    "horizon 3": ("horizon = 1000", "horizon = 3", ":6: Expected horizon=3 to be a whole number of at least 4."),
    "endless horizon": (
        "horizon = 1000",
        f"horizon = 1{'0' * 30}",
        f":6: Expected horizon=1{'0' * 29}... to be below 2^63; runs count in 64 bits.",
    ),
    "endless horizon with an exponent": (
        "horizon = 1000",
        "horizon = 1e25",
        ":6: Expected horizon=1e+25 to be below 2^63; runs count in 64 bits.",
    ),
    "horizon with an exponent": (
        "horizon = 1000",
        "horizon = 1e3",
        ":6: Expected horizon=1000.0 to be a whole number; write 1000.",
    ),
    "horizon beyond floating point": (
        "horizon = 1000",
        "horizon = 9_000_000_000_000_000_000",
        ":6: Expected horizon=9000000000000000000 to be at most 1,000,000,000,000,000.",
    ),
    "unknown kernel": (
        "horizon = 1000",
        'horizon = 1000\nkernel = "gauss"',
        ":7: Expected kernel='gauss' to be one of: squared_exponential, matern, linear, features.",
    ),
    "unknown model": ('"joint"', '"central"', ":3: Expected model='central' to be one of: joint, local."),
    "unknown algorithm": ('"capri"', '"capry"', ":2: Unknown algorithm name='capry'; did you mean 'capri'?"),
    "algorithm without a name": (
        'name = "capri"\n',
        "",
        ":1: [algorithm] missing key 'name', which is text; `dpaudit list algorithms` shows them.",
    ),
    "unknown problem": ('"rand_hie"', '"rand_hi"', ":9: Unknown problem name='rand_hi'; did you mean 'rand_hie'?"),
    "unknown section": ("[problem]", "[problems]", ":8: unknown section [problems]; did you mean 'problem'?"),
    "two subjects": (
        "[problem]",
        "[claim]\n[problem]",
        ":8: [claim] stands beside [algorithm], which brings its own; keep one of the two.",
    ),
    "no runs": ("runs = 200", "runs = 0", ":13: Expected runs=0 to be a whole number of at least 4."),
    "too few runs": ("runs = 200", "runs = 3", ":13: Expected runs=3 to be a whole number of at least 4."),
    "significance of 1": ("runs = 200", "significance = 1", ":13: Expected significance=1 strictly between 0 and 1."),
    "invalid TOML": (
        "epsilon = 1.0",
        "epsilon = = 1.0",
        ":4: invalid TOML: Invalid value (column 11) in 'epsilon = = 1.0'.",
    ),
    "table written twice": ("[problem]", "[algorithm]", ":8: invalid TOML: Cannot declare ('algorithm',) twice"),
}


def test_the_unbroken_configuration_is_fine(write: Write) -> None:
    """The configuration that the faults are planted in has none of its own."""
    ended = dpaudit("certify", write(FULL))
    assert (ended.exit_code, ended.stderr) == (0, "")


WRITTEN_MESSAGES = {
    "unknown parameter": ("stddev", "stdev", ":14: declaration.part.mechanism: unknown key 'stdev'; did you mean"),
    "negative noise": ("30.0", "-30.0", ":14: declaration.part.mechanism: Expected stddev=-30.0 to be positive"),
    "unknown mechanism": (
        '"gaussian"',
        '"gausian"',
        ":14: declaration.part.mechanism: Unknown mechanism name='gausian'",
    ),
    "unknown node": ('"repeat"', '"repeet"', ":8: declaration: unknown node='repeet'; did you mean 'repeat'?"),
    "missing label": ('label = "sums"\n', "", ":11: declaration.part: missing key 'label'."),
    "unknown rule": (
        'label = "sums"',
        'label = "sums"\nprinted = { rule = "magic", epsilon = 1.0 }',
        ":7: Unknown rule 'magic' in a printed annotation",
    ),
    "annotation that is no table": (
        'label = "sums"',
        'label = "sums"\nprinted = "basic"',
        ":14: declaration.part.printed: expected a table, got 'basic'; write { key = value, ... }.",
    ),
    "zero times": ("times = 40", "times = 0", ":9: declaration: Expected times=0 to be a whole number of at least 1."),
    "negative claim": ("epsilon = 1.0", "epsilon = -1", ":2: claim: Expected epsilon=-1 to be zero or positive"),
    "other neighbours": ('"replace_one"', '"replace"', ":4: claim: Expected neighbours='replace' to be one of"),
    "no declaration": ("declaration", "system", ":1: missing section [declaration]; give an [algorithm]"),
    "an audit of nothing": ("[claim]", "[audit]\n[claim]", ":1: [audit] needs an [algorithm]"),
}


JSON_FAULTS = {
    "truncated": ('{"claim": {', ":1: invalid JSON: "),
    "a key twice": ('{"claim": {"epsilon": 1,\n"epsilon": 2}}', ":1: invalid JSON: the key 'epsilon' stands twice"),
    "a NaN": ('{"claim": {"epsilon": NaN}}', ":1: invalid JSON: NaN is no JSON number"),
    "a list": ("[1, 2]", ":1: expected a JSON object with 'claim' and 'declaration'."),
    "a bad third line": (
        '{"claim":\n {"epsilon": 1, "neighbours": "replace_one",\n  "delta": 1},\n "declaration": {}}',
        ":3: claim: Expected delta=1 in [0, 1).",
    ),
}


@pytest.mark.parametrize("fault", [*MESSAGES, *WRITTEN_MESSAGES])
def test_a_fault_is_told_with_its_line(write: Write, fault: str) -> None:
    """The message is `file:line: what is wrong`, alone on stderr; nothing is on stdout."""
    text, (old, new, message) = (FULL, MESSAGES[fault]) if fault in MESSAGES else (WRITTEN, WRITTEN_MESSAGES[fault])
    assert old in text
    _require_refused(
        dpaudit("certify", write(text.replace(old, new, 1 if text == FULL else -1))), f"config.toml{message}"
    )


@pytest.mark.parametrize(("text", "message"), JSON_FAULTS.values(), ids=JSON_FAULTS)
def test_a_fault_in_json_is_told_with_its_line(write: Write, text: str, message: str) -> None:
    """JSON is read as strictly as TOML: no NaN, no key twice, no endless depth."""
    _require_refused(dpaudit("certify", write(text, "config.json")), f"config.json{message}")


def _require_refused(ended: Result, message: str) -> None:
    """Require exit code 2, one line on stderr that begins with the message, and nothing on stdout."""
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(message)
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "gone.toml: no such file."),
        (lambda path: path.mkdir(), "gone.toml: is a folder; name a file in it."),
        (lambda path: path.write_bytes(b"\xff\xfe"), "gone.toml: not UTF-8 text; save it as UTF-8."),
    ],
)
def test_a_file_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[..., Any], message: str
) -> None:
    """Missing, a folder, not text."""
    monkeypatch.chdir(tmp_path)
    make(Path("gone.toml"))
    ended = dpaudit("certify", "gone.toml")
    assert (ended.exit_code, ended.stderr) == (2, f"{message}\n")


def test_a_file_of_another_kind_is_told(write: Write) -> None:
    """Only .toml and .json are read."""
    ended = dpaudit("certify", write("a: 1", "config.yaml"))
    assert (ended.exit_code, ended.stderr) == (2, "config.yaml: expected a .toml or a .json file.\n")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (f"{COLUMNS.replace(',disea', '')}\n1,0,0,0,0\n", "disea"),
        (f"{COLUMNS}\n1,0,nan,3,0,0\n", "physlm"),
        (f"{COLUMNS}\n1,0,0\n", ""),
    ],
)
def test_a_bad_data_file_is_told_with_the_line_that_names_it(write: Write, rows: str, message: str) -> None:
    """A missing column, a NaN, a truncated row: the problem's complaint behind the configuration's line."""
    write(rows, "data.csv")
    ended = dpaudit("certify", write(FULL.replace('"rand_hie"', '"rand_hie"\npath = "data.csv"')))
    assert ended.exit_code == 2
    assert ended.stderr.startswith("config.toml:8: ")
    assert "data.csv" in ended.stderr
    assert message in ended.stderr


def test_an_output_folder_that_cannot_be_written_is_told_before_anything_runs(write: Write) -> None:
    """A folder below a file: one message, no report."""
    write("", "file")
    ended = dpaudit("report", write(WRITTEN), "-o", "file/below")
    assert ended.exit_code == 2
    assert ended.stderr == "file/below: cannot be written to (Not a directory); name another folder.\n"


def test_an_output_file_that_cannot_be_written_is_told(write: Write) -> None:
    """A file in a folder that is not there."""
    ended = dpaudit("certify", write(WRITTEN), "-o", "nowhere/certificate.txt")
    assert (ended.exit_code, ended.stderr) == (
        2,
        "nowhere/certificate.txt: cannot be written (No such file or directory).\n",
    )


def test_a_view_that_no_case_has_is_told_with_those_there_are(write: Write, fakes: None) -> None:
    """The message stands on the line of the view and lists the views."""
    ended = dpaudit("audit", write(f'{CODED}view = "nothing"\n'))
    assert ended.exit_code == 2
    assert ended.stderr == "config.toml:11: Expected view='nothing' to be one of: published, again.\n"


def test_an_audit_without_code_or_problem_is_told(write: Write, fakes: None) -> None:
    """A written declaration has no code; an algorithm without a problem has nothing to run on."""
    ended = dpaudit("audit", write(WRITTEN))
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("config.toml:7: a declaration alone has no code to run. Give an [algorithm], or ")
    assert all(way in ended.stderr for way in ("[library]", "dp.check_function", "audits.audit("))
    ended = dpaudit("audit", write(CODED.replace('[problem]\nname = "three_people"\n', "")))
    assert ended.exit_code == 2
    assert "an audit needs a [problem] to run on" in ended.stderr


def test_an_error_in_the_run_of_a_plug_in_is_told_with_its_line(
    write: Write, fakes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The defect is the plug-in's: no internal error, and no problem that does not fit."""
    plugged = EntryPoint("divides_by_zero", "tests.cli.conftest:DividesByZero", "dpaudit.algorithms")
    monkeypatch.setattr("dpaudit.runtime.plugins.entry_points", lambda group: [plugged])
    ended = dpaudit("certify", write(CODED.replace('"one_sum"', '"divides_by_zero"')))
    assert (ended.exit_code, ended.stdout) == (2, "")
    said = r"the plug-in raised at \S+conftest\.py:\d+: ZeroDivisionError: "
    assert re.match(rf"config\.toml:1: \[algorithm\] {said}", ended.stderr)
    with pytest.raises(ZeroDivisionError) as caught:
        DividesByZero(epsilon=1.0).sampled()
    assert internal_error(caught.value) is Exit.USAGE


@pytest.mark.parametrize("command", ["certify", "audit"])
def test_an_algorithm_without_a_member_is_told_which(write: Write, fakes: None, command: str) -> None:
    """The problem is not at fault."""
    ended = dpaudit(command, write(CODED.replace('"one_sum"', '"without_cases"')))
    assert ended.exit_code == 2
    assert ended.stderr == "config.toml:1: [algorithm] WithoutCases has no 'cases', which a run on a [problem] needs.\n"


@pytest.mark.parametrize("command", ["certify", "audit"])
@pytest.mark.parametrize(
    ("algorithm", "problem", "says"),
    [
        ('name = "capri"\nmodel = "joint"\nepsilon = 1.0\ndelta = 1e-5\nhorizon = 1000', "river_swim", "contexts"),
        ('name = "pucb"\nepsilon = 1.0\nepisodes = 4\nsteps = 2', "river_swim", "steps=2 to be the problem's, 10"),
        ('name = "pucb"\nepsilon = 1.0\nepisodes = 4\nsteps = 2', "rand_hie", "finitely many states"),
        ('name = "dp_ebs"\nepsilon = 1.0\nhorizon = 100\narms = 3', "modechoice", "Set arms = 4"),
        ('name = "dp_ebs"\nepsilon = 1.0\nhorizon = 100\narms = 3', "rand_hie", "reads 'preferences', which"),
    ],
)
def test_an_algorithm_on_a_problem_of_another_kind_is_no_internal_error(
    write: Write, command: str, algorithm: str, problem: str, says: str
) -> None:
    """The message names the line of the problem, and what the algorithm missed."""
    text = f'[algorithm]\n{algorithm}\n\n[problem]\nname = "{problem}"\n'
    ended = dpaudit(command, write(text))
    line = text.splitlines().index("[problem]") + 1
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert f":{line}: [problem] does not fit [algorithm]: " in ended.stderr
    assert says in ended.stderr
