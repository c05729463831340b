"""The PDF: from the JSON alone, the same bytes every time, and harmless whatever the names."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dpaudit.documents
from dpaudit.cli.app import app
from dpaudit.configuration.deployment_file import read_deployment
from dpaudit.documents.typesetting import plain_colours, printed
from dpaudit.report import Report, render
from dpaudit.report.writing import contents
from dpaudit.report.writing import on_paper as pdf

FULL = Path(__file__).with_name("deployment.toml")


def test_equal_reports_give_equal_bytes_and_other_reports_other_ones(stories: dict[str, Report]) -> None:
    """Built twice, in this process and in another one, it is the same file; another date makes another file."""
    report = stories["paper"]
    first = pdf(report)
    assert first.startswith(b"%PDF-")
    assert pdf(report) == first == contents(report, pdf=True)["report.pdf"]
    assert pdf(replace(report, created="2026-03-02")) != first


@pytest.mark.parametrize("story", ["hostile", "infinite", "open"])
def test_every_kind_of_story_can_be_printed(stories: dict[str, Report], story: str) -> None:
    """Hostile names, no finite epsilon, nothing but trust: each becomes pages."""
    assert len(pdf(stories[story])) > 50_000


def test_the_pages_say_what_the_json_says(stories: dict[str, Report], tmp_path: Path) -> None:
    """Verdict, disclaimer, every section's title and every declared value are in the PDF's text."""
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed")
    report = replace(stories["paper"], deployment=read_deployment(FULL))
    (tmp_path / "report.pdf").write_bytes(pdf(report))
    ended = subprocess.run(["pdftotext", str(tmp_path / "report.pdf"), "-"], capture_output=True, text=True, check=True)
    words = re.sub(r"\s+", "", ended.stdout)
    data = json.loads(render(report)["report.json"])
    expected = [data["verdict"], data["disclaimer"], *(held["title"] for held in data["sections"])]
    expected += [f["value"] for held in data["sections"] for f in held["fields"] if f["status"] == "declared"]
    missing = [text for text in expected if re.sub(r"\s+", "", text) not in words]
    assert [text for text in missing if not re.search(r"[-⁻]", text)] == []


def test_figures_on_paper_are_light_and_without_variables(story_pages: dict[str, dict[str, str]]) -> None:
    """Colours are written out, the dark scheme is gone."""
    for name, text in story_pages["paper"].items():
        if name.endswith(".svg"):
            plain = plain_colours(text)
            assert "var(" not in plain
            assert "prefers-color-scheme" not in plain


def test_a_name_that_looks_like_a_colour_stays_a_name() -> None:
    """`var(--ink)` and `var(--nope)` in words and titles; the second was a traceback. Twin: a fill is a colour."""
    words = "<text>var(--ink) var(--nope) font-family: x;</text>"
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><g fill="var(--ink)">{words}</g></svg>'
    plain = plain_colours(svg)
    assert words in plain
    assert '<g fill="#' in plain
    assert plain_colours('<g id="var(--nope)">') == '<g id="var(--nope)">'
    assert printed(svg, "png").startswith(b"\x89PNG")


def test_the_command_writes_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One folder, all formats, and the files are named on stdout."""
    monkeypatch.chdir(tmp_path)
    config = Path(__file__).parents[2] / "examples" / "written.toml"
    ended = CliRunner().invoke(app, ["report", str(config), "-o", "out", "--pdf", "--deployment", str(FULL)])
    assert ended.exit_code == 0, ended.output
    written = {Path(line).name for line in ended.stdout.splitlines()}
    expected = {"report.html", "report.md", "report.json", "report.pdf", "test-result.intoto.json"}
    assert expected <= written
    command = json.loads(Path("out/report.json").read_text(encoding="utf-8"))["command"]
    assert command.startswith("dpaudit report ")
    assert "--pdf" in command
    assert "--deployment" in command


def split_tables(report: Report, folder: Path) -> list[str]:
    """Return the captions of tables whose caption and first column stand on no single page of the report's PDF."""
    (folder / "report.pdf").write_bytes(pdf(report))
    ended = subprocess.run(["pdftotext", str(folder / "report.pdf"), "-"], capture_output=True, text=True, check=True)
    pages = [re.sub(r"\s+", "", page) for page in ended.stdout.split("\f")]
    grids = [grid for section in json.loads(render(report)["report.json"])["sections"] for grid in section["grids"]]
    return [
        grid["caption"]
        for grid in grids
        if (words := [re.sub(r"\s+", "", text) for text in (grid["caption"], *(row[0] for row in grid["rows"]))])
        if grid["rows"] and not any("⁻" in word or "-" in word for word in words)
        if not any(all(word in page for word in words) for page in pages)
    ]


def test_a_table_that_fits_on_a_page_stays_on_one(
    stories: dict[str, Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No table of CAPRI's report is split; where the template lets every table break, one of them is."""
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed")
    report = stories["paper"]
    assert split_tables(report, tmp_path) == []
    text = (Path(str(dpaudit.documents.__file__)).parent / "paper.typ").read_text(encoding="utf-8")
    assert "height > 225mm" in text
    (tmp_path / "paper.typ").write_text(text.replace("height > 225mm", "true"), encoding="utf-8")
    monkeypatch.setattr("dpaudit.documents.paper.files", lambda package: tmp_path)
    others = (replace(report, deployment=read_deployment(FULL)), stories["violation"], stories["checked"])
    assert any(split_tables(other, tmp_path) for other in (report, *others))
