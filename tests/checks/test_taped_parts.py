"""One record and the parts of parallel compositions, where labels stand in several of them."""

from pathlib import Path

import pytest

from audits.checks.taped_moves import Limits, Move, too_often
from dpaudit import Declaration, Parallel, Release, Sequential
from dpaudit.configuration.config import config_of
from dpaudit.workflow import certificate_of
from mechanisms import Laplace

NOISE = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
LABELS = ("a", "b", "c")


def _apart(key: str, labels: tuple[str, ...] = LABELS) -> Parallel:
    return Parallel(parts=tuple(Release(label=label, mechanism=NOISE) for label in labels), key=key)


def _rules(declaration: Declaration, *moved: str) -> list[str]:
    moves = tuple(
        Move(label=label, run=0, entry="the answer", distance=1.0, site="x.py:1", mechanism=NOISE) for label in moved
    )
    return [finding.rule for finding in too_often(moves, Limits.of(declaration), {})]


@pytest.mark.parametrize(
    ("declaration", "moved", "rules"),
    [
        (_apart("one"), ("a",), []),
        (_apart("one"), ("a", "b"), ["DPA228"]),
        (Sequential(parts=(_apart("one"), _apart("two"))), ("a", "b"), []),
        (Sequential(parts=(_apart("one"), _apart("two"))), ("a", "b", "c"), ["DPA228", "DPA228"]),
        (Sequential(parts=(_apart("one"), _apart("two", ("a",)))), ("b", "c"), ["DPA228"]),
        (Sequential(parts=(_apart("one"), _apart("two", ("a",)))), ("a", "c"), []),
        (Parallel(parts=(_apart("in"), Release(label="d", mechanism=NOISE)), key="out"), ("a", "d"), ["DPA228"]),
    ],
)
def test_labels_of_several_compositions_count_in_one_of_them(
    declaration: Declaration, moved: tuple[str, ...], rules: list[str]
) -> None:
    """Two compositions over the same streams admit two of them moved by one record, and not a third."""
    assert _rules(declaration, *moved) == rules


@pytest.mark.parametrize(
    "more",
    [
        'calibration = "tight"',
        'calibration = "tight"\nremoval = "R2"',
        'variant = "batched"\nschedule = "planned"',
        'variant = "champion"',
        'variant = "batched"\nmodel = "shuffle"\ndelta = 1e-5',
    ],
)
def test_every_default_of_dp_ebs_is_certified_with_its_replays(tmp_path: Path, more: str) -> None:
    """No finding and no violated condition where answers move on one tape, also where both options are credited."""
    settings = f'name = "dp_ebs"\nepsilon = 2.0\narms = 5\nhorizon = 3000\n{more}'
    text = f'[algorithm]\n{settings}\n[problem]\nname = "bradley_terry"\n'
    certificate = certificate_of(config_of(tmp_path / "a.toml", text), 0)
    assert (certificate.verdict, certificate.findings) == ("certified", ())
    assert not [line for line in certificate.conditions if line.status == "violated"]
