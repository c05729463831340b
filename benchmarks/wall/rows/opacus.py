"""Rows of Opacus: what its accountants claim of a history of steps, against certified brackets."""

from benchmarks.wall.row import Row
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import library_module

_LIBRARY = "opacus"


def _row(kind: str, noise: float, rate: float, steps: int) -> Row:
    """Return the row of one accountant after equal steps, at delta 1e-5."""

    def build() -> LibraryRelease:
        accountant = getattr(library_module("opacus.accountants", _LIBRARY), kind)()
        accountant.history = [(noise, rate, steps)]
        return adapt(accountant, neighbours="add_remove", delta=1e-5)

    name = f"{kind}: noise {noise:g}, rate {rate:g}, {steps} steps"
    return Row(library=_LIBRARY, name=name, pair="add_remove", runs=1, build=build)


ROWS = (
    _row("RDPAccountant", 2.0, 0.1, 40),
    _row("RDPAccountant", 4.0, 1.0, 10),
    _row("PRVAccountant", 2.0, 0.1, 40),
)
