"""The adapter of an object: by the package that its type, class or function comes from."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Any

from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.runtime.plugins import suggestion

ADAPTERS: dict[str, tuple[str, str]] = {
    "opendp": ("opendp", "dpaudit.adapters.opendp"),
    "diffprivlib": ("diffprivlib", "dpaudit.adapters.diffprivlib"),
    "pydp": ("python-dp", "dpaudit.adapters.python_dp"),
    "pipeline_dp": ("pipeline-dp", "dpaudit.adapters.pipelinedp"),
    "snsql": ("smartnoise-sql", "dpaudit.adapters.smartnoise_sql"),
    "tmlt": ("tmlt.analytics", "dpaudit.adapters.tumult"),
    "opacus": ("opacus", "dpaudit.adapters.opacus"),
    "dpsynth": ("dpsynth", "dpaudit.adapters.dpsynth"),
    "dpmm": ("dpmm", "dpaudit.adapters.synthesizers"),
    "snsynth": ("smartnoise-synth", "dpaudit.adapters.synthesizers"),
    "dp_accounting": ("dp-accounting", "dpaudit.adapters.dp_accounting"),
}
"""By the name of a package: the distribution that brings it, and the module of its adapter."""

_NAMES = {"tmlt.analytics": "tumult"}
"""Libraries that have another name than their distribution."""
_ALIASES = {"_pydp": "pydp", "pydp._pydp": "pydp"}


def adapt(
    subject: Any,
    *,
    neighbours: Neighbours,
    pair: tuple[Any, Any] | None = None,
    distance: Any = None,
    delta: float | None = None,
    unit: str = "one record",
    released: Callable[[Any], Any] | None = None,
    **parameters: Any,
) -> LibraryRelease:
    """Return claim, declaration and function of an object of another library; see `LibraryRelease`.

    `subject` is a measurement, mechanism, query, algorithm class, session, engine or event. `parameters` are those of
    a class, a function or a session; the other arguments are described by `Question`.
    Raises: UnsupportedError: no adapter for its package, or an object that has no claim of its own.

    >>> from dp_accounting import GaussianDpEvent
    >>> release = adapt(GaussianDpEvent(2.0), neighbours="add_remove", delta=1e-5)
    >>> release.library, round(release.claim.epsilon, 2)
    ('dp-accounting', 1.99)
    """
    package = package_of(subject)
    distribution = ADAPTERS[package][0] if package in ADAPTERS else ""
    question = Question(
        neighbours=neighbours,
        pair=pair,
        distance=distance,
        delta=delta,
        unit=unit,
        released=released,
        parameters=parameters,
        library=_NAMES.get(distribution, distribution),
        version=installed_version(distribution) if distribution else "",
    )
    return _adapter_of(package).adapt(subject, question)


def package_of(subject: Any) -> str:
    """Return the top-level package of a class, a function or an object's type."""
    module = getattr(subject, "__module__", None) or type(subject).__module__
    package = str(module).partition(".")[0]
    return _ALIASES.get(package, package)


def installed_version(distribution: str) -> str:
    """Return the version of an installed distribution.

    Raises: UnsupportedError: it is not installed.
    """
    try:
        return version(distribution)
    except PackageNotFoundError:
        raise UnsupportedError(f"The library {distribution} is not installed here; install it to adapt it.") from None


def library_module(name: str, distribution: str) -> Any:
    """Return a module of a library.

    Raises: UnsupportedError: the library is not installed, or cannot be imported.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise UnsupportedError(
            f"The library {distribution} cannot be imported ({' '.join(str(error).split())}); install it."
        ) from None


def _adapter_of(package: str) -> Any:
    """Return the adapter of a package: a built-in one, or a plug-in's.

    Raises: UnsupportedError: there is none, or the entry point names none.
    """
    if package in ADAPTERS:
        return import_module(ADAPTERS[package][1])
    for point in entry_points(group="dpaudit.adapters"):
        if point.name == package:
            if hasattr(adapter := point.load(), "adapt"):
                return adapter
            raise UnsupportedError(
                f"The entry point {package} = {point.value!r} is no adapter: name a module, or an object of one, that "
                "has a function `adapt(subject, question)`."
            )
    raise UnsupportedError(
        f"No adapter for objects of the package {package!r}{suggestion(package, tuple(ADAPTERS))} An entry point "
        f"{package!r} of the group 'dpaudit.adapters' adds one."
    )
