"""Releases by the name of a function that builds them: for configuration files and for worker processes.

Objects of some libraries hold pointers and cannot be sent to another process. A worker builds its own, once.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from dpaudit.adapters.finding import ADAPTERS
from dpaudit.adapters.release import LibraryRelease
from dpaudit.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltRuns:
    """Runs of the release that `target`, "package.module:function", builds in the process that runs them."""

    target: str
    folder: str

    def __call__(self, data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        """Return the outputs of `n_runs` runs."""
        function = build(self.target, self.folder).function
        if function is None:
            raise ConfigError(f"{self.target} returns a release that runs nothing.")
        return function(data, rng, n_runs)


def configured(name: str, target: str, folder: str) -> LibraryRelease:
    """Return the release of a configuration's `[library]`, ready to be run in any process.

    Raises: ConfigError: another library than `name`, or a target that cannot be built.
    """
    release = build(target, folder)
    distributions = {package: distribution for package, (distribution, _) in ADAPTERS.items()}
    if name not in (release.library, release.library.replace("-", "_")) and distributions.get(name) != release.library:
        raise ConfigError(f"Expected name={name!r} to be the library of the object, {release.library!r}.")
    return replace(release, function=None if release.function is None else BuiltRuns(target=target, folder=folder))


@lru_cache(maxsize=32)
def build(target: str, folder: str) -> LibraryRelease:
    """Return what the function called `target` returns; modules are also looked for in `folder`.

    Raises: ConfigError: no such module or function, or it raises or returns something else.
    """
    module_name, colon, function_name = target.partition(":")
    if not (module_name and colon and function_name):
        raise ConfigError(f"Expected object={target!r} to be 'package.module:function'.")
    try:
        with _found_first(folder):
            made = getattr(import_module(module_name), function_name)()
    except ImportError as error:
        raise ConfigError(f"object={target!r}: cannot be imported ({_line(error)}).") from None
    except AttributeError as error:
        raise ConfigError(f"object={target!r}: {_line(error)}.") from None
    except Exception as error:
        raise ConfigError(f"object={target!r} raised {type(error).__name__}: {_line(error)}") from None
    if not isinstance(made, LibraryRelease):
        raise ConfigError(
            f"Expected {target} to return what dpaudit.adapters.adapt returns, got {type(made).__name__}."
        )
    return made


@contextmanager
def _found_first(folder: str) -> Generator[None, None, None]:
    """Look for modules in one more folder, after all others, while something is imported."""
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _line(error: Exception) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split())
