"""The inputs on which a defect shows, by name; the same ones are put to dp-accounting."""

import math

import dpaudit as dp
import mechanisms
from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Mechanism

CLAIM = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", unit="one visit")
NOTHING = dp.Stated(epsilon=0.0, source="nobody")
"""Costs nothing; beside it no slack is computed, which saves seconds where that takes a search."""


def gaussian(stddev: float, neighbours: Neighbours = "replace_one", sensitivity: float = 1.0) -> mechanisms.Gaussian:
    return mechanisms.Gaussian(stddev=stddev, l2_sensitivity=sensitivity, neighbours=neighbours)


def laplace(scale: float, neighbours: Neighbours = "replace_one") -> mechanisms.Laplace:
    return mechanisms.Laplace(scale=scale, l1_sensitivity=1.0, neighbours=neighbours)


def release(mechanism: Mechanism, label: str = "sum", printed: dp.Printed | None = None) -> dp.Release:
    return dp.Release(label=label, mechanism=mechanism, printed=printed)


def epochs(count: int = 5, horizon: int = 1000) -> dp.Declaration:
    """A bandit's argument as papers print it: a classic Gaussian for each epoch, basic composition, a billboard."""
    slots = math.log(horizon)
    stddev = slots * math.sqrt(2 * math.log(1.25 * slots / 1e-5))
    leaf = dp.Printed(rule="classic_gaussian", epsilon=1 / slots, delta=1e-5 / slots)
    parts = tuple(release(gaussian(stddev), f"epoch {i}", leaf) for i in range(count))
    basic = dp.Printed(rule="basic", epsilon=1.0, delta=1e-5, slots=slots)
    return dp.Billboard(
        part=dp.PostProcess(
            part=dp.Parallel(parts=parts, key="the arrival time", printed=basic),
            steps=("choosing actions",),
            printed=dp.Printed(rule="post_processing", epsilon=1.0, delta=1e-5),
        ),
        reads=("their own context",),
        printed=dp.Printed(rule="billboard", epsilon=1.0, delta=1e-5),
    )


INPUTS: dict[str, tuple[dp.Declaration, dp.Claim]] = {
    "gaussian": (release(gaussian(4.0)), CLAIM),
    "gaussian x 100": (dp.Repeat(part=release(gaussian(40.0)), times=100), CLAIM),
    "laplace": (dp.Sequential(parts=(release(laplace(2.0)), NOTHING)), CLAIM),
    "laplace x 20": (dp.Sequential(parts=(dp.Repeat(part=release(laplace(20.0)), times=20), NOTHING)), CLAIM),
    "laplace x 1000": (dp.Sequential(parts=(dp.Repeat(part=release(laplace(10.0)), times=1000), NOTHING)), CLAIM),
    "gaussian and laplace": (
        dp.Sequential(parts=(release(gaussian(9.0), "a"), release(laplace(20.0), "b"), NOTHING)),
        CLAIM,
    ),
    "response": (
        dp.Sequential(parts=(dp.Repeat(part=release(mechanisms.RandomisedResponse(epsilon=0.1)), times=30), NOTHING)),
        CLAIM,
    ),
    "tree": (release(mechanisms.TreeAggregation(horizon=100, leaf=gaussian(11.0))), CLAIM),
    "pure tree": (
        dp.Sequential(parts=(release(mechanisms.TreeAggregation(horizon=20, leaf=laplace(10.0))), NOTHING)),
        CLAIM,
    ),
    "cells": (
        dp.Cells(inside=release(gaussian(5.5), "in"), touched=release(gaussian(5.5, "add_remove"), "out")),
        CLAIM,
    ),
    "group": (dp.Group(part=dp.Repeat(part=release(gaussian(40.0)), times=7), size=3), CLAIM),
    "parallel": (
        dp.Sequential(
            parts=(
                dp.Parallel(parts=(release(gaussian(5.0), "a"), release(laplace(3.0), "b")), key="the arm shown"),
                NOTHING,
            )
        ),
        CLAIM,
    ),
    "stated twice": (dp.Repeat(part=dp.Stated(epsilon=0.2, delta=1e-6, source="the vendor"), times=4), CLAIM),
    "local": (
        dp.Local(part=dp.Sequential(parts=(release(mechanisms.RandomisedResponse(epsilon=0.9)), NOTHING))),
        dp.Claim(epsilon=1.0, neighbours="replace_one", model="local"),
    ),
    "epochs": (epochs(), dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", model="joint")),
    "sampled": (
        dp.Sequential(
            parts=(
                dp.Repeat(part=dp.Subsample(part=release(gaussian(1.0, "add_remove")), rate=0.01), times=100),
                NOTHING,
            )
        ),
        dp.Claim(epsilon=2.0, delta=1e-5, neighbours="add_remove"),
    ),
    "sampled twice inside": (
        dp.Repeat(
            part=dp.Subsample(part=dp.Repeat(part=release(gaussian(1, "add_remove")), times=100), rate=0.01), times=10
        ),
        dp.Claim(epsilon=1000.0, delta=1e-5, neighbours="add_remove"),
    ),
    "exponential": (
        dp.Repeat(
            part=release(mechanisms.Exponential(epsilon=0.1, linf_sensitivity=1.0, neighbours="add_remove")), times=50
        ),
        dp.Claim(epsilon=5.0, delta=1e-5, neighbours="add_remove"),
    ),
    "noisy max": (
        dp.Sequential(
            parts=(
                release(mechanisms.ReportNoisyMax(scale=4.0, linf_sensitivity=1.0, neighbours="replace_one")),
                NOTHING,
            )
        ),
        CLAIM,
    ),
    "symmetric": (
        release(mechanisms.SymmetricGaussian(stddev=8.0, l2_sensitivity=math.sqrt(2), neighbours="replace_one")),
        CLAIM,
    ),
    "joint gaussian": (
        release(
            mechanisms.JointGaussian(
                matrix_stddev=9.0, vector_stddev=9.0, feature_bound=1.0, target_bound=1.0, neighbours="replace_one"
            )
        ),
        CLAIM,
    ),
    "wishart": (
        release(mechanisms.OneSidedWishart(dimension=2, scale=4.5, trace_sensitivity=1.0, neighbours="replace_one")),
        dp.Claim(epsilon=1.0, neighbours="replace_one"),
    ),
}
