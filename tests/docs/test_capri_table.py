"""The tables in docs/papers/capri.md are what the code computes; run this file to write them again."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from re import Pattern
from typing import Any

import pytest

from algorithms.capri import Capri
from algorithms.capri.settings import completed
from dpaudit import Release, Repeat, bracket_epsilon, certify, fold
from dpaudit.model.declaration import Declaration

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers" / "capri.md"
BUDGETS = {
    1_000: ((0.1, 1e-3), (0.5, 1e-3), (1, 1e-3), (0.1, 1e-5), (0.5, 1e-5), (1, 1e-5), (4, 1e-5)),
    10_000: ((0.1, 1e-3), (0.5, 1e-3), (1, 1e-3), (0.1, 1e-5), (1, 1e-5), (4, 1e-5)),
    100_000: ((0.1, 1e-3), (0.5, 1e-3), (1, 1e-3), (0.1, 1e-5), (1, 1e-5)),
}


def printed(horizon: int, epsilon: float, delta: float, model: str) -> Capri:
    return Capri(model=model, epsilon=epsilon, delta=delta, horizon=horizon, calibration="paper")


def proved(tree: Declaration | Repeat, delta: float) -> float:
    return bracket_epsilon(fold(tree, "replace_one"), delta).upper


def accounting_row(horizon: int, budget: tuple[float, float], model: str) -> str:
    """One line of the accounting table, every number from the declaration that the algorithm makes."""
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
def accounting(model: str) -> str:
    head = "| T | epochs | epsilon | delta | printed z | proved epsilon | claim / proved | in sequence | noise |"
    rows = [accounting_row(horizon, budget, model) for horizon, held in BUDGETS.items() for budget in held]
    return "\n".join([head, "|---|---|---|---|---|---|---|---|---|", *rows])


@cache
def slack(model: str) -> str:
    config = printed(10_000, 1, 1e-5, model)
    found = certify(config.declaration(), config.claim()).slack
    rows = [f"| {f.name} | {f.factor:.2f} | {f.noise_factor:.2f} |" for f in found.factors]
    total = f"| total | {found.epsilon_ratio:.1f} | {found.noise_ratio:.1f} |"
    return "\n".join(["| step | factor in epsilon | factor in noise |", "|---|---|---|", *rows, total])


def block(name: str) -> Pattern[str]:
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def shown(text: str, name: str) -> Any:
    found = block(name).search(text)
    assert found, f"no block {name!r}"
    return found.group(2).strip()


def test_the_accounting_table_is_what_the_code_computes() -> None:
    """Every line of the table, from the joint declaration."""
    assert shown(PAGE.read_text(encoding="utf-8"), "accounting") == accounting("joint")


@pytest.mark.parametrize("horizon", [1_000, 100_000])
def test_the_local_model_has_the_same_table(horizon: int) -> None:
    """One message a user costs what one epoch costs, so the lines are equal letter by letter."""
    for budget in BUDGETS[horizon]:
        assert accounting_row(horizon, budget, "local") == accounting_row(horizon, budget, "joint")


def test_the_slack_table_is_what_the_code_computes() -> None:
    """Every factor, and the totals that they multiply to."""
    assert shown(PAGE.read_text(encoding="utf-8"), "slack") == slack("joint")


def test_a_changed_digit_is_caught() -> None:
    """A table in which one digit differs is not the one that the code computes."""
    text = PAGE.read_text(encoding="utf-8").replace("| 68.82 |", "| 68.83 |")
    assert shown(text, "accounting") != accounting("joint")


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    for name, table in (("accounting", accounting("joint")), ("slack", slack("joint"))):
        page = block(name).sub(rf"\g<1>{table}\n\g<3>", page, count=1)
    PAGE.write_text(page, encoding="utf-8")
