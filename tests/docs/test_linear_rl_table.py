"""The tables in docs/papers/linear_rl.md are what the code computes; run this file to write them again."""

import math
import re
from functools import cache
from pathlib import Path
from re import Pattern
from typing import Any

import pytest

from algorithms._linear_rl.calibration import exact_mu, nodes_printed
from algorithms.lsvi_ucb import LsviUcb
from algorithms.lsvi_ucb.noise import noises_of, schedule_of
from algorithms.ucrl_vtr import UcrlVtr
from algorithms.ucrl_vtr.noise import noisy_regressions
from dpaudit import Release, bracket_epsilon, fold
from mechanisms import Gaussian, JointGaussian, SymmetricGaussian
from tests.narrowing import as_a, l2_sensitivity_of, stddev_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers" / "linear_rl.md"
MIXTURE = (
    ("joint", "hoeffding", 1_000, 2, 0.1, 1e-3),
    ("joint", "hoeffding", 1_000, 5, 1.0, 1e-5),
    ("joint", "hoeffding", 1_000, 20, 1.0, 1e-5),
    ("joint", "hoeffding", 10_000, 2, 4.0, 1e-3),
    ("joint", "hoeffding", 10_000, 5, 1.0, 1e-5),
    ("joint", "hoeffding", 10_000, 20, 0.1, 1e-3),
    ("joint", "bernstein", 10_000, 5, 1.0, 1e-5),
    ("local", "hoeffding", 1_000, 2, 1.0, 1e-5),
    ("local", "hoeffding", 1_000, 5, 1.0, 1e-5),
    ("local", "hoeffding", 1_000, 5, 4.0, 1e-5),
    ("local", "hoeffding", 1_000, 20, 0.1, 1e-3),
    ("local", "bernstein", 1_000, 5, 1.0, 1e-5),
)
BATCHED = (
    (1_000, 2, 5, 0.1, 1e-3),
    (1_000, 5, 2, 1.0, 1e-5),
    (10_000, 5, 5, 1.0, 1e-3),
    (10_000, 5, 5, 1.0, 1e-5),
    (10_000, 20, 5, 0.1, 1e-3),
)


def truth(mu: float, delta: float) -> float:
    """The exact epsilon of one Gaussian release of this mu."""
    leaf = Release(label="all", mechanism=Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="replace_one"))
    return bracket_epsilon(fold(leaf, "replace_one"), delta).upper


def mixture_row(model: str, bonus: str, episodes: int, steps: int, epsilon: float, delta: float) -> str:
    """One line of the first table, every number from the noise that the config calibrates."""
    shape: dict[str, Any] = {
        "model": model,
        "bonus": bonus,
        "episodes": episodes,
        "steps": steps,
        "epsilon": epsilon,
        "delta": delta,
    }
    stated = as_a(
        SymmetricGaussian, noisy_regressions(UcrlVtr(**shape, dimension=5, calibration="paper"))[0].noises[0][1]
    )
    tight = as_a(JointGaussian, noisy_regressions(UcrlVtr(**shape, dimension=5))[0].noises[0][1]).matrix_stddev
    parts = (4 if bonus == "bernstein" else 2) * steps * (nodes_printed(episodes) if model == "joint" else 1)
    mu = stated.l2_sensitivity / stated.stddev * math.sqrt(parts)
    return (
        f"| {model} | {'3' if bonus == 'bernstein' else '1'} | {episodes:,} | {steps} | {epsilon:g} | {delta:.0e} "
        f"| {stated.stddev:.3g} | {truth(mu, delta):.4f} | {exact_mu(epsilon, delta) / mu:.3g} "
        f"| {stated.stddev / tight:.3g} |"
    )


def batched_row(episodes: int, steps: int, d: int, epsilon: float, delta: float) -> str:
    """One line of the second table."""
    config = LsviUcb(episodes=episodes, steps=steps, dimension=d, epsilon=epsilon, delta=delta, calibration="paper")
    schedule, noise = schedule_of(config), noises_of(config)[0]
    vector, matrix = stddev_of(noise.vector), stddev_of(noise.matrix)
    vectors = schedule.planned * (l2_sensitivity_of(noise.vector) / vector) ** 2
    matrices = nodes_printed(schedule.planned) * (l2_sensitivity_of(noise.matrix) / matrix) ** 2
    mu = math.sqrt(steps * (vectors + matrices))
    return (
        f"| {episodes:,} | {steps} | {d} | {epsilon:g} | {delta:.0e} | {schedule.planned} | {schedule.releases} "
        f"| {matrix:.3g} | {vector:.3g} | {truth(mu, delta):.5f} "
        f"| {exact_mu(epsilon, delta) / mu:,.0f} |"
    )


@cache
def table(name: str) -> str:
    if name == "mixture":
        head = "| model | algorithm | K | H | epsilon | delta | stddev | true epsilon | noise | against tight |"
        rows = [mixture_row(*row) for row in MIXTURE]
    else:
        head = "| K | H | d | epsilon | delta | B | releases | matrix stddev | vector stddev | true epsilon | noise |"
        rows = [batched_row(*row) for row in BATCHED]
    return "\n".join([head, "|---" * (head.count("|") - 1) + "|", *rows])


def block(name: str) -> Pattern[str]:
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)


@pytest.mark.parametrize("name", ["mixture", "batched"])
def test_the_page_shows_what_the_code_computes(name: str) -> None:
    """Every number of the table, to the last digit."""
    found = block(name).search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found.group(2).strip() == table(name)


def main() -> None:
    """Write both tables into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name in ("mixture", "batched"):
        written = table(name)
        found = block(name).search(text)
        assert found is not None
        text = f"{text[: found.start(2)]}{written}\n{text[found.end(2) :]}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
