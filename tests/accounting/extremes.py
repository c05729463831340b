"""Declarations at the edge of what floating point and memory hold: each certified in a process with limits.

`python tests/accounting/extremes.py NAME ...` prints a row of JSON for each: name, processor seconds, verdict and the
four ends of its brackets, or the line of its error.
"""

import json
import math
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpaudit as dp
import mechanisms
from dpaudit.errors import DPAuditError
from dpaudit.model.codec import decode_declaration

Case = tuple[Callable[[], dp.Declaration], dp.Claim]
GIBIBYTE = 1 << 30
CLAIM = dp.Claim(epsilon=1.0, delta=1e-6, neighbours="replace_one")
SAMPLED = dp.Claim(epsilon=1.0, delta=1e-6, neighbours="add_remove")


def gaussian(stddev: float, label: str = "sum", neighbours: Any = "replace_one") -> dp.Declaration:
    """A query that moves by 1."""
    return dp.Release(
        label=label, mechanism=mechanisms.Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours)
    )


def laplace(scale: float, label: str = "sum") -> dp.Declaration:
    """A query that moves by 1."""
    return dp.Release(
        label=label, mechanism=mechanisms.Laplace(scale=scale, l1_sensitivity=1.0, neighbours="replace_one")
    )


def sampled(rate: float, stddev: float, times: int) -> dp.Declaration:
    """Steps of DP-SGD."""
    return dp.Repeat(part=dp.Subsample(part=gaussian(stddev, neighbours="add_remove"), rate=rate), times=times)


def responses(epsilon: float, times: int) -> dp.Declaration:
    """A bit told so often."""
    noise = mechanisms.RandomisedResponse(epsilon=epsilon, neighbours="replace_one")
    return dp.Repeat(part=dp.Release(label="bit", mechanism=noise), times=times)


def whole(mechanism: Any, times: int = 1) -> dp.Declaration:
    """Noise on whole numbers."""
    return dp.Repeat(part=dp.Release(label="count", mechanism=mechanism), times=times)


def nested(part: dp.Declaration, around: Callable[[dp.Declaration], dp.Declaration], times: int) -> dp.Declaration:
    """A part inside of so many nodes."""
    for _ in range(times):
        part = around(part)
    return part


def many(release: Callable[[float], dp.Declaration], number: int) -> dp.Declaration:
    """Releases of so many distinct scales."""
    return dp.Sequential(parts=tuple(release(1000.0 + i) for i in range(number)))


def either(number: int) -> dp.Declaration:
    """So many rounds, each of one of two kinds of noise."""
    pairs = ((gaussian(50.0 + i, f"a{i}"), laplace(30.0 + i, f"b{i}")) for i in range(number))
    return dp.Sequential(parts=tuple(dp.Parallel(parts=pair, key="the day of arrival") for pair in pairs))


def trees(times: int) -> dp.Declaration:
    """A tree as the leaf of a tree, and so on."""
    noise: Any = mechanisms.Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one")
    for _ in range(times):
        noise = mechanisms.TreeAggregation(horizon=2, leaf=noise)
    return dp.Release(label="tree", mechanism=noise)


def spelt(**data: Any) -> dp.Declaration:
    """A declaration from JSON."""
    return decode_declaration(data, "replace_one")


def lattice_laplace(scale: float, moved: int) -> mechanisms.DiscreteLaplace:
    """Two-sided geometric noise."""
    return mechanisms.DiscreteLaplace(scale=scale, l1_sensitivity=moved, neighbours="replace_one")


def lattice_gaussian(stddev: float) -> mechanisms.DiscreteGaussian:
    """Discrete Gaussian noise for a count."""
    return mechanisms.DiscreteGaussian(stddev=stddev, l2_sensitivity=1, neighbours="replace_one")


def calibrated() -> dp.Declaration:
    """Discrete Gaussian noise so small that less of it leaves the mechanism's range."""
    claim = dp.Claim(epsilon=16.0, delta=1e-5, neighbours="replace_one")
    return whole(mechanisms.DiscreteGaussian.calibrated(claim, l2_sensitivity=1))


def mixed(scales: int) -> dp.Declaration:
    """A million events: Laplace and Gaussian noise of so many scales each, and black boxes as many."""
    parts: list[dp.Declaration] = []
    for i in range(scales):
        parts += [
            laplace(3e4 + i),
            gaussian(3e4 + i),
            dp.Stated(epsilon=1e-5 * (1 + i / scales), delta=1e-13, source="x"),
        ]
    return dp.Sequential(parts=tuple(dp.Repeat(part=part, times=333_334 // scales) for part in parts))


CASES: dict[str, Case] = {
    "ten thousand steps at rate .1": (
        lambda: sampled(0.1, 1.0, 10_000),
        dp.Claim(epsilon=0.5, delta=1e-6, neighbours="add_remove"),
    ),
    "rate .5, deviation 300": (lambda: sampled(0.5, 300.0, 1000), SAMPLED),
    "rate .5, deviation 300, once": (lambda: sampled(0.5, 300.0, 1), SAMPLED),
    "rate .5, deviation 1e5": (lambda: sampled(0.5, 1e5, 10_000), SAMPLED),
    "sampled, deviation .03": (lambda: sampled(0.01, 0.03, 100), SAMPLED),
    "sampled, deviation .001": (lambda: sampled(0.01, 0.001, 10), SAMPLED),
    "sampled, deviation 1e-6": (lambda: sampled(0.5, 1e-6, 10), SAMPLED),
    "rate 1e-300": (lambda: sampled(1e-300, 1.0, 10), SAMPLED),
    "rate 1e-12, 1e9 times": (lambda: sampled(1e-12, 1.0, 10**9), SAMPLED),
    "a Laplace loss of 1e6": (lambda: laplace(1e-6), CLAIM),
    "a Laplace loss of 1e6, ten times": (lambda: dp.Repeat(part=laplace(1e-6), times=10), CLAIM),
    "a Laplace loss of 1e6 beside a small one": (lambda: dp.Sequential(parts=(laplace(1e-6), gaussian(3.0))), CLAIM),
    "mu 1e-140": (lambda: gaussian(1e140), CLAIM),
    "mu 1e-140 beside noise": (lambda: dp.Sequential(parts=(laplace(3.0), gaussian(1e140))), CLAIM),
    "mu 1e140": (lambda: gaussian(1e-140), CLAIM),
    "mu 1e140 beside noise": (lambda: dp.Sequential(parts=(laplace(3.0), gaussian(1e-140))), CLAIM),
    "mu 1e4 beside noise": (lambda: dp.Sequential(parts=(laplace(3.0), gaussian(1e-4))), CLAIM),
    "deviation 1e308": (lambda: gaussian(1e308), CLAIM),
    "deviation 1e-308": (lambda: gaussian(1e-308), CLAIM),
    "deviation 5e-324": (lambda: gaussian(5e-324), CLAIM),
    "scale 1e308": (lambda: laplace(1e308), CLAIM),
    "scale 1e-308": (lambda: laplace(1e-308), CLAIM),
    "scale 5e-324": (lambda: laplace(5e-324), CLAIM),
    "forty rounds of two kinds": (lambda: either(40), CLAIM),
    "thirty repeats of 1e9": (lambda: nested(laplace(3.0), lambda p: dp.Repeat(part=p, times=10**9), 30), CLAIM),
    "four hundred nodes deep": (lambda: nested(laplace(3.0), lambda p: dp.Sequential(parts=(p,)), 400), CLAIM),
    "a group of 2^31": (lambda: dp.Group(part=gaussian(5.0), size=2**31), CLAIM),
    "randomised response 1e-12, 1e9 times": (lambda: responses(1e-12, 10**9), CLAIM),
    "discrete Gaussian 1000, a hundred times": (lambda: whole(lattice_gaussian(1000.0), 100), CLAIM),
    "discrete Gaussian 100 at epsilon 12": (
        lambda: whole(lattice_gaussian(100.0)),
        dp.Claim(epsilon=12.0, delta=1e-5, neighbours="replace_one"),
    ),
    "discrete Gaussian calibrated for epsilon 16": (
        calibrated,
        dp.Claim(epsilon=16.0, delta=1e-5, neighbours="replace_one"),
    ),
    "discrete Laplace 1e6": (lambda: whole(lattice_laplace(1e6, 1), 100), CLAIM),
    "discrete Laplace moved by 1e6": (lambda: whole(lattice_laplace(1.0, 10**6)), CLAIM),
    "three hundred nested trees": (lambda: trees(300), CLAIM),
    "stated 800 in a group": (lambda: dp.Group(part=dp.Stated(epsilon=800.0, delta=1e-10, source="x"), size=10), CLAIM),
    "a node that is a table": (lambda: spelt(node={}), CLAIM),
    "a step that is a list": (
        lambda: spelt(node="post_process", steps=[[]], part={"node": "stated", "epsilon": 0.1, "source": "x"}),
        CLAIM,
    ),
    "no steps": (lambda: dp.PostProcess(part=laplace(3.0)), CLAIM),
    "1e4 Laplace scales": (lambda: many(laplace, 10_000), CLAIM),
    "1e6 events of three kinds": (lambda: mixed(1), CLAIM),
    "1e6 events of three hundred kinds": (lambda: mixed(100), CLAIM),
    "1e5 Gaussian scales": (lambda: many(gaussian, 100_000), CLAIM),
}
SLOW = (
    "1e6 events of three hundred kinds",
    "discrete Gaussian 1000, a hundred times",
    "1e4 Laplace scales",
    "1e5 Gaussian scales",
    "rate 1e-12, 1e9 times",
    "randomised response 1e-12, 1e9 times",
    "rate .5, deviation 1e5",
    "forty rounds of two kinds",
    "sampled, deviation .001",
    "discrete Gaussian 100 at epsilon 12",
)
"""What takes seconds."""


def outcome(name: str) -> dict[str, Any]:
    """The row of one case."""
    start = time.process_time()
    tree, claim = CASES[name]
    row: dict[str, Any] = {"name": name}
    try:
        tight = (certificate := dp.certify(tree(), claim)).tight
        row["verdict"] = certificate.verdict
        ends = (tight.epsilon.lower, tight.epsilon.upper, tight.delta.lower, tight.delta.upper)
        row["ends"] = ["inf" if end == math.inf else end for end in ends]
    except (DPAuditError, ValueError) as error:
        row["error"] = str(error)
    row["seconds"] = time.process_time() - start
    row["peak"] = peak()
    return row


def peak() -> int:
    """Return the most memory that this process has held, in bytes; `getrusage` would count the parent's as well."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) << 10


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (2 * GIBIBYTE, 2 * GIBIBYTE))
    for wanted in sys.argv[1:]:
        sys.stdout.write(json.dumps(outcome(wanted)) + "\n")
        sys.stdout.flush()
