"""The tables of accounting on the pages of the papers are what the code computes; run this file to write them again."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from re import Pattern
from typing import Any

import pytest

from algorithms._linear_rl.calibration import exact_mu, nodes_printed
from algorithms.capri import Capri
from algorithms.capri.settings import completed
from algorithms.dp_ebs.noise.calibrated import touched_nodes
from algorithms.lplr import Lplr
from algorithms.lplr.accounting import delta_floor, printed_confidence_loss, printed_update_loss
from algorithms.lsvi_ucb import LsviUcb
from algorithms.lsvi_ucb.noise import noises_of, schedule_of
from algorithms.ucrl_vtr import UcrlVtr
from algorithms.ucrl_vtr.noise import noisy_regressions
from dpaudit import Release, Repeat, bracket_delta, bracket_epsilon, certify, fold
from dpaudit.model.declaration import Declaration
from mechanisms import Gaussian, JointGaussian, SymmetricGaussian
from tests.narrowing import as_a, l2_sensitivity_of, stddev_of

PAGES = Path(__file__).resolve().parents[2] / "docs" / "papers"


def proved(tree: Declaration | Repeat, delta: float) -> float:
    return bracket_epsilon(fold(tree, "replace_one"), delta).upper


def table(head: str, *rows: str) -> str:
    return "\n".join([head, "|---" * (head.count("|") - 1) + "|", *rows])


BUDGETS = {
    1_000: ((0.1, 1e-3), (0.5, 1e-3), (1, 1e-3), (0.1, 1e-5), (0.5, 1e-5), (1, 1e-5), (4, 1e-5)),
    10_000: ((0.1, 1e-3), (0.5, 1e-3), (1, 1e-3), (0.1, 1e-5), (1, 1e-5), (4, 1e-5)),
    100_000: ((0.1, 1e-3), (0.5, 1e-3), (1, 1e-3), (0.1, 1e-5), (1, 1e-5)),
}


def printed(horizon: int, epsilon: float, delta: float, model: str) -> Capri:
    return Capri(model=model, epsilon=epsilon, delta=delta, horizon=horizon, calibration="paper")


def capri_row(horizon: int, budget: tuple[float, float], model: str) -> str:
    """One line of CAPRI's table, every number from the declaration that the algorithm makes."""
    epsilon, delta = budget
    config = printed(horizon, epsilon, delta, model)
    plan, n = config.plan(), completed(horizon)
    truth = proved(config.declaration(), delta)
    together = proved(Repeat(part=Release(label="epoch", mechanism=plan.mechanism), times=n), delta)
    noise = plan.noise_multiplier / replace(config, calibration="tight").plan().noise_multiplier
    loose = f"{epsilon / truth:.0f}" if truth else "total variation below delta"
    return (
        f"| {horizon:,} | {n} | {epsilon:g} | {delta:.0e} | {plan.noise_multiplier:.2f} | {truth:.4f} | {loose} "
        f"| {together:.4f} | {noise:.1f} |"
    )


@cache
def capri() -> str:
    head = "| T | epochs | epsilon | delta | printed z | proved epsilon | claim / proved | in sequence | noise |"
    return table(head, *(capri_row(horizon, budget, "joint") for horizon, held in BUDGETS.items() for budget in held))


def slack() -> str:
    config = printed(10_000, 1, 1e-5, "joint")
    found = certify(config.declaration(), config.claim()).slack
    rows = [f"| {f.name} | {f.factor:.2f} | {f.noise_factor:.2f} |" for f in found.factors]
    total = f"| total | {found.epsilon_ratio:.1f} | {found.noise_ratio:.1f} |"
    return table("| step | factor in epsilon | factor in noise |", *rows, total)


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


def of_mu(mu: float, delta: float) -> float:
    """The exact epsilon of one Gaussian release of this mu."""
    noise = Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="replace_one")
    return proved(Release(label="all", mechanism=noise), delta)


def mixture_row(model: str, bonus: str, episodes: int, steps: int, epsilon: float, delta: float) -> str:
    """One line on linear mixtures, every number from the noise that the config calibrates."""
    shape: dict[str, Any] = {"model": model, "bonus": bonus, "episodes": episodes, "steps": steps, "dimension": 5}
    shape |= {"epsilon": epsilon, "delta": delta}
    paper, tight = (
        noisy_regressions(UcrlVtr(**shape, calibration=calibration))[0].noises[0][1]
        for calibration in ("paper", "tight")
    )
    stated, needed = as_a(SymmetricGaussian, paper), as_a(JointGaussian, tight).matrix_stddev
    parts = (4 if bonus == "bernstein" else 2) * steps * (nodes_printed(episodes) if model == "joint" else 1)
    mu = stated.l2_sensitivity / stated.stddev * math.sqrt(parts)
    return (
        f"| {model} | {'3' if bonus == 'bernstein' else '1'} | {episodes:,} | {steps} | {epsilon:g} | {delta:.0e} "
        f"| {stated.stddev:.3g} | {of_mu(mu, delta):.4f} | {exact_mu(epsilon, delta) / mu:.3g} "
        f"| {stated.stddev / needed:.3g} |"
    )


def batched_row(episodes: int, steps: int, d: int, epsilon: float, delta: float) -> str:
    """One line on linear processes in batches."""
    config = LsviUcb(episodes=episodes, steps=steps, dimension=d, epsilon=epsilon, delta=delta, calibration="paper")
    schedule, noise = schedule_of(config), noises_of(config)[0]
    vector, matrix = stddev_of(noise.vector), stddev_of(noise.matrix)
    vectors = schedule.planned * (l2_sensitivity_of(noise.vector) / vector) ** 2
    matrices = nodes_printed(schedule.planned) * (l2_sensitivity_of(noise.matrix) / matrix) ** 2
    mu = math.sqrt(steps * (vectors + matrices))
    return (
        f"| {episodes:,} | {steps} | {d} | {epsilon:g} | {delta:.0e} | {schedule.planned} | {schedule.releases} "
        f"| {matrix:.3g} | {vector:.3g} | {of_mu(mu, delta):.5f} | {exact_mu(epsilon, delta) / mu:,.0f} |"
    )


def mixture() -> str:
    head = "| model | algorithm | K | H | epsilon | delta | stddev | true epsilon | noise | against tight |"
    return table(head, *(mixture_row(*row) for row in MIXTURE))


def batched() -> str:
    head = "| K | H | d | epsilon | delta | B | releases | matrix stddev | vector stddev | true epsilon | noise |"
    return table(head, *(batched_row(*row) for row in BATCHED))


def lplr_row(epsilon: float, dimension: int) -> str:
    """One line on LPLR: closed forms beside what the accountant proves of the declaration."""
    config = Lplr(variant="paper", epsilon=epsilon, horizon=10**6, dimension=dimension, actions=2)
    update, confidence = (fold(part, "replace_one", config.conditions()) for part in config.declaration().parts)
    found, far = bracket_delta(update, epsilon), bracket_delta(update, 50 * epsilon)
    delivered = bracket_epsilon(confidence, 0.0)
    assert abs(far.lower - delta_floor(epsilon)) < 1e-6
    assert abs(delivered.lower - printed_confidence_loss(epsilon)) < 1e-6
    return (
        f"| {epsilon:g} | {dimension} | {far.lower:.6f} | {printed_update_loss(epsilon):.4f} "
        f"| {found.lower:.4f} to {found.upper:.4f} | {delivered.lower:.4g} |"
    )


def lplr() -> str:
    head = "| claimed epsilon | d | delta at every epsilon | finite | delta of an update at the claim | confidence |"
    return table(head, *(lplr_row(*row) for row in ((0.1, 2), (0.5, 2), (1.0, 2), (1.0, 5), (4.0, 2))))


def dueling_row(capacity: int) -> str:
    """Levels, nodes, and shifted nodes over four times the levels for R1, R2 and R3."""
    levels = capacity.bit_length()
    nodes = [touched_nodes(reading, capacity) for reading in ("R1", "R2", "R3")]
    shares = " | ".join(f"{n / (4 * levels):.4f}" for n in nodes)
    return f"| {capacity:,} | {levels} | {nodes[1]} | {shares} |"


TABLES: dict[tuple[str, str], Callable[[], str]] = {
    ("capri", "accounting"): capri,
    ("capri", "slack"): slack,
    ("linear_rl", "mixture"): mixture,
    ("linear_rl", "batched"): batched,
    ("lplr", "accounting"): lplr,
}
"""By the page and the name of the block that holds the table."""


def block(name: str) -> Pattern[str]:
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def shown(page: str, name: str) -> str:
    found = block(name).search((PAGES / f"{page}.md").read_text(encoding="utf-8"))
    assert found, f"no block {name!r}"
    return found.group(2).strip()


@pytest.mark.parametrize(("page", "name"), TABLES, ids=" ".join)
def test_a_table_is_what_the_code_computes(page: str, name: str) -> None:
    """Every line of the table, every number to the last digit; with one digit changed it is not."""
    text = shown(page, name)
    assert text == TABLES[page, name]()
    assert re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit[0]) + 1) % 10), text) != text


@pytest.mark.parametrize("horizon", [1_000, 100_000])
def test_the_local_model_of_capri_has_the_same_table(horizon: int) -> None:
    """One message a user costs what one epoch costs, so the lines are equal letter by letter."""
    for budget in BUDGETS[horizon]:
        assert capri_row(horizon, budget, "local") == capri_row(horizon, budget, "joint")


def test_the_table_of_dueling_has_five_rows_and_each_is_what_the_tree_touches() -> None:
    """Levels and nodes by the capacity that the row states."""
    rows = shown("dueling", "accounting").splitlines()[2:]
    assert len(rows) == 5
    for row in rows:
        assert row == dueling_row(int(row.split("|")[1].replace(",", "")))


if __name__ == "__main__":
    for (page, name), compute in TABLES.items():
        path = PAGES / f"{page}.md"
        path.write_text(block(name).sub(rf"\g<1>{compute()}\n\g<3>", path.read_text(encoding="utf-8")), "utf-8")
