"""One training run through Opacus, watched from outside: sums before and after noise, and the sampled records.

The steps are those of Abadi et al. (2016), Algorithm 1. The file needs numpy, torch and opacus alone, and runs as a
script as well, so that a release of Opacus in an environment of its own, where dpaudit is not installed, is watched
by the same code: `python loop.py IN.npz OUT.npz`.
"""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

Step = Callable[[Any, Any, Any], Any]
"""step(released, summed, batch): gradient sums with and without noise, (features, outputs), and sampled records.

It answers with the noisy sum that training goes on with, or with None for the one that was released."""

_QUIET = (
    "Secure RNG turned off",
    "Full backward hook is firing when gradients are computed",
    "Using a non-full backward hook",
    "Optimal order is the",
    "PrivacyEngine detected new dataset object",
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a run: `batches` of the loader, so that Opacus samples with rate 1 / batches, and steps.

    `mode` is "hooks" or "ghost".
    """

    noise_multiplier: float
    max_grad_norm: float
    batches: int
    steps: int
    mode: str = "hooks"
    poisson: bool = True
    learning_rate: float = 0.5
    seed: int = 0


def train(features: Any, labels: Any, settings: Settings, step: Step) -> dict[str, Any]:
    """Return the weights (features, 2) and the PrivacyEngine of a linear classifier of two classes.

    `step` is called after each noise was added and before anything is scaled. The generator of batches and noise is
    torch's, seeded by `seed`; no global state is touched, but that torch computes on one thread until the end: so
    small a model waits for a second thread longer than it computes, and sums do not depend on the number of cores.
    """
    import torch
    from opacus import __version__

    with _one_thread(torch), warnings.catch_warnings():
        for text in _QUIET:
            warnings.filterwarnings("ignore", message=text)
        data = torch.utils.data.TensorDataset(
            torch.as_tensor(features, dtype=torch.float32), torch.as_tensor(labels), torch.arange(len(labels))
        )
        model: Any = torch.nn.Linear(features.shape[1], 2, bias=False)
        torch.nn.init.zeros_(model.weight)
        engine, model, optimizer, loader, criterion = _private(model, data, settings)
        backward = _backward(model, optimizer, criterion, settings.mode)
        _run(model, optimizer, loader, backward, settings.steps, step)
    weights = np.array(next(iter(model.parameters())).detach().numpy().T, dtype=np.float64)
    return {"weights": weights, "engine": engine, "optimizer": optimizer, "loader": loader, "version": __version__}


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """Compute on one thread, and on as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _private(model: Any, data: Any, settings: Settings) -> tuple[Any, Any, Any, Any, Any]:
    """Return the engine, and the model, optimizer, loader and loss that it makes private."""
    import torch
    from opacus import PrivacyEngine

    generator = torch.Generator().manual_seed(settings.seed)
    size = -(-len(data) // settings.batches)
    loader: Any = torch.utils.data.DataLoader(data, batch_size=size, shuffle=True, generator=generator)
    if len(loader) != settings.batches:
        raise ValueError(
            f"Expected records={len(data)} to fill {settings.batches} batches; {len(loader)} is what they fill."
        )
    engine, criterion = PrivacyEngine(), torch.nn.CrossEntropyLoss()
    made: Any = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=settings.learning_rate),
        data_loader=loader,
        noise_multiplier=settings.noise_multiplier,
        max_grad_norm=settings.max_grad_norm,
        poisson_sampling=settings.poisson,
        noise_generator=generator,
        grad_sample_mode=settings.mode,
        **_ghost(criterion) if settings.mode == "ghost" else {},
    )
    return engine, made[0], made[1], made[-1], made[2] if len(made) == 4 else criterion


def _packaged() -> bool:
    """Return whether this release packages ghost clipping's two backward passes into the loss, as from 1.5.3 on."""
    from opacus.utils import fast_gradient_clipping_utils as utils

    return hasattr(utils, "DPLossFastGradientClipping")


def _ghost(criterion: Any) -> dict[str, Any]:
    """Return the further arguments of ghost clipping."""
    return {"criterion": criterion} if _packaged() else {"clipping": "ghost"}


def _backward(model: Any, optimizer: Any, criterion: Any, mode: str) -> Callable[[Any, Any], None]:
    """Return the backward pass as the release at hand asks for it."""
    if mode == "ghost" and not _packaged():
        from torch.nn.functional import cross_entropy

        double_backward: Any = import_module("opacus.utils.fast_gradient_clipping_utils").double_backward

        def twice(x: Any, y: Any) -> None:
            double_backward(model, optimizer, cross_entropy(model(x), y, reduction="none"))

        return twice

    def backward(x: Any, y: Any) -> None:
        criterion(model(x), y).backward()

    return backward


def _run(model: Any, optimizer: Any, loader: Any, backward: Any, steps: int, step: Step) -> None:
    """Take `steps` steps, epoch after epoch, and report each."""
    batch: Any = None
    add_noise = optimizer.add_noise

    def watched() -> None:
        summed = [p.summed_grad.detach().clone() for p in optimizer.params]
        add_noise()  # Algorithm 1, "add noise"
        for before, parameter in zip(summed, optimizer.params, strict=True):
            pinned = step(_array(parameter.grad), _array(before), np.array(batch))
            if pinned is not None:
                parameter.grad.copy_(parameter.grad.new_tensor(np.asarray(pinned).T))

    optimizer.add_noise = watched
    taken = 0
    while taken < steps:
        for x, y, index in loader:  # Algorithm 1, "take a random sample"
            if taken == steps:
                return
            batch = index.numpy()
            optimizer.zero_grad()
            backward(x, y.long())  # Algorithm 1, "compute gradient"
            optimizer.step()  # Algorithm 1, "clip gradient", then the noise above, then "descent"
            taken += 1


def _array(tensor: Any) -> Any:
    """Return a weight's gradient as (features, outputs) in double precision."""
    return tensor.detach().double().numpy().T.copy()


def main(source: str, target: str) -> None:
    """Train once for each row of the file's settings and write everything that was watched."""
    given = np.load(source, allow_pickle=False)
    watched: dict[str, Any] = {}
    for row, settings in enumerate(json.loads(str(given["settings"]))):
        released: list[Any] = []
        summed: list[Any] = []
        batches: list[Any] = []

        def keep(after: Any, before: Any, batch: Any, lists: Any = (released, summed, batches)) -> None:
            for to, value in zip(lists, (after, before, batch), strict=True):
                to.append(value)

        done = train(given[f"features{row}"], given[f"labels{row}"], Settings(**settings), keep)
        watched[f"released{row}"], watched[f"summed{row}"] = np.array(released), np.array(summed)
        watched[f"batches{row}"] = np.concatenate(batches).astype(np.int64)
        watched[f"sizes{row}"] = np.array([len(batch) for batch in batches])
        watched[f"history{row}"] = np.array(done["engine"].accountant.history, dtype=np.float64)
        watched["version"] = np.array(done["version"])
    np.savez(target, **watched)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
