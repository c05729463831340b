"""Commands: exit codes, where the output goes, and what each format holds."""

import json
import math
import re
from pathlib import Path

import pytest

from tests.cli.conftest import CODED, WRITTEN
from tests.command_line import Write, dpaudit


def test_a_true_claim_is_certified_with_exit_code_0(write: Write) -> None:
    """40 Gaussian sums of noise multiplier 30 cost epsilon 0.76856 (mu = sqrt(40) / 30), within the claimed 1."""
    ended = dpaudit("certify", write(WRITTEN), "--format", "json")
    assert ended.exit_code == 0
    assert ended.stderr == ""
    certificate = json.loads(ended.stdout)
    assert certificate["verdict"] == "certified"
    assert certificate["tight"]["epsilon"]["upper"] == pytest.approx(0.768555, abs=1e-6)


def test_a_false_claim_is_refuted_with_exit_code_1(write: Write) -> None:
    """The same sums do not keep epsilon 0.7, and the text says so first."""
    ended = dpaudit("certify", write(WRITTEN.replace("epsilon = 1.0", "epsilon = 0.7")))
    assert ended.exit_code == 1
    assert ended.stdout.split()[0] == "REFUTED"


@pytest.mark.parametrize(
    ("command", "verdict"), [("certify", "CERTIFIED"), ("explain", "Derivation"), ("calibrate", "smallest noise|needs")]
)
@pytest.mark.parametrize("style", ["text", "json", "md"])
def test_every_format_can_be_written_to_a_file(
    write: Write, tmp_path: Path, command: str, verdict: str, style: str
) -> None:
    """With -o the result is in the file, and stdout stays empty."""
    shown = dpaudit(command, write(WRITTEN), "--format", style)
    kept = dpaudit(command, "config.toml", "--format", style, "-o", "result")
    assert (shown.exit_code, kept.exit_code, kept.stdout) == (0, 0, "")
    assert Path("result").read_text(encoding="utf-8") == shown.stdout
    if style == "json":
        assert json.loads(shown.stdout)
    elif command == "certify":
        assert verdict in shown.stdout


def test_a_certificate_can_be_verified_and_an_altered_one_cannot(write: Write) -> None:
    """Verification passes on the file as written; one changed digit is a finding, and half a file cannot be read."""
    dpaudit("certify", write(WRITTEN), "--format", "json", "-o", "c.json")
    assert dpaudit("verify", "c.json").exit_code == 0
    text = Path("c.json").read_text(encoding="utf-8")
    ended = dpaudit("verify", write(text.replace('"epsilon": 1.0', '"epsilon": 2.0'), "altered.json"))
    assert ended.exit_code == 1
    assert "the digest does not match the content" in ended.stdout
    ended = dpaudit("verify", write(text[: len(text) // 2], "half.json"))
    assert ended.exit_code == 2
    assert ended.stderr.startswith("half.json: the file is no JSON")


@pytest.mark.parametrize("text", ["[]", "null", '{"a": 1, "a": 2}', '{"epsilon": 1e999}'])
def test_json_that_is_no_certificate_is_a_finding(write: Write, text: str) -> None:
    assert dpaudit("verify", write(text, "c.json")).exit_code == 1


@pytest.mark.parametrize("text", ["", "{", '{"digest": NaN}', "[" * 100_000, '{"a":' * 100_000])
def test_what_is_no_json_or_nests_too_deeply_cannot_be_read(write: Write, text: str) -> None:
    ended = dpaudit("verify", write(text, "c.json"))
    assert ended.exit_code == 2
    assert ended.stderr.count("\n") == 1


def test_what_was_verified_is_printed(write: Write) -> None:
    """The claim, the declaration on one screen, and the digest, as text and as Markdown."""
    dpaudit("certify", write(WRITTEN), "--format", "json", "-o", "c.json")
    digest = json.loads(Path("c.json").read_text(encoding="utf-8"))["digest"]
    for style in ("text", "md"):
        said = dpaudit("verify", "c.json", "--format", style).stdout
        for words in ("epsilon 1.0", "one customer", "repeat times=40", "stddev=30.0", digest):
            assert words in said, (style, words)


def test_a_digest_and_a_claim_can_be_demanded(write: Write) -> None:
    """A true certificate of another claim is a finding for a script that knows which claim it wants."""
    dpaudit("certify", write(WRITTEN), "--format", "json", "-o", "c.json")
    digest = json.loads(Path("c.json").read_text(encoding="utf-8"))["digest"]
    claimed = "epsilon=1,delta=1e-5,neighbours=replace_one,model=central,unit=one customer"
    assert dpaudit("verify", "c.json", "--digest", digest, "--expect-claim", claimed).exit_code == 0
    assert dpaudit("verify", "c.json", "--digest", "0" * 64).exit_code == 1
    ended = dpaudit("verify", "c.json", "--expect-claim", "epsilon=0.9")
    assert ended.exit_code == 1
    assert "epsilon=0.9 is demanded" in ended.stdout
    for wrong in ("epsilon=x", "eps=1", "epsilon=1,epsilon=1", "nonsense"):
        ended = dpaudit("verify", "c.json", "--expect-claim", wrong)
        assert (ended.exit_code, ended.stderr.startswith("--expect-claim: ")) == (2, True)


@pytest.mark.parametrize(
    ("measure", "right", "wrong"),
    [
        (
            "renyi = [{order = 2, epsilon = 0.5}, {order = 8, epsilon = 2}]",
            "renyi=8:2;2:0.5,model=central",
            "renyi=2:0.5",
        ),
        ("profile = [{epsilon = 1, delta = 1e-5}]", "profile=1:1e-5", "profile=1:1e-6"),
        ("rho = 0.1\nxi = 0.01", "rho=.1,xi=.01", "rho=.1,xi=.02"),
    ],
)
def test_the_points_of_a_claim_can_be_demanded(write: Write, measure: str, right: str, wrong: str) -> None:
    """Points in any order, with what else is demanded; other points are a finding, and a bare number none."""
    text = WRITTEN.replace("epsilon = 1.0\ndelta = 1e-5", measure)
    assert dpaudit("certify", write(text), "--format", "json", "-o", "c.json").exit_code == 0
    assert dpaudit("verify", "c.json", "--expect-claim", right).exit_code == 0
    assert dpaudit("verify", "c.json", "--expect-claim", wrong).exit_code == 1
    ended = dpaudit("verify", "c.json", "--expect-claim", "renyi=0.5")
    assert (ended.exit_code, "renyi='0.5' is no point, as in 2:0.04" in ended.stderr) == (2, True)


def test_a_verified_certificate_of_a_false_claim_is_still_a_finding(write: Write) -> None:
    """A script that only reads the exit code must not take a refuted claim for a good one."""
    dpaudit("certify", write(WRITTEN.replace("epsilon = 1.0", "epsilon = 0.7")), "--format", "json", "-o", "c.json")
    ended = dpaudit("verify", "c.json", "--format", "json")
    assert json.loads(ended.stdout)["accepted"] is True
    assert ended.exit_code == 1


def test_calibration_finds_the_noise_that_the_claim_needs(write: Write) -> None:
    """The factor times the declared noise certifies, and 1e-6 less does not."""
    factor = json.loads(dpaudit("calibrate", write(WRITTEN), "--format", "json").stdout)["factor"]
    enough = WRITTEN.replace("stddev = 30.0", f"stddev = {30.0 * factor!r}")
    too_little = WRITTEN.replace("stddev = 30.0", f"stddev = {30.0 * factor * (1 - 1e-6)!r}")
    assert dpaudit("certify", write(enough)).exit_code == 0
    assert dpaudit("certify", write(too_little)).exit_code == 1


def test_an_algorithm_is_certified_with_the_conditions_that_its_run_checked(write: Write, fakes: None) -> None:
    """Clipping is reported as checked; a run that saw it violated is not proved."""
    held = json.loads(dpaudit("certify", write(CODED), "--format", "json").stdout)
    statuses = {condition["text"]: condition["status"] for condition in held["conditions"]}
    assert statuses["Values are clipped to [0, 1]."] == "checked"
    broken = dpaudit("certify", write(CODED.replace("epsilon = 1.0", "epsilon = 1.0\nclipped = false")))
    assert broken.exit_code == 1
    assert broken.stdout.startswith("\n  NOT PROVED")


def test_noise_that_was_not_declared_is_found_without_statistics(write: Write, fakes: None) -> None:
    """The twin that samples a third of its noise is not certified: rule DPA212."""
    ended = dpaudit("certify", write(CODED.replace("one_sum", "third_of_the_noise")), "--format", "json")
    assert ended.exit_code == 1
    assert [finding["rule"] for finding in json.loads(ended.stdout)["findings"]] == ["DPA212"]


def test_an_audit_of_honest_code_is_consistent_and_of_its_twin_a_violation(write: Write, fakes: None) -> None:
    """2,000 runs, significance 0.01, fixed seed: exit code 0 for the calibrated noise, 1 for a third of it.

    So few runs do not exclude a gross violation of a Gaussian claim; `--require consistent` refuses that.
    """
    honest = dpaudit("audit", write(CODED), "--format", "json")
    twin = dpaudit("audit", write(CODED.replace("one_sum", "third_of_the_noise")), "--format", "json")
    assert (honest.exit_code, twin.exit_code) == (0, 1)
    assert {result["verdict"] for result in json.loads(honest.stdout)} == {"not_refuted"}
    assert dpaudit("audit", write(CODED), "--require", "consistent").exit_code == 4
    assert {result["verdict"] for result in json.loads(twin.stdout)} == {"violation"}


def test_one_seed_gives_one_result_whatever_view_is_picked(write: Write, fakes: None) -> None:
    """The case of a view has the same numbers alone as among the others, and records the seed."""
    few = ("--runs", "400", "--format", "json")
    everything = json.loads(dpaudit("audit", write(CODED), *few).stdout)
    alone = json.loads(dpaudit("audit", write(f'{CODED}view = "again"\n'), *few).stdout)
    assert [result["view"] for result in alone] == ["again"]
    for result in (everything[1], alone[0]):
        del result["seconds"]
    assert alone[0] == everything[1]
    assert alone[0]["seed"] == 1


def test_a_seed_that_nobody_gave_is_drawn_and_told(write: Write, fakes: None) -> None:
    """Stderr says how to repeat the run, and repeating it gives the same numbers."""
    name = write(CODED.replace("seed = 1\n", ""))
    few = ("--runs", "400", "--format", "json")
    first = dpaudit("audit", name, *few)
    seed = first.stderr.split()[1]
    again = dpaudit("audit", name, *few, "--seed", seed)
    assert again.stderr == ""
    one, two = (json.loads(ended.stdout)[0] for ended in (first, again))
    assert (one["seed"], one["epsilon_lower"], one["counts"]) == (int(seed), two["epsilon_lower"], two["counts"])


def test_options_of_the_command_line_win_over_the_file(write: Write, fakes: None) -> None:
    """--runs, --significance and --seed replace what the file says."""
    arguments = ("--runs", "500", "--significance", "0.05", "--seed", "9", "--format", "json")
    result = json.loads(dpaudit("audit", write(CODED), *arguments).stdout)[0]
    assert (result["runs"], result["significance"], result["seed"]) == (500, 0.025, 9)


@pytest.mark.parametrize("command", ["audit", "report"])
def test_fewer_runs_than_an_audit_needs_are_a_usage_error(write: Write, fakes: None, command: str) -> None:
    """Four is the least that an audit takes; three, or none, is exit code 2 with the rule, and four is no error."""
    where = ("-o", "out") if command == "report" else ()
    for runs in ("0", "3"):
        ended = dpaudit(command, write(CODED), "--runs", runs, *where)
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr == f"Expected runs={runs} to be a whole number of at least 4.\n"
    assert dpaudit(command, write(CODED), "--runs", "4", *where).exit_code in (0, 4)


def test_a_report_lists_the_files_it_wrote_and_names_the_command_that_repeats_it(write: Write, fakes: None) -> None:
    """HTML, Markdown and JSON exist, and the JSON holds the command with what the command line changed."""
    ended = dpaudit("report", write(CODED), "-o", "out", "--runs", "400", "--seed", "5")
    assert ended.exit_code in (0, 4)
    files = [Path(line) for line in ended.stdout.splitlines()]
    assert {"report.html", "report.md", "report.json"} <= {file.name for file in files}
    assert all(file.is_file() for file in files)
    text = Path("out/report.json").read_text(encoding="utf-8")
    assert "dpaudit report config.toml --runs 400 --seed 5" in text


def test_a_report_of_a_written_declaration_needs_no_audit(write: Write) -> None:
    """There is no code to attack, and no seed is drawn."""
    ended = dpaudit("report", write(WRITTEN), "-o", "out")
    assert (ended.exit_code, ended.stderr) == (0, "")


def test_lists_name_what_ships() -> None:
    """Every kind is listed, and one kind alone holds only its own."""
    everything = json.loads(dpaudit("list", "--format", "json").stdout)
    assert set(everything) == {"algorithms", "mechanisms", "audits", "problems", "schemas"}
    assert "gaussian" in everything["mechanisms"]
    assert json.loads(dpaudit("list", "mechanisms", "--format", "json").stdout) == {
        "mechanisms": everything["mechanisms"]
    }


def test_the_tree_of_explain_names_each_node_with_its_cost(write: Write) -> None:
    """The root costs what the certificate says; the leaf costs what one release does."""
    nodes = json.loads(dpaudit("explain", write(WRITTEN), "--format", "json").stdout)["nodes"]
    assert [node["path"] for node in nodes] == ["root", "root.0"]
    assert nodes[0]["epsilon"]["upper"] == pytest.approx(0.768555, abs=1e-6)
    assert 0 < nodes[1]["epsilon"]["upper"] < nodes[0]["epsilon"]["upper"] / math.sqrt(40) * 1.5


def test_the_demo_writes_its_reports_and_catches_the_false_claim(tmp_path: Path) -> None:
    """The story proves a published claim, attacks the code, reports a false claim, and shows what the noise costs."""
    ended = dpaudit("demo", "-o", str(tmp_path / "demo"))
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout.index("CERTIFIED") < ended.stdout.index("CONSISTENT") < ended.stdout.index("VIOLATION")
    for name in ("report.html", "report.json", "paper.toml", "as-published/report.html", "study/study.json"):
        assert (tmp_path / "demo" / name).is_file()
    rows = dict(re.findall(r"^ +(as published|tight noise|uniform play) .* (0\.\d+)$", ended.stdout, flags=re.M))
    assert float(rows["tight noise"]) < 0.5 * float(rows["as published"]) < 0.5 * float(rows["uniform play"])
    texts = [(tmp_path / "demo" / name).read_text(encoding="utf-8") for name in ("report.md", "as-published/report.md")]
    assert "the certified setting lost" in texts[0]
    assert "usefulness was not shown" in texts[1]
    assert all("(this setting)" in text for text in texts)
    assert all(len(text.split()) <= 3000 for text in texts)
