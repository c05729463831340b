"""What commands say of their own options and of what is not there is what they do."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from audits import Settings, audit
from audits.examples import CLAIM, HALF_NOISE
from dpaudit import Claim, PostProcess, Printed, Release, Sequential, certify
from dpaudit.model.codec import REFUSED
from dpaudit.verifier import verify
from mechanisms import Gaussian
from tests.cli.conftest import WRITTEN
from tests.command_line import Write, dpaudit


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("certify", "over the configuration's; drawn and shown where neither is given"),
        ("audit", "over the configuration's; drawn and shown where neither is given"),
        ("report", "over the configuration's; drawn and shown where neither is given"),
        ("check", "over the configurations'; 0 where neither is given"),
        ("verify", "drawn and shown where absent"),
    ],
)
def test_the_help_of_seed_says_which_seed_is_taken(command: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate repeats itself, a configuration has its own seed, and the rest is drawn."""
    monkeypatch.setenv("COLUMNS", "80")
    assert said in " ".join(dpaudit(command, "--help").stdout.split())


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("bilboard", "bilboard: no file and no rule of that name; did you mean 'billboard'?"),
        ("DPA213x", "DPA213x: no file and no rule of that name; did you mean 'DPA213'?"),
        ("nope", "nope: no file and no rule of that name; `dpaudit explain billboard` and DPA212 are examples."),
        ("nope.toml", "nope.toml: no such file."),
    ],
)
def test_an_unknown_rule_is_not_called_a_missing_file(word: str, said: str) -> None:
    """The nearest rule is offered; a word that looks like a file is one."""
    refused = dpaudit("explain", word)
    assert (refused.exit_code, refused.stderr) == (2, f"{said}\n")


@pytest.mark.parametrize("word", [*REFUSED, "propose-test-release", "PATE"])
def test_what_is_refused_by_name_is_explained(word: str) -> None:
    """The reason that a declaration of it is given, exit 0, in text and in JSON."""
    name = word.lower().replace("-", "_")
    told = dpaudit("explain", word)
    assert told.exit_code == 0
    assert " ".join(REFUSED[name].split()) in " ".join(told.stdout.split())
    data = json.loads(dpaudit("explain", word, "--format", "json").stdout)
    assert data == {"name": name, "covered": False, "reason": REFUSED[name]}


def test_a_misspelt_refused_name_is_suggested() -> None:
    """As a rule's name is."""
    refused = dpaudit("explain", "sparse_vectr")
    assert refused.exit_code == 2
    assert "did you mean 'sparse_vector'?" in refused.stderr


def test_a_format_that_is_none_is_refused_with_those_there_are(write: Write) -> None:
    """Exit 2 and the three forms."""
    refused = dpaudit("certify", write(WRITTEN), "--format", "yaml")
    assert refused.exit_code == 2
    assert refused.stderr.endswith("Invalid value for '--format': 'yaml' is not one of 'text', 'json', 'md'.\n")


def test_a_number_is_a_power_of_ten_wherever_a_reader_sees_it(write: Write) -> None:
    """No 1e-05 stands beside 10⁻⁵, of a certified claim and of a refuted one; JSON keeps the plain number."""
    for text, verdict in ((WRITTEN, 0), (WRITTEN.replace("epsilon = 1.0", "epsilon = 0.5"), 1)):
        path = write(text)
        for command in (("certify", path), ("explain", path), ("certify", path, "--format", "md")):
            shown = dpaudit(*command)
            assert shown.exit_code in (verdict, 0)
            assert "10⁻⁵" in shown.stdout
            assert "1e-05" not in shown.stdout
    assert "1e-05" in dpaudit("certify", path, "--format", "json").stdout


def test_one_part_is_called_one_part() -> None:
    """A printed composition of several slots where there is one part; the checker derives the same sentence."""
    noise = Gaussian(stddev=10.0, l2_sensitivity=1.0, neighbours="replace_one")
    release = Release(label="sum", mechanism=noise, printed=Printed(rule="classic_gaussian", epsilon=0.5, delta=1e-6))
    tree = Sequential(
        parts=(PostProcess(part=release),), printed=Printed(rule="basic", epsilon=2.0, delta=4e-6, slots=4)
    )
    certificate = certify(tree, Claim(epsilon=2.0, delta=1e-5, neighbours="replace_one"))
    assert certificate.slack is not None
    (sentence,) = [factor.sentence for factor in certificate.slack.factors if factor.name == "number of parts"]
    assert sentence.startswith("The argument composes 4.0 slots where there is 1 part: ")
    assert verify(certificate.to_json()).complaints == ()


def test_a_learner_for_a_case_with_a_score_is_refused() -> None:
    """It was ignored in silence; without the score it is taken."""

    def learner(view: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> Callable[..., np.ndarray]:
        return np.asarray

    with pytest.raises(ValueError, match=r"Expected learner to be left out: case .* has a score"):
        audit(HALF_NOISE, claim=CLAIM, runs=100, rng=np.random.default_rng(0), how=Settings(learner=learner))


LOOSE = """
[claim]
epsilon = {epsilon}
delta = 1e-5
neighbours = "add_remove"
{unit}
[declaration]
node = "release"
label = "{label}"
mechanism = {{ name = "{noise}", {scale} = 5.0, {sensitivity} = 1.0 }}
"""
TOLD = {"epsilon": 1.0, "unit": 'unit = "one customer"', "label": "sum", "noise": "gaussian", "scale": "stddev"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epsilon": 800}, "The claim limits next to nothing: epsilon 800 is above 20"),
        ({"unit": ""}, "The claim names no unit"),
        ({"label": ""}, "Expected label='' to name the release."),
        ({"noise": "laplace", "scale": "scale"}, "'l1_sensitivity' is another number: the sum of the changes"),
    ],
)
def test_a_claim_or_a_release_that_says_too_little_is_told_so(
    changes: dict[str, object], said: str, write: Write
) -> None:
    """Nothing of it is said where unit, label, norm and size are in order."""
    for texts, expected in ((TOLD | changes, True), (TOLD, False)):
        ran = dpaudit("certify", str(write(LOOSE.format(**{"sensitivity": "l2_sensitivity"} | texts))))
        assert (said in " ".join((ran.stdout + ran.stderr).split())) is expected
