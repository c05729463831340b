"""The page on adding a mechanism: its skeleton runs, and its table says what the checker asks for."""

import importlib.util
import inspect
import json
import re
import sys
import types
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import mechanisms
from dpaudit import Claim, Mechanism, Release, certify, verify
from dpaudit.errors import Fault
from dpaudit.model.losses import LaplaceLoss
from dpaudit.model.mechanism import Array, _derived, _ships
from dpaudit.verifier import mechanisms as laws
from dpaudit.verifier import shape
from tests.narrowing import present

PAGE = (Path(mechanisms.__file__).parents[1] / "docs" / "how_to" / "add_a_mechanism.md").read_text(encoding="utf-8")


def forget() -> None:
    """Forget which mechanisms the checker derives."""
    for remembered in (_derived, _ships):
        remembered.cache_clear()


@pytest.fixture
def skeleton(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module that the page's skeleton makes, listed as the page says."""
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    module = types.ModuleType("mechanisms.logistic_noise")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, "add_a_mechanism.md", "exec"), module.__dict__)  # noqa: S102 - our own page
    monkeypatch.setitem(mechanisms.NAMES, "logistic_noise", "a teaching example")
    return module


@pytest.fixture
def contract() -> dict[str, Any]:
    """Return the checks of the contract that take one mechanism, by name."""
    spec = importlib.util.spec_from_file_location("contract", Path(__file__).with_name("test_contract.py"))
    module = importlib.util.module_from_spec(present(spec))
    spec.loader.exec_module(module)
    checks = {name: check for name, check in vars(module).items() if name.startswith("test_")}
    return {name: check for name, check in checks.items() if list(inspect.signature(check).parameters) == ["mechanism"]}


def test_the_skeleton_meets_the_contract_once_its_name_is_listed(
    skeleton: ModuleType, contract: dict[str, Any]
) -> None:
    assert mechanisms.load("logistic_noise") is skeleton.LogisticNoise
    assert len(skeleton.EXAMPLES) >= 2
    assert len(contract) >= 12
    for mechanism in skeleton.EXAMPLES:
        for check in contract.values():
            check(mechanism)


def test_the_contract_refuses_a_skeleton_with_a_wrong_loss_or_a_wrong_density(
    skeleton: ModuleType, contract: dict[str, Any]
) -> None:
    honest: Any = skeleton.LogisticNoise

    class Understated(honest):  # type: ignore[misc]
        def loss(self) -> LaplaceLoss:
            return LaplaceLoss(shift=self.l1_sensitivity / (2.2 * self.scale))

    class Louder(honest):  # type: ignore[misc]
        def release(self, value: Array, rng: np.random.Generator) -> Array:
            return super().release(value, rng) * 1.1

    fields = {"scale": 1.0, "l1_sensitivity": 1.0, "neighbours": "replace_one"}
    refused: dict[Any, set[str]] = {kind: set() for kind in (Understated, Louder)}
    for kind, names in refused.items():
        for name, check in contract.items():
            try:
                check(kind(**fields))
            except (AssertionError, Fault):
                names.add(name)
    assert "test_the_stated_loss_of_a_number_is_that_of_its_density" in refused[Understated]
    assert "test_samples_follow_the_stated_law_and_ten_percent_of_noise_is_noticed" in refused[Louder]


def test_with_the_law_of_the_page_a_certificate_is_verified_and_without_it_stated(
    skeleton: ModuleType, contract: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's two places are all that the checker needs; half of the attained loss in them is noticed.

    So is, by the contract, a field of the noise that the checker does not know as noise.
    """
    (form,), (law,) = re.findall(r"```json\n(.*?),\n```", PAGE), re.findall(r"```py\n(.*?)```", PAGE, flags=re.DOTALL)
    release = Release(label="sum", mechanism=skeleton.EXAMPLES[0])
    claim = Claim(epsilon=1.0, neighbours="replace_one", unit="one customer")
    assert certify(release, claim).verdict == "stated"
    namespace = dict(vars(laws))
    exec(compile(law, "add_a_mechanism.md", "exec"), namespace)  # noqa: S102 - our own page
    for name, fields in json.loads("{" + form + "}").items():
        monkeypatch.setitem(shape.TABLES["forms"], name, fields)
    monkeypatch.setitem(laws._READERS, "logistic_noise", namespace["_logistic_noise"])
    forget()
    certificate = certify(release, claim)
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
    derives = contract["test_the_checker_derives_the_same_loss_and_knows_which_fields_are_noise"]
    derives(skeleton.EXAMPLES[0])
    with monkeypatch.context() as unknown:
        unknown.setitem(shape.TABLES, "noise", {"stddev": 1})
        with pytest.raises(AssertionError, match="list the field of the noise"):
            derives(skeleton.EXAMPLES[0])
    monkeypatch.setitem(laws._READERS, "logistic_noise", lambda *_: laws._sides(("laplace", 0.4)))
    assert not verify(certificate.to_json()).accepted
    monkeypatch.undo()
    forget()


def test_the_table_names_every_member_that_the_checker_asks_for() -> None:
    named = set(re.findall(r"^\| `(\w+)", PAGE, flags=re.MULTILINE))
    asked = {"item_axes", "attained_loss"} | {name for name in vars(Mechanism) if not name.startswith("_")} - {"name"}
    assert asked <= named
