"""The machine-checked proofs: no open proof, no axiom, and a check that refuses files which have one."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.narrowing import present

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "proofs"
CHECK = FOLDER / "check"
FILES = sorted(FOLDER.glob("*.v"))
HELPERS = {"Sums.v", "Laws.v"}
OPEN = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Primitive|bypass_check)\b|Unset\s+\w+\s+Checking"
)
needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed: apt-get install coq")

PROVED = "Theorem small : 1 + 1 = 2. Proof. reflexivity. Qed.\n"
TWINS = {
    "an open proof": "Theorem wrong : 1 = 2. Proof. Admitted.\n",
    "an open goal": "Theorem wrong : 1 = 2. Proof. admit. Abort.\n",
    "an axiom": "Axiom wrong : 1 = 2. Theorem used : 2 = 1. Proof. symmetry. exact wrong. Qed.\n",
    "a parameter": "Parameter wrong : False. Theorem used : 1 = 2. Proof. destruct wrong. Qed.\n",
    "no guard": "Unset Guard Checking.\n" + PROVED,
}
SILENT_TWINS = {
    "a hypothesis outside a section": (
        "Context (wrong : 1 = 2).\nTheorem used : 2 = 1. Proof. symmetry. exact wrong. Qed.\n",
        "Proofs.Twin.used",
    ),
    "an axiom of the library": (
        "From Coq Require Import FunctionalExtensionality.\n"
        "Theorem used : (fun n => n + 0) = (fun n => n).\n"
        "Proof. apply functional_extensionality. intro. symmetry. apply plus_n_O. Qed.\n",
        "Proofs.Twin.used",
    ),
    "a false proof": ("Theorem wrong : 1 = 2. Proof. reflexivity. Qed.\n", "Twin.v does not compile"),
    "a proof given up": ("Theorem wrong : 1 = 2. Proof. Abort.\n", "no finished proof"),
}


def run(*arguments: str, path: str | None = None) -> CompletedProcess[str]:
    """Run the check and return what it did."""
    environment = os.environ if path is None else {**os.environ, "PATH": path}
    return subprocess.run(
        ["/bin/bash", CHECK, *arguments], check=False, capture_output=True, text=True, timeout=1800, env=environment
    )


def twin(folder: Path, text: str) -> Path:
    """Write `text` beside a proved file and return the folder."""
    (folder / "Proved.v").write_text(PROVED, encoding="utf-8")
    (folder / "Twin.v").write_text(text, encoding="utf-8")
    return folder


def without_coq(folder: Path) -> str:
    """Return a search path that holds the tools of the check without Coq."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("bash", "dirname", "basename", "grep", "mktemp", "rm", "cp"):
        (tools / name).symlink_to(present(shutil.which(name)))
    return str(tools)


def test_no_source_leaves_a_proof_open_or_adds_an_axiom() -> None:
    """The words that do so stand nowhere, not even in a comment."""
    assert len(FILES) > 15
    assert {path.name: OPEN.findall(path.read_text(encoding="utf-8")) for path in FILES} == {
        path.name: [] for path in FILES
    }


@pytest.mark.parametrize("path", [path for path in FILES if path.name not in HELPERS], ids=lambda path: path.stem)
def test_each_file_opens_with_its_statement_and_names_pages_that_exist(path: Path) -> None:
    """The first comment says the theorem in words, and which page of the documentation uses it."""
    opening = path.read_text(encoding="utf-8").split("*)")[0]
    assert opening.startswith("(** ")
    assert "In words: " in opening
    pages = re.findall(r"docs/[\w/-]+\.md", opening)
    assert pages
    assert [page for page in pages if not (ROOT / page).is_file()] == []


def test_the_readme_lists_every_file_and_every_theorem() -> None:
    """The table of answers has a row for each source, and names its theorems."""
    table = (FOLDER / "README.md").read_text(encoding="utf-8").split("<!-- assumptions")[1]
    rows = dict(re.findall(r"^\| \[(\w+\.v)\]\(\w+\.v\) \| (.*?) \|", table, flags=re.MULTILINE))
    assert list(rows) == [path.name for path in FILES]
    for path in FILES:
        theorems = re.findall(r"^ *(?:Theorem|Corollary) (\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert rows[path.name] == (", ".join(f"`{name}`" for name in theorems) or "none")


def test_the_readme_explains_every_file() -> None:
    """Each file but the two with the words has a line that says what it proves, and on which page it is used."""
    words = (FOLDER / "README.md").read_text(encoding="utf-8").split("## What Coq answered")[0]
    assert [path.name for path in FILES if f"[{path.name}]({path.name})" not in words and path.name != "Sums.v"] == []


@pytest.mark.parametrize("text", TWINS.values(), ids=TWINS)
def test_the_check_refuses_words_that_leave_a_proof_open(tmp_path: Path, text: str) -> None:
    """A planted open proof or axiom is a finding, with or without Coq on the machine."""
    ended = run(str(twin(tmp_path, text)), path=without_coq(tmp_path))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "Twin.v:1:" in ended.stderr


@needs_coq
@pytest.mark.parametrize(("text", "said"), SILENT_TWINS.values(), ids=SILENT_TWINS)
def test_the_check_refuses_what_no_word_gives_away(tmp_path: Path, text: str, said: str) -> None:
    """Coq's own answer tells an axiom that no word of the file shows, and an error is no proof."""
    ended = run(str(twin(tmp_path, text)))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert said in ended.stderr


def test_a_machine_without_coq_is_told_what_is_missing(tmp_path: Path) -> None:
    """Exit code 4, distinct from a pass and from a finding."""
    ended = run(path=without_coq(tmp_path))
    assert (ended.returncode, ended.stdout) == (4, "")
    assert "MISSING: coqc" in ended.stderr
    assert "apt-get install coq" in ended.stderr


def test_a_folder_without_proofs_is_a_usage_error(tmp_path: Path) -> None:
    """Nothing to check is not a pass."""
    assert run(str(tmp_path)).returncode == 2
    assert run(str(tmp_path / "absent")).returncode == 2


@needs_coq
def test_an_outdated_table_is_a_finding_until_it_is_renewed(tmp_path: Path) -> None:
    """The page lists what Coq answered for the files as they are."""
    (tmp_path / "Proved.v").write_text(PROVED, encoding="utf-8")
    page = tmp_path / "README.md"
    page.write_text("Before.\n<!-- assumptions -->\nOld.\n<!-- end -->\nAfter.\n", encoding="utf-8")
    assert run(str(tmp_path)).returncode == 1
    assert run("--write", str(tmp_path)).returncode == 0
    assert run(str(tmp_path)).returncode == 0
    lines = page.read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1], "Old." in lines) == ("Before.", "After.", False)
    assert "| [Proved.v](Proved.v) | `small` | 0 | Closed under the global context |" in lines


@needs_coq
def test_every_proof_compiles_from_scratch_and_rests_on_nothing() -> None:
    """The real folder passes: no axiom, no open proof, and its table is up to date."""
    ended = run()
    assert ended.returncode == 0, ended.stderr
    assert "no axiom, no open proof" in ended.stdout
