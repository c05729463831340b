"""Digests of the source that a result depends on: the modules of the project that its subject reaches."""

import ast
import functools
import importlib.util
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.runtime.package_guard import PACKAGES
from dpaudit.runtime.provenance import digest_of_parts, source_digest


def digest_of_sources(*subjects: Any) -> str:
    """Return the SHA-256 over the modules that the subjects are defined in and reach, and over dpaudit's own source.

    A function also reaches what its closure and its wrapped function hold. A module reaches what stands in its
    namespace and what it imports anywhere, inside functions too. Installed packages and the standard library do not
    count; `content_address` adds their versions.
    """
    files = own_files(*subjects)
    parts = (part for path in files for part in (path.name.encode(), path.read_bytes() if path.is_file() else b""))
    return digest_of_parts(parts, begin=source_digest().encode())


def own_files(*subjects: Any) -> tuple[Path, ...]:
    """Return the files of the project that the subjects are defined in and reach, sorted."""
    files: set[Path] = set()
    names: set[str] = set()
    for subject in subjects:
        for home in _homes(subject, set()):
            _add(home, files, names)
    return tuple(sorted(files))


def _homes(subject: Any, seen: set[int]) -> Iterator[str]:
    """Yield the names of the modules that a subject, and the functions and objects that it holds, are defined in."""
    if id(subject) in seen or subject is None:
        return
    seen.add(id(subject))
    name = getattr(subject, "__module__", None) or type(subject).__module__
    if isinstance(name, str):
        yield name
    inner: list[Any] = [getattr(subject, "__wrapped__", None), getattr(subject, "__self__", None)]
    if isinstance(subject, functools.partial):
        inner += [subject.func, *subject.args, *subject.keywords.values()]
    if inspect.isfunction(subject):
        inner += [cell.cell_contents for cell in subject.__closure__ or () if _filled(cell)]
    for value in inner:
        yield from _homes(value, seen)


def _filled(cell: Any) -> bool:
    """Return whether a cell of a closure has a value."""
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _add(name: str, files: set[Path], seen: set[str]) -> None:
    """Add the file of a module of the project, and of all that it reaches."""
    if name in seen or name.partition(".")[0] in (*PACKAGES, *sys.stdlib_module_names):
        return
    seen.add(name)
    path = _file_of(name)
    if path is None:
        return
    files.add(path)
    for further in _reached(name, path):
        _add(further, files, seen)


def _reached(name: str, path: Path) -> Iterator[str]:
    """Yield the names of the modules that a module's namespace leads to, or that its text imports."""
    module = sys.modules.get(name)
    for value in () if module is None else tuple(vars(module).values()):
        further = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        if isinstance(further, str):
            yield further
    package = (getattr(module, "__package__", None) or name.rpartition(".")[0]) if module else name.rpartition(".")[0]
    try:
        yield from _imported(path.read_bytes(), package)
    except (OSError, SyntaxError, ValueError):
        return


@functools.lru_cache(maxsize=256)
def _imported(text: bytes, package: str) -> tuple[str, ...]:
    """Return the names of the modules that a text imports, in a package of this name."""
    names: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(names)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the absolute name of the module that a statement imports from."""
    if not node.level:
        return node.module or ""
    package_above = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*package_above, *([node.module] if node.module else [])])


def _file_of(name: str) -> Path | None:
    """Return the file of a module of the project, loaded or not; None for others: installed, Python's own, or none."""
    module: ModuleType | None = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None:
        parent = name.rpartition(".")[0]
        if not name or (parent and parent not in sys.modules):
            return None
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            return None
        file = None if spec is None else spec.origin
    if not file or not str(file).endswith(".py"):
        return None
    return None if any(Path(file).is_relative_to(folder) for folder in _elsewhere()) else Path(file)


@functools.cache
def _elsewhere() -> frozenset[str]:
    """Return the folders of Python's own modules and of installed ones."""
    return frozenset(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))
