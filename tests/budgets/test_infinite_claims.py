"""A claim of an infinite epsilon promises nothing: every release keeps it, and what needs a promise refuses it."""

import json
import math
from pathlib import Path
from typing import Any, Never

import numpy as np
import pytest

from audits import audit, when_refuted
from audits.examples import HALF_NOISE
from dpaudit import Certificate, Claim, Group, Release, Repeat, Stated, UnsupportedError, certify, verify
from dpaudit.accounting.calibration import smallest_noise
from dpaudit.budgets.filters import basic_filter
from dpaudit.ledger.account import Account
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from mechanisms import Gaussian, Laplace
from tests.command_line import dpaudit

CLAIM = Claim(epsilon=math.inf, delta=1e-5, neighbours="replace_one")
NOISE = Gaussian(stddev=3.0, l2_sensitivity=1.0, neighbours="replace_one")
SUMS = Release(label="sums", mechanism=NOISE)
TREES: dict[str, Declaration] = {
    "a release": SUMS,
    "several": Repeat(part=Group(part=SUMS, size=3), times=5),
    "pure": Release(label="count", mechanism=Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")),
    "nothing known": Stated(epsilon=math.inf, source="nobody"),
    "told": Stated(epsilon=3.0, delta=1e-3, source="a supplier"),
}
CONFIG = """
[claim]
epsilon = {epsilon}
delta = 1e-5
neighbours = "replace_one"
[declaration]
node = "release"
label = "sums"
mechanism = {{name = "gaussian", stddev = 3.0, l2_sensitivity = 1.0}}
"""


def strictly(constant: str) -> Never:
    """Refuse what strict JSON does not have."""
    raise AssertionError(constant)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("name", TREES)
def test_every_release_keeps_it(name: str, delta: float) -> None:
    """Certified, with the epsilon that is proved beside it; JSON is strict, is read again and verifies."""
    certificate = certify(TREES[name], Claim(epsilon=math.inf, delta=delta, neighbours="replace_one"))
    assert certificate.verdict == "certified"
    assert (certificate.tight.delta.lower, certificate.tight.delta.upper) == (0.0, 0.0)
    finite = certify(TREES[name], Claim(epsilon=1.0, delta=delta, neighbours="replace_one"))
    assert certificate.tight.epsilon == finite.tight.epsilon
    data = json.loads(certificate.to_json(), parse_constant=strictly)
    assert data["claim"]["epsilon"] == "inf"
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert verify(certificate.to_json()).accepted, verify(certificate.to_json())
    edited = certificate.to_json().replace('"certified"', '"not_proved"')
    assert not verify(edited).accepted


def test_what_stands_against_a_proof_stands_against_it_too() -> None:
    """A violated condition is not forgotten, because the certificate states more than the claim."""
    seen = Condition(kind="fresh_noise", status="violated")
    assert certify(SUMS, CLAIM, conditions=(seen,)).verdict == "not_proved"


@pytest.mark.parametrize(
    "use",
    [
        lambda: smallest_noise(SUMS, CLAIM),
        lambda: basic_filter(CLAIM),
        lambda: audit(HALF_NOISE, claim=CLAIM, runs=100, rng=np.random.default_rng(0)),
        lambda: audit(HALF_NOISE, claim=CLAIM, runs=100, rng=np.random.default_rng(0), stop=when_refuted),
    ],
    ids=["noise", "filter", "audit", "sequential"],
)
def test_what_needs_a_promise_refuses_it(use: Any) -> None:
    """One line that says what to do."""
    with pytest.raises(UnsupportedError, match="Certify it, or claim a finite epsilon"):
        use()


def test_a_budget_must_be_finite() -> None:
    """It would allow every release."""
    with pytest.raises(ValueError, match="allow every release"):
        Account(name="survey", budget=CLAIM)


@pytest.mark.parametrize("epsilon", ["inf", '"inf"'])
def test_the_commands_take_both_forms(epsilon: str, tmp_path: Path) -> None:
    """A configuration is certified, explained and reported, `check` flags it; booking it costs what is proved."""
    path, ledger = tmp_path / "open.toml", str(tmp_path / "ledger.db")
    path.write_text(CONFIG.format(epsilon=epsilon), encoding="utf-8")
    certificate = str(tmp_path / "open.json")

    def run(*words: str) -> tuple[int, str]:
        result = dpaudit(*words)
        return result.exit_code, result.output

    assert run("certify", str(path), "--format", "json", "-o", certificate)[0] == 0
    assert run("verify", certificate)[0] == 0
    code, text = run("certify", str(path))
    assert code == 0
    assert "may change by any factor" in text
    assert run("explain", str(path))[0] == 0
    code, text = run("check", str(path))
    assert code == 1
    assert "DPA107" in text
    code, text = run("calibrate", str(path))
    assert code == 2
    assert run("report", str(path), "-o", str(tmp_path / "report"))[0] == 0
    json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"), parse_constant=strictly)
    account = ("--account", "survey")
    assert run("ledger", "open", ledger, *account, "--epsilon", "3", "--delta", "1e-4", "--unit", "one record")[0] == 0
    assert run("ledger", "book", ledger, certificate, *account, "--label", "sums")[0] == 0
    assert run("ledger", "show", ledger)[0] == 0
    assert run("ledger", "verify", ledger)[0] == 0
    other = ("--account", "other", "--unit", "one record")
    assert run("ledger", "open", ledger, *other, "--epsilon", "inf")[0] == 2
