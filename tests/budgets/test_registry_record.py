"""Records and statements for others' tools: valid by their schemas, and about the very bytes beside them."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator, Draft202012Validator

from dpaudit import Claim, Condition, Release, Stated, UnsupportedError, certify
from dpaudit.configuration.deployment_file import read_deployment
from dpaudit.model.condition import Status
from dpaudit.model.deployment import Deployment
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.report import Report, System
from dpaudit.report.attachments.in_toto import PRIVACY_REPORT, TEST_RESULT
from dpaudit.report.attachments.registry_record import missing, registry_record, registry_text
from dpaudit.report.writing import contents
from mechanisms import Gaussian

FULL = Path(__file__).parents[1] / "report" / "deployment.toml"
TEXT = {"type": "string", "minLength": 1}


def table(required: list[Any], **properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a table that may have these keys and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


VARIANTS = ["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"]
STATUSES = ["Converted", "Draft", "Pending", "Changes Required", "Approved", "Approved (Update Requested)"]
STATUSES += ["Approved (Pending)"]
PRODUCTS = [
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
]
SECTORS = ["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]
REQUIRED = ["name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region"]
NUMBER = {"type": "number"}
REGISTRY = table(
    ["url_slug", "status", "tier", "deployment"],
    url_slug=TEXT,
    status={"enum": STATUSES},
    tier={"enum": [1, 2, 3]},
    deployment=table(
        ["basic"],
        basic=table(
            [*REQUIRED, "publication_date"],
            **dict.fromkeys(("name", "description", "intended_use", "data_product_region"), TEXT),
            data_curators={"type": "array", "items": TEXT, "minItems": 1},
            data_product_type={"enum": PRODUCTS},
            data_product_sector={"enum": SECTORS},
            publication_date={"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        ),
        dp_variant=table([], variant_name={"enum": VARIANTS}, data_domain=TEXT, unprotected_quantities=TEXT),
        privacy_loss=table(
            [],
            privacy_unit=TEXT,
            privacy_unit_details=TEXT,
            privacy_parameters=table([], epsilon=NUMBER, delta={"type": ["number", "string"]}, rho=NUMBER),
            privacy_parameters_details=TEXT,
        ),
        deployment_model=table(
            [],
            model_name={"enum": ["Local", "Central", "Shuffle", "Federated", "Varies"]},
            model_name_details=TEXT,
            actors=TEXT,
            release_type={"enum": ["One release", "Many releases"]},
            release_type_details=TEXT,
            data_source_type={"enum": ["Static", "Dynamic"]},
            data_source_type_details=TEXT,
            access_type={"enum": ["Interactive", "Non-interactive"]},
            access_type_details=TEXT,
        ),
        accounting=table([], composition=TEXT, post_processing=TEXT),
        implementation=table([], preprocessing_and_hyperparameter_tuning=TEXT, mechanisms=TEXT, justification=TEXT),
        administrative=table(
            ["registry_authors"],
            sources=TEXT,
            notes=TEXT,
            registry_authors={"type": "array", "items": TEXT, "minItems": 1},
        ),
    ),
)
"""The keys, lists and required fields of the registry's schema at commit 3e9c812 (15 July 2026), without its texts."""
DIGEST = table(["sha256"], sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"})
RESOURCE = table(["name", "digest"], name=TEXT, digest=DIGEST)
NAMES = {"type": "array", "items": TEXT}


def statement(predicate_type: str, predicate: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a statement with one kind of predicate."""
    return table(
        ["_type", "subject", "predicateType", "predicate"],
        _type={"const": "https://in-toto.io/Statement/v1"},
        subject={"type": "array", "items": RESOURCE, "minItems": 1},
        predicateType={"const": predicate_type},
        predicate=predicate,
    )


RESULT = statement(
    "https://in-toto.io/attestation/test-result/v0.1",
    table(
        ["result", "configuration"],
        result={"enum": ["PASSED", "WARNED", "FAILED"]},
        configuration={"type": "array", "items": RESOURCE},
        url=TEXT,
        passedTests=NAMES,
        warnedTests=NAMES,
        failedTests=NAMES,
    ),
)


@pytest.fixture(scope="module")
def report() -> Report:
    """Return a certified report with a full deployment."""
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", unit="one patient-year")
    noise = Gaussian.calibrated(claim, l2_sensitivity=1.0)
    return Report(
        certificate=certify(Release(label="sum", mechanism=noise), claim),
        system=System(name="Plans", unit="one patient-year"),
        deployment=read_deployment(FULL),
        created="2026-03-01",
        config_text="[claim]\n",
    )


def test_a_full_deployment_makes_a_valid_record_of_the_third_tier(report: Report) -> None:
    """The record meets the schema, its YAML reads back as the same data, and numbers stay numbers."""
    record = registry_record(report)
    Draft7Validator.check_schema(REGISTRY)
    Draft7Validator(REGISTRY).validate(record)
    assert record["tier"] == 3
    read = yaml.safe_load(registry_text(report))
    assert read == record
    assert read["deployment"]["privacy_loss"]["privacy_parameters"]["delta"] == 1e-5
    told = read["deployment"]["deployment_model"]
    assert [told[f"{kind}_type"] for kind in ("release", "data_source", "access")] == [
        "Many releases",
        "Static",
        "Non-interactive",
    ]
    assert read["deployment"]["basic"]["data_product_sector"] == "Healthcare"


MEASURED = (
    (RhoClaim(rho=0.5, neighbours="replace_one"), "Zero-concentrated DP", "rho at most 0.5"),
    (RhoClaim(rho=0.5, xi=0.1, neighbours="replace_one"), "Custom", "rho = 0.5, xi = 0.1"),
    (MuClaim(mu=1.0, neighbours="replace_one"), "Custom", "mu = 1: two neighbours"),
    (RenyiClaim(renyi=((2.0, 1.0), (4.0, 2.5)), neighbours="replace_one"), "Renyi DP", "of order 4 at most 2"),
    (ProfileClaim(profile=((1.0, 0.2), (3.0, 0.01)), neighbours="replace_one"), "Custom", "0.2 at 1, 0.01 at 3"),
)


@pytest.mark.parametrize(("claim", "variant", "said"), MEASURED, ids=[claim.words for claim, *_ in MEASURED])
def test_a_claim_in_its_own_measure_makes_a_valid_record(
    report: Report, claim: MeasuredClaim, variant: str, said: str
) -> None:
    """Numbers without a field of the registry stand in words, claimed and proved; a stated one is never proved."""
    noise = Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"))
    for part, verdict in ((noise, "certified"), (Stated(mu=0.1, source="a vendor"), "stated")):
        certificate = certify(part, claim)
        assert certificate.verdict == verdict
        record = registry_record(replace(report, certificate=certificate))
        assert yaml.safe_load(registry_text(replace(report, certificate=certificate))) == record
        loss, named = record["deployment"]["privacy_loss"], record["deployment"]["dp_variant"]["variant_name"]
        assert named == variant
        assert loss.get("privacy_parameters") == ({"rho": 0.5} if variant.startswith("Zero") else None)
        if verdict == "certified":
            Draft7Validator(REGISTRY).validate(record)
            assert said in loss["privacy_parameters_details"]
        else:
            assert "Stated by a vendor; not verified" in loss["privacy_parameters_details"]
            assert not {"proved", "certified", "guaranteed"} & {*json.dumps(loss).lower().replace(",", " ").split()}


@pytest.mark.parametrize("missing_field", ["data_product_sector", "release_type", "data_source_type", "access_type"])
def test_a_field_of_the_third_tier_that_nobody_declared_makes_it_the_second(report: Report, missing_field: str) -> None:
    """Nothing is invented for it."""
    absent: dict[str, Any] = {missing_field: ""}
    registry = replace(report.deployment.registry, **absent)
    record = registry_record(replace(report, deployment=replace(report.deployment, registry=registry)))
    Draft7Validator(REGISTRY).validate(record)
    assert record["tier"] == 2


def test_without_actors_it_is_of_the_second_tier(report: Report) -> None:
    """What the third tier needs and nobody declared is left out, with the tier that says so."""
    record = registry_record(replace(report, deployment=replace(report.deployment, actors=())))
    Draft7Validator(REGISTRY).validate(record)
    assert record["tier"] == 2
    assert "accounting" not in record["deployment"]


def test_what_a_record_lacks_is_named_and_none_is_written(report: Report) -> None:
    """An empty deployment makes no record: no field of it is invented."""
    bare = replace(report, deployment=Deployment(), system=System())
    assert len(missing(bare)) == 9
    with pytest.raises(UnsupportedError, match=r"system\.name, registry\.curators"):
        registry_record(bare)
    assert registry_text(bare) == ""
    assert "registry.yaml" not in contents(bare)


def test_a_claim_that_is_not_certified_makes_no_record(report: Report) -> None:
    """The registry has no word for it."""
    refuted = replace(report, certificate=replace(report.certificate, verdict="refuted"))
    assert registry_text(refuted) == ""
    with pytest.raises(UnsupportedError, match="refuted"):
        registry_record(refuted)


@pytest.mark.parametrize("text", ["a: b", "- x\n  y", "'\"", "#x", "\u202e<b>", "yes", "1e-5", "x\n\n  y\n"])
def test_any_text_survives_the_yaml(report: Report, text: str) -> None:
    """Colons, quotes, comments, several lines: they come back as they were, but for invisible characters."""
    registry = replace(report.deployment.registry, description=text)
    read = yaml.safe_load(registry_text(replace(report, deployment=replace(report.deployment, registry=registry))))
    assert read["deployment"]["basic"]["description"] == text.replace("\u202e", "\ufffd").rstrip("\n")


def test_statements_validate_and_name_the_bytes_beside_them(report: Report) -> None:
    """The result is about source and configuration, our own about the files; each digest is that of the bytes."""
    files = contents(report)
    written = {name: json.loads(content) for name, content in files.items() if name.endswith(".intoto.json")}
    result, own = written["test-result.intoto.json"], written["privacy-report.intoto.json"]
    Draft202012Validator(RESULT).validate(result)
    Draft202012Validator(statement(PRIVACY_REPORT, {"type": "object"})).validate(own)
    assert (result["predicateType"], own["predicateType"]) == (TEST_RESULT, PRIVACY_REPORT)
    tested = {one["name"]: one["digest"]["sha256"] for one in result["subject"]}
    text = report.config_text.encode()
    assert tested == {"configuration": hashlib.sha256(text).hexdigest(), "source": report.certificate.source_digest}
    subjects = {one["name"]: one["digest"]["sha256"] for one in own["subject"]}
    assert set(subjects) == set(files) - {"privacy-report.intoto.json"}, "it cannot name itself"
    assert all(subjects[name] == hashlib.sha256(files[name]).hexdigest() for name in subjects)
    assert own["predicate"]["certificate"] == report.certificate.to_dict()["digest"]


def test_the_result_is_the_verdicts(report: Report) -> None:
    """Caveats warn, a refuted claim fails."""
    held = json.loads(contents(report)["test-result.intoto.json"])["predicate"]
    assert (held["result"], held["warnedTests"], held["passedTests"]) == ("WARNED", ["certificate"], [])
    refuted = replace(report, certificate=replace(report.certificate, verdict="refuted"))
    held = json.loads(contents(refuted)["test-result.intoto.json"])["predicate"]
    assert (held["result"], held["failedTests"]) == ("FAILED", ["certificate"])


@pytest.mark.parametrize("status", ["checked", "assumed", "violated"])
def test_a_result_names_a_test_of_its_own_kind(report: Report, status: Status) -> None:
    """WARNED lists what warns, and FAILED what fails, whatever the conditions say."""
    condition = Condition(kind="clipping", about=("x",), text="Values are clipped.", status=status)
    changed = replace(report, certificate=replace(report.certificate, conditions=(condition,)))
    held = json.loads(contents(changed)["test-result.intoto.json"])["predicate"]
    kind = {"PASSED": "passedTests", "WARNED": "warnedTests", "FAILED": "failedTests"}[held["result"]]
    assert held[kind] == ["certificate"]
