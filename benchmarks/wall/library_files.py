"""One file of a library, loaded without what its package imports beside it."""

from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from dpaudit.errors import UnsupportedError


def file_of(library: str, package: str, *parts: str) -> Path:
    """Return a file or folder of an installed package.

    Raises: UnsupportedError: the package is not installed, or has no such file.
    """
    found = find_spec(package)
    places = [] if found is None else list(found.submodule_search_locations or [])
    files = [path for place in places if (path := Path(place, *parts)).exists()]
    if not files:
        raise UnsupportedError(f"The library {library} is not installed here, or has no {'/'.join(parts)}.")
    return files[0]


def loaded(file: Path) -> ModuleType:
    """Return the module of a file."""
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise UnsupportedError(f"{file} is no module.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
