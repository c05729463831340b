"""The JSON is what the published schemas say, and the schemas refuse what it is not."""

import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dpaudit import Claim, Printed, Release, Subsample, certify, schemas
from dpaudit.json_schema import Keywords, defined, definition_name
from dpaudit.model.node_kinds import NODES
from dpaudit.report import Report
from dpaudit.schemas.tables import Tables
from mechanisms import Gaussian


def validator(name: str) -> Draft202012Validator:
    """Return a strict validator of one schema, complete in itself."""
    schema = schemas.load(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def objects(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every object in `data` whose fields the schemas fix."""
    if isinstance(data, dict):
        free = path and path[-1] in ("versions", "mechanism")
        if not free:
            yield path
            for key, value in data.items():
                yield from objects(value, (*path, key))
    elif isinstance(data, list):
        for place, value in enumerate(data[:2]):
            yield from objects(value, (*path, place))


def at(data: Any, path: tuple[str | int, ...]) -> Any:
    """Return what lies at `path`."""
    for key in path:
        data = data[key]
    return data


@pytest.fixture
def small(stories: dict[str, Report]) -> Any:
    """Return the reference story's JSON with its long lists cut to two entries."""
    data = json.loads(stories["paper"].to_json())
    data["curve"]["points"], data["trade_off"] = data["curve"]["points"][:2], data["trade_off"][:2]
    for section in data["sections"]:
        section["fields"], section["grids"] = section["fields"][:1], section["grids"][:1]
        for held in section["grids"]:
            held["rows"], held["statuses"] = held["rows"][:1], held["statuses"][:1]
    data["glossary"], data["derivation"] = data["glossary"][:1], data["derivation"][:2]
    for one in data["audits"]:
        one["roc"] = one["roc"][:2]
    return data


def test_every_story_validates(stories: dict[str, Report]) -> None:
    """Report, certificate and audits of every story meet their schemas."""
    report, certificate, audit = (validator(name) for name in ("report", "certificate", "audit"))
    for story in stories.values():
        data = json.loads(story.to_json())
        report.validate(data)
        certificate.validate(json.loads(story.certificate.to_json()))
        for one in story.audits:
            audit.validate(json.loads(one.to_json()))


def test_an_unknown_field_anywhere_fails(small: Any) -> None:
    """A field that the schema does not name is refused in every object of the report."""
    check = validator("report")
    paths = list(objects(small))
    assert len(paths) > 40
    for path in paths:
        held = at(small, path)
        held["surprise"] = 1
        assert not check.is_valid(small), path
        del held["surprise"]
    assert check.is_valid(small)


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_a_missing_field_anywhere_fails(small: Any, step: int) -> None:
    """Leaving out any field (one in four on a change) is refused, but for those absent when there is nothing to say."""
    check = validator("report")
    optional = {"printed", "slack", "seed", "slots", "epsilon", "certificate", "visibility"}
    fields = [(path, key) for path in objects(small) for key in at(small, path)]
    assert len(fields) > 200
    for path, key in fields[::step]:
        held = at(small, path)
        value = held.pop(key)
        if check.is_valid(small):
            assert key in optional, (path, key)
        held[key] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "COMPLIANT"),
        (("created",), "1 March"),
        (("certificate", "verdict"), "fine"),
        (("certificate", "claim", "delta"), 1.0),
        (("certificate", "claim", "epsilon"), -1.0),
        (("certificate", "tight", "epsilon", "upper"), "infinite"),
        (("certificate", "digest"), "abc"),
        (("certificate", "declaration", "node"), "sequence"),
        (("audits", 0, "significance"), 0),
        (("audits", 0, "runs"), 0),
        (("audits", 0, "roc"), [[0.1, 0.2, 0.3]]),
        (("derivation", 0, "conditions"), ["C1"]),
    ],
)
def test_a_wrong_value_fails(
    small: Any, path: tuple[str | int, ...], value: str | float | list[list[float] | str]
) -> None:
    """Values outside their range are refused."""
    check = validator("report")
    assert check.is_valid(small)
    at(small, path[:-1])[path[-1]] = value
    assert not check.is_valid(small)


def test_infinity_is_a_string_and_json_stays_strict(stories: dict[str, Report]) -> None:
    """An infinite bracket is written as "inf", and no number is outside JSON."""
    data = stories["infinite"].to_dict()
    assert data["certificate"]["tight"]["epsilon"]["upper"] == "inf"
    json.loads(stories["infinite"].to_json(), parse_constant=pytest.fail)


def test_every_object_of_a_document_has_a_definition_of_its_own() -> None:
    """No two types of the documents share the name of a definition, and a document states the name of its schema."""
    rooms = ("audits", "certificate", "gate", "reports", "studies", "values")
    modules = [importlib.import_module(f"dpaudit.schemas.{room}") for room in rooms]
    others = {Keywords, Tables} | {kind for module in modules for kind in module.TABLES.written_as}
    others |= {source for module in modules for source, _ in module.TABLES.sources.values()}
    kinds = {kind for module in modules for kind in vars(module).values() if defined(kind)} - others
    names = [definition_name(kind) for kind in kinds | set(NODES.values())]
    assert len(names) == len(set(names)) > 80
    for name in set(schemas.NAMES) - {"ledger"}:
        schema = schemas.load(name)
        assert schema["properties"]["schema"] == {"const": schema["$id"]}


def test_a_sample_of_rate_zero_and_a_stated_limit_of_an_argument_are_valid() -> None:
    """The schema of a declaration accepts what the data model accepts: it is read from the same annotations."""
    noise = Gaussian(l2_sensitivity=1.0, stddev=1.0, neighbours="add_remove")
    printed = Printed(rule="classic_gaussian", epsilon=1.0, largest_epsilon=1.0)
    part = Subsample(part=Release(label="sums", mechanism=noise, printed=printed), rate=0.0)
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove", model="central", unit="record")
    validator("certificate").validate(json.loads(certify(part, claim).to_json()))


def test_schemas_name_themselves_and_know_nothing_else() -> None:
    """Each schema has its stable name; an unknown one is refused."""
    versions = dict.fromkeys(schemas.NAMES, 1) | {
        "audit": 6,
        "baseline": 2,
        "certificate": 7,
        "check": 6,
        "plan": 2,
        "report": 10,
        "scores": 4,
        "study": 3,
        "training": 2,
    }
    for name, version in versions.items():
        assert schemas.load(name)["$id"] == f"urn:dpaudit:schema:{name}:{version}"
    with pytest.raises(KeyError):
        schemas.load("../report")
