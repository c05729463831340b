"""The commonest mistakes in TOML, on the command line and in Python: each answer names what, where and the remedy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import algorithms
import audits
import dpaudit
import mechanisms
from dpaudit import Claim, Release, Repeat, Sequential, certify, training_noise
from dpaudit.adapters import LibraryRelease
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
    "an open bracket": ("[claim]", "[claim", 5, "a section ends with ]: [claim]"),
    "a decimal comma": ("epsilon = 1.0", "epsilon = 1,0", 6, "a decimal has a point: 1.5"),
    "a text without quotes": ('"replace_one"', "replace_one", 8, "a text stands in quotes"),
    "a claim without its neighbours": ('neighbours = "replace_one"\n', "", 5, "'neighbours', one of: replace_one"),
    "a claim without a number": ("epsilon = 1.0\n", "", 5, "or one of: rho, mu, renyi, profile"),
    "a claim in two measures": ("epsilon = 1.0", "epsilon = 1.0\nrho = 0.5", 5, "write one claim for each"),
    "two units": ('unit = "one person"\n\n[claim]', 'unit = "one week"\n\n[claim]', 3, "differ; state it once"),
    "a section outside its own": ("[declaration.mechanism]", "[mechanism]", 15, "write [declaration.mechanism]"),
    "a node that is not named": ('node = "release"\n', "", 11, "missing key 'node', one of: release"),
    "a mechanism that is not named": ('name = "gaussian"\n', "", 15, "`dpaudit list mechanisms` shows them"),
    "a key twice": ("delta = 1e-5", "delta = 1e-5\nepsilon = 2", 8, "the name stands twice: keep one of them."),
    "a table without its comma": (
        "[declaration.mechanism]",
        'mechanism = { name = "gaussian" stddev = 5.0 }',
        15,
        "with commas: { name = ",
    ),
    "a text without its end": ('name = "our release"', 'name = "our release', 2, "a text ends with its quote"),
    "a name for a table": (
        '[declaration.mechanism]\nname = "gaussian"\nstddev = 5.0\nl2_sensitivity = 1.0\n',
        'mechanism = "gaussian"\n',
        15,
        "write { key = value, ... }",
    ),
    "a count with a point": (
        'node = "release"\nlabel = "sum"\n\n[declaration.mechanism]',
        'node = "repeat"\ntimes = 4.0\n[declaration.part]\nnode = "release"\nlabel = "s"\n[declaration.part.mechanism]',
        13,
        "write 4",
    ),
}

COMMANDS = {
    "a misspelt command": (("certfy", "release.toml"), "Did you mean 'certify'"),
    "a misspelt file": (("certify", "relase.toml"), "relase.toml: no such file"),
    "no file": (("certify",), "Missing argument 'CONFIG'"),
    "two files": (("certify", "release.toml", "study.toml"), "Only `dpaudit check` takes several"),
    "a schema without its name": (("list", "schema"), "Expected `dpaudit list schema NAME`"),
    "a misspelt option": (("certify", "release.toml", "--formt", "json"), "--format"),
    "another format": (("certify", "release.toml", "--format", "xml"), "'text', 'json', 'md'"),
    "an audit of a declaration": (("audit", "release.toml"), "from Python by `audits.audit(function"),
    "a file without its suffix": (("certify", "release"), "did you mean 'release.toml'"),
    "a folder": (("certify", "."), "is a folder; name a file in it"),
    "a study to certify": (("certify", "study.toml"), "run `dpaudit study` on it"),
    "a configuration to study": (("study", "release.toml"), "run `dpaudit certify` on it"),
    "neighbours with a dash": (
        ("scores", "a.csv", "b.csv", "--sampling", "runs", "--epsilon", "1", "--neighbours", "add-remove"),
        "'add-remove' is not one of 'replace_one', 'add_remove'",
    ),
    "scores without their sampling": (
        ("scores", "a.csv", "b.csv", "--epsilon", "1", "--neighbours", "add_remove"),
        "Missing option '--sampling'",
    ),
    "a report to nowhere": (("report", "release.toml"), "'--output' / '-o'"),
    "a misspelt rule": (("explain", "bilboard"), "did you mean 'billboard'"),
    "an acceptance without its file": (("check", "release.toml", "--accept"), "Expected --baseline FILE"),
    "one report to compare": (("compare", "release.toml"), "expected two report.json files"),
    "a ledger that is not there": (("ledger", "show", "no.db"), "`dpaudit ledger open` makes one"),
    "a percentage": (("audit", "release.toml", "--significance", "1%"), "'1%' is no number; 1 percent is 0.01."),
    "a mechanism to explain": (("explain", "gausian"), "'gaussian' is a mechanism, which `dpaudit list mechanisms`"),
    "a file that is no certificate": (("verify", "release.toml"), "`dpaudit certify CONFIG --format json -o FILE`"),
    "two files that are no reports": (("compare", "study.json", "study.json"), "the first file is no report"),
    "a certificate before the ledger": (
        ("ledger", "book", "study.json", "ledger.db", "--account", "a", "--label", "x"),
        "ledger.db: is a database, perhaps a ledger",
    ),
    "an abbreviated digest": (("ledger", "verify", "ledger.db", "--head", "0af3"), "64 hexadecimal digits"),
}

NOISE = Gaussian(stddev=5.0, l2_sensitivity=1.0, neighbours="add_remove")
CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove")
PAIR: dict[str, Any] = {"neighbours": ([1.0], []), "claim": CLAIM, "runs": 10, "rng": np.random.default_rng(0)}


def _without(name: str) -> dict[str, Any]:
    """Return the arguments of an audit without one of them."""
    return {key: value for key, value in PAIR.items() if key != name}


def _mean(data: Any, rng: Any, n_runs: Any) -> Any:
    """Return what an audit asks for."""
    return np.mean(data) + rng.laplace(size=n_runs)


PYTHON: dict[str, tuple[Callable[[], object], str]] = {
    "a claim by position": (lambda: Claim(1.0, 1e-5), "Claim(epsilon=1.0, delta=1e-05, neighbours=...)"),  # type: ignore[call-overload]
    "an American spelling": (lambda: Claim(epsilon=1.0, neighbors="add_remove"), "did you mean 'neighbours'"),  # type: ignore[call-overload]
    "no neighbours": (lambda: Claim(epsilon=1.0), "Claim needs neighbours, one of"),  # type: ignore[call-overload]
    "a dash": (lambda: Claim(epsilon=1.0, neighbours="add-remove"), "one of: replace_one, add_remove"),  # type: ignore[call-overload]
    "a number in quotes": (lambda: Claim(epsilon="1", neighbours="add_remove"), "Expected epsilon='1' to be a number"),  # type: ignore[call-overload]
    "a misspelt mechanism": (lambda: mechanisms.Guassian, "did you mean 'Gaussian'"),  # type: ignore[attr-defined]
    "a misspelt function": (lambda: dpaudit.certfy, "did you mean 'certify'"),  # type: ignore[attr-defined]
    "a misspelt audit": (lambda: audits.audit_curves, "did you mean 'audit_curve'"),  # type: ignore[attr-defined]
    "a misspelt algorithm": (lambda: algorithms.Caprii, "did you mean"),  # type: ignore[attr-defined]
    "an acronym in capitals": (lambda: algorithms.DPSGD, "did you mean 'DpSgd'"),  # type: ignore[attr-defined]
    "a field of another library for an algorithm": (
        lambda: algorithms.DpSgd(epsilon=1.0, delta=1e-5, sigma=1.0, steps=10),  # type: ignore[call-arg]
        "It has epsilon, delta, noise_multiplier",
    ),
    "training without its noise": (
        lambda: algorithms.DpSgd(epsilon=1.0, delta=1e-5, sample_rate=0.01, steps=10),
        "calibration='tight' finds",
    ),
    "the epsilon of a certificate": (lambda: certify(NOISE, CLAIM).epsilon, "did you mean 'epsilon_at(delta)'"),  # type: ignore[attr-defined]
    "an attribute of another library": (lambda: NOISE.sigma, "noise_multiplier, release, scaled, stddev"),  # type: ignore[attr-defined]
    "a list to certify": (lambda: certify([NOISE, NOISE], CLAIM), "write Sequential(parts=(a, b))"),  # type: ignore[arg-type]
    "a calibration without its sensitivity": (lambda: Gaussian.calibrated(CLAIM), "needs l2_sensitivity"),  # type: ignore[call-arg]
    "a calibration for a number": (
        lambda: Gaussian.calibrated(2.0, l2_sensitivity=1.0),  # type: ignore[arg-type]
        "write Claim(epsilon=2.0",
    ),
    "noise for a claim, the wrong way round": (
        lambda: dpaudit.smallest_noise(CLAIM, NOISE),  # type: ignore[arg-type]
        "Expected a Claim, got Gaussian",
    ),
    "an audit with a seed": (lambda: audits.audit(_mean, seed=3, **_without("rng")), "write rng=np.random.default_rng"),  # type: ignore[call-arg]
    "an audit with a unit": (lambda: audits.audit(_mean, unit="user", **_without("data")), "how=Settings(unit=...)"),  # type: ignore[call-arg]
    "a mechanism by position": (lambda: Gaussian(5.0, 1.0, "add_remove"), "Gaussian(stddev=5.0, l2_sensitivity=1.0"),  # type: ignore[call-arg]
    "a mechanism without neighbours": (
        lambda: Gaussian(stddev=1.0, l2_sensitivity=1.0),  # type: ignore[call-arg]
        "Gaussian needs neighbours, one of 'replace_one', 'add_remove', 'zero_out'",
    ),
    "a node by position": (lambda: Repeat(NOISE, 3), "Repeat takes its fields by name: Repeat(part=..., times=3)"),  # type: ignore[call-arg,arg-type]
    "a name of another package": (lambda: audits.Gaussian, "write: from mechanisms import Gaussian"),  # type: ignore[attr-defined]
    "a number for a claim": (lambda: certify(NOISE, 1.0), "Expected a Claim, got float; write Claim(epsilon=1.0"),  # type: ignore[arg-type]
    "a number for a declaration": (lambda: certify(3, CLAIM), "got int; write Release"),  # type: ignore[arg-type]
    "a parameter of another library": (
        lambda: Gaussian(sigma=5.0, l2_sensitivity=1.0, neighbours="add_remove"),  # type: ignore[call-arg]
        "It has stddev, l2_sensitivity",
    ),
    "arguments the wrong way round": (
        lambda: certify(CLAIM, Release(label="sum", mechanism=NOISE)),  # type: ignore[arg-type]
        "Expected a Claim, got Release",
    ),
    "a certificate to verify": (lambda: dpaudit.verify(certify(NOISE, CLAIM)), "give certificate.to_json()"),  # type: ignore[arg-type]
    "a mechanism for a part": (lambda: certify(Sequential(parts=(NOISE,)), CLAIM), "at root.0"),  # type: ignore[arg-type]
    "a list of parts": (lambda: Sequential(parts=[NOISE]), "Sequential(parts=(a, b))"),  # type: ignore[arg-type]
    "a class for a mechanism": (lambda: Release(label="sum", mechanism=Gaussian), "Gaussian(...)"),  # type: ignore[arg-type]
    "a claim's number to certify": (lambda: certify(NOISE, epsilon=1.0), "write claim=Claim("),  # type: ignore[call-arg]
    "a keyword of another library": (
        lambda: dpaudit.training_noise(epsilon=8.0, delta=1e-5, sample_rate=0.1, steps=10),  # type: ignore[call-arg]
        "It has epsilon, delta, rate, steps",
    ),
    "neighbors of an audit": (
        lambda: audits.audit(_mean, neighbors=([1], [0]), **_without("neighbours")),  # type: ignore[call-arg]
        "did you mean 'neighbours'",
    ),
    "a setting of an audit": (
        lambda: audits.audit(_mean, control_runs=0, **PAIR),  # type: ignore[call-arg]
        "write how=Settings(control_runs=...). It has subject",
    ),
    "an audit without a generator": (lambda: audits.audit(_mean, **_without("rng")), "rng=np.random.default_rng(0)"),
    "a seed for a release": (lambda: NOISE.release(np.zeros(1), 7), "write rng=np.random.default_rng(7)"),  # type: ignore[arg-type]
    "a generator for an answer": (lambda: NOISE.release(PAIR["rng"], np.zeros(1)), "write release(value, rng)"),  # type: ignore[arg-type]
    "a number for a unit": (lambda: Claim(epsilon=1.0, neighbours="add_remove", unit=5), "what one record is; got 5"),  # type: ignore[call-overload]
    "a delta in percent": (lambda: Claim(epsilon=1.0, delta=5, neighbours="add_remove"), "5 percent is 0.05"),
    "a rate in percent": (lambda: training_noise(4.0, 1e-5, rate=10, steps=9), "rate=10 in (0, 1]; 10 percent is 0.1"),
    "a library's release of nothing": (
        lambda: LibraryRelease(
            library="a",
            version="1",
            text="a sum",
            source="a",
            claim=CLAIM,
            declaration=None,  # type: ignore[arg-type]
            reproducible=True,
        ),
        "Expected declaration=None to be a declaration, as Release(label='sum'",
    ),
    "an audit of no function": (lambda: audits.audit(NOISE, **PAIR), "Expected a function of (data, rng, n_runs)"),  # type: ignore[arg-type]
    "a function of other arguments": (
        lambda: audits.audit(lambda data, rng, n_runs, bound: _mean(data, rng, n_runs), **PAIR),
        "that also needs bound",
    ),
    "a whole number with a point": (lambda: audits.audit(_mean, **PAIR | {"runs": 10.0}), "write 10"),
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
    Path("study.toml").write_text("[study]\nname = 'x'\n", encoding="utf-8")
    Path("study.json").write_text("{}", encoding="utf-8")
    opened = ("--account", "a", "--unit", "one person", "--epsilon", "1")
    CliRunner().invoke(app, ["ledger", "open", "ledger.db", *opened])
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
