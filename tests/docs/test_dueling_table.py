"""The table of the dueling page is what the accountant computes."""

import re
from pathlib import Path

import pytest

from algorithms.dp_ebs.noise.calibrated import touched_nodes

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "dueling.md"
ROWS = [
    [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
    for line in re.search(r"<!-- accounting -->\n(.*?)<!-- end -->", PAGE.read_text(), re.DOTALL)
    .group(1)
    .splitlines()[2:]
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_states_levels_nodes_and_what_epsilon_one_delivers(row: list[str]) -> None:
    """L, m, and shifted nodes over 4 L for R1, R2 and R3."""
    capacity = int(row[0])
    levels = capacity.bit_length()
    nodes = [touched_nodes(reading, capacity) for reading in ("R1", "R2", "R3")]
    assert row[1:] == [str(levels), str(nodes[1]), *(f"{n / (4 * levels):.4f}" for n in nodes)]


def test_there_are_rows() -> None:
    assert len(ROWS) == 5
