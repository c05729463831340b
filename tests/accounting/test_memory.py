"""Certifying and verifying stay below a GiB, measured in a process of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.model.losses import DiscreteLoss

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accounting_memory.py"
GIBIBYTE = 1 << 20  # in KiB, as Linux counts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["40 exponential choices", "1000 Laplace", "tree, three participations"])
def test_a_heavy_declaration_is_certified_and_verified_below_a_gibibyte(name: str) -> None:
    """The largest resident set of the child; the rest of the declarations are in the benchmark."""
    ended = subprocess.run([sys.executable, str(SCRIPT), name], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    peak, *_, accepted = ended.stdout.split()
    assert accepted == "True"
    assert int(peak) < GIBIBYTE


def test_renyi_moments_of_many_atoms_are_taken_in_pieces() -> None:
    """Four thousand orders of a loss with ten thousand atoms: never a table of both at once."""
    import tracemalloc

    from dpaudit.engines.renyi import _POWERS, log_moment
    from dpaudit.model.losses import DiscreteLoss

    atoms = tuple((i / 5000 - 1.0, 1.0) for i in range(10_001))
    total = sum(p for _, p in atoms)
    loss = balanced(DiscreteLoss, [(v, p / total) for v, p in atoms])
    tracemalloc.start()
    log_moment(loss, _POWERS[:1000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20 < 1000 * len(atoms) * 8


def balanced(kind: type[DiscreteLoss], atoms: list[tuple[float, float]]) -> DiscreteLoss:
    """Return a loss whose probabilities sum to 1 under both laws: P and its mirror image, in proportion."""
    from math import cosh, exp

    weights = [(v, p * exp(v / 2) / cosh(v / 2)) for v, p in atoms]
    forward = sum(p for _, p in weights)
    return kind(atoms=tuple((v, p / forward) for v, p in weights))
