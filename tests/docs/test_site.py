"""The site builds without a warning, and shows what the code says."""

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a strict build; skipped where the extra `docs` is not installed."""
    for module in ("mkdocs", "material", "mkdocstrings"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed (extra 'docs')")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "MPLBACKEND": "svg"}
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture(scope="module")
def hooks() -> dict[str, Any]:
    """Return what writes pages from the code; skipped where the extra `docs` is not installed."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra 'docs')")
    return runpy.run_path(str(ROOT / "docs" / "site" / "hooks.py"))


def test_the_navigation_names_pages_that_are_there_or_are_written_from_the_code() -> None:
    """Without a build; which page is written from the code is what the strict build looks at."""
    named = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2])
    assert len(named) > 50
    missing = {name for name in named if not (ROOT / "docs" / name).is_file()}
    assert {name.partition("/")[0] for name in missing} == {"gallery", "measured", "notebooks", "reference"}
    written = {"commands", "rules", "dpaudit", "mechanisms", "algorithms", "audits"}
    assert {Path(name).stem for name in missing if name.startswith("reference/")} == written


def test_references_name_what_the_code_has(hooks: dict[str, Any]) -> None:
    """The text of the pages before they are built: commands with their options, rules, and public names."""
    assert "## dpaudit certify\n" in hooks["commands_page"]()
    assert "--significance" in hooks["commands_page"]()
    assert "illboard" in hooks["rules_page"]()
    for package, name in (("dpaudit", "Odometer"), ("audits", "guessing_bound"), ("mechanisms", "OneSidedWishart")):
        assert re.search(rf"^::: [\w.]+\.{name}$", hooks["package_page"](package), flags=re.MULTILINE)


def test_a_strict_build_has_every_page(site: Path) -> None:
    """Each Markdown page became a page of the site, and the gallery has its figures."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name not in ("index.md", "README.md")]
    missing = [page for page in pages if not (site / page.relative_to(ROOT / "docs").with_suffix("")).is_dir()]
    assert missing == []
    assert len(list((site / "gallery").glob("*.svg"))) == len(list((ROOT / "examples" / "gallery").glob("*.py")))


def test_every_entry_of_the_navigation_leads_to_a_page(site: Path) -> None:
    """An entry without a page keeps its Markdown name as address, and has no title."""
    page = (site / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="([^"#:]+)" class="md-nav__link', page)
    assert len(links) > 50
    assert [link for link in links if not (site / link / "index.html").is_file()] == []


def test_references_are_written_from_the_code(site: Path) -> None:
    """Commands with their options, rules, public names with their examples, and the keys of a configuration."""
    told = {
        name: (site / "reference" / name / "index.html").read_text(encoding="utf-8")
        for name in ("commands", "rules", "dpaudit", "audits", "mechanisms", "configuration")
    }
    assert "dpaudit certify" in told["commands"]
    assert "--significance" in told["commands"]
    assert "illboard" in told["rules"]
    assert "Odometer" in told["dpaudit"]
    assert "guessing_bound" in told["audits"]
    assert "one_sided_wishart" in told["mechanisms"] or "OneSidedWishart" in told["mechanisms"]
    assert "horizon" in told["configuration"]


def test_a_page_fetches_nothing_from_elsewhere(site: Path) -> None:
    """No stylesheet, script, font or image comes from another host."""
    page = (site / "index.html").read_text(encoding="utf-8")
    assert 'src="http' not in page
    assert 'rel="stylesheet" href="http' not in page


def test_pages_on_papers_have_the_fronts_of_their_studies(site: Path) -> None:
    """The overview has one front for each of eight algorithms, and each paper's page those that it names."""
    overview = (site / "measured" / "overview" / "index.html").read_text(encoding="utf-8")
    assert overview.count("/front.svg") == 8
    for paper, study in (("capri", "capri_grid"), ("dueling", "dp_ebs"), ("lplr", "lplr"), ("linear_rl", "ucrl_vtr")):
        page = (site / "papers" / paper / "index.html").read_text(encoding="utf-8")
        assert f"studies/{study}/front.svg" in page
        assert (site / "measured" / "studies" / study / "front.svg").is_file()
