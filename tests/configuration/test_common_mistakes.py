"""The commonest mistakes in TOML, on the command line and in Python: each answer names what, where and the remedy."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import algorithms
import audits
import dpaudit
import mechanisms
from dpaudit import Claim, Release, certify
from dpaudit.cli.app import app
from dpaudit.errors import DPAuditError
from mechanisms import Gaussian

RELEASE = """\
[system]
name = "our release"
unit = "one person"

[claim]
epsilon = 1.0
delta = 1e-5
neighbours = "replace_one"
unit = "one person"

[declaration]
node = "release"
label = "sum"

[declaration.mechanism]
name = "gaussian"
stddev = 5.0
l2_sensitivity = 1.0
"""

TOML = {
    "a misspelt key": ("neighbours", "neighbors", 8, "did you mean 'neighbours'"),
    "a misspelt section": ("[claim]", "[claims]", 5, "did you mean 'claim'"),
    "a number in quotes": ("epsilon = 1.0", 'epsilon = "1.0"', 6, "Expected epsilon='1.0' to be a number"),
    "a delta above one": ("delta = 1e-5", "delta = 1.5", 7, "Expected delta=1.5 in [0, 1)"),
    "a dash for an underscore": ("replace_one", "replace-one", 8, "one of: replace_one, add_remove"),
    "a misspelt mechanism": ('"gaussian"', '"guassian"', 16, "did you mean 'gaussian'"),
    "a parameter of another library": ("stddev", "sigma", 17, "known: stddev, l2_sensitivity"),
    "no sensitivity": ("l2_sensitivity = 1.0", "", 15, "missing key 'l2_sensitivity'"),
    "negative noise": ("stddev = 5.0", "stddev = -5.0", 17, "to be positive"),
    "a misspelt node": ('"release"', '"relase"', 12, "did you mean 'release'"),
    "an open bracket": ("[claim]", "[claim", 5, "invalid TOML: Expected ']'"),
}

COMMANDS = {
    "a misspelt command": (("certfy", "release.toml"), "Did you mean 'certify'"),
    "a misspelt file": (("certify", "relase.toml"), "relase.toml: no such file"),
    "no file": (("certify",), "Missing argument 'CONFIG'"),
    "a misspelt option": (("certify", "release.toml", "--formt", "json"), "--format"),
    "another format": (("certify", "release.toml", "--format", "xml"), "'text', 'json', 'md'"),
    "an audit of a declaration": (("audit", "release.toml"), "needs an [algorithm]"),
    "neighbours with a dash": (
        ("scores", "a.csv", "b.csv", "--sampling", "runs", "--epsilon", "1", "--neighbours", "add-remove"),
        "one of: replace_one, add_remove",
    ),
    "a report to nowhere": (("report", "release.toml"), "'--output' / '-o'"),
    "a misspelt rule": (("explain", "bilboard"), "did you mean 'billboard'"),
    "one report to compare": (("compare", "release.toml"), "expected two report.json files"),
    "a ledger that is not there": (("ledger", "show", "no.db"), "`dpaudit ledger open` makes one"),
    "a file that is no certificate": (("verify", "release.toml"), "the file is no JSON"),
}

NOISE = Gaussian(stddev=5.0, l2_sensitivity=1.0, neighbours="add_remove")
CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove")

PYTHON: dict[str, tuple[Callable[[], object], str]] = {
    "a claim by position": (lambda: Claim(1.0, 1e-5), "Claim(epsilon=1.0, delta=1e-05, neighbours=...)"),  # type: ignore[call-overload]
    "an American spelling": (lambda: Claim(epsilon=1.0, neighbors="add_remove"), "did you mean 'neighbours'"),  # type: ignore[call-overload]
    "no neighbours": (lambda: Claim(epsilon=1.0), "Claim needs neighbours, one of"),  # type: ignore[call-overload]
    "a dash": (lambda: Claim(epsilon=1.0, neighbours="add-remove"), "one of: replace_one, add_remove"),  # type: ignore[call-overload]
    "a number in quotes": (lambda: Claim(epsilon="1", neighbours="add_remove"), "Expected epsilon='1' to be a number"),  # type: ignore[call-overload]
    "a misspelt mechanism": (lambda: mechanisms.Guassian, "did you mean 'Gaussian'"),  # type: ignore[attr-defined]
    "a misspelt function": (lambda: dpaudit.certfy, "did you mean 'certify'"),  # type: ignore[attr-defined]
    "a misspelt audit": (lambda: audits.audit_cases, "did you mean 'audit_case'"),  # type: ignore[attr-defined]
    "a misspelt algorithm": (lambda: algorithms.Caprii, "did you mean"),  # type: ignore[attr-defined]
    "a mechanism by position": (lambda: Gaussian(5.0, 1.0, "add_remove"), "Gaussian(stddev=5.0, l2_sensitivity=1.0"),  # type: ignore[call-arg]
    "a parameter of another library": (
        lambda: Gaussian(sigma=5.0, l2_sensitivity=1.0, neighbours="add_remove"),  # type: ignore[call-arg]
        "It has stddev, l2_sensitivity",
    ),
    "arguments the wrong way round": (
        lambda: certify(CLAIM, Release(label="sum", mechanism=NOISE)),  # type: ignore[arg-type]
        "Expected a Claim, got Release",
    ),
    "other neighbours": (
        lambda: certify(Release(label="sum", mechanism=NOISE), Claim(epsilon=1.0, neighbours="replace_one")),
        "State the sensitivity for 'replace_one'",
    ),
}


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound configuration in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = Path("release.toml")
    path.write_text(RELEASE, encoding="utf-8")
    return path


def test_the_configuration_without_a_mistake_is_read(release: Path) -> None:
    """The twin of all that follow."""
    assert CliRunner().invoke(app, ["certify", str(release)]).exit_code == 0


@pytest.mark.parametrize(("right", "wrong", "line", "said"), TOML.values(), ids=TOML)
def test_a_mistake_in_toml_is_named_at_its_line(release: Path, right: str, wrong: str, line: int, said: str) -> None:
    """File, line, value and remedy on stderr, and exit code 2."""
    release.write_text(RELEASE.replace(right, wrong, 1), encoding="utf-8")
    ended = CliRunner().invoke(app, ["certify", str(release)])
    assert ended.exit_code == 2
    assert f"release.toml:{line}: " in ended.stderr
    assert said in ended.stderr


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize(("words", "said"), COMMANDS.values(), ids=COMMANDS)
def test_a_mistake_on_the_command_line_names_the_remedy(words: tuple[str, ...], said: str) -> None:
    """Exit code 2, nothing on stdout, and the word that would have been right."""
    ended = CliRunner().invoke(app, list(words))
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert said in " ".join(ended.stderr.split())


@pytest.mark.parametrize(("wrong", "said"), PYTHON.values(), ids=PYTHON)
def test_a_mistake_in_python_names_the_remedy(wrong: Callable[[], object], said: str) -> None:
    """One error of the usual kind, whose message holds what to write."""
    with pytest.raises((TypeError, ValueError, AttributeError, ImportError, DPAuditError)) as caught:
        wrong()
    assert said in str(caught.value)


def test_a_bare_mechanism_is_one_release() -> None:
    """What is meant is clear, and nothing is refused."""
    assert certify(NOISE, CLAIM).declaration == Release(label="gaussian", mechanism=NOISE)
