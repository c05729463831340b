"""A Hugging Face Trainer is watched by one line: its batches, its leaks, and adapters that no record moves."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import audit_training, watch_opacus, watch_trainer
from audits.training.replay_data import Records
from audits.training.replay_runs import Start, ended
from audits.training.training_result import TrainingAudit
from dpaudit import Claim, UnsupportedError
from dpaudit.model.mechanism import Array
from dpaudit.training import Training, Watch

RECORDS, BATCH = 60, 6
CLAIM = Claim(epsilon=8.0, delta=1e-5, neighbours="add_remove")


@pytest.fixture
def hf() -> Any:
    for package in ("opacus", "accelerate", "peft"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    return pytest.importorskip("transformers", reason="transformers is not installed")


def adapted(hf: Any) -> Any:
    """A model of random weights with adapters that are trainable."""
    peft = pytest.importorskip("peft")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    quiet = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = hf.BertForSequenceClassification(hf.BertConfig(vocab_size=20, max_position_embeddings=8, **sizes, **quiet))
    where = ["query", "value"]
    return peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=where, task_type="SEQ_CLS")).train()


def callbacks_of(hf: Any, optimizer: Any, kind: str) -> list[Any]:
    class Clear(hf.TrainerCallback):  # type: ignore[misc] # a class of an untyped module
        def on_step_end(self, *_: Any, **__: Any) -> None:
            optimizer.zero_grad()

        def on_substep_end(self, *_: Any, **__: Any) -> None:
            if kind == "accumulated":
                optimizer.signal_skip_step(do_skip=True)
                optimizer.step()
                optimizer.zero_grad()

    return [Clear()]


def loop(hf: Any, kind: str, folder: Path) -> Callable[..., Any]:
    """A loop of a Trainer; `kind` is a leak, a fault or nothing."""
    import torch
    from opacus import PrivacyEngine

    class Private(hf.Trainer):  # type: ignore[misc] # a class of an untyped module
        def get_train_dataloader(self) -> Any:
            return self.private_loader

    def train(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> Any:
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        rows: Any = [
            {"input_ids": x, "labels": y} for x, y in zip(torch.tensor(features), torch.tensor(labels), strict=True)
        ]
        model = adapted(hf)
        for part in model.modules():
            if kind == "adapters of scale 0" and isinstance(getattr(part, "scaling", None), dict):
                part.scaling = dict.fromkeys(part.scaling, 0.0)
        for name, parameter in model.named_parameters():
            if kind == "frozen adapters" and "lora" in name:
                parameter.requires_grad_(False)
        left_out = "lora" if kind == "adapters left out" else "nothing"
        trained = [p for name, p in model.named_parameters() if p.requires_grad and left_out not in name]
        model, optimizer, loader = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(trained, lr=0.1),
            data_loader=torch.utils.data.DataLoader(rows, batch_size=BATCH),
            noise_multiplier=2.0,
            max_grad_norm=1.0,
        )
        often = 2 if kind == "accumulated" else 1
        quiet = {"report_to": [], "logging_strategy": "no", "save_strategy": "no", "disable_tqdm": True}
        same = {"remove_unused_columns": False, "seed": seed, "use_cpu": True, "max_grad_norm": 0}
        settings = hf.TrainingArguments(
            str(folder), num_train_epochs=1, gradient_accumulation_steps=often, **quiet, **same
        )
        rate = torch.optim.lr_scheduler.ConstantLR(optimizer.original_optimizer, 1.0)
        trainer = Private(
            model=model, args=settings, optimizers=(optimizer, rate), callbacks=callbacks_of(hf, optimizer, kind)
        )
        trainer.private_loader = loader
        if kind != "printed loss":
            trainer.remove_callback(hf.PrinterCallback)
        with watch_trainer(trainer, watch):
            done = trainer.train()
        return (model, done.training_loss) if kind == "returned loss" else model

    return train


def audited(hf: Any, kind: str, folder: Path) -> TrainingAudit:
    rng = np.random.default_rng(0)
    tokens, classes = rng.integers(0, 20, (RECORDS, 6)), rng.integers(0, 2, RECORDS)
    often = 2 if kind == "accumulated" else 1
    declared = Training(
        noise_multiplier=2.0, max_grad_norm=1.0, sample_rate=0.1 * often, steps=10 // often, records=RECORDS
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return audit_training(loop(hf, kind, folder), tokens, classes, training=declared, claim=CLAIM, rng=rng)


@pytest.mark.parametrize(
    ("kind", "rules", "unseen"),
    [
        ("right", set(), ""),
        ("returned loss", {"DPA224"}, ""),
        ("printed loss", set(), "printed text"),
        ("accumulated", {"DPA228"}, ""),
    ],
)
def test_a_trainer_is_replayed_by_its_own_events(
    hf: Any, tmp_path: Path, kind: str, rules: set[str], unseen: str
) -> None:
    """Two Poisson samples in one step hold records twice; a loss is found where it is returned or printed."""
    audit = audited(hf, kind, tmp_path)
    assert {finding.rule for finding in audit.findings} == rules
    assert bool(unseen) == bool(audit.unseen)
    assert all(unseen in what for what in audit.unseen)
    assert audit.untrained == ()


@pytest.mark.parametrize(
    ("kind", "number"), [("adapters left out", 4), ("frozen adapters", 2), ("adapters of scale 0", 4)]
)
def test_adapters_that_no_record_moves_are_named(hf: Any, tmp_path: Path, kind: str, number: int) -> None:
    """No step moves them, or noise alone; of frozen ones those are named that are zero and so do nothing."""
    audit = audited(hf, kind, tmp_path)
    assert len(audit.untrained) == number
    assert all("lora_" in name for name in audit.untrained)
    assert "not trained: " in audit.text()


def test_leaving_the_block_gives_the_trainer_back(hf: Any) -> None:
    """Its callbacks are the former ones, and its loader is asked of the method again."""
    torch = pytest.importorskip("torch")
    from opacus.optimizers import DPOptimizer

    class Holder:
        """What stands for a trainer."""

        model = torch.nn.Linear(2, 2)
        optimizer = DPOptimizer(
            torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=1
        )

        def __init__(self) -> None:
            self.callbacks: list[Any] = []
            self.add_callback, self.remove_callback = self.callbacks.append, self.callbacks.remove

        def get_train_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(3, 2)), batch_size=2)

    trainer = Holder()
    with watch_trainer(trainer) as watch:
        assert trainer.get_train_dataloader() is trainer.get_train_dataloader()
        assert len(trainer.callbacks) == 1
    assert watch.records == 3
    assert trainer.callbacks == []
    assert "get_train_dataloader" not in vars(trainer)


def test_a_trainer_without_an_optimizer_is_refused() -> None:
    class Trainer:
        optimizer = None

    with pytest.raises(UnsupportedError, match="optimizers="):
        watch_trainer(Trainer())


def test_parameters_that_no_record_moves_are_named() -> None:
    """A layer that is left out, all layers of a model whose copy is trained, and a layer that only noise moves.

    A frozen matrix of zeros is named as well; the frozen vector beside it is not, and neither are trained layers.
    """
    torch = pytest.importorskip("torch")
    pytest.importorskip("opacus")
    from opacus.optimizers import DPOptimizer

    def untrained(parameters: Any, model: Any, idle: tuple[Any, ...] = ()) -> tuple[str, ...]:
        optimizer = DPOptimizer(
            torch.optim.SGD(parameters, lr=0.1), noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=1
        )
        with watch_opacus(model, optimizer) as watch:
            for parameter in parameters:
                size = 0.0 if any(parameter is one for one in idle) else 1.0
                parameter.grad_sample = torch.full((1, *parameter.shape), size)
            optimizer.step()
            records = Records(features=np.zeros((1, 2)), labels=np.zeros(1))
            return ended(Start(train=lambda *_: None, records=records, seed=0), watch, None).untrained

    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    copies = [torch.nn.Parameter(parameter.detach().clone()) for parameter in model.parameters()]
    assert untrained(list(model.parameters()), model) == ()
    assert untrained(list(model[0].parameters()), model) == ("1.weight", "1.bias")
    assert untrained(copies, model) == ("0.weight", "0.bias", "1.weight", "1.bias")
    assert untrained(list(model.parameters()), model, (model[1].weight,)) == ("1.weight",)
    model[1].requires_grad_(requires_grad=False)
    assert untrained(list(model[0].parameters()), model) == ()
    torch.nn.init.zeros_(model[1].weight)
    assert untrained(list(model[0].parameters()), model) == ("1.weight",)
