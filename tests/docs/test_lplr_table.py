"""The table in docs/papers/lplr.md is what the code computes; run this file to write it again."""

import re
from pathlib import Path

from algorithms.lplr import Lplr
from algorithms.lplr.accounting import delta_floor, printed_confidence_loss, printed_update_loss
from dpaudit import bracket_delta, bracket_epsilon, fold

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers" / "lplr.md"
ROWS = ((0.1, 2), (0.5, 2), (1.0, 2), (1.0, 5), (4.0, 2))
BLOCK = re.compile(r"(<!-- accounting -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def row(epsilon: float, dimension: int) -> str:
    """One line: closed forms beside what the accountant proves of the declaration."""
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


def table() -> str:
    head = "| claimed epsilon | d | delta at every epsilon | finite | delta of an update at the claim | confidence |"
    return "\n".join([head, "|---|---|---|---|---|---|", *(row(*entry) for entry in ROWS)])


def test_the_accounting_table_is_what_the_code_computes() -> None:
    """Every line of the table, from the declarations."""
    found = BLOCK.search(PAGE.read_text(encoding="utf-8"))
    assert found
    assert found.group(2).strip() == table()


if __name__ == "__main__":
    PAGE.write_text(BLOCK.sub(rf"\g<1>{table()}\n\g<3>", PAGE.read_text(encoding="utf-8")), encoding="utf-8")
