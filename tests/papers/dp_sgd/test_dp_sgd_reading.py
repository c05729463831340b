"""Files are read without being run, and every fault is one sentence."""

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from algorithms.dp_sgd import read_checkpoint
from dpaudit.errors import ConfigError

STATE = {"history": [[1.1, 0.1, 20]], "mechanism": "prv"}
needs_torch = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("opacus") is None, reason="not run: the extra 'opacus' is not installed"
)


class Malicious:
    """Runs a command when it is unpickled."""

    def __init__(self, marker: Any) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any]]:
        return os.mkdir, (self.marker,)


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_accountants_state_in_json_is_read(tmp_path: Path, wrapped: bool) -> None:
    """The state itself, or a checkpoint's dictionary around it."""
    path = tmp_path / "state.json"
    path.write_text(json.dumps({"privacy_accountant_state_dict": STATE} if wrapped else STATE))
    record = read_checkpoint(path, tuning_runs=3)
    assert record.history == ((1.1, 0.1, 20),)
    assert (record.accountant, record.steps, record.tuning_runs) == ("prv", 20, 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no checkpoint"),
        ("[]", "no accountant's state"),
        ('{"epoch": 3}', "no accountant's state"),
        ('{"history": []}', "empty"),
        ('{"history": [[1.1, 0.1]]}', "noise_multiplier, sample_rate, num_steps"),
        ('{"history": [[0, 0.1, 3]]}', "stddev"),
        ('{"history": [[1, 2.0, 3]]}', "rate"),
    ],
)
def test_a_json_file_that_is_no_state_is_refused(tmp_path: Path, content: str, words: str) -> None:
    """The message says what is missing or wrong."""
    path = tmp_path / "state.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=words):
        read_checkpoint(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(ConfigError, match=r"gone\.json"):
        read_checkpoint(tmp_path / "gone.json")


@needs_torch
def test_a_malicious_checkpoint_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    """A pickle that would make a folder is refused by the loader, and no folder is made."""
    import torch

    marker = tmp_path / "made"
    torch.save({"privacy_accountant_state_dict": Malicious(str(marker))}, tmp_path / "bad.pt")
    with pytest.raises(ConfigError, match="refused"):
        read_checkpoint(tmp_path / "bad.pt")
    assert not marker.exists()


@needs_torch
def test_a_checkpoint_of_plain_containers_is_read(tmp_path: Path) -> None:
    """What PrivacyEngine.save_checkpoint writes: ordered dictionaries, lists and tensors."""
    from collections import OrderedDict

    import torch

    state = OrderedDict(history=[(1.1, 0.1, 20)], mechanism="rdp")
    torch.save({"privacy_accountant_state_dict": state, "module_state_dict": {"w": torch.zeros(2)}}, tmp_path / "ok.pt")
    assert read_checkpoint(tmp_path / "ok.pt").accountant == "rdp"
