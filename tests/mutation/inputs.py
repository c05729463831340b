"""The inputs on which a defect shows, by name; the same ones are put to dp-accounting."""

import math

from dpaudit import (
    Billboard,
    Cells,
    Claim,
    Declaration,
    Group,
    Local,
    Parallel,
    PostProcess,
    Printed,
    Release,
    Repeat,
    Sequential,
    Stated,
    Subsample,
)
from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Mechanism
from mechanisms import (
    Exponential,
    Gaussian,
    JointGaussian,
    Laplace,
    OneSidedWishart,
    RandomisedResponse,
    ReportNoisyMax,
    SymmetricGaussian,
    TreeAggregation,
)

CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", unit="one visit")
NOTHING = Stated(epsilon=0.0, source="nobody")
"""Costs nothing; beside it no slack is computed, which saves seconds where that takes a search."""


def gaussian(stddev: float, neighbours: Neighbours = "replace_one", sensitivity: float = 1.0) -> Gaussian:
    return Gaussian(stddev=stddev, l2_sensitivity=sensitivity, neighbours=neighbours)


def laplace(scale: float, neighbours: Neighbours = "replace_one") -> Laplace:
    return Laplace(scale=scale, l1_sensitivity=1.0, neighbours=neighbours)


def release(mechanism: Mechanism, label: str = "sum", printed: Printed | None = None) -> Release:
    return Release(label=label, mechanism=mechanism, printed=printed)


def epochs(count: int = 5, horizon: int = 1000) -> Declaration:
    """A bandit's argument as papers print it: a classic Gaussian for each epoch, basic composition, a billboard."""
    slots = math.log(horizon)
    stddev = slots * math.sqrt(2 * math.log(1.25 * slots / 1e-5))
    leaf = Printed(rule="classic_gaussian", epsilon=1 / slots, delta=1e-5 / slots)
    parts = tuple(release(gaussian(stddev), f"epoch {i}", leaf) for i in range(count))
    basic = Printed(rule="basic", epsilon=1.0, delta=1e-5, slots=slots)
    return Billboard(
        part=PostProcess(
            part=Parallel(parts=parts, key="the arrival time", printed=basic),
            steps=("choosing actions",),
            printed=Printed(rule="post_processing", epsilon=1.0, delta=1e-5),
        ),
        reads=("their own context",),
        printed=Printed(rule="billboard", epsilon=1.0, delta=1e-5),
    )


INPUTS: dict[str, tuple[Declaration, Claim]] = {
    "gaussian": (release(gaussian(4.0)), CLAIM),
    "gaussian x 100": (Repeat(part=release(gaussian(40.0)), times=100), CLAIM),
    "laplace": (Sequential(parts=(release(laplace(2.0)), NOTHING)), CLAIM),
    "laplace x 20": (Sequential(parts=(Repeat(part=release(laplace(20.0)), times=20), NOTHING)), CLAIM),
    "laplace x 1000": (Sequential(parts=(Repeat(part=release(laplace(10.0)), times=1000), NOTHING)), CLAIM),
    "gaussian and laplace": (
        Sequential(parts=(release(gaussian(9.0), "a"), release(laplace(20.0), "b"), NOTHING)),
        CLAIM,
    ),
    "response": (
        Sequential(parts=(Repeat(part=release(RandomisedResponse(epsilon=0.1)), times=30), NOTHING)),
        CLAIM,
    ),
    "tree": (release(TreeAggregation(horizon=100, leaf=gaussian(11.0))), CLAIM),
    "pure tree": (
        Sequential(parts=(release(TreeAggregation(horizon=20, leaf=laplace(10.0))), NOTHING)),
        CLAIM,
    ),
    "cells": (
        Cells(inside=release(gaussian(5.5), "in"), touched=release(gaussian(5.5, "add_remove"), "out")),
        CLAIM,
    ),
    "group": (Group(part=Repeat(part=release(gaussian(40.0)), times=7), size=3), CLAIM),
    "parallel": (
        Sequential(
            parts=(
                Parallel(parts=(release(gaussian(5.0), "a"), release(laplace(3.0), "b")), key="the arm shown"),
                NOTHING,
            )
        ),
        CLAIM,
    ),
    "stated twice": (
        Repeat(part=Stated(epsilon=0.2, delta=1e-6, source="the vendor"), times=4),
        CLAIM,
    ),
    "local": (
        Local(part=Sequential(parts=(release(RandomisedResponse(epsilon=0.9)), NOTHING))),
        Claim(epsilon=1.0, neighbours="replace_one", model="local"),
    ),
    "epochs": (epochs(), Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", model="joint")),
    "sampled": (
        Sequential(
            parts=(
                Repeat(part=Subsample(part=release(gaussian(1.0, "add_remove")), rate=0.01), times=100),
                NOTHING,
            )
        ),
        Claim(epsilon=2.0, delta=1e-5, neighbours="add_remove"),
    ),
    "sampled twice inside": (
        Repeat(part=Subsample(part=Repeat(part=release(gaussian(1, "add_remove")), times=100), rate=0.01), times=10),
        Claim(epsilon=1000.0, delta=1e-5, neighbours="add_remove"),
    ),
    "exponential": (
        Repeat(part=release(Exponential(epsilon=0.1, linf_sensitivity=1.0, neighbours="add_remove")), times=50),
        Claim(epsilon=5.0, delta=1e-5, neighbours="add_remove"),
    ),
    "noisy max": (
        Sequential(
            parts=(
                release(ReportNoisyMax(scale=4.0, linf_sensitivity=1.0, neighbours="replace_one")),
                NOTHING,
            )
        ),
        CLAIM,
    ),
    "symmetric": (
        release(SymmetricGaussian(stddev=8.0, l2_sensitivity=math.sqrt(2), neighbours="replace_one")),
        CLAIM,
    ),
    "joint gaussian": (
        release(
            JointGaussian(
                matrix_stddev=9.0, vector_stddev=9.0, feature_bound=1.0, target_bound=1.0, neighbours="replace_one"
            )
        ),
        CLAIM,
    ),
    "wishart": (
        release(OneSidedWishart(dimension=2, scale=4.5, trace_sensitivity=1.0, neighbours="replace_one")),
        Claim(epsilon=1.0, neighbours="replace_one"),
    ),
}
