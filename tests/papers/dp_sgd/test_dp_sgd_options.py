"""The options of Opacus under one watch: each is seen through, or refused by name."""

import json
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audits import watch_opacus
from dpaudit import UnsupportedError
from dpaudit.training import Training, conform

pytestmark = pytest.mark.skipif(find_spec("opacus") is None, reason="not run: the extra 'opacus' is not installed")

RECORDS = 400
HONEST = 2.0


def findings(mode: str, clipping: str, noise: float, *, virtual: bool = False, wrapped: bool = True) -> set[str]:
    """Return the rules of what a watch finds in three epochs that declare noise 2; `virtual` steps have 12 records."""
    import torch
    from opacus import PrivacyEngine
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    torch.manual_seed(0)
    features = torch.randn(RECORDS, 10)
    model: Any = torch.nn.Sequential(torch.nn.Linear(10, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    records = torch.utils.data.TensorDataset(features, (features[:, 0] > 0).long())
    loss = torch.nn.CrossEntropyLoss()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made: Any = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(records, batch_size=40),
            noise_multiplier=HONEST,
            max_grad_norm=[0.5] * 4 if clipping == "per_layer" else 1.0,
            clipping=clipping,
            grad_sample_mode=mode,
            wrap_model=wrapped,
            **({"criterion": loss} if mode == "ghost" else {}),
        )
        optimizer, loader = made[1], made[-1]
        model, loss = made[0] if wrapped else model, made[2] if mode == "ghost" else loss
        optimizer.noise_multiplier = noise
        watch = watch_opacus(model, optimizer, loader)

        def epoch(held: Any) -> None:
            for x, y in held:
                optimizer.zero_grad()
                loss(model(x), y).backward()
                optimizer.step()

        for _ in range(3):
            if virtual:
                with BatchMemoryManager(data_loader=loader, max_physical_batch_size=12, optimizer=optimizer) as parts:
                    epoch(parts)
            else:
                epoch(loader)
    declared = Training(
        noise_multiplier=HONEST, max_grad_norm=1.0, sample_rate=0.1, steps=3 * len(loader), records=RECORDS
    )
    return {finding.rule for finding in conform(declared, watch).findings}


@pytest.mark.parametrize(
    ("mode", "clipping", "options"),
    [
        ("hooks", "flat", {"virtual": True}),
        ("hooks", "flat", {"wrapped": False}),
        ("functorch", "flat", {}),
        ("hooks", "per_layer", {"virtual": True}),
        ("ghost", "flat", {"virtual": True}),
        ("ghost", "flat", {"wrapped": False}),
    ],
)
def test_the_declared_noise_passes_and_a_quarter_of_it_is_found(
    mode: str, clipping: str, options: dict[str, bool]
) -> None:
    """Steps, noise and sampling of whole logical batches; an honest run falls with probability 1e-6."""
    assert findings(mode, clipping, HONEST, **options) == set()
    assert findings(mode, clipping, HONEST / 4, **options) == {"DPA212"}


@pytest.mark.parametrize(
    ("mode", "clipping", "noise"),
    [
        ("hooks", "flat", HONEST),
        pytest.param("ghost", "flat", HONEST / 4, marks=pytest.mark.slow),
        pytest.param("hooks", "per_layer", HONEST, marks=pytest.mark.slow),
    ],
)
def test_the_worker_of_rank_0_is_watched_and_the_other_one_refused(
    tmp_path: Path, mode: str, clipping: str, noise: float
) -> None:
    """Two processes train together: rank 0 adds all noise; rank 1 adds none, and is not accused of that."""
    torch = pytest.importorskip("torch")
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("torch has no gloo here")
    script = Path(__file__).with_name("two_workers.py")
    command = [sys.executable, str(script), str(tmp_path), mode, clipping, str(noise)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert "Distributed" in first["kind"]
    assert (first["refused"], first["steps"]) == ("", 60)
    assert set(first["rules"]) == (set() if noise == HONEST else {"DPA212"})
    assert "in the worker of rank 0, and none in this one, of rank 1" in second["refused"]


def test_sums_in_shards_are_refused() -> None:
    """The optimizer of FSDP keeps its sums beside the weights: one line that names it."""
    import torch

    sharded = SimpleNamespace(add_noise=lambda: None, params=[torch.zeros(2, 2)], grad_state={}, rank=0)
    with pytest.raises(UnsupportedError, match="holds its sums in shards"):
        watch_opacus(torch.nn.Linear(2, 2), sharded)
