"""Plug-in mechanisms in certificates: their losses are carried as stated, and everything else follows from those."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import pytest

from dpaudit import Certificate, Claim, Group, Release, Repeat, Sequential, Stated, UnsupportedError, certify
from dpaudit.errors import CertificateError
from dpaudit.model import codec
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import conditions_of
from dpaudit.model.losses import DiscreteLoss, SampledGaussianLoss
from dpaudit.model.mechanism import Array, Mechanism, is_plugged_in
from dpaudit.verifier import verify
from dpaudit.verifier.conditions import condition_complaints
from dpaudit.verifier.mechanisms import plug_ins
from dpaudit.verifier.refusals import Rejection
from mechanisms import NAMES, Gaussian, TreeAggregation, load
from tests.checker.proofs.folds import fold


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Tells a secret bit with probability `leak`, and lies at odds e^epsilon otherwise."""

    name: ClassVar[str] = "told"

    epsilon: float
    leak: float = 0.0
    neighbours: Neighbours = "replace_one"

    def loss(self) -> DiscreteLoss:
        truth, lie = ((1 - self.leak) / (1 + math.exp(sign * self.epsilon)) for sign in (-1, 1))
        atoms = ((self.epsilon, truth), (-self.epsilon, lie))
        return DiscreteLoss(atoms=atoms, infinite_mass=self.leak, reverse_infinite_mass=self.leak)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return np.asarray(value)

    def log_density(self, output: Array, value: Array) -> Array:
        return np.zeros(np.shape(output))

    def scaled(self, factor: float) -> Self:
        return replace(self, epsilon=self.epsilon / factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(Told):
    """Draws a Poisson sample of its own."""

    name: ClassVar[str] = "drawn"

    def loss(self) -> SampledGaussianLoss:  # type: ignore[override]  # another kind of loss
        return SampledGaussianLoss(mu=self.epsilon, rate=0.1)


class Quieter(Gaussian):
    """A shipped mechanism with a method changed: its published parameters still say its loss."""


MECHANISM = Told(epsilon=0.5, leak=1e-7)
RELEASE = Release(label="bit", mechanism=MECHANISM)
CLAIM = Claim(epsilon=1.5, delta=1e-5, neighbours="replace_one")
TREES = [RELEASE, Repeat(part=RELEASE, times=12), Group(part=RELEASE, size=2)]


def text_of(change: Callable[[dict[str, Any]], Any] = lambda data: None) -> str:
    """A certificate with a change that is sealed again."""
    data = certify(Repeat(part=RELEASE, times=3), CLAIM).to_dict()
    change(data)
    return json.dumps(data | {"digest": digest_of(data)})


def noise(data: dict[str, Any]) -> dict[str, Any]:
    """The mechanism of a certificate with one release."""
    return data["declaration"]["part"]["mechanism"]


@pytest.mark.parametrize("tree", TREES, ids=["release", "repeat", "group"])
@pytest.mark.parametrize("epsilon", [0.1, 1.5, 30.0])
def test_a_certificate_of_a_plug_in_verifies_and_says_whose_word_its_loss_is(tree: Any, epsilon: float) -> None:
    """Certified, refuted and not proved; a condition and a note name the mechanism."""
    certificate = certify(tree, replace(CLAIM, epsilon=epsilon))
    verified = verify(certificate.to_json())
    assert verified.complaints == ()
    assert "Taken on trust: the losses that the plug-in mechanism told states of itself" in verified.notes[0]
    (stated,) = (held for held in certificate.conditions if held.kind == "stated")
    assert (stated.about, stated.status) == (("the plug-in mechanism told",), "assumed")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: noise(data).pop("stated"), id="nothing stated"),
        pytest.param(lambda data: noise(data)["stated"].pop("lower"), id="one side stated"),
        pytest.param(lambda data: noise(data)["stated"]["upper"][0].update(infinite_mass=0.0), id="a leak struck out"),
        pytest.param(lambda data: noise(data)["stated"]["upper"][0].update(times=2), id="met twice"),
        pytest.param(lambda data: noise(data)["stated"]["lower"][0].update(times=2), id="attained twice"),
        pytest.param(lambda data: noise(data)["stated"]["upper"][0].update(loss="magic"), id="an unknown loss"),
        pytest.param(lambda data: noise(data).update(name="gaussian"), id="a shipped name"),
        pytest.param(lambda data: noise(data).update(odds={"name": "x"}), id="a table for a field"),
        pytest.param(
            lambda data: data.update(conditions=[row for row in data["conditions"] if row["kind"] != "stated"]),
            id="the condition struck out",
        ),
        pytest.param(lambda data: data["tight"]["epsilon"].update(upper=0.7), id="another end"),
    ],
)
def test_a_certificate_that_does_not_follow_from_the_stated_losses_is_rejected(
    change: Callable[[dict[str, Any]], Any],
) -> None:
    """The forgeries, each sealed again; the certificate without a change is accepted."""
    assert verify(text_of()).accepted
    assert not verify(text_of(change)).accepted


def test_reading_compares_the_stated_losses_with_those_of_the_installed_plug_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broken twin is a plug-in that returns another loss than it did when the certificate was written."""
    monkeypatch.setattr(codec, "find_plugin", lambda kind, name: Told)
    certificate = certify(RELEASE, CLAIM)
    text = certificate.to_json()
    assert Certificate.from_json(text) == certificate
    monkeypatch.setattr(Told, "loss", lambda self: DiscreteLoss(atoms=((0.0, 1.0),)))
    with pytest.raises(CertificateError, match="stated losses are not those of the mechanism"):
        Certificate.from_json(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Additive(Gaussian):
    """Adds noise of a law that only its supplier knows."""

    name: ClassVar[str] = "additive"


def nested(outer: dict[str, Any]) -> dict[str, Any]:
    """The parsed certificate of a tree over a plug-in, its leaf put one level deeper, and no condition about it."""
    leaf = Additive(stddev=20.0, l2_sensitivity=1.0, neighbours="replace_one")
    stream = Release(label="stream", mechanism=TreeAggregation(horizon=1, leaf=leaf))
    data = certify(Sequential(parts=(stream, Stated(epsilon=0.1, source="a vendor"))), CLAIM).to_dict()
    release = data["declaration"]["parts"][0]
    release["mechanism"] = outer | {"leaf": release["mechanism"]}
    data["conditions"] = [row for row in data["conditions"] if "additive" not in str(row["about"])]
    return data


@pytest.mark.parametrize(
    "outer",
    [{"name": "tree_aggregation", "horizon": 1}, {"name": "matrix", "strategy": "square_root", "horizon": 1}],
    ids=["tree of tree", "matrix of tree"],
)
def test_losses_stated_in_a_nested_leaf_need_their_condition_and_their_note(outer: dict[str, Any]) -> None:
    """Both walk every leaf, and no stream is a leaf of another one: the accountant refuses such trees, too."""
    data = nested(outer)
    declared = data["declaration"]
    assert plug_ins(declared) == ["additive"]
    assert any(
        "the plug-in mechanism additive" in held
        for held in condition_complaints(data["conditions"], declared, "replace_one")
    )
    assert not verify(json.dumps(data | {"digest": digest_of(data)})).accepted
    with pytest.raises(Rejection, match="the leaf tree_aggregation adds no noise"):
        fold(declared, "replace_one")


def test_the_accountant_lists_what_every_leaf_states() -> None:
    """A plug-in that is made of a tree over another plug-in brings two statements and two lengths."""
    inner = TreeAggregation(horizon=4, leaf=Additive(stddev=20.0, l2_sensitivity=1.0, neighbours="replace_one"))
    made = Release(label="stream", mechanism=MadeOf(epsilon=0.5, horizon=7, leaf=inner))
    listed = [(held.kind, held.about) for held in conditions_of(made)]
    assert [about for kind, about in listed if kind == "stated"] == [
        ("the plug-in mechanism made_of",),
        ("the plug-in mechanism additive",),
    ]
    assert [about for kind, about in listed if kind == "public_length"] == [("7",), ("4",)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeOf(Told):
    """A stream over another stream."""

    name: ClassVar[str] = "made_of"

    leaf: Mechanism
    horizon: int


def test_no_shipped_mechanism_states_its_losses() -> None:
    """Nor does a subclass of one; a tree over a plug-in does for its leaf."""
    shipped: list[Mechanism] = [example for name in NAMES for example in vars(load_module(name))["EXAMPLES"]]
    assert not any(map(is_plugged_in, shipped))
    assert not is_plugged_in(Quieter(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"))
    assert is_plugged_in(MECHANISM)
    assert TreeAggregation.name in NAMES
    assert load("gaussian") is Gaussian


def load_module(name: str) -> Any:
    """The module of a shipped mechanism."""
    return __import__(f"mechanisms.{name}", fromlist=["EXAMPLES"])


def test_a_group_over_a_sample_of_its_own_is_refused() -> None:
    """Nothing says that the records are drawn independently; one record is certified, and a forged group is refused."""
    drawn = Release(label="step", mechanism=Drawn(epsilon=1.0, neighbours="add_remove"))
    claim = Claim(epsilon=3.0, delta=1e-5, neighbours="add_remove")
    with pytest.raises(UnsupportedError, match="a sample or secret steps of its own"):
        certify(Group(part=drawn, size=2), claim)
    alone = certify(Group(part=drawn, size=1), claim)
    assert alone.verdict == "stated"
    data = alone.to_dict()
    assert verify(alone.to_json()).accepted
    data["declaration"]["size"] = 2
    assert not verify(json.dumps(data | {"digest": digest_of(data)})).accepted
    with pytest.raises(Rejection, match="a group over a sample"):
        fold(data["declaration"], "add_remove")
