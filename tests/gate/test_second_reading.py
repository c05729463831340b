"""A check has its certificates read by the independent checker."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dpaudit import Claim, Release, Subsample, certify
from dpaudit.configuration.config import read_config
from dpaudit.gate.issues import Checked
from dpaudit.gate.running import disagreements
from dpaudit.model.losses import GaussianLoss
from mechanisms import Gaussian

WRITTEN = """
[claim]
epsilon = 1.0
delta = 1e-5
neighbours = "replace_one"

[declaration]
node = "release"
label = "mean"
mechanism = { name = "gaussian", stddev = 4.0, l2_sensitivity = 1.0 }
"""

CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
MEAN = Release(label="mean", mechanism=Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one"))


def test_an_honest_certificate_raises_nothing() -> None:
    assert disagreements(certify(MEAN, CLAIM)) == ()


def test_a_mechanism_that_states_less_is_an_issue_where_no_pair_is_known_to_attain_its_curve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A record that is replaced in a Poisson sample: nothing is known from below, and the upper end is too small."""
    part = Release(label="mean", mechanism=Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="add_remove"))
    sample = Subsample(part=part, rate=0.1)
    assert disagreements(certify(sample, CLAIM)) == ()
    sound: Callable[[Gaussian], GaussianLoss] = Gaussian.loss
    monkeypatch.setattr(Gaussian, "loss", lambda self: GaussianLoss(mu=0.9 * sound(self).mu))
    assert any("concludes" in complaint for complaint in disagreements(certify(sample, CLAIM)))


def test_a_mechanism_that_states_less_than_its_loss_is_an_issue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted loss is 10 % too small; the checker derives the loss from the parameters."""
    sound: Callable[[Gaussian], GaussianLoss] = Gaussian.loss
    monkeypatch.setattr(Gaussian, "loss", lambda self: GaussianLoss(mu=0.9 * sound(self).mu))
    certificate = certify(MEAN, CLAIM)
    complaints = disagreements(certificate)
    assert any("concludes" in complaint for complaint in complaints)
    path = tmp_path / "mean.toml"
    path.write_text(WRITTEN, encoding="utf-8")
    checked = Checked(path=path, configuration=read_config(path), certificate=certificate, complaints=complaints)
    assert "DPA106" in {issue.rule for issue in checked.issues()}
    assert "DPA106" not in {issue.rule for issue in replace(checked, complaints=()).issues()}
