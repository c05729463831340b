"""Defects of declarations, of runs and of certificates: what an author, an implementer or a forger gets wrong.

A scene is a declaration, its claim and what a run of it recorded; the sound scenes pass every check here.
"""
# ruff: noqa: E501 - a table reads best with a row on a line

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import dpaudit as dp
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import scaled
from dpaudit.model.trace import Released, admit
from dpaudit.verifier import verify
from mechanisms import JointGaussian, OneSidedWishart, SymmetricGaussian, TreeAggregation
from tests.mutation.inputs import CLAIM, INPUTS, NOTHING, epochs, gaussian, laplace, release


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What is declared, what is claimed, and what ran."""

    declaration: dp.Declaration
    claim: dp.Claim
    ran: tuple[Released, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredMutant:
    """A sound scene and a defective one."""

    name: str
    says: str
    sound: Scene
    defective: Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgedMutant:
    """A certificate whose field at `path` holds another value, sealed with a fresh digest."""

    name: str
    says: str
    of: str
    path: tuple[Any, ...]
    forge: Callable[[Any], Any]


@cache
def objections(scene: Scene) -> dict[str, str]:
    """Return what stands against a scene, by the check that says so; empty for a sound one."""
    found: dict[str, str] = {}
    try:
        if scene.ran:
            for finding in admit(scene.declaration, scene.ran):
                found.setdefault(f"trace admission, {finding.rule}", finding.message)
        certificate = dp.certify(scene.declaration, scene.claim)
    except (dp.DPAuditError, ValueError) as error:
        return found | {"refused by name": str(error)}
    if certificate.verdict not in ("certified", "stated"):
        found[f"verdict {certificate.verdict.replace('_', ' ')}"] = certificate.reasons[0]
    if certificate.printed is not None and not certificate.printed.valid:
        problem = certificate.printed.problems[0]
        found[f"printed argument, rule {problem.rule.replace('_', ' ')}"] = problem.message
    return found


@cache
def certified(name: str) -> str:
    """Return the sound certificate of an input."""
    return dp.certify(*INPUTS[name]).to_json()


def complaints(mutant: ForgedMutant) -> tuple[str, ...]:
    """Return what the checker contradicts, or does not confirm, in a forged certificate."""
    text = certified(mutant.of)
    assert verify(text).accepted
    data = json.loads(text)
    held = data
    for key in mutant.path[:-1]:
        held = held[key]
    held[mutant.path[-1]] = mutant.forge(held[mutant.path[-1]])
    verified = verify(json.dumps(data | {"digest": digest_of(data)}))
    return (*verified.complaints, *verified.unconfirmed)


def _ran(label: str, mechanism: Any, times: int = 1, noise: tuple[float, ...] | None = None) -> Released:
    return Released(label=label, mechanism=mechanism, times=times, fingerprint=noise)


def _scene(tree: dp.Declaration, claim: dp.Claim = CLAIM, *ran: Released) -> Scene:
    return Scene(declaration=tree, claim=claim, ran=ran)


def _tight(tree: dp.Declaration, claim: dp.Claim = CLAIM) -> dp.Declaration:
    """Return the tree with just enough noise for the claim."""
    from dpaudit import smallest_noise

    return scaled(tree, smallest_noise(tree, claim) * (1 + 1e-9))


def _table() -> tuple[tuple[str, str, Scene, Scene], ...]:
    joint = replace(CLAIM, model="joint")
    added = replace(CLAIM, neighbours="add_remove")
    two = dp.Sequential(parts=(release(gaussian(9.0), "a"), release(gaussian(9.0), "b")))
    both = (_ran("a", gaussian(9.0), 1, (0.6, 0.8)), _ran("b", gaussian(9.0), 1, (0.8, 0.6)))
    episodes, steps = 64, 5
    tree = release(TreeAggregation(horizon=episodes, leaf=gaussian(1.0, sensitivity=steps)), "counts")
    trees = _tight(dp.Repeat(part=tree, times=2 * steps))
    noise = trees.part.mechanism.leaf
    short = dp.Repeat(part=tree, times=2 * steps)
    stream = dp.Repeat(part=release(TreeAggregation(horizon=episodes, leaf=noise), "counts"), times=2 * steps)
    matrix = SymmetricGaussian(stddev=1.0, l2_sensitivity=math.sqrt(2), neighbours="replace_one")
    gram = _tight(release(matrix))
    wrong_gram = release(replace(matrix, stddev=gram.mechanism.stddev / math.sqrt(2)))
    pair = _tight(
        release(
            JointGaussian(matrix_stddev=1, vector_stddev=1, feature_bound=1, target_bound=1, neighbours="replace_one")
        )
    )
    low_pair = release(pair.mechanism.scaled(math.sqrt(2 / 4.5)))
    sampled = _sampled(0.01)
    loose = replace(added, epsilon=2.0)
    half = epochs()
    assert isinstance(half, dp.Billboard)
    k = 400
    small = 1 / math.sqrt(8 * k * math.log(2e5))
    part = dp.Stated(epsilon=small, delta=1e-5 / (2 * k), source="an arm")
    shorthand = dp.Repeat(part=part, times=k, printed=dp.Printed(rule="advanced_short", epsilon=1.0, delta=1e-5))
    advanced = dp.Repeat(
        part=dp.Stated(epsilon=0.01, source="an arm"),
        times=k,
        printed=dp.Printed(rule="advanced", epsilon=1.1, delta=1e-5),
    )
    wide = replace(CLAIM, epsilon=1.1)
    return (
        ("B3d", "a removed record's sensitivity under a replacement claim", _scene(release(gaussian(4.0))),
         _scene(release(gaussian(4.0, "add_remove")))),
        ("B12", "a matrix from a tree's L2 distance: levels for the root of levels", _scene(stream),
         _scene(dp.Repeat(part=release(TreeAggregation(horizon=episodes, leaf=noise.scaled(1 / 2.6)), "counts"), times=10))),
        ("B15", "validated at the physical, run at the effective batch", _scene(sampled, loose),
         _scene(_sampled(0.08), loose)),
        ("B16", "the sample rate is off by the size of a shard", _scene(sampled, loose),
         _scene(_sampled(0.781), loose)),
        ("B17d", "parallel parts although one person's records lie in all of them",
         _scene(dp.Parallel(parts=two.parts, key="arm")), _scene(dp.Group(part=dp.Parallel(parts=two.parts, key="arm"), size=4))),
        ("D1", "2H trees declared as one", _scene(stream), _scene(short)),
        ("D2", "episodes counted, steps forgotten in the sensitivity", _scene(stream),
         _scene(dp.Repeat(part=release(TreeAggregation(horizon=episodes, leaf=replace(noise, stddev=noise.stddev / steps))), times=10))),
        ("D3", "the tree's capacity is the number of users although removals are fed, too", _scene(stream),
         _scene(dp.Repeat(part=release(TreeAggregation(horizon=episodes, leaf=noise, signs=(1, -1))), times=10))),
        ("D4", "sqrt 2 saved by (Z + Z^T) / 2", _scene(gram), _scene(wrong_gram)),
        ("D5", "Gram matrix and target with the sensitivity of each alone", _scene(pair), _scene(low_pair)),
        ("D6", "one-sided Wishart claimed pure", _scene(dp.Sequential(parts=(release(laplace(9.0)), NOTHING)), replace(CLAIM, delta=0.0)),
         _scene(release(OneSidedWishart(dimension=2, scale=9.0, trace_sensitivity=1.0, neighbours="replace_one")),
                replace(CLAIM, delta=0.0))),
        ("D7", "Gaussian noise claimed pure", _scene(dp.Sequential(parts=(release(laplace(9.0)), NOTHING)), replace(CLAIM, delta=0.0)),
         _scene(release(gaussian(9.0)), replace(CLAIM, delta=0.0))),
        ("D8", "joint protection sold as central", _scene(dp.Billboard(part=release(gaussian(4.0))), joint),
         _scene(dp.Billboard(part=release(gaussian(4.0))))),
        ("D9", "central noise sold as local", _scene(dp.Local(part=dp.Sequential(parts=(release(laplace(9.0)), NOTHING))), replace(CLAIM, model="local")),
         _scene(dp.Sequential(parts=(release(laplace(9.0)), NOTHING)), replace(CLAIM, model="local"))),
        ("D10", "Poisson amplification under replacement", _scene(sampled, loose),
         _scene(_sampled(0.01, "replace_one"), replace(CLAIM, epsilon=2.0))),
        ("D11", "classic Gaussian beyond epsilon 1", _scene(half, joint), _scene(_at_three(), replace(joint, epsilon=3.0))),
        ("D12", "classic Gaussian without ln(1.25)", _scene(half, joint), _scene(scaled(half, 0.7), joint)),
        ("D13", "more epochs than slots", _scene(half, joint), _scene(epochs(count=8), joint)),
        ("D14", "delta not split over the epochs", _scene(half, joint), _scene(_undivided(), joint)),
        ("D15", "a billboard's rule without a billboard", _scene(half, joint),
         _scene(dp.Repeat(part=half.part, times=1, printed=half.printed), joint)),
        ("D16", "the argument ends above the claim", _scene(half, joint), _scene(half, replace(joint, epsilon=0.9))),
        ("D17", "the shorthand beyond epsilon 1", _scene(shorthand),
         _scene(replace(shorthand, part=replace(part, epsilon=2 * small), printed=dp.Printed(rule="advanced_short", epsilon=2.0, delta=1e-5)),
                replace(CLAIM, epsilon=2.0))),
        ("D18", "the shorthand with delta / k", _scene(shorthand), _scene(replace(shorthand, part=replace(part, delta=1e-5 / k)))),
        ("D19", "advanced composition with half the parts", _scene(advanced, wide), _scene(replace(advanced, times=2 * k), wide)),
        ("D20", "advanced composition with nothing left of delta", _scene(advanced, wide),
         _scene(replace(advanced, part=dp.Stated(epsilon=0.001, delta=1e-5 / k, source="an arm")), wide)),
        ("D21", "an unknown rule is cited", _scene(shorthand),
         _scene(replace(shorthand, printed=dp.Printed(rule="advanced_folklore", epsilon=1.0, delta=1e-5)))),
        ("D22", "a vendor's epsilon counted once for four uses", _scene(dp.Stated(epsilon=0.4, source="a vendor")),
         _scene(dp.Repeat(part=dp.Stated(epsilon=0.4, source="a vendor"), times=4))),
        ("T1", "noise half as large as declared", _scene(two, CLAIM, *both), _scene(two, CLAIM, _ran("a", gaussian(4.5)), both[1])),
        ("T2", "a release nobody declared", _scene(two, CLAIM, *both), _scene(two, CLAIM, *both, _ran("debug", gaussian(9.0)))),
        ("T3", "one release too many", _scene(two, CLAIM, *both), _scene(two, CLAIM, *both, _ran("b", gaussian(9.0)))),
        ("T4", "a declared release that never ran", _scene(two, CLAIM, *both), _scene(two, CLAIM, both[0])),
        ("T5", "the same noise under two labels", _scene(two, CLAIM, *both),
         _scene(two, CLAIM, both[0], _ran("b", gaussian(9.0), 1, (0.6, 0.8)))),
        ("T6", "a larger clipping norm than declared", _scene(two, CLAIM, *both),
         _scene(two, CLAIM, _ran("a", gaussian(9.0, sensitivity=2.0)), both[1])),
        ("T7", "Laplace where Gaussian noise is declared", _scene(two, CLAIM, *both), _scene(two, CLAIM, _ran("a", laplace(9.0)), both[1])),
        ("T8", "sensitivity stated for another relation in the run", _scene(two, CLAIM, *both),
         _scene(two, CLAIM, _ran("a", gaussian(9.0, "add_remove")), both[1])),
    )  # fmt: skip


def _sampled(rate: float, neighbours: Neighbours = "add_remove") -> dp.Declaration:
    """A hundred sampled Gaussian releases, beside something that costs nothing so that no slack is searched."""
    part = dp.Subsample(part=release(gaussian(1.0, neighbours)), rate=rate)
    return dp.Sequential(parts=(dp.Repeat(part=part, times=100), NOTHING))


def _at_three() -> dp.Declaration:
    """The printed argument of one epoch, at epsilon 3 with the classic formula."""
    stddev = math.sqrt(2 * math.log(1.25e5)) / 3
    leaf = dp.Printed(rule="classic_gaussian", epsilon=3.0, delta=1e-5)
    return dp.Billboard(
        part=release(gaussian(stddev), printed=leaf), printed=dp.Printed(rule="billboard", epsilon=3.0, delta=1e-5)
    )


def _undivided() -> dp.Declaration:
    """The printed argument with the whole delta for each epoch."""
    tree = epochs()
    assert isinstance(tree, dp.Billboard)

    def change(node: Any) -> Any:
        if isinstance(node, dp.Release) and node.printed is not None:
            return replace(node, printed=replace(node.printed, delta=1e-5))
        if isinstance(node, dp.Parallel):
            return replace(node, parts=tuple(change(child) for child in node.parts))
        return replace(node, part=change(node.part))

    return change(tree)


DECLARED: tuple[DeclaredMutant, ...] = tuple(
    DeclaredMutant(name=name, says=says, sound=sound, defective=defective) for name, says, sound, defective in _table()
)

FORGED: tuple[ForgedMutant, ...] = tuple(
    ForgedMutant(name=name, says=says, of=of, path=path, forge=forge)
    for name, says, of, path, forge in (
        ("X1", "both bounds on epsilon halved", "gaussian", ("tight", "epsilon"), lambda v: {k: x / 2 for k, x in v.items()}),
        ("X2", "both bounds on delta a thousandth smaller", "gaussian", ("tight", "delta"), lambda v: {k: x * 0.999 for k, x in v.items()}),
        ("X3", "certified turned into not proved", "gaussian", ("verdict",), lambda v: "not_proved"),
        ("X4", "twice the noise in the declaration", "tree", ("declaration", "mechanism", "leaf", "stddev"), lambda v: 2 * v),
        ("X5", "a level of the tree left out", "tree", ("declaration", "mechanism", "horizon"), lambda v: v // 2),
        ("X6", "fewer repetitions", "gaussian x 100", ("declaration", "times"), lambda v: v - 5),
        ("X7", "a smaller group", "group", ("declaration", "size"), lambda v: v - 1),
        ("X8", "a condition struck out", "cells", ("conditions",), lambda v: v[1:]),
        ("X9", "parallel made of a sequence", "gaussian and laplace", ("declaration", "node"), lambda v: "parallel"),
        ("X10", "another relation in the claim", "gaussian", ("claim", "neighbours"), lambda v: "add_remove"),
        ("X11", "a smaller claimed delta", "gaussian", ("claim", "delta"), lambda v: v / 10),
        ("X12", "the printed reading called invalid", "epochs", ("printed", "valid"), lambda v: not v),
        ("X13", "a slack factor doubled", "epochs", ("slack", "factors", 0, "factor"), lambda v: 2 * v),
        ("X14", "a finding added to a certified one", "gaussian", ("findings",), lambda v: [{"rule": "DPA213", "where": "x", "message": "x"}]),
        ("X15", "the vendor's epsilon lowered", "stated twice", ("declaration", "part", "epsilon"), lambda v: v / 2),
        ("X16", "a local claim made central for secret presence", "local", ("claim",), lambda v: v | {"model": "central", "neighbours": "add_remove"}),
    )
)  # fmt: skip
