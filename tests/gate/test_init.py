"""`dpaudit init`: three answers make a project that passes every check, and that fails once its code is broken."""

import re
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpaudit.cli.app import app
from dpaudit.cli.common.starter import Starter
from dpaudit.pytest_plugin.fixture import PrivacyChecks
from dpaudit.pytest_plugin.settings import Settings
from tests.command_line import Shell, dpaudit

ROOT = Path(__file__).parents[2]
OPTIONS = ("--unit", "one customer", "--epsilon", "1", "--delta", "1e-5")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, which is the working folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def files_of(folder: Path) -> set[str]:
    """Return the paths of all files in a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_three_commands_lead_from_an_empty_folder_to_a_red_pipeline(tmp_path: Path, shell: Shell) -> None:
    """Init, a third of the noise in the function, the pipeline's command: 0, 0, 1. Before the defect it ends with 0."""
    project = tmp_path / "project"
    project.mkdir()
    pipeline = "pytest --dp-profile fast --junitxml results.xml"
    assert shell('dpaudit init --unit "one visit" --epsilon 1 --delta 1e-5 --ci github', project).returncode == 0
    assert shell(pipeline, project).returncode == 0
    assert shell("sed -i 's/scale=3.731/scale=1.2/' privacy/test_release.py", project).returncode == 0
    ended = shell(pipeline, project)
    assert ended.returncode == 1
    assert "privacy/test_release.py" in ended.stdout


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.0), (3.7, 0.0), (0.01, 1e-12), (0.5, 1e-5), (20.0, 0.01)])
def test_what_is_written_is_certified_at_once(epsilon: float, delta: float, empty: Path) -> None:
    """For any claim `certify` and `check` end with 0; with 1 % less noise they end with 1."""
    contents = Starter(unit='a "quoted" unit', epsilon=epsilon, delta=delta, host="none").contents()
    text = contents["privacy/release.toml"]
    Path("release.toml").write_text(text, encoding="utf-8")
    assert dpaudit("certify", "release.toml").exit_code == 0
    assert dpaudit("check", "release.toml").exit_code == 0
    noise = re.search(r"^(stddev|scale) = (\S+)", text, flags=re.M)
    assert noise is not None
    less = text.replace(noise[0], f"{noise[1]} = {0.99 * float(noise[2])!r}")
    Path("release.toml").write_text(less, encoding="utf-8")
    assert dpaudit("certify", "release.toml").exit_code == 1


@pytest.mark.parametrize(
    "options", [("--rho", "0.02"), ("--epsilon", "1", "--delta", "1e-5", "--neighbours", "add_remove")]
)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_written_test_sees_the_clip_and_has_power_in_the_smallest_profile(
    options: tuple[str, ...], seed: int, empty: Path
) -> None:
    """In rho and under add_remove as well; without the clip the query moves by 9 or 18."""
    assert dpaudit("init", "--unit", "one customer", *options, "--ci", "none").exit_code == 0
    assert dpaudit("certify", "privacy/release.toml").exit_code == 0
    tests = Path("privacy/test_release.py")

    def checked() -> PrivacyChecks:
        """The checks of the written test, after it ran."""
        test = runpy.run_path(str(tests))["test_the_release_has_the_noise_that_it_declares"]
        settings = Settings(profile="fast", significance=0.001, evidence=None, seed=seed)
        dp = PrivacyChecks(
            test="t", mark=test.pytestmark[0], folder=tests.parent, settings=settings, tell=lambda *_: None
        )
        test(dp)
        return dp

    assert checked().undecided == []
    tests.write_text(tests.read_text(encoding="utf-8").replace("np.clip(values, 0.0, 1.0)", "values"), encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match=r"The query moves by (9|18) between the two data sets"):
        checked()


def test_nothing_is_replaced_without_being_told(empty: Path) -> None:
    """One file in the way: exit 2 in one line, nothing is written; with --force it is replaced."""
    Path("privacy").mkdir()
    Path("privacy/release.toml").write_text("mine", encoding="utf-8")
    refused = dpaudit("init", *OPTIONS, "--ci", "gitlab")
    assert refused.exit_code == 2
    assert refused.stderr == (
        "privacy/release.toml: already there, and nothing was written; give --force to replace.\n"
    )
    assert files_of(empty) == {"privacy/release.toml"}
    assert Path("privacy/release.toml").read_text(encoding="utf-8") == "mine"
    assert dpaudit("init", *OPTIONS, "--ci", "gitlab", "--force").exit_code == 0
    assert ".gitlab-ci.yml" in files_of(empty)


def test_three_answers_say_the_same_as_the_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unit, claim and host are asked for on stderr; the files are those of the options."""
    monkeypatch.setattr("dpaudit.cli.init._terminal", lambda: True)
    asked, given = tmp_path / "asked", tmp_path / "given"
    answers = "one customer\n1 1e-5\ngithub\n"
    result = CliRunner().invoke(app, ["init", str(asked)], input=answers, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("?") + result.stderr.count("claim") == 3
    assert dpaudit("init", str(given), *OPTIONS, "--ci", "github").exit_code == 0
    assert files_of(asked) == files_of(given)
    assert all((asked / name).read_bytes() == (given / name).read_bytes() for name in files_of(given))


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("a visit\n1 2 3\n", "Expected '1 2 3' to be one number or two, as in 1.0 1e-5.\n"),
        ("a visit\n1\nbitbucket\n", "Unknown pipeline 'bitbucket'; known: github, gitlab, none.\n"),
        ("a visit\n", "The questions were not answered; nothing was written.\n"),
    ],
)
def test_an_answer_that_is_none_is_refused_in_one_line(
    answers: str, said: str, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2, and nothing is written."""
    monkeypatch.setattr("dpaudit.cli.init._terminal", lambda: True)
    result = CliRunner().invoke(app, ["init"], input=answers, catch_exceptions=False)
    assert result.exit_code == 2
    assert result.stderr.endswith(said)
    assert files_of(empty) == set()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "No terminal to ask on; give --unit, --epsilon, --ci."),
        (("--delta", "1e-5"), "--delta needs --epsilon; give both."),
        (("--rho", "1", "--epsilon", "1"), "--rho stands in place of --epsilon and --delta; give one claim."),
        (("--rho", "0", "--unit", "a", "--ci", "none"), "Expected rho=0.0 to be positive and finite."),
        (("--unit", " ", "--epsilon", "1", "--ci", "none"), "Expected unit=' ' to say on one line what one"),
        (("--unit", "a\nb", "--epsilon", "1", "--ci", "none"), "Expected unit='a\\nb' to say on one line"),
        (("--unit", "a", "--epsilon", "0", "--ci", "none"), "Expected epsilon=0.0 to be positive and finite."),
        (("--unit", "a", "--epsilon", "nan", "--ci", "none"), "Expected epsilon=nan to be positive and finite."),
        (("--unit", "a", "--epsilon", "1", "--delta", "1", "--ci", "none"), "Expected delta=1.0"),
    ],
)
def test_options_that_make_no_claim_are_refused_in_one_line(options: tuple[str, ...], said: str, empty: Path) -> None:
    """Exit 2, nothing is written, and nothing waits for an answer where nobody can give one."""
    refused = dpaudit("init", *options)
    assert refused.exit_code == 2
    assert refused.stderr.startswith(said)
    assert refused.stderr.count("\n") == 1
    assert files_of(empty) == set()


def test_the_examples_are_the_files_that_init_writes() -> None:
    """`examples/ci` has the same pipelines, byte for byte."""
    for name in ("github.yml", "gitlab.yml"):
        starter = ROOT / "dpaudit" / "starter" / name
        assert starter.read_bytes() == (ROOT / "examples" / "ci" / name).read_bytes()
