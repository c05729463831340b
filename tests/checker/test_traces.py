"""Traces: a run is admitted by its declaration, and each way to differ from it is a finding of its own."""

import numpy as np
import pytest

from dpaudit import Cells, Parallel, Recorder, Release, Repeat, Sequential
from dpaudit.model.trace import Released, admit
from mechanisms import Gaussian

NOISE = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")
TREE = Parallel(
    parts=(Release(label="first", mechanism=NOISE), Repeat(part=Release(label="second", mechanism=NOISE), times=2)),
    key="arrival",
)


def record(*steps: tuple[str, Gaussian, int], seed: int = 1) -> tuple[Released, ...]:
    recorder = Recorder(np.random.default_rng(seed))
    for label, mechanism, times in steps:
        recorder.release(label, mechanism, np.zeros((3, 4)), times)
    return recorder.trace()


def test_a_run_that_does_what_it_declares_has_no_findings() -> None:
    assert admit(TREE, record(("first", NOISE, 1), ("second", NOISE, 1), ("second", NOISE, 1))) == ()


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        ([("first", NOISE, 1), ("second", NOISE, 2), ("third", NOISE, 1)], "DPA213"),
        ([("first", NOISE, 1)], "DPA213"),
        ([("first", NOISE.scaled(0.9), 1), ("second", NOISE, 2)], "DPA212"),
        ([("first", NOISE, 1), ("second", NOISE, 3)], "DPA213"),
    ],
)
def test_each_difference_is_found_by_its_rule(steps: list[tuple[str, Gaussian, int]], rule: str) -> None:
    assert [finding.rule for finding in admit(TREE, record(*steps))] == [rule]


def test_the_same_noise_under_two_labels_is_found_even_when_rescaled() -> None:
    first = Recorder(np.random.default_rng(7))
    second = Recorder(np.random.default_rng(7))
    first.release("a", NOISE, np.zeros((3, 4)))
    second.release("b", NOISE.scaled(5.0), np.ones((3, 4)))
    tree = Sequential(parts=(Release(label="a", mechanism=NOISE), Release(label="b", mechanism=NOISE.scaled(5.0))))
    findings = admit(tree, (*first.trace(), *second.trace()))
    assert [finding.rule for finding in findings] == ["DPA227"]


def test_leaves_that_share_a_label_and_cell_arrays_are_admitted() -> None:
    twice = Sequential(parts=(Release(label="first", mechanism=NOISE), Release(label="first", mechanism=NOISE)))
    assert admit(twice, record(("first", NOISE, 1), ("first", NOISE, 1))) == ()
    alone = Gaussian(stddev=2.0, l2_sensitivity=0.5, neighbours="add_remove")
    cells = Cells(inside=Release(label="cells", mechanism=NOISE), touched=Release(label="cell", mechanism=alone))
    assert admit(cells, record(("cells", NOISE, 1))) == ()
