"""The schema of a configuration: it admits what ships, refuses planted errors, and says what the settings say."""

import json
import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import algorithms
import mechanisms
from algorithms import problems
from dpaudit import Claim, Release
from dpaudit.checks import Within
from dpaudit.cli.app import app
from dpaudit.configuration.config_schema import config_schema
from dpaudit.configuration.configuration import AuditSettings
from dpaudit.configuration.fields import Field, fields_of
from dpaudit.model.node_kinds import NODES
from mechanisms import Gaussian, Laplace

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted(
    file
    for folder in ("examples", "examples/ci/privacy", "examples/first_steps", "dpaudit/demo", "tests/golden")
    for file in (ROOT / folder).iterdir()
    if file.suffix in (".toml", ".json") and file.name != "accepted.json"
)
CODED = {"algorithm": {"name": "capri", "model": "joint", "epsilon": 1.0, "delta": 1e-5, "horizon": 1000}}
NOISE = {"name": "gaussian", "stddev": 30.0, "l2_sensitivity": 1.0}
WRITTEN = {
    "claim": {"epsilon": 1.0, "delta": 1e-5, "neighbours": "replace_one"},
    "declaration": {"node": "release", "label": "sums", "mechanism": NOISE},
}


@cache
def schema() -> dict[str, Any]:
    """Return the schema, which takes a second to write."""
    return config_schema()


@cache
def validator() -> Draft202012Validator:
    """Return what validates a configuration, once the schema is known to be one."""
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


def targets() -> Iterator[tuple[str, Any]]:
    """Yield every algorithm, problem, mechanism and node with what its table configures."""
    for kind, home in (("algorithms", algorithms), ("problems", problems), ("mechanisms", mechanisms)):
        for name in home.NAMES:
            yield f"{kind}.{name}", home.load(name)
    for name, node in NODES.items():
        yield f"nodes.{name}", node


def planted(**sections: Any) -> dict[str, Any]:
    """Return a configuration of CAPRI with sections changed; a table is merged, None removes it."""
    merged: dict[str, Any] = {key: dict(value) for key, value in CODED.items()}
    for name, table in sections.items():
        merged[name] = {**merged.get(name, {}), **table}
    return merged


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_every_shipped_configuration_is_admitted(file: Path) -> None:
    """Examples, the demo and the golden configurations have no fault under the schema."""
    text = file.read_text(encoding="utf-8")
    data = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    assert [error.message for error in validator().iter_errors(data)] == []


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(planted(algorithm={"epsilonn": 2.0}), id="unknown key"),
        pytest.param(planted(algorithm={"epsilon": "1"}), id="text for a number"),
        pytest.param(planted(algorithm={"horizon": 10.5}), id="a fraction for a count"),
        pytest.param(planted(algorithm={"epsilon": 0}), id="an epsilon at the border"),
        pytest.param(planted(algorithm={"delta": 1}), id="a delta of one"),
        pytest.param(planted(algorithm={"horizon": 3}), id="too few rounds"),
        pytest.param(planted(audit={"runs": 3}), id="too few runs"),
        pytest.param(planted(algorithm={"model": "central"}), id="a value that is no choice"),
        pytest.param(planted(algorithm={"name": "capry"}), id="unknown algorithm"),
        pytest.param({"algorithm": {"name": "capri", "model": "joint"}}, id="missing keys"),
        pytest.param(planted(problem={"name": "rand_hie", "rows": 3}), id="unknown key of a problem"),
        pytest.param(planted(audit={"significanse": 0.01}), id="unknown key of the audit"),
        pytest.param(planted(report={"word": "verified"}), id="unknown word"),
        pytest.param(planted(deployment={"scope": {"purpos": "x"}}), id="unknown key of the deployment"),
        pytest.param(planted(claim=WRITTEN["claim"]), id="a claim beside an algorithm"),
        pytest.param(planted(sistem={}), id="unknown section"),
        pytest.param({"claim": WRITTEN["claim"]}, id="a claim without its declaration"),
        pytest.param(WRITTEN | {"audit": {"runs": 10}}, id="an audit of a declaration"),
        pytest.param(WRITTEN | {"declaration": {"node": "release", "label": "sums"}}, id="a release without noise"),
        pytest.param(WRITTEN | {"declaration": {"node": "sequence", "parts": []}}, id="unknown node"),
        pytest.param(
            WRITTEN | {"declaration": {"node": "repeat", "times": 2, "part": {"node": "relase"}}}, id="inner node"
        ),
    ],
)
def test_a_planted_error_is_refused(data: dict[str, Any]) -> None:
    """Each of these is refused; without the error the same configuration is admitted."""
    assert not validator().is_valid(data)
    assert validator().is_valid(planted())
    assert validator().is_valid(WRITTEN)


def test_infinity_is_admitted_where_a_key_may_have_it() -> None:
    """As TOML's inf and as JSON's "inf" for what somebody else states, and for a claim that promises nothing."""
    for told in (math.inf, "inf"):
        part: dict[str, Any] = {"node": "stated", "epsilon": told, "source": "a vendor"}
        assert validator().is_valid(WRITTEN | {"declaration": part})
        assert not validator().is_valid(WRITTEN | {"declaration": part | {"delta": told}})
        claim = {"epsilon": told, "neighbours": "replace_one"}
        assert validator().is_valid(WRITTEN | {"claim": claim})
        assert not validator().is_valid(WRITTEN | {"claim": claim | {"delta": told}})


@pytest.mark.parametrize(("name", "target"), list(targets()))
def test_every_key_has_a_meaning_and_its_default(name: str, target: Any) -> None:
    """The schema has each key of the code, no other one, with the code's default and a clause of its docstring."""
    table = schema()["$defs"][name]["properties"]
    fields = {field.name: field for field in fields_of(target)}
    assert set(table) - set(fields) == {"node" if name.startswith("nodes") else "name"}
    for key, field in fields.items():
        assert len(table[key]["description"]) > len(key)
        assert "see `calibration`" not in table[key]["description"]
        if field.default not in (MISSING, None) and field.default == field.default:
            stated = table[key]["default"]
            assert (tuple(stated) if isinstance(stated, list) else stated) == field.default


SENT = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
PART = Release(label="sums", mechanism=SENT)
NEEDED: dict[str, Any] = {
    "nodes.best_of": {"law": "fixed", "runs": 2},
    "algorithms.lplr": {"horizon": 100_000},
    "algorithms.lsvi_ucb": {"delta": 1e-5},
    "algorithms.ucrl_vtr": {"delta": 1e-5},
    "algorithms.dp_sgd": {"noise_multiplier": 1.0, "sample_rate": 0.1, "steps": 10},
    "mechanisms.matrix": {
        "strategy": "square_root",
        "leaf": Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"),
    },
    "mechanisms.tree_aggregation": {"leaf": Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")},
    "mechanisms.subset_selection": {"categories": 4, "subset_size": 2},
    "mechanisms.finite": {"first": (0.5, 0.5), "second": (0.4, 0.6)},
    "mechanisms.discrete_gaussian": {"l2_sensitivity": 1},
    "mechanisms.discrete_laplace": {"l1_sensitivity": 1},
    "mechanisms.truncated_discrete_gaussian": {"cut": 10.0, "l2_sensitivity": 1},
    "nodes.stated": {"epsilon": 1.0},
    "nodes.release": {"mechanism": SENT},
    "nodes.shuffle": {"users": 100},
}
"""What a table needs beside `FITTING`."""
FITTING: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "scale": 10.0,
    "stddev": 1.0,
    "rate": 0.1,
    "neighbours": "replace_one",
    **dict.fromkeys(("horizon", "episodes"), 1000),
    **dict.fromkeys(("dimension", "actions", "steps", "arms", "times", "size"), 3),
    "label": "sums",
    "part": PART,
    "parts": (PART, PART),
    "source": "a supplier",
    "model": "joint",
}
UNLIMITED = {
    *("smoothness", "entries", "signs", "first", "second", "shares", "utilities", "table", "length"),
    *("printed", "units_per_person"),
}
"""Numbers that have no range of their own: lists of them, choices, and what another key decides."""
SECTIONS = (("audit", AuditSettings), ("claim", Claim))


def _accepts_numbers(field: Field) -> bool:
    """Return whether a key holds one number, or may."""
    return bool({int, float} & ({field.hint} | set(get_args(field.hint))))


def _outside(limits: Within) -> Iterator[float]:
    """Yield the nearest numbers on the wrong side of each end of a range."""
    ends = ((limits.above, 0), (limits.below, 0), (limits.at_least, -1), (limits.at_most, 1))
    yield from (end + step * max(1, abs(end)) for end, step in ends if end is not None)


@pytest.mark.parametrize(("name", "target"), [*targets(), *((f"section.{name}", kind) for name, kind in SECTIONS)])
def test_a_number_outside_its_stated_range_is_refused(name: str, target: Any) -> None:
    """Each end of each range is the one that the code holds; a number without a range is on the short list."""
    needed = {f.name for f in fields_of(target) if f.required} | set(NEEDED.get(name, {}))
    if "path" in needed:
        pytest.skip("reads a file first; tests of that problem hold its range")
    number = {f.name: 1 for f in fields_of(target) if _accepts_numbers(f)}
    base = {key: NEEDED.get(name, {}).get(key, FITTING.get(key, number.get(key, "public"))) for key in needed}
    for field in fields_of(target):
        if not _accepts_numbers(field):
            continue
        assert (field.limits != Within()) is (field.name not in UNLIMITED), field.name
        for value in _outside(field.limits):
            whole = int(value) if field.hint is int or int in get_args(field.hint) else value
            with pytest.raises(ValueError, match=rf"Expected .*{field.name}"):
                target(**base | {field.name: whole})


@pytest.mark.parametrize("name", sorted(algorithms.NAMES))
def test_the_values_of_a_choice_are_those_that_the_settings_accept(name: str) -> None:
    """A text that is no value is refused by the settings, with exactly the schema's values; each text is a choice."""
    target = algorithms.load(name)
    texts = [field for field in fields_of(target) if field.hint is str]
    for field in texts:
        with pytest.raises(ValueError, match="to be one of") as refusal:
            target(**_needed(target) | {field.name: "no value"})
        assert re.split(", ", str(refusal.value).partition("one of: ")[2].rstrip(".")) == list(field.values)


def _needed(target: Any) -> dict[str, Any]:
    """Return values for the keys that an algorithm requires; DP-SGD needs more of them without a checkpoint."""
    known: dict[str, Any] = {"model": "joint", "epsilon": 1.0, "delta": 1e-5, "sample_rate": 0.1, "noise_multiplier": 1}
    counts = {"arms": 5, "dimension": 2, "actions": 2, "steps": 4}
    wanted = [field for field in fields_of(target) if field.required or field.name in ("sample_rate", "steps")]
    wanted += [field for field in fields_of(target) if field.name == "noise_multiplier"]
    return {field.name: known.get(field.name, counts.get(field.name, 10_000)) for field in wanted}


def test_the_command_prints_it_and_lists_it() -> None:
    """`dpaudit list schema config` is the schema, `dpaudit list schemas` names it too; another name is refused."""
    runner = CliRunner()
    assert json.loads(runner.invoke(app, ["list", "schema", "config"]).stdout) == json.loads(json.dumps(schema()))
    assert "config" in runner.invoke(app, ["list", "schemas"]).stdout.split()
    refused = runner.invoke(app, ["list", "schema", "confg"])
    assert (refused.exit_code, refused.stderr) == (2, "Unknown schema name='confg'; did you mean 'config'?\n")


def test_a_plug_in_that_cannot_be_read_leaves_its_keys_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken plug-in costs the editor its keys, not the schema."""

    def broken(kind: str, name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("dpaudit.configuration.config_schema.find_plugin", broken)
    data = planted(algorithm={"anything": 1})
    assert Draft202012Validator(config_schema()).is_valid(data)
    assert not validator().is_valid(data)
