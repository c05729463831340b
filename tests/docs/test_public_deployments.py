"""The page of public deployments: each of its 41 records is a claim that certifies as the page says."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dpaudit import Claim, Release, Sequential, Stated, certify, implied_claim
from dpaudit.interchange.deployments_registry import registry_fields
from dpaudit.model.codec import decode_claim, decode_declaration
from dpaudit.model.declaration import Declaration
from dpaudit.model.measures.claims import RhoClaim
from dpaudit.verifier import verify
from dpaudit.wording.claims import excess_of
from mechanisms import Laplace

PAGE = (Path(__file__).parents[2] / "docs" / "measured" / "public_deployments.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and line.count("|") == 6 and not line.startswith(("| record", "|---"))
]


def numbers(text: str) -> dict[str, float]:
    """The numbers of a cell, as in "epsilon 1, delta 1e-5"; none means an infinite epsilon."""
    if text == "none":
        return {"epsilon": math.inf}
    return {name: float(value) for name, value in (part.split() for part in text.split(", "))}


def record(row: list[str]) -> tuple[Claim, Declaration]:
    """The claim of a row, and its declaration: stated parts, or the noise that was published."""
    name, claimed, parts, neighbours, _ = row
    who: Any = {"neighbours": neighbours.strip("()"), "unit": "one unit of the record"}
    if parts.startswith("laplace"):
        scale, sensitivity = (float(part.split()[1]) for part in parts.split(", ")[1:])
        noise = Laplace(scale=scale, l1_sensitivity=sensitivity, neighbours=who["neighbours"])
        return decode_claim(numbers(claimed) | who), Release(label=name, mechanism=noise)
    stated: list[Any] = [numbers(part) for part in (parts or claimed).split("; ")]
    told = tuple(Stated(source=f"{name}, part {place}", **held) for place, held in enumerate(stated, 1))
    return decode_claim(numbers(claimed) | who), told[0] if len(told) == 1 else Sequential(parts=told)


def test_the_page_has_the_41_records_each_once() -> None:
    """Nine publish rho, six nothing; the verdicts are stated, nothing stated and certified."""
    assert len(ROWS) == len({row[0] for row in ROWS}) == 41
    assert sum(row[1].startswith("rho") for row in ROWS) == 9
    assert [sum(row[4] == word for row in ROWS) for word in ("stated", "nothing stated", "certified")] == [34, 6, 1]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]))
def test_a_record_has_the_verdict_of_its_row(row: list[str]) -> None:
    """Its own numbers are enough, and a thousandth less is not proved; the checker agrees; the registry can say it."""
    claim, declaration = record(row)
    certificate = certify(declaration, claim)
    assert verify(certificate.to_json()).accepted
    if row[4] == "nothing stated":
        assert excess_of(claim)
        return
    assert certificate.verdict == row[4], certificate.reasons
    fields = json.dumps(registry_fields(certificate))
    assert ("proved" in fields) == (row[4] == "certified")
    less = {name: value * (0.999 if name in ("epsilon", "rho") else 1) for name, value in numbers(row[1]).items()}
    who = {"neighbours": claim.neighbours, "unit": claim.unit}
    assert certify(declaration, decode_claim(less | who)).verdict in ("not_proved", "refuted")


def test_the_example_of_the_page_is_stated() -> None:
    data = tomllib.loads(PAGE.split("```toml\n")[1].split("```")[0])
    claim = decode_claim(data["claim"])
    assert certify(decode_declaration(data["declaration"], claim.neighbours), claim).verdict == "stated"


def test_the_numbers_of_the_remarks() -> None:
    """The conversion of rho .0728, uber's delta at a million records, and the parts of the census."""
    assert f"gives {implied_claim(RhoClaim(rho=0.0728, neighbours='add_remove'), 1e-5).epsilon:.3f}" in PAGE
    assert (10**6) ** (-0.01 * math.log(10**6)) <= 0.1483
    assert pytest.approx(12.66) == 4.96 + 7.7
    assert pytest.approx(15.29) == 12.66 + 2.63
