"""Two workers of one training run on this machine; the one of rank 0 prints what its watch saw, as JSON.

    python two_workers.py FOLDER MODE CLIPPING NOISE

The declared noise is 2; NOISE is what the optimizer adds.
"""

import json
import multiprocessing
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from opacus import PrivacyEngine
from opacus.distributed import DifferentiallyPrivateDistributedDataParallel
from torch import distributed, nn

from audits import watch_opacus
from dpaudit import UnsupportedError
from dpaudit.training import Training, Watch, conform

RECORDS, WORKERS, EPOCHS = 400, 2, 6


def trained(rank: int, folder: str, mode: str, clipping: str, noise: float) -> None:
    """Train in one worker, and write what was seen."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=WORKERS)
    torch.manual_seed(0)
    features = torch.randn(RECORDS, 10)
    labels = (features[:, 0] > 0).long()
    model: Any = DifferentiallyPrivateDistributedDataParallel(
        nn.Sequential(nn.Linear(10, 8), nn.Tanh(), nn.Linear(8, 2))
    )
    records = torch.utils.data.TensorDataset(features, labels, torch.arange(RECORDS))
    loss: Any = nn.CrossEntropyLoss()
    options: dict[str, Any] = {"criterion": loss} if mode == "ghost" else {}
    made: Any = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(records, batch_size=40),
        noise_multiplier=2.0,
        max_grad_norm=[0.5] * 4 if clipping == "per_layer" else 1.0,
        clipping=clipping,
        grad_sample_mode=mode,
        **options,
    )
    model, optimizer, loader = made[0], made[1], made[-1]
    loss = made[2] if mode == "ghost" else loss
    optimizer.noise_multiplier = noise
    dealt = torch.randperm(RECORDS, generator=torch.Generator().manual_seed(0))[rank::WORKERS]
    place = {int(number): at for at, number in enumerate(dealt)}  # the sampler's own shard, in its own order
    batch: list[int] = []
    watch, refused = Watch(records=RECORDS // WORKERS), ""
    try:
        watch_opacus(model, optimizer, watch=watch, batch=lambda: np.array(batch, dtype=int))
    except UnsupportedError as error:
        refused = str(error)
    for x, y, numbers in (held for _ in range(EPOCHS) for held in loader):
        batch[:] = [place[int(number)] for number in numbers]
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
    declared = Training(
        noise_multiplier=2.0,
        max_grad_norm=1.0,
        sample_rate=loader.sample_rate,
        steps=EPOCHS * len(loader),
        records=RECORDS // WORKERS,
    )
    rules = [] if refused else [finding.rule for finding in conform(declared, watch).findings]
    seen = {"refused": refused, "rules": rules, "steps": watch.steps, "kind": type(optimizer).__name__}
    (Path(folder) / f"{rank}.json").write_text(json.dumps(seen), encoding="utf-8")
    distributed.destroy_process_group()


if __name__ == "__main__":
    place_, mode_, clipping_, noise_ = sys.argv[1:]
    # A fork imports nothing again.
    start: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    workers = [
        start.Process(target=trained, args=(rank, place_, mode_, clipping_, float(noise_))) for rank in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.exit(max(abs(worker.exitcode or 0) for worker in workers))
