"""Rows of Opacus: what its accountants claim of a history of steps, against certified brackets."""

import math
from functools import partial

from benchmarks.wall.row import Row, bare_release
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.model.claim import Claim

_LIBRARY, _NOISE = "opacus", 20.0


def _row(kind: str, noise: float, rate: float, steps: int) -> Row:
    """Return the row of one accountant after equal steps, at delta 1e-5."""

    def build() -> LibraryRelease:
        accountant = getattr(library_module("opacus.accountants", _LIBRARY), kind)()
        accountant.history = [(noise, rate, steps)]
        return adapt(accountant, neighbours="add_remove", delta=1e-5)

    name = f"{kind}: noise {noise:g}, rate {rate:g}, {steps} steps"
    return Row(library=_LIBRARY, name=name, pair="add_remove", runs=1, build=build)


def _one_step(last: float) -> LibraryRelease:
    """Return one step on all records, published; of two records of 0, and of these beside `last`.

    The engine divides noise and gradients by the number of records. The norm of a gradient of NaN is not above any
    other, so that it passes the clip.
    """
    opacus, torch = library_module("opacus", _LIBRARY), library_module("torch", "torch")
    records = library_module("torch.utils.data", "torch")
    accountant = library_module("opacus.accountants", _LIBRARY).RDPAccountant()
    accountant.history = [(_NOISE, 1.0, 1)]

    def call(values: tuple[float, ...]) -> float:
        model = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        loader = records.DataLoader(records.TensorDataset(torch.tensor(values)[:, None]), batch_size=len(values))
        made = opacus.PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
            data_loader=loader,
            noise_multiplier=_NOISE,
            max_grad_norm=1.0,
        )
        for (batch,) in made[2]:
            made[0](batch).mean().backward()
            made[1].step()
        return float(model.weight.item())

    claim = Claim(epsilon=float(accountant.get_epsilon(1e-5)), delta=1e-5, neighbours="add_remove")
    version, source = installed_version(_LIBRARY), "RDPAccountant.get_epsilon(1e-05)"
    return bare_release(
        _LIBRARY, version, "one step of make_private", claim, source, call, ((0.0,) * 2, (0.0, 0.0, last))
    )


ROWS = (
    Row(
        library=_LIBRARY,
        name="make_private divides by the number of records",
        pair="add_remove, 2 and 3 records",
        runs=6000,
        build=partial(_one_step, 0.0),
        standing="known bug",
        source="Cebere and others 2026; opacus 571",
    ),
    Row(
        library=_LIBRARY,
        name="make_private, a record of NaN",
        pair="add_remove, 2 and 3 records",
        runs=60,
        build=partial(_one_step, math.nan),
        standing="known bug",
        source="Cebere and others 2026: NaN passes a clip",
    ),
    _row("RDPAccountant", 2.0, 0.1, 40),
    _row("RDPAccountant", 4.0, 1.0, 10),
    _row("PRVAccountant", 2.0, 0.1, 40),
)
