"""`dpaudit scores`: files in, one verdict out, and one clear line for what is no column of scores."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from dpaudit.cli.app import app
from dpaudit.configuration.score_file import MOST_SCORES, read_scores

CLAIM = ["--epsilon", "1", "--neighbours", "add_remove"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with scores of members and of others, as CSV and NPY."""
    rng = np.random.default_rng(0)
    ins, outs = rng.normal(2, 1, 600), rng.normal(0, 1, 600)
    np.savetxt(tmp_path / "in.csv", ins, header="score", comments="")
    np.save(tmp_path / "in.npy", ins[:, None])
    np.save(tmp_path / "out.npy", outs)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scores(*arguments: str) -> Result:
    """Return the ended command."""
    return CliRunner().invoke(app, ["scores", *arguments])


def test_files_of_both_forms_give_one_result(folder: Path) -> None:
    """CSV and NPY of the same numbers, as JSON; a violation ends with 1."""
    ended = [
        scores(f"in.{form}", "out.npy", "--sampling", "runs", *CLAIM, "--seed", "3", "--format", "json")
        for form in ("csv", "npy")
    ]
    assert [one.exit_code for one in ended] == [1, 1]
    first, second = (json.loads(one.stdout) for one in ended)
    assert first == second
    assert first["verdict"] == "violation"
    assert folder.exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--sampling", "runs", "--rank", "10", *CLAIM], 1),
        (["--sampling", "runs", "--band", *CLAIM], 1),
        (["--sampling", "canaries", *CLAIM], 1),
        (["--sampling", "canaries", "--guesses", "100", *CLAIM], 1),
        (["--sampling", "paired", "--epsilon", "1", "--neighbours", "replace_one"], 1),
        (["--sampling", "canaries", "--epsilon", "3.5", "--delta", "1e-5", "--neighbours", "add_remove"], 0),
        (["--sampling", "runs", "--band", "--epsilon", "20", "--neighbours", "add_remove"], 4),
    ],
)
def test_the_exit_code_is_the_verdict(folder: Path, options: list[str], code: int) -> None:
    """1 for a violation, 0 for a leak within the claim, 4 where nothing could be said; text and Markdown name it."""
    words = {0: "NOT REFUTED", 1: "VIOLATION", 4: "INCONCLUSIVE"}
    for form in ("text", "md"):
        ended = scores("in.npy", "out.npy", *options, "--format", form)
        assert ended.exit_code == code, ended.output
        assert words[code] in ended.stdout
    assert folder.exists()


def test_the_curve_of_a_certificate_is_a_declaration(folder: Path) -> None:
    """A certified declaration is refuted by scores at distance 2 that do not reach the claim."""
    release = {"node": "release", "label": "s", "mechanism": {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 1.0}}
    for neighbours in ("add_remove", "replace_one"):
        claim = {"epsilon": 5.0, "delta": 1e-5, "neighbours": neighbours}
        Path("c.json").write_text(json.dumps({"claim": claim, "declaration": release}), encoding="utf-8")
        made = CliRunner().invoke(app, ["certify", "c.json", "--format", "json", "-o", f"{neighbours}.json"])
        assert made.exit_code == 0
    options = ["--sampling", "runs", "--band", "--epsilon", "5", "--delta", "1e-5", "--neighbours", "add_remove"]
    ended = scores("in.npy", "out.npy", *options, "--curve", "add_remove.json", "--format", "json")
    data = json.loads(ended.stdout)
    assert (ended.exit_code, data["against"]["declared"]["refuted"]) == (1, True)
    assert data["epsilon_lower"] < 5
    other = scores("in.npy", "out.npy", *options, "--curve", "replace_one.json")
    assert other.exit_code == 2
    assert "certifies neighbours" in other.stderr
    assert folder.exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nan.csv", b"score\n1\nnan\n", "nan.csv:3: expected a number"),
        ("words.csv", b"1\ntwo\n", "words.csv:2: expected a number"),
        ("two.csv", b"1,2\n3,4\n", "two.csv:1: has several columns"),
        ("empty.csv", b"", "holds no score"),
        ("text.npy", b"hello", "no NPY array"),
        ("archive.npy", b"PK\x03\x04" + bytes(60), "no NPY array"),
        ("first_line.csv", b"\x000.5\n0.5\n", "first_line.csv:1"),
        ("scores.xls", b"", "ends in .csv, .txt, .npy, .parquet"),
        ("missing.npy", None, "no such file"),
    ],
)
def test_a_file_without_a_column_of_scores_is_one_line_and_exit_2(
    folder: Path, name: str, content: bytes | None, words: str
) -> None:
    """Each fault names the file; nothing is unpickled."""
    if content is not None:
        (folder / name).write_bytes(content)
    ended = scores(name, "out.npy", "--sampling", "runs", *CLAIM)
    assert ended.exit_code == 2
    assert words in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_arrays_of_objects_tables_and_complex_numbers_are_refused(folder: Path) -> None:
    """An NPY of objects is not unpickled; a table of models times records is refused with the reason."""
    np.save("objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save("table.npy", np.ones((4, 3)))
    np.save("complex.npy", np.ones(4, dtype=complex))
    for name, words in (("objects", "no NPY array"), ("table", "not independent"), ("complex", "expected numbers")):
        ended = scores(f"{name}.npy", "out.npy", "--sampling", "runs", *CLAIM)
        assert ended.exit_code == 2
        assert words in ended.stderr
    assert folder.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sampling", "pooled", *CLAIM], "not independent"),
        (["--sampling", "runs", *CLAIM, "--rank", "5", "--band"], "at most"),
        (["--sampling", "runs", *CLAIM, "--mu", "1", "--curve", "x.json"], "one of --mu, --rho and --curve"),
        (["--sampling", "runs", *CLAIM, "--mu", "-1"], "mu=-1"),
        (["--sampling", "runs", *CLAIM, "--curve", "x.json"], "no such file"),
        (["--sampling", "runs", *CLAIM, "--significance", "2"], "significance=2"),
        (["--sampling", "runs", "--epsilon", "nan", "--neighbours", "add_remove"], "epsilon"),
        (["--sampling", "runs", "--epsilon", "1", "--neighbours", "both"], "is not one of 'replace_one', 'add_remove'"),
    ],
)
def test_options_without_a_valid_reading_are_one_line_and_exit_2(folder: Path, options: list[str], words: str) -> None:
    """Two rules, two declarations, numbers out of range."""
    ended = scores("in.npy", "out.npy", *options)
    assert ended.exit_code == 2
    assert words in ended.stderr
    assert folder.exists()


def test_the_model_of_the_claim_is_stated(folder: Path) -> None:
    """`--model` reaches the claim, which a report compares; another word is answered with the choices."""
    assert folder.exists()
    words = ["in.npy", "out.npy", "--sampling", "runs", *CLAIM, "--band", "--format", "json"]
    assert json.loads(scores(*words, "--model", "local").stdout)["against"]["claim"]["model"] == "local"
    refused = scores(*words, "--model", "global")
    assert (refused.exit_code, "not one of 'central', 'joint', 'local'" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1.0x\n2.0\n3.0\n", ":1: expected a number, got '1.0x'"),
        ("1\t2\n3\n", ":1: expected a number"),
        ("score\n0x1p3\n", ":2: expected a number"),
        ("1e400\n2.0\n", ":1: 1e400 is no double-precision number"),
        ("2.0\n9007199254740993\n", ":2: 9007199254740993 is no double-precision number"),
        ("2.0\n0.10000000000000000001\n", ":2: 0.10000000000000000001 is no double-precision number"),
    ],
)
def test_a_line_that_is_no_double_is_refused_and_never_taken_for_a_name(folder: Path, text: str, words: str) -> None:
    """A first line that begins as a number does is no name; digits that a double does not hold may tell sides apart."""
    Path("bad.csv").write_text(text, encoding="utf-8")
    ended = scores("bad.csv", "out.npy", "--sampling", "runs", *CLAIM)
    assert (ended.exit_code, ended.stderr.count("\n")) == (2, 1)
    assert words in ended.stderr
    assert folder.exists()


@pytest.mark.parametrize("form", ["%.18e", "%.25g", "%r", "%.17g"])
def test_every_spelling_of_a_double_is_read(folder: Path, form: str) -> None:
    """As many digits as a library writes are read, as the twin of the test above."""
    values = np.r_[np.random.default_rng(1).normal(size=50) ** 9, 1e300, -5e-324, 2.0**53, 0.1, np.inf, -0.0]
    Path("in.txt").write_text("\n".join(form % value for value in values.tolist()), encoding="utf-8")
    read = read_scores(folder / "in.txt")
    assert np.array_equal(read, values)


def test_whole_numbers_beyond_doubles_and_broken_headers_are_refused_in_a_line(folder: Path) -> None:
    """An NPY of 2^53 + 1, and one whose header is cut: exit 2 and one line; 2^60 is a double and is read."""
    np.save("in.npy", np.array([2**53, 2**53 + 1]))
    whole = scores("in.npy", "out.npy", "--sampling", "canaries", *CLAIM)
    assert (whole.exit_code, whole.stderr.count("\n")) == (2, 1)
    assert "number 2, 9007199254740993" in whole.stderr
    Path("in.npy").write_bytes(Path("out.npy").read_bytes().replace(b"(600,)", b"(60000"))
    broken = scores("in.npy", "out.npy", "--sampling", "runs", *CLAIM)
    assert (broken.exit_code, broken.stderr.count("\n")) == (2, 1)
    np.save("in.npy", np.full(600, 2**60))
    assert scores("in.npy", "out.npy", "--sampling", "runs", *CLAIM).exit_code == 1
    assert folder.exists()


@pytest.mark.parametrize("form", ["npy", "csv"])
def test_more_scores_than_an_audit_ends_with_are_refused_at_once(folder: Path, form: str) -> None:
    """Four million of a side: one line with the limit and the remedy, within 20 s of processor time."""
    many = np.arange(MOST_SCORES + 1.0)
    if form == "npy":
        np.save("many.npy", np.arange(4e6))
    else:
        Path("many.csv").write_text("score\n" + "\n".join(map(str, many.tolist())), encoding="utf-8")
    started = time.process_time()
    ended = scores(f"many.{form}", "out.npy", "--sampling", "runs", *CLAIM, "--seed", "1")
    assert time.process_time() - started < 20
    assert (ended.exit_code, len(ended.stderr.splitlines())) == (2, 1)
    assert "at most 500,000" in ended.stderr
    assert "random part" in ended.stderr
    np.save("most.npy", many[:-1])
    assert len(read_scores(folder / "most.npy")) == MOST_SCORES
