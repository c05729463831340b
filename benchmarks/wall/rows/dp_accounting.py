"""Rows of dp-accounting: what its accountants claim of events, against certified brackets."""

from collections.abc import Callable
from typing import Any

from benchmarks.wall.row import Row
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import library_module
from dpaudit.model.claim import Neighbours

_LIBRARY = "dp-accounting"


def _row(name: str, make: Callable[[Any], Any], *, neighbours: Neighbours = "add_remove", renyi: bool = False) -> Row:
    """Return the row of an event under the PLD or the Renyi accountant, at delta 1e-5."""

    def build() -> LibraryRelease:
        library = library_module("dp_accounting", _LIBRARY)
        accountants = library_module("dp_accounting.rdp", _LIBRARY) if renyi else None
        chosen = {"accountant": accountants.RdpAccountant()} if accountants else {}
        return adapt(make(library), neighbours=neighbours, delta=1e-5, **chosen)

    accountant = "Renyi" if renyi else "PLD"
    return Row(library=_LIBRARY, name=f"{name}, {accountant}", pair=neighbours, runs=1, build=build)


def _gaussian(library: Any) -> Any:
    """Return one Gaussian release."""
    return library.GaussianDpEvent(2.0)


def _many(library: Any) -> Any:
    """Return a hundred Gaussian releases."""
    return library.SelfComposedDpEvent(library.GaussianDpEvent(20.0), 100)


def _laplace(library: Any) -> Any:
    """Return ten Laplace releases."""
    return library.SelfComposedDpEvent(library.LaplaceDpEvent(10.0), 10)


def _mixed(library: Any) -> Any:
    """Return a Gaussian and a Laplace release."""
    return library.ComposedDpEvent([library.GaussianDpEvent(4.0), library.LaplaceDpEvent(5.0)])


def _sampled(library: Any) -> Any:
    """Return forty Poisson-sampled Gaussian steps."""
    step = library.PoissonSampledDpEvent(0.1, library.GaussianDpEvent(2.0))
    return library.SelfComposedDpEvent(step, 40)


ROWS = (
    _row("Gaussian", _gaussian),
    _row("Gaussian", _gaussian, neighbours="replace_one"),
    _row("100 Gaussian", _many),
    _row("10 Laplace", _laplace),
    _row("Gaussian and Laplace", _mixed),
    _row("40 sampled Gaussian", _sampled),
    _row("100 Gaussian", _many, renyi=True),
    _row("40 sampled Gaussian", _sampled, renyi=True),
)
