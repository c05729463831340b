"""The record of a training run, read from a PrivacyEngine, a checkpoint or a JSON file without trusting it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from algorithms.dp_sgd.accounting import checked_history
from algorithms.dp_sgd.extra import require_opacus
from dpaudit import Declaration
from dpaudit.errors import ConfigError
from dpaudit.interchange.opacus_history import from_history, from_state_dict

_STATE = "privacy_accountant_state_dict"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord:
    """What is known of a run; None where nothing says it.

    `history` holds (noise_multiplier, sample_rate, num_steps) of each stretch; `accountant` is "rdp", "prv" or "gdp".
    `loader_rate` is the rate at which the loader at hand draws, `intended_rate` batch size over records,
    `tuning_runs` how many runs on the same data led to this one, itself included. `divisor` is what sums are
    divided by, `records` and `batches` what it comes from; `adaptive` says that the clipping norm follows the data, and
    `mixing` names layers that mix the records of a batch.
    Raises: ValueError: a history that is empty or out of range.
    """

    history: tuple[tuple[float, float, int], ...]
    accountant: str | None = None
    opacus: str | None = None
    poisson: bool | None = None
    weighted: bool | None = None
    secure_mode: bool | None = None
    grad_sample_mode: str | None = None
    max_grad_norm: float | None = None
    loader_rate: float | None = None
    intended_rate: float | None = None
    stated_steps: int | None = None
    tuning_runs: int | None = None
    divisor: int | None = None
    records: int | None = None
    batches: int | None = None
    adaptive: bool | None = None
    mixing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "history", checked_history(self.history))

    @property
    def steps(self) -> int:
        """How many steps were taken: not how many stretches the history has, which is what len(accountant) counts."""
        return sum(times for _, _, times in self.history)

    def declaration(self) -> Declaration:
        """Return the run as a declaration, for add_remove: each stretch so many Gaussian sums on Poisson samples."""
        return from_history(self.history)


def read_engine(
    engine: Any, *, optimizer: Any = None, data_loader: Any = None, model: Any = None, **stated: Any
) -> TrainingRecord:
    """Return what a PrivacyEngine says of its run so far; the other objects make more of it visible.

    `stated` adds what no object holds, such as `tuning_runs` or `stated_steps`.
    Raises: ConfigError: an accountant without steps.
    """
    state = engine.accountant.state_dict()
    return _record(
        state,
        opacus=_release(),
        secure_mode=bool(getattr(engine, "secure_mode", False)),
        grad_sample_mode=_mode(model),
        **_stepping(optimizer),
        mixing=mixing_layers(model),
        **_loading(data_loader),
        **stated,
    )


def read_checkpoint(path: Path | str, **stated: Any) -> TrainingRecord:
    """Return what a checkpoint of PrivacyEngine.save_checkpoint, or a JSON file with its accountant's state, says.

    Nothing in the file is executed: JSON is parsed, anything else is loaded by torch with `weights_only=True`, which
    builds tensors and plain containers alone.
    Raises: ConfigError: a file that is missing, unreadable or unsafe, or that holds no accountant's state.
    """
    file = Path(path)
    try:
        state = json.loads(file.read_text(encoding="utf-8")) if file.suffix == ".json" else _loaded(file)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}).") from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: no checkpoint: {error}.") from None
    accounted = state.get(_STATE, state) if isinstance(state, Mapping) else state
    if not isinstance(accounted, Mapping) or "history" not in accounted:
        raise ConfigError(
            f"{file}: no accountant's state in it; save it with PrivacyEngine.save_checkpoint, or write "
            "json.dumps(engine.accountant.state_dict()) to a file called *.json."
        )
    return _record(accounted, **stated)


def _record(state: Mapping[str, Any], **stated: Any) -> TrainingRecord:
    """Return the record of an accountant's state."""
    from_state_dict(state)  # refuses what is no history, naming the entry
    accountant = state.get("mechanism")
    try:
        return TrainingRecord(
            history=tuple((float(z), float(q), int(n)) for z, q, n in state["history"]),
            accountant=str(accountant) if accountant is not None else None,
            **stated,
        )
    except ValueError as error:
        raise ConfigError(f"The history cannot be used: {error}") from None


def _loaded(file: Path) -> Any:
    """Return what a checkpoint holds, tensors and plain containers alone."""
    require_opacus("Reading a checkpoint")
    import torch

    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a damaged or hostile file makes of the safe reader
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(
            f"{file}: refused, because it is no checkpoint of tensors and plain containers ({first:.120}). "
            "Write the accountant's state to a *.json file instead."
        ) from None


def _loading(loader: Any) -> dict[str, Any]:
    """Return what a data loader says of how it samples."""
    if loader is None:
        return {}
    poisson = type(loader).__name__ == "DPDataLoader" or hasattr(loader, "sample_rate")
    sampler = getattr(loader, "sampler", None)
    names = {type(source).__name__ for source in (sampler, getattr(loader, "batch_sampler", None))}
    batches, batch_size = len(loader), getattr(loader, "batch_size", None)
    records = len(loader.dataset)
    return {
        "poisson": poisson,
        "weighted": "WeightedRandomSampler" in names or hasattr(sampler, "weights"),
        "loader_rate": float(loader.sample_rate) if poisson else 1 / batches,
        "intended_rate": batch_size / records if batch_size else None,
        "records": records,
        "batches": batches,
    }


def mixing_layers(model: Any) -> tuple[str, ...]:
    """Return the names of the layers of a torch module that normalise over the batch, in their order."""
    named = model.named_modules() if hasattr(model, "named_modules") else ()
    return tuple(
        f"{name or 'model'} ({type(layer).__name__})"
        for name, layer in named
        if "BatchNorm" in type(layer).__name__
        or ("InstanceNorm" in type(layer).__name__ and getattr(layer, "track_running_stats", False))
    )


def _stepping(optimizer: Any) -> dict[str, Any]:
    """Return what an optimizer says of its steps."""
    if optimizer is None:
        return {}
    norm, divisor = getattr(optimizer, "max_grad_norm", None), getattr(optimizer, "expected_batch_size", None)
    return {
        "max_grad_norm": norm if norm is None or isinstance(norm, list) else float(norm),
        "divisor": int(divisor) if divisor and getattr(optimizer, "loss_reduction", "mean") == "mean" else None,
        "adaptive": "AdaClip" in type(optimizer).__name__,
    }


def _mode(model: Any) -> str | None:
    """Return "ghost" or "hooks", by the class that wraps the model."""
    if model is None:
        return None
    return "ghost" if "FastGradientClipping" in type(model).__name__ else "hooks"


def _release() -> str | None:
    """Return the release of Opacus that is installed."""
    try:
        return version("opacus")
    except PackageNotFoundError:
        return None
