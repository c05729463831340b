"""`dpaudit curve`: every kind in every format, and bad input in one line."""

import csv
import io
import json
import math
import re

import jsonschema
import pytest

from dpaudit import schemas
from tests.cli.conftest import WRITTEN
from tests.command_line import Write, dpaudit

KINDS = ("tradeoff", "gdp", "renyi", "zcdp", "tail", "group")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_written_in_every_format(write: Write, kind: str) -> None:
    """JSON has its schema, CSV the same numbers in full, SVG stays inside its axes, text within 100 columns."""
    path = write(WRITTEN)
    shown = {
        style: dpaudit("curve", path, "--kind", kind, "--format", style) for style in ("text", "json", "csv", "svg")
    }
    assert {ended.exit_code for ended in shown.values()} == {0}
    assert {ended.stderr for ended in shown.values()} == {""}
    data = json.loads(shown["json"].stdout)
    jsonschema.Draft202012Validator(schemas.load("curve")).validate(data)
    head, *rows = csv.reader(io.StringIO(shown["csv"].stdout))
    assert head == data["columns"]
    assert [[float(cell) for cell in row] for row in rows] == [[float(cell) for cell in row] for row in data["rows"]]
    assert shown["svg"].stdout.startswith("<svg")
    assert shown["svg"].stdout.endswith("</svg>\n")
    axis = re.search(r'<line class="axis" x1="[\d.]+" y1="([\d.]+)"', shown["svg"].stdout)
    drawn = [path.split() for path in re.findall(r'<path class="[^"]*" d="M([^"Z]*)Z?"', shown["svg"].stdout)]
    heights = [float(pixel.partition("L")[0]) for path in drawn for pixel in path[1:]]
    assert axis is not None
    assert 0 <= min(heights) <= max(heights) <= float(axis[1]), "a curve leaves its axes"
    assert max(map(len, shown["text"].stdout.splitlines())) <= 100


def test_forty_gaussian_sums_are_one_gaussian(write: Write) -> None:
    """40 sums of noise multiplier 30: mu is sqrt(40) / 30 everywhere, rho half its square."""
    mu = math.sqrt(40) / 30
    found = json.loads(dpaudit("curve", write(WRITTEN), "--kind", "gdp", "--format", "json").stdout)
    star = next(row for row in found["ranges"] if row["name"] == "mu_star")
    assert star["lower"] == pytest.approx(mu, rel=1e-9)
    assert star["upper"] == pytest.approx(mu, rel=1e-9)
    found = json.loads(dpaudit("curve", write(WRITTEN), "--kind", "zcdp", "--format", "json").stdout)
    assert found["ranges"][0]["upper"] == pytest.approx(mu * mu / 2, rel=1e-9)


@pytest.mark.parametrize(
    "arguments", [("--kind", "renji"), ("--kind", "group", "--size", "0"), ("--kind", "tail", "--points", "2"), ()]
)
def test_bad_options_are_one_line_and_exit_code_2(write: Write, arguments: tuple[str, ...]) -> None:
    """An unknown kind, a group of nobody, too few points, or no kind at all."""
    ended = dpaudit("curve", write(WRITTEN), *arguments)
    assert ended.exit_code == 2
    assert ended.stdout == ""
