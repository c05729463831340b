"""The numbered sections: complete, each value with what it rests on, and every computed figure right."""

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dpaudit import Claim, Release, Repeat, Sequential, bracket_epsilon, certify
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.configuration.deployment_file import decode_deployment, read_deployment
from dpaudit.errors import ConfigError, Fault
from dpaudit.ledger import Account, Ledger, store_at
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import Condition
from dpaudit.model.deployment import Comparison, Deployment
from dpaudit.model.losses import Composition, GaussianLoss
from dpaudit.report import Report, System, render
from dpaudit.report.compliance.fields import Field, Section
from dpaudit.report.compliance.sections import sections_of
from dpaudit.report.curves import delta_curve
from dpaudit.report.facts import Facts, gather
from dpaudit.report.plain import plain
from mechanisms import Gaussian, Laplace

FULL = Path(__file__).with_name("deployment.toml")
NUMBERS = [*map(str, range(10)), "9a", *map(str, range(10, 14)), "A"]
HOSTILE = '</title><script>alert("x")</script>|`*_[x](javascript:y)\n# <img src=x onerror=z>\u202e&'


@pytest.fixture(scope="module")
def gathered(stories: dict[str, Report]) -> dict[Any, Facts]:
    """Return what every story says, gathered once."""
    return {name: gather(story) for name, story in stories.items()}


def section(report: Report, number: str) -> Section:
    """Return one section of a report."""
    return next(held for held in sections_of(gather(report)) if held.number == number)


def field(report: Report, number: str, name: str) -> Field:
    """Return one field of a section."""
    return next(held for held in section(report, number).fields if held.name == name)


def grid(report: Report, number: str, name: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of one table of a section."""
    return next(held for held in section(report, number).grids if held.name == name).rows


def leads_somewhere(data: Any, reference: str) -> bool:
    """Return whether a reference is a path in the report's JSON; deployments are the owner's own file."""
    if not reference or reference.startswith("deployment."):
        return True
    for key in reference.split("."):
        if not isinstance(data, dict) or key not in data:
            return False
        data = data[key]
    return True


def test_every_story_has_every_section_and_every_field_a_status(gathered: dict[Any, Facts]) -> None:
    """Sections 0 to 13, 9a and A, no empty value, one status a row, and rows as wide as their head."""
    for facts in gathered.values():
        held = sections_of(facts)
        assert [one.number for one in held] == NUMBERS
        for one in held:
            assert one.fields or one.grids
            assert all(entry.name for entry in one.fields)
            assert all(entry.value for entry in one.fields if entry.name != "Digest to sign")
            for table in one.grids:
                assert len(table.rows) == len(table.statuses)
                assert table.rows or table.note
                assert {len(row) for row in table.rows} <= {len(table.head)}


def test_every_reference_leads_to_its_evidence(gathered: dict[Any, Facts]) -> None:
    """A field that rests on evidence says where, and that place exists in the same report.json; a typo would not."""
    for facts in gathered.values():
        data = plain(facts)
        for one in data["sections"]:
            for entry in one["fields"]:
                assert (entry["status"] == "not_assessed") <= (entry["evidence_ref"] == "")
                if entry["status"] == "evidence" and entry["evidence_ref"] not in ("certificate.printed",):
                    assert entry["evidence_ref"], entry
                    assert leads_somewhere(data, entry["evidence_ref"]), entry
    assert not leads_somewhere(data, "certificate.tihgt")


def test_what_nobody_declared_is_not_assessed_and_what_is_declared_is_never_evidence(
    stories: dict[str, Report],
) -> None:
    """Without a deployment every human field is not assessed; with one each is declared, and no number moves."""
    bare = stories["checked"]
    full = replace(bare, deployment=read_deployment(FULL))
    for number in ("1", "11"):
        assert {held.status for held in section(bare, number).fields} == {"not_assessed"}
        assert {held.status for held in section(full, number).fields} == {"declared"}
    assert bare.certificate.to_json() == full.certificate.to_json()
    assert bare.verdict == full.verdict == "CERTIFIED"
    before, after = sections_of(gather(bare)), sections_of(gather(full))
    for one, other in zip(before, after, strict=True):
        known = {held.name for held in one.fields if held.status == "evidence"}
        assert known == {held.name for held in other.fields if held.status == "evidence"}


def test_the_claim_is_declared_and_the_certificate_is_evidence(stories: dict[str, Report]) -> None:
    """What is promised and what is proved never look alike."""
    report = stories["checked"]
    assert field(report, "0", "Claimed epsilon").status == "declared"
    assert field(report, "0", "Certified epsilon").status == "evidence"
    assert field(stories["refuted"], "0", "Audited epsilon").status == "not_assessed"
    assert field(report, "0", "Verdict").value == report.verdict


def test_a_condition_that_a_computation_shows_is_no_run_that_was_looked_at(stories: dict[str, Report]) -> None:
    """A worst pair is found by construction; a clipped sum is seen in a run alone."""
    report = stories["checked"]
    for kind, status in (("attained", "not_assessed"), ("clipping", "evidence")):
        shown = Condition(kind=kind, about=("sums",), text="It holds.", status="checked")  # type: ignore[arg-type]
        held = replace(report, certificate=replace(report.certificate, conditions=(shown,)))
        assert field(held, "7", "L0: what ran against what was declared").status == status


def test_sixteen_hazards_stand_in_their_order_and_an_answer_does_not_become_evidence(
    stories: dict[str, Report],
) -> None:
    """H1 to H16, in the table or among those that nobody assessed; the owner's answer is declared and no evidence."""
    full = replace(stories["paper"], deployment=read_deployment(FULL))
    held = next(one for one in section(full, "8").grids if one.name == "hazards")
    known = dict(zip((row[0] for row in held.rows), held.statuses, strict=True))
    known |= {silent.name.split()[0]: silent.status for silent in section(full, "8").fields}
    assert sorted(known, key=lambda name: int(name[1:])) == [f"H{n}" for n in range(1, 17)]
    assert [row[0] for row in held.rows] == sorted((row[0] for row in held.rows), key=lambda name: int(name[1:]))
    assert (known["H1"], known["H11"], known["H12"]) == ("evidence", "declared", "not_assessed")
    assert "fixed timetable" in next(row[2] for row in held.rows if row[0] == "H11")


@pytest.mark.parametrize(("neighbours", "adding"), [("replace_one", "no"), ("add_remove", "yes")])
def test_the_two_data_sets_of_each_scenario_follow_the_relation(neighbours: Neighbours, adding: str) -> None:
    """Adding one unit is covered under add-remove and not under replace-one; the raw data never are."""
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours=neighbours, unit="one person")
    noise = Release(label="sum", mechanism=Gaussian.calibrated(claim, l2_sensitivity=1.0))
    rows = grid(Report(certificate=certify(noise, claim), created="2026-03-01"), "2", "scenarios")
    one_more = next(row for row in rows if "one unit" in row[1] and ("more" in row[1] or "added" in row[1]))
    assert one_more[2] == adding
    assert rows[-1][3].startswith("no")


def test_groups_of_a_gaussian_are_the_gaussian_of_that_many_times_the_distance(stories: dict[str, Report]) -> None:
    """k units move a Gaussian release k times as far: the certificate's column is that, the claim's is the textbook."""
    report = stories["checked"]
    mu = 1 / 3.7307
    for size, row in zip((2, 5, 10), grid(report, "6", "groups"), strict=True):
        far = Composition(parts=((GaussianLoss(mu=size * mu), 1),))
        truth = bracket_epsilon(NormalForm(upper=(far,), lower=(far,)), 1e-5).upper
        assert float(row[2].removeprefix("at most ")) == pytest.approx(truth, rel=2e-3)
        delta = 1e-5 * (math.exp(size) - 1) / (math.e - 1)
        found = re.fullmatch(r"epsilon (\d+), delta (.*)", row[1])
        assert float(found.group(1)) == size
        mantissa, _, power = found.group(2).partition(" × 10")
        superscripts = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
        value = float(mantissa) * 10.0 ** int(power.translate(superscripts) or 0) if power else float(mantissa)
        assert delta <= value <= delta * 1.002


def test_beliefs_and_odds_are_those_of_the_definition(stories: dict[str, Report]) -> None:
    """An even guess becomes at most 2e / (1 + 2e) = 0.8447, but with probability 2 delta; mu is the release's own."""
    report = stories["checked"]
    rows = grid(report, "6", "beliefs")
    assert rows[2][1] == "0.8447"
    assert field(report, "6", "Gaussian mu").value.startswith("mu = 0.2681")
    meaning = field(report, "6", "Odds").value
    assert "by more than a factor of 5.437 with probability at most 2 × 10⁻⁵" in meaning
    assert "except with probability" not in meaning


def test_positive_answers_move_the_odds_by_no_more_than_the_trade_off_allows(stories: dict[str, Report]) -> None:
    """The last column is the proved true positive rate over the false positive rate."""
    report = stories["checked"]
    curve = delta_curve(report.certificate)
    for rate, row in zip((0.001, 0.01, 0.1), grid(report, "6", "operating")[1:], strict=True):
        assert float(row[3].removesuffix(" times")) == pytest.approx(curve.true_positive_rate(rate) / rate, rel=2e-3)


def test_shares_of_a_sequence_add_up_and_those_of_a_partition_are_not_added(stories: dict[str, Report]) -> None:
    """Two releases with rho 1/800 and 4/800 have shares 1/5 and 4/5; parts of a partition have none."""
    claim = Claim(epsilon=2.0, delta=1e-5, neighbours="replace_one", unit="one person")
    wide, near = (Gaussian(stddev=s, l2_sensitivity=1.0, neighbours="replace_one") for s in (20.0, 10.0))
    tree = Sequential(parts=(Release(label="a", mechanism=wide), Release(label="b", mechanism=near)))
    report = Report(certificate=certify(tree, claim), created="2026-03-01")
    assert [row[3] for row in grid(report, "6", "allocation")] == ["0.2", "0.8"]
    assert {row[3] for row in grid(stories["paper"], "6", "allocation")} == {"does not add up"}
    pure = Release(label="c", mechanism=Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one"))
    repeated = Report(certificate=certify(Repeat(part=pure, times=3), claim), created="2026-03-01")
    assert [row[1:] for row in grid(repeated, "6", "allocation")] == [("3", "0.5", "1")]


def test_only_deployments_of_the_same_unit_and_model_are_compared(stories: dict[str, Report]) -> None:
    """Others are counted and left out."""
    report = stories["checked"]
    same = Comparison(name="Same", unit="one patient", model="central", epsilon=2.0, source="a paper")
    other = replace(same, name="Other", unit="one visit")
    compared = replace(report, deployment=Deployment(comparisons=(same, other)))
    held = section(compared, "13").grids[0]
    assert [row[0] for row in held.rows] == ["Same"]
    assert held.note.startswith("1 of another unit or model left out")


def test_the_ledger_stands_in_the_report_with_this_certificates_booking(
    stories: dict[str, Report], tmp_path: Path
) -> None:
    """Spent, left and the last digest; and whether this very certificate was booked."""
    report = stories["checked"]
    ledger = Ledger(store_at(str(tmp_path / "ledger.db"), create=True))
    budget = Claim(epsilon=4.0, delta=1e-4, neighbours="replace_one", unit="one patient")
    ledger.open(Account(name="patients", budget=budget), "2026-01-01T00:00:00+00:00")
    empty = replace(report, balance=ledger.balance("patients"), ledger_head=ledger.statement().head)
    assert field(empty, "10", "This certificate").value == "not booked"
    ledger.book("patients", report.certificate, "totals", "2026-01-02T00:00:00+00:00")
    held = replace(report, balance=ledger.balance("patients"), ledger_head=ledger.statement().head)
    assert field(held, "10", "This certificate").value == "entry 2"
    assert field(held, "10", "Last digest of the chain").value == ledger.statement().head
    assert json.loads(held.to_json())["ledger"]["bookings"][0]["label"] == "totals"


def test_changes_since_a_previous_report_are_those_and_no_others(stories: dict[str, Report]) -> None:
    """The same report has changed in nothing; a smaller claim in its claim, its verdict and its digest."""
    report = stories["checked"]
    same = replace(report, previous=json.loads(report.to_json()))
    assert section(same, "A").grids[0].rows == ()
    other = json.loads(report.to_json())
    other["certificate"]["claim"]["epsilon"], other["verdict"] = 2.0, "NOT PROVED"
    changed = section(replace(report, previous=other), "A").grids[0].rows
    assert changed == (("Verdict", "NOT PROVED", "CERTIFIED"), ("Claimed epsilon", "2", "1"))


class Words(HTMLParser):
    """The text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.feed(text)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_page_and_json_say_the_same_field_by_field(stories: dict[str, Report]) -> None:
    """Every value and every cell of the JSON's sections stands in the page; notes of tables stand there as well."""
    report = replace(stories["paper"], deployment=read_deployment(FULL))
    page = " ".join(" ".join(Words(render(report)["report.html"]).words).split())
    for one in sections_of(gather(report)):
        assert all(" ".join(entry.value.split()) in page for entry in one.fields)
        for table in one.grids:
            assert all(" ".join(cell.split()) in page for row in table.rows for cell in row), table.name
            assert table.note in page


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"scop": {}}, "did you mean 'scope'"),
        ({"scope": {"purpos": "x"}}, "did you mean 'purpose'"),
        ({"actors": [{"name": "A", "see": "all"}]}, "see"),
        ({"actors": [{"name": "A"}]}, "missing key 'actors.0.sees'"),
        ({"governance": {"expiry": "soon"}}, "governance.expiry='soon'"),
        ({"scope": {"purpose": 3}}, "scope.purpose=3"),
    ],
)
def test_a_key_that_does_not_fit_is_named(
    table: dict[str, list[dict[str, str]] | dict[str, Any]], message: str
) -> None:
    """Unknown, missing, or of another type: the fault's path and the remedy."""
    with pytest.raises(Fault, match=re.escape(message)):
        decode_deployment(table)


def test_a_fault_in_a_deployment_file_has_its_line(tmp_path: Path) -> None:
    """The message starts with the file and the line, and nobody's typo is declared in silence."""
    file = tmp_path / "deployment.toml"
    file.write_text('[scope]\npurpose = "x"\nsectr = "y"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"deployment\.toml:3: unknown key 'scope\.sectr'; did you mean 'sector'"):
        read_deployment(file)
    file.write_text("[scope\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="invalid TOML"):
        read_deployment(file)


def test_no_section_prints_a_score(stories: dict[str, Report]) -> None:
    """Neither a percentage nor a word that claims to be law stands in any section."""
    report = replace(stories["paper"], deployment=read_deployment(FULL), system=System(name="Plans", unit="one year"))
    text = json.dumps([one["fields"] + one["grids"] for one in report.to_dict()["sections"]])
    text = text.replace("scores are normal", "")  # the assumption of an audit, in the audit's words
    assert not re.search(r"\d\s*%|score|compliant|sufficient", text)
