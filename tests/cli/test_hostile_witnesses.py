"""Witnesses that were made or altered to refute right code: none of them stands."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import audit, refute
from audits.bounds import guessing_bound
from audits.decision.preparation import prepare
from audits.experiment.identity import address_of
from audits.experiment.settings import Settings
from dpaudit import Claim
from dpaudit.configuration import config as configuration
from dpaudit.model.audit_result import Counts
from dpaudit.workflow import cases_of
from tests.cli.conftest import CODED
from tests.command_line import Write, dpaudit

Alter = Callable[[dict[str, Any]], object]


def set_in(part: str, key: str, value: object) -> Alter:
    return lambda data: data[part].__setitem__(key, value)


def set_claim(key: str, value: object) -> Alter:
    return lambda data: data["witness"]["claim"].__setitem__(key, value)


def at_significance(data: dict[str, Any], significance: float) -> None:
    witness = data["witness"]
    shown = guessing_bound(Counts(**witness["counts"]), 1e-5, significance).epsilon
    witness.update(significance=significance, epsilon_lower=shown)


HOSTILE: dict[str, Alter] = {
    "counts that never were": lambda data: None,
    "a smaller claim": set_claim("epsilon", 0.01),
    "claim 0": set_claim("epsilon", 0.0),
    "another delta": set_claim("delta", 0.0),
    "another relation": set_claim("neighbours", "add_remove"),
    "another model": set_claim("model", "local"),
    "another unit": set_claim("unit", "a letter"),
    "a claim with a further key": set_claim("word", 1),
    "target 0": set_in("witness", "against", 0.0),
    "a negative target": set_in("witness", "against", -1.0),
    "a target that is no number": set_in("witness", "against", "nan"),
    "nearly certain to accuse": lambda data: at_significance(data, 0.999999),
    "significance 1": set_in("witness", "significance", 1.0),
    "significance 0": set_in("witness", "significance", 0.0),
    "ten million million runs": set_in("witness", "runs", 10**13),
    "one run": set_in("witness", "runs", 1),
    "runs that are a truth value": set_in("witness", "runs", True),
    "a million words of seed": set_in("witness", "seed", [1] * 100_000),
    "no seed": set_in("witness", "seed", []),
    "a negative seed": set_in("witness", "seed", [-1]),
    "an event of its own": lambda data: data["witness"]["event"].update(low=-1e9, high=-1e8),
    "an event that is no number": lambda data: data["witness"]["event"].update(low="nan"),
    "a bound that assumes": set_in("witness", "bound", "gaussian"),
    "a bound of its own": set_in("witness", "bound", "certainty"),
    "counts of its own": lambda data: data["witness"]["counts"].update(guesses=1600, correct=1599),
    "another case": set_in("configuration", "place", 7),
    "another address": lambda data: data.__setitem__("address", "0" * 64),
    "a further key": lambda data: data.__setitem__("verdict", "refuted"),
}


SAID = {
    "a smaller claim": "its claim is not the configuration's",
    "another relation": "its claim is not the configuration's",
    "target 0": "its target is not 1",
    "nearly certain to accuse": "its significance is above",
    "ten million million runs": "it has more than 1000000 runs",
    "a bound that assumes": "the counts do not show",
    "counts of its own": "the counts do not show",
    "another address": "other code, data or versions",
}
"""What is said of some of them."""


@pytest.fixture
def forged(write: Write, fakes: None) -> dict[str, Any]:
    """Return a witness of right code for a claim of 0.01 that it never made; all else in it is true."""
    subject = configuration.read_config(Path(write(CODED)))
    case = cases_of(subject, None)[0][1]
    small = Claim(epsilon=0.01, delta=1e-5, neighbours="replace_one")
    plain = replace(case, gaussian=False)
    result = audit(plain, claim=small, runs=20_000, rng=np.random.default_rng([1, 0]), significance=0.0025)
    assert result.verdict == "violation"
    return {
        "witness": json.loads(refute(plain, result, np.random.default_rng([1, 0])).to_json()),
        "configuration": {"name": "c.toml", "text": CODED, "place": 0},
        "address": address_of(case, Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")),
    }


def convincing(forged: dict[str, Any]) -> dict[str, Any]:
    """Return the witness with the claim and the target of its configuration, and counts that would refute them."""
    data = deepcopy(forged)
    counts = data["witness"]["counts"]
    counts.update(guesses=counts["runs"], correct=counts["runs"])
    data["witness"]["against"] = 1.0
    at_significance(data, 0.0025)
    data["witness"]["claim"]["epsilon"] = 1.0
    return data


@pytest.mark.parametrize("name", HOSTILE)
def test_no_hostile_witness_of_right_code_stands(write: Write, forged: dict[str, Any], name: str) -> None:
    """One line and exit code 2, or inconclusive; never a finding."""
    data = convincing(forged)
    HOSTILE[name](data)
    ended = dpaudit("verify", write(json.dumps(data), "w.witness.json"), "--seed", "5")
    assert SAID.get(name, "") in " ".join(ended.output.split())
    assert ended.exit_code == (4 if name == "counts that never were" else 2), ended.output
    assert "Traceback" not in ended.output


def test_a_witness_that_is_not_convincing_is_refused(write: Write, forged: dict[str, Any]) -> None:
    """What every hostile witness is made of, as it was forged first."""
    assert dpaudit("verify", write(json.dumps(forged), "w.witness.json"), "--seed", "5").exit_code == 2


def test_a_target_that_is_believed_would_stand(forged: dict[str, Any]) -> None:
    """The broken twin: counted again against the target that the witness states, right code is refuted."""
    assert forged["witness"]["epsilon_lower"] > forged["witness"]["against"] == 0.01


def test_the_significance_is_the_verifiers_whatever_the_configuration_in_the_file_says(
    write: Write, forged: dict[str, Any]
) -> None:
    """A configuration of significance .999999 made right code fall "again"; fresh runs count at .01."""
    text, level = f"{forged['configuration']['text']}significance = 0.999999\n", 0.24
    data = convincing(forged)
    data["configuration"]["text"] = text
    at_significance(data, level)  # nearly the largest that two views and two bounds of each leave to one bound
    _, case = cases_of(configuration.read_config(Path(write(text))), None)[0]
    runs, taught, target = data["witness"]["runs"], np.random.default_rng([1, 0]), (1.0, 1e-5)
    data["witness"]["event"] = asdict(prepare(case, runs, taught, level, Settings(), target).choice.event)
    name = write(json.dumps(data), "w.witness.json")
    ended = [dpaudit("verify", name, "--seed", str(seed), "--format", "json") for seed in range(3)]
    assert {one.exit_code for one in ended} == {4}, ended[0].output
    assert {json.loads(one.stdout)["significance"] for one in ended} == {0.01}
