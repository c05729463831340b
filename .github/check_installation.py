"""Checks an installation of dpaudit: what the wheel holds, and whether `dpaudit doctor` reports a foreign package.

Usage: python .github/check_installation.py dpaudit-VERSION-py3-none-any.whl
Run it in an environment that is thrown away afterwards: it installs a foreign distribution over dpaudit's files.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGES = {"dpaudit", "mechanisms", "algorithms", "audits"}
FOREIGN = {
    "algorithms/__init__.py": '"""A foreign package of the same name."""\n',
    "algorithms/sorting.py": "",
    "foreign_algorithms-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: foreign-algorithms\nVersion: 1.0\n",
    "foreign_algorithms-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


def check_contents(wheel: Path) -> None:
    """End with a message unless the wheel has exactly the four packages at its top, each with its type marker."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {top for top in (name.split("/")[0] for name in names) if not top.endswith(".dist-info")}
    if tops != PACKAGES:
        sys.exit(f"Expected {sorted(PACKAGES)} at the top of {wheel.name}, found {sorted(tops)}.")
    untyped = sorted(package for package in PACKAGES if f"{package}/py.typed" not in names)
    if untyped:
        sys.exit(f"Expected py.typed in every package of {wheel.name}; missing in {untyped}.")


def doctor() -> subprocess.CompletedProcess[str]:
    """Return how `dpaudit doctor` of this environment ended."""
    command = [str(Path(sys.executable).parent / "dpaudit"), "doctor"]
    return subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - dpaudit's own command


def install_foreign() -> None:
    """Install a distribution that writes a folder `algorithms` of its own; pip does not object."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder) / "foreign_algorithms-1.0-py3-none-any.whl"
        record = "foreign_algorithms-1.0.dist-info/RECORD"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in FOREIGN.items():
                archive.writestr(name, text)
            archive.writestr(record, "".join(f"{name},,\n" for name in (*FOREIGN, record)))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
        subprocess.run(command, check=True)  # noqa: S603 - pip, on the wheel written above


def main(wheel: str) -> None:
    """Run the checks in their order; the first that fails ends the program with exit code 1."""
    check_contents(Path(wheel))
    before = doctor()
    if before.returncode != 0:
        sys.exit(f"Expected `dpaudit doctor` to pass before the collision:\n{before.stdout}{before.stderr}")
    install_foreign()
    after = doctor()
    if after.returncode == 0 or "algorithms" not in after.stdout + after.stderr:
        sys.exit(f"Expected `dpaudit doctor` to report the foreign package `algorithms`:\n{after.stdout}{after.stderr}")
    print("The wheel holds the four packages, and `dpaudit doctor` reports a foreign one.")


if __name__ == "__main__":
    main(*sys.argv[1:])
