"""A plan before the run: it fixes what an audit does, its digest binds it, and every departure is listed."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import Result

from audits import audit
from audits.examples import CLAIM, HALF_NOISE
from dpaudit import Claim, schemas
from dpaudit.configuration.audit_plan import AuditPlan, commitment, received_plan
from dpaudit.errors import CertificateError
from dpaudit.model.certificate import digest_of
from tests.command_line import Write, dpaudit
from tests.gate.test_check_outputs import CODED, toys  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("toys")
TEXT = CODED.format(name="one_sum", runs=400)


@pytest.fixture
def planned(write: Write) -> str:
    """Return a configuration of which plan.json is the plan."""
    name = write(TEXT)
    ended = dpaudit("audit", name, "--plan", "plan.json")
    assert ended.exit_code == 0, ended.output
    assert AuditPlan.from_json(Path("plan.json").read_text()).digest in ended.stdout
    return name


def results_of(ended: Result) -> list[dict[str, Any]]:
    """Return the results that a command wrote as JSON."""
    results: list[dict[str, Any]] = json.loads(ended.stdout)
    for result in results:
        Draft202012Validator(schemas.load("audit")).validate(result)
    return results


def departures(ended: Result) -> list[str]:
    """Return the departures of the only result."""
    (result,) = results_of(ended)
    return result["plan"]["departures"]


def test_a_plan_states_what_will_run_and_hides_the_seed(planned: str) -> None:
    """Claim, pair, attack, bounds, runs, significance and a commitment; the seed lies in a file for the owner alone."""
    data = json.loads(Path("plan.json").read_text())
    Draft202012Validator(schemas.load("plan")).validate(data)
    seed = int(Path("plan.json.seed").read_text())
    (audit,) = data["audits"]
    assert data["claim"]["epsilon"] == 1.0
    assert (audit["name"], audit["view"], audit["runs"], audit["significance"]) == ("sum", "published", 400, 0.01)
    method = audit["method"]
    assert (method["attack"], method["measured"]) == ("the case's score", ["rank sums", "one event"])
    assert method["bounds"] == ["guessing", "all_fields", "gaussian"]
    assert audit["seed"] == commitment(data["salt"], seed, 0)
    assert str(seed) not in Path("plan.json").read_text()
    assert stat.S_IMODE(Path("plan.json.seed").stat().st_mode) == 0o600
    assert planned == "release.toml"


def test_the_runs_of_a_plan_are_kept_without_repeating_its_options(write: Write) -> None:
    """A plan that was made with other runs and another significance than the file's runs with its own."""
    name = write(TEXT)
    assert dpaudit("audit", name, "--runs", "200", "--significance", "0.02", "--plan", "plan.json").exit_code == 0
    ended = dpaudit("audit", name, "--planned", "plan.json", "--format", "json")
    (result,) = results_of(ended)
    assert (result["runs"], result["significance"], departures(ended)) == (200, 0.02, [])


def test_the_seed_kept_beside_a_plan_comes_before_that_of_the_file(write: Write) -> None:
    """A plan with a seed of its own is followed although the configuration names another one."""
    name = write(f"{TEXT}seed = 7\n")
    assert dpaudit("audit", name, "--seed", "8", "--plan", "plan.json").exit_code == 0
    assert departures(dpaudit("audit", name, "--planned", "plan.json", "--format", "json")) == []
    Path("plan.json.seed").unlink()
    ended = dpaudit("audit", name, "--planned", "plan.json", "--format", "json")
    assert any("committed" in line for line in departures(ended))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--runs", "300"), "runs are 300, planned 400"),
        (("--seed", "5"), "the seed is another one than was committed to"),
        (("--significance", "0.05"), "the significance of all audits is 0.05, planned 0.01"),
    ],
)
def test_what_departs_from_a_plan_is_listed_and_passes_no_more(
    options: tuple[str, ...], words: str, planned: str
) -> None:
    """Runs, seed and significance that an option changes; the exit code is 4 at best."""
    ended = dpaudit("audit", planned, "--planned", "plan.json", *options, "--format", "json")
    assert any(words in line for line in departures(ended)), departures(ended)
    assert ended.exit_code == 4


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("epsilon = 1.0", "epsilon = 2.0", "the claim is"),
        ("epsilon = 1.0", "epsilon = 1.0\nshare = 0.9", "the content address of code"),
        ("runs = 400", "runs = 400\njobs = 1", "the configuration was changed after the plan"),
    ],
)
def test_a_configuration_that_changed_after_its_plan_is_a_departure(
    before: str, after: str, words: str, planned: str
) -> None:
    """Another claim, less noise in the code, and any other change of the file."""
    Path(planned).write_text(TEXT.replace(before, after))
    ended = dpaudit("audit", planned, "--planned", "plan.json", "--format", "json")
    assert any(words in line for line in departures(ended)), departures(ended)
    assert ended.exit_code in (1, 4)


def test_a_plan_that_changed_after_its_digest_is_refused(planned: str) -> None:
    """The command ends with 2 and runs nothing; the check of the plan ends with 1."""
    text = Path("plan.json").read_text()
    Path("plan.json").write_text(text.replace('"runs": 400', '"runs": 40'))
    ended = dpaudit("audit", planned, "--planned", "plan.json")
    assert ended.exit_code == 2
    assert "changed after its digest" in ended.stderr
    assert dpaudit("report", planned, "-o", "out", "--planned", "plan.json").exit_code == 2
    assert dpaudit("verify", "plan.json").exit_code == 1
    Path("plan.json").write_text(text)
    digest = json.loads(text)["digest"]
    assert dpaudit("verify", "plan.json", "--digest", digest).exit_code == 0
    assert dpaudit("verify", "plan.json", "--digest", "0" * 64).exit_code == 1


def test_a_plan_without_its_seed_asks_for_it(planned: str) -> None:
    """One line names the option; both options of plans at once are refused."""
    seed = Path("plan.json.seed").read_text().strip()
    Path("plan.json.seed").unlink()
    ended = dpaudit("audit", planned, "--planned", "plan.json")
    assert ended.exit_code == 2
    assert "--seed" in ended.stderr
    kept = dpaudit("audit", planned, "--planned", "plan.json", "--seed", seed, "--format", "json")
    assert departures(kept) == []
    assert dpaudit("audit", planned, "--planned", "plan.json", "--plan", "other.json").exit_code == 2


def test_the_report_of_a_planned_audit_is_checked_against_its_plan(planned: str) -> None:
    """The report holds the plan; what a reader alters in audits or plan is a complaint."""
    dpaudit("report", planned, "-o", "out", "--planned", "plan.json")
    data = json.loads(Path("out/report.json").read_text())
    Draft202012Validator(schemas.load("report")).validate(data)
    digest = json.loads(Path("plan.json").read_text())["digest"]
    assert data["plan"]["digest"] == data["audits"][0]["plan"]["digest"] == digest
    assert "Plan before the run" in Path("out/report.md").read_text()
    said = " ".join(dpaudit("verify", "out").stdout.split())
    assert "compare it with the one that was published" in said
    (audit,) = data["audits"]
    for changed, words in (
        ({"audits": [audit | {"runs": 4_000}]}, "runs are 4000, planned 400"),
        ({"audits": [audit | {"seed": audit["seed"] + 1}]}, "another one than was committed to"),
        ({"audits": [audit | {"significance": 0.001}]}, "the significance is 0.001"),
        ({"audits": [audit | {"bound": "clopper_pearson"}]}, "the verdict rests on"),
        ({"audits": []}, "was planned and is missing"),
        ({"audits": [audit, audit]}, "is not planned"),
        ({"audits": [{"plan": 3, "against": []}]}, "departure"),
        ({"plan": data["plan"] | {"salt": "00"}}, "changed after its digest"),
        ({"plan": []}, "is not valid"),
        ({"plan": None}, "the report holds none"),
        ({"audits": [audit | {"plan": {"digest": digest, "departures": []}}]}, "cannot be compared"),
        ({"config": data["config"] + "# another\n"}, "the configuration was changed"),
        ({"config": None}, "cannot be compared"),
    ):
        held = data | changed
        found = received_plan(held["plan"], held["audits"], held["config"])
        assert any(words in line for line in found.complaints), (changed, found)
    assert received_plan(data["plan"], data["audits"], data["config"]).complaints == ()


def test_a_report_that_departed_says_so_itself_and_is_not_accepted(planned: str) -> None:
    """A caveat in the report, and an inconclusive verification."""
    dpaudit("report", planned, "-o", "out", "--planned", "plan.json", "--runs", "300")
    data = json.loads(Path("out/report.json").read_text())
    assert any("departed from the plan" in line for line in data["caveats"])
    found = received_plan(data["plan"], data["audits"], data["config"])
    assert (found.complaints, len(found.departures)) == ((), 1)
    ended = dpaudit("verify", "out")
    assert ended.exit_code in (1, 4)
    assert "departed from their plan" in " ".join(ended.stdout.split())


@pytest.mark.parametrize("numbers", [{"rho": 0.5}, {"mu": 1.0}, {"renyi": ((2.0, 0.1),)}, {"profile": ((1.0, 0.1),)}])
def test_a_plan_of_a_claim_in_another_measure_is_read_back(numbers: dict[str, Any]) -> None:
    """What `--plan` writes of any claim, `--planned` reads."""
    claim = Claim(neighbours="replace_one", **numbers)
    plan = AuditPlan(claim=claim, configuration="", significance=0.01, salt="00", audits=())
    Draft202012Validator(schemas.load("plan")).validate(json.loads(plan.to_json()))
    assert AuditPlan.from_json(plan.to_json()) == plan


def test_a_plan_of_cases_binds_audits_in_python() -> None:
    """The same object without a configuration: planned, run, compared; the twin with another seed is seen."""
    cases = ((0, HALF_NOISE),)
    plan = AuditPlan.of(cases, CLAIM, runs=800, significance=0.01, seed=11)
    assert AuditPlan.from_json(plan.to_json()) == plan
    now = AuditPlan.of(cases, CLAIM, runs=800, significance=0.01, seed=11, salt=plan.salt)
    result = replace(audit(HALF_NOISE, claim=CLAIM, runs=800, rng=np.random.default_rng([11, 0])), seed=11)
    (followed,) = plan.followed((result,), now)
    assert followed.plan is not None
    assert (followed.plan.digest, followed.plan.departures) == (plan.digest, ())
    (other,) = plan.followed((replace(result, seed=12),), now)
    assert other.plan is not None
    assert len(other.plan.departures) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"neighbours": (0.0, 0.01)},
        {"run": lambda data, rng, n_runs: np.asarray(data + rng.laplace(0.0, 2.0, n_runs))},
        {"score": lambda outputs: -np.asarray(outputs)},
    ],
    ids=["pair", "code", "attack"],
)
def test_the_plan_of_another_case_binds_no_result_that_has_its_name(changed: dict[str, Any]) -> None:
    """Another pair, other code or another attack of the same name: the plan's digest is made again, and it differs."""
    own, other = (
        AuditPlan.of(((0, case),), CLAIM, runs=400, significance=0.01, seed=7, salt="00")
        for case in (HALF_NOISE, replace(HALF_NOISE, **changed))
    )
    result = replace(audit(HALF_NOISE, claim=CLAIM, runs=400, rng=np.random.default_rng(7)), seed=7)
    (followed,) = own.followed((result,), own)
    data = followed.to_dict()
    assert received_plan(own.to_dict(), [data]).complaints == ()
    data["plan"]["digest"] = other.digest
    (complaint,) = received_plan(other.to_dict(), [data]).complaints
    assert "the content address of code, pair of data sets" in complaint


@pytest.mark.parametrize(
    "change",
    [
        {"address": ""},
        {"address": "0" * 63},
        {"address": "F" * 64},
        {"seed": ""},
        {"runs": 0},
        {"significance": 0.02},
        {"significance": 0.0},
        {"number": -1},
    ],
)
def test_a_plan_with_a_fresh_digest_still_binds_something(change: dict[str, Any]) -> None:
    """Whoever computes the digest again: no pair, no seed, no run, or more than all of the significance."""
    data = AuditPlan.of(((0, HALF_NOISE),), CLAIM, runs=800, significance=0.01, seed=11).to_dict()
    assert AuditPlan.from_dict(data | {"digest": digest_of(data)}).runs == 800
    (audit,) = data["audits"]
    inner = {"method": audit["method"] | {"address": change["address"]}} if "address" in change else change
    data["audits"] = [audit | inner]
    with pytest.raises(CertificateError, match="no audit plan"):
        AuditPlan.from_dict(data | {"digest": digest_of(data)})


@pytest.mark.parametrize("field", ["bounds", "measured"])
def test_a_bound_that_is_planned_and_not_taken_is_a_departure(field: str) -> None:
    """A plan with a fresh digest that names one bound more is not that of the audit that ran."""
    plan = AuditPlan.of(((0, HALF_NOISE),), CLAIM, runs=400, significance=0.01, seed=7)
    (planned,) = plan.audits
    longer: dict[str, Any] = {field: (*getattr(planned.method, field), "another")}
    more = replace(plan, audits=(replace(planned, method=replace(planned.method, **longer)),))
    result = replace(audit(HALF_NOISE, claim=CLAIM, runs=400, rng=np.random.default_rng(7), significance=0.01), seed=7)
    (same,), (other,) = (held.followed((result,), plan) for held in (plan, more))
    assert same.plan is not None
    assert other.plan is not None
    assert same.plan.departures == ()
    assert any(f"{field}: " in line for line in other.plan.departures)


def test_audits_of_a_plan_share_its_significance_and_no_number() -> None:
    data = AuditPlan.of(((0, HALF_NOISE), (1, HALF_NOISE)), CLAIM, runs=800, significance=0.01, seed=11).to_dict()
    assert AuditPlan.from_dict(data).runs == 800
    for change in ({"number": 0}, {"significance": 0.006}):
        audits = [data["audits"][0], data["audits"][1] | change]
        with pytest.raises(CertificateError, match=r"number|share"):
            AuditPlan.from_dict(data | {"audits": audits, "digest": digest_of(data | {"audits": audits})})


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"schema": "urn:dpaudit:schema:plan:2"}', "[" * 5_000])
def test_what_is_no_plan_is_refused(text: str) -> None:
    """One error, whatever the text is."""
    with pytest.raises(CertificateError, match="plan"):
        AuditPlan.from_json(text)
