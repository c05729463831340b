"""The guard against code that is certified but does not run: shadowed folders, and the digest of what does."""

import subprocess
import sys
from importlib.metadata import entry_points
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


ROOT = Path(__file__).parents[2]
MARKED = """
import pytest


@pytest.mark.dp(epsilon=1.0, neighbours="replace_one")
def test_noise(dp):
    dp.check_function(lambda data, rng, n: data + rng.laplace(size=n), (0.0, 1.0))
"""
IMPORTED = """
from audits import audit


def test_nothing():
    pass
"""
USES = {"the fixture": MARKED, "an import": IMPORTED}


def _run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a project that comes first on the path."""
    environment = {"PYTHONPATH": f"{folder}:{ROOT}", "COLUMNS": "300"}
    return subprocess.run(
        [sys.executable, *command], check=False, capture_output=True, text=True, cwd=folder, env=environment
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project with a package `audits` of its own."""
    (tmp_path / "audits").mkdir()
    (tmp_path / "audits" / "__init__.py").write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("use", USES)
def test_pytest_names_the_folder_that_is_in_the_way(project: Path, use: str) -> None:
    """On the first use of the fixture, and beside the error of an import: package, expected and actual place."""
    (project / "test_privacy.py").write_text(USES[use], encoding="utf-8")
    installed = any(point.value == "dpaudit.pytest_plugin" for point in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "dpaudit.pytest_plugin")
    ended = _run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin)
    assert ended.returncode != 0
    assert f"Expected the package 'audits' in {ROOT / 'audits'}" in ended.stdout
    assert str(project / "audits") in ended.stdout
    assert "AttributeError" not in ended.stdout


def test_a_plug_in_search_names_the_folder_that_is_in_the_way(project: Path) -> None:
    """From Python too: looking for an algorithm in a foreign package is a configuration error."""
    (project / "audits").rename(project / "algorithms")
    ended = _run(project, "-c", "from dpaudit.runtime.plugins import find_plugin; find_plugin('algorithms', 'capri')")
    assert "ConfigError: Expected the package 'algorithms' in" in ended.stderr
    assert "AttributeError" not in ended.stderr


def test_a_folder_without_an_init_file_is_not_in_the_way(project: Path) -> None:
    """Python prefers a package to a folder of loose files, so nothing is refused."""
    (project / "audits" / "__init__.py").unlink()
    ended = _run(project, "-c", "from dpaudit.runtime.package_guard import require_packages as r; r()")
    assert ended.returncode == 0, ended.stderr
