"""The guard against code that is certified but does not run, and the digest of the code that does."""

import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.errors import ConfigError
from dpaudit.runtime import package_guard
from dpaudit.runtime.package_guard import PACKAGES, require_packages, root
from dpaudit.runtime.provenance import digest_below, source_digest, source_files, versions

MAIN = "from dpaudit.cli import main; main()"


def test_the_four_packages_of_this_copy_lie_beside_each_other() -> None:
    """Nothing is raised where Python would import all four from one folder."""
    require_packages()
    assert all((root() / package / "__init__.py").is_file() for package in PACKAGES)


@pytest.mark.parametrize("package", ["algorithms", "mechanisms", "audits"])
def test_a_folder_of_the_users_own_is_refused(tmp_path: Path, package: str) -> None:
    """A package of the same name earlier on the path: exit code 2, both places named, and it is not imported."""
    shadow = tmp_path / package
    shadow.mkdir()
    (shadow / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", MAIN, "list"],
        check=False,
        env={"PYTHONPATH": f"{tmp_path}:{root()}"},
        capture_output=True,
        text=True,
        cwd=elsewhere,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"Expected the package '{package}' in {root() / package}" in ended.stderr
    assert str(shadow) in ended.stderr


def test_a_missing_package_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that lost one of its packages cannot certify anything."""
    monkeypatch.setattr(package_guard, "PACKAGES", (*PACKAGES, "no_such_package"))
    with pytest.raises(ConfigError, match=r"'no_such_package' .* from nowhere"):
        require_packages()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with four small packages."""
    for package in PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f'"""{package}"""\n', encoding="utf-8")
    return tmp_path


def test_the_digest_is_that_of_the_files_that_were_imported() -> None:
    """The running digest is the one of the folder that the packages come from."""
    assert source_digest() == digest_below(root())
    assert Path(sys.modules["dpaudit"].__file__ or "").resolve() in source_files(root())


def test_the_digest_sees_every_change_of_content_and_name(copy: Path) -> None:
    """One byte, a new file, a moved file and a renamed one each change it; what is no module and no table does not."""
    seen = {digest_below(copy)}
    (copy / "dpaudit" / "notes.txt").write_text("x", encoding="utf-8")
    assert digest_below(copy) in seen
    changes = (
        lambda: (copy / "audits" / "__init__.py").write_text('"""audit"""\n', encoding="utf-8"),
        lambda: (copy / "audits" / "more.py").write_text("", encoding="utf-8"),
        lambda: (copy / "audits" / "more.py").rename(copy / "audits" / "most.py"),
        lambda: (copy / "audits" / "most.py").rename(copy / "algorithms" / "most.py"),
        lambda: (copy / "algorithms" / "words.toml").write_text("a = 1\n", encoding="utf-8"),
    )
    for change in changes:
        change()
        digest = digest_below(copy)
        assert digest not in seen
        seen.add(digest)


def test_the_digest_does_not_mistake_content_for_a_name(copy: Path) -> None:
    """A boundary moved between two files changes the digest, because lengths are part of it."""
    one, two = copy / "audits" / "a.py", copy / "audits" / "b.py"
    one.write_text("x = 1\n", encoding="utf-8")
    two.write_text("y = 2\n", encoding="utf-8")
    before = digest_below(copy)
    one.write_text("x = 1\ny = 2\n", encoding="utf-8")
    two.write_text("", encoding="utf-8")
    assert digest_below(copy) != before


def test_the_digest_is_the_same_on_every_platform(copy: Path) -> None:
    """Line ends that a checkout rewrites do not count."""
    before = digest_below(copy)
    for path in source_files(copy):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert digest_below(copy) == before


def test_versions_name_python_and_the_libraries_in_order() -> None:
    """Sorted, so that a certificate read back equals the one that was written."""
    found = dict(versions())
    assert {"python", "dpaudit", "numpy", "scipy"} <= set(found)
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert list(versions()) == sorted(versions())
