"""A violation of an audit is one only if fresh runs confirm it; a fixed seed makes no false alarm permanent."""

from typing import Any

import numpy as np
import pytest

from audits.examples import CLAIM, HALF_NOISE
from dpaudit import AuditCase, AuditResult, Claim, workflow
from dpaudit.configuration.configuration import AuditSettings
from dpaudit.workflow import confirmed_attack
from tests.command_line import Write, dpaudit
from tests.gate.test_check_outputs import CODED, toys  # noqa: F401 - a fixture

INFINITE = float("inf")
SETTINGS = AuditSettings(runs=2_000)


def test_the_second_audit_is_the_result_of_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both stages see streams of their own; only a second violation is one, whatever the first showed."""
    held = confirmed_attack((0, HALF_NOISE), CLAIM, INFINITE, SETTINGS, 3)
    quiet = confirmed_attack((0, HALF_NOISE), Claim(epsilon=3.0, neighbours="replace_one"), INFINITE, SETTINGS, 3)
    assert (held.verdict, quiet.verdict == "violation") == ("violation", False)
    streams: list[Any] = []

    def scripted(*verdicts: AuditResult) -> None:
        left = list(verdicts)

        def attack(*arguments: Any) -> AuditResult:
            streams.append(arguments[5].bit_generator.seed_seq.entropy)
            return left.pop(0)

        monkeypatch.setattr(workflow, "attack", attack)

    scripted(held, quiet)
    ended = confirmed_attack((4, HALF_NOISE), CLAIM, INFINITE, SETTINGS, 7)
    assert (ended.verdict, ended.epsilon_lower) == (quiet.verdict, quiet.epsilon_lower)
    assert "do not confirm" in ended.remarks[-1]
    scripted(quiet)
    assert confirmed_attack((4, HALF_NOISE), CLAIM, INFINITE, SETTINGS, 7).verdict == quiet.verdict
    scripted(held, held)
    ended = confirmed_attack((4, HALF_NOISE), CLAIM, INFINITE, SETTINGS, 7)
    assert ended.verdict == "violation"
    assert "Significance 0.01 holds over both stages" in ended.remarks[-1]
    assert streams == [[7, 4], [7, 4, 1], [7, 4], [7, 4], [7, 4, 1]]


def test_the_stated_power_is_that_of_both_stages() -> None:
    """A control that one audit accuses with probability p is accused by two with p squared."""
    rng = np.random.default_rng([3, 0])
    claim = Claim(epsilon=3.0, neighbours="replace_one")
    settings = AuditSettings(runs=20_000)
    single = workflow.attack(HALF_NOISE, claim, INFINITE, settings, 3, rng)
    both = confirmed_attack((0, HALF_NOISE), claim, INFINITE, settings, 3)
    assert single.power.kind in ("far_pair", "repeated_runs")
    assert both.power.probability == single.power.probability**2


def test_the_line_of_a_violation_names_significance_and_runs(
    write: Write,
    toys: None,  # noqa: F811
) -> None:
    """A third of the declared noise is found in both stages."""
    text = CODED.format(name="one_sum", runs=2000).replace("epsilon = 1.0", "epsilon = 1.0\nshare = 0.333")
    line = next(line for line in dpaudit("check", write(text)).stdout.splitlines() if "DPA301" in line)
    assert "(2000 runs that confirm as many others, significance 0.01 over both, seed 0)" in line


@pytest.mark.parametrize("replayable", [True, False])
def test_a_case_whose_noise_can_be_followed_is_replayed(replayable: bool) -> None:
    """The move of its sum is read from the noise; twin: so few runs alone see nothing of it."""

    def sums(data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        return data + rng.normal(0, 100.0, n_runs)

    case = AuditCase(
        name="sum",
        view="output",
        description="",
        neighbours=(0.0, 30.0),
        relation="add_remove",
        run=sums,
        replayable=replayable,
    )
    claim = Claim(rho=0.04, neighbours="add_remove")
    result = confirmed_attack((0, case), claim, INFINITE, AuditSettings(runs=400), 7)
    assert (result.verdict == "violation") is replayable
    assert ("rho is at least 0.045, and the claim says 0.04" in " ".join(result.remarks)) is replayable
