"""Nests without a proved rule are refused by name, by the accountant and by the checker, each from its own table."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import laplace

import dpaudit as dp
from dpaudit.accounting.derivation.groups import chain
from dpaudit.accounting.derivation.walker import derived
from dpaudit.certification.derivation import derivation_of
from dpaudit.errors import UnsupportedError
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.codec import encode
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import Filtered
from dpaudit.model.losses import Composition, LaplaceLoss, MixtureLoss, SampledGaussianLoss
from dpaudit.verifier import verify
from mechanisms import Gaussian, Laplace
from tests.checker.proofs.folds import complaint, with_derivation

TOLD = dp.Stated(epsilon=0.5, source="a supplier")
Over = Callable[[dp.Declaration], dp.Declaration]


def noisy(stddev: float, neighbours: Neighbours = "replace_one") -> dp.Release:
    """Return a noisy sum."""
    return dp.Release(label="sum", mechanism=Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours))


def fixed(part: dp.Declaration, drawn: int = 2, whole: int = 10) -> dp.Subsample:
    """Return a part on a set of fixed size."""
    return dp.Subsample(part=part, rate=drawn / whole, scheme="without_replacement", population=whole, batch_size=drawn)


def cut(part: dp.Declaration) -> dp.Subsample:
    """Return a part on a Poisson sample that is cut."""
    return dp.Subsample(part=part, rate=0.2, scheme="truncated_poisson", population=10, batch_bound=4)


def copied(part: dp.Declaration) -> dp.Subsample:
    """Return a part on draws with replacement."""
    return dp.Subsample(part=part, rate=0.2, scheme="with_replacement", population=10, batch_size=2)


NODES: dict[str, Over] = {
    "sequential": lambda part: dp.Sequential(parts=(TOLD, part)),
    "repeat": lambda part: dp.Repeat(part=part, times=2),
    "post_process": lambda part: dp.PostProcess(part=part),
    "billboard": lambda part: dp.Billboard(part=part),
    "filtered": lambda part: Filtered(parts=(part,), rho=2.0),
    "group": lambda part: dp.Group(part=part, size=2),
    "parallel": lambda part: dp.Parallel(parts=(part,), key="the day"),
    "secret parallel": lambda part: dp.Parallel(parts=(part,), key="an order", visibility="secret"),
    "cells": lambda part: dp.Cells(inside=part, touched=part),
    "local": lambda part: dp.Local(part=part),
    "poisson": lambda part: dp.Subsample(part=part, rate=0.2),
    "without_replacement": fixed,
    "truncated_poisson": cut,
    "with_replacement": copied,
    "allocate": lambda part: dp.Allocate(part=part, steps=5),
    "shuffle": lambda part: dp.Shuffle(part=part, users=10),
    "best_of": lambda part: dp.BestOf(part=part, law="fixed", runs=3),
}


def nested(names: tuple[str, ...]) -> dp.Declaration | None:
    """Return nodes inside each other over a stated part; None where a node's own checks refuse it."""
    node: dp.Declaration = TOLD
    try:
        for name in reversed(names):
            node = NODES[name](node)
    except ValueError:
        return None
    return node


def refusal(node: dp.Declaration, neighbours: Neighbours) -> str:
    """Return the words of a refusal, empty where a tree has rules."""
    try:
        rows = derivation_of(derived(node, neighbours))
    except UnsupportedError as error:
        return str(error)
    return "no rule" if any(row.rule == "no rule" for row in rows) else ""


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_both_tables_allow_the_same_nests(neighbours: Neighbours) -> None:
    """Every three nodes inside each other, 4,096 nests: what is refused here is refused there, and nothing else."""
    differ = []
    for names in product(NODES, repeat=3):
        node = nested(names)
        if node is not None and bool(refusal(node, neighbours)) != bool(complaint(encode(node), neighbours)):
            differ.append(names)
    assert differ == []


REFUSED: dict[str, tuple[dp.Declaration, Neighbours, str]] = {
    "a set below a Poisson sample": (
        dp.Subsample(part=fixed(TOLD), rate=0.5),
        "replace_one",
        "'poisson' over 'without_",
    ),
    "a cut sample below a cut sample": (cut(cut(TOLD)), "add_remove", "number that nobody knows"),
    "a population that is no batch": (
        fixed(fixed(TOLD, 1, 5)),
        "replace_one",
        "batch_size=2, the inner one population=5",
    ),
    "two numbers that nobody says": (
        dp.Subsample(part=fixed(TOLD, 1, 5), rate=0.5, scheme="without_replacement"),
        "replace_one",
        "batch_size=None, the inner one population=5",
    ),
    "another record in another part": (fixed(NODES["parallel"](TOLD)), "replace_one", "may touch another part"),
    "another message in its place": (fixed(dp.Local(part=TOLD)), "replace_one", "two messages change"),
    "another part below a group of a sample of a set": (
        fixed(dp.Subsample(part=dp.Group(part=NODES["parallel"](TOLD), size=1), rate=0.5)),
        "replace_one",
        "'group' over 'parallel' under exchange: no rule",
    ),
    "persons who are told by the number of their records": (
        fixed(dp.Group(part=noisy(2.0), size=2)),
        "replace_one",
        "may own fewer records",
    ),
    "a repeated group at secret steps": (
        dp.Repeat(part=dp.Group(part=dp.PostProcess(part=dp.Allocate(part=TOLD, steps=3)), size=2), times=4),
        "add_remove",
        "'group' over 'allocate' under remove: no rule",
    ),
    "a sample below a message": (
        dp.Local(part=dp.Subsample(part=TOLD, rate=0.5)),
        "add_remove",
        "'local' over 'poisson'",
    ),
    "a billboard below a sample": (
        dp.Subsample(part=dp.Billboard(part=TOLD), rate=0.5),
        "replace_one",
        "put it on top",
    ),
    "a billboard between a group and secret steps": (
        dp.Group(part=dp.Billboard(part=dp.Allocate(part=TOLD, steps=5)), size=2),
        "replace_one",
        "'group' over 'allocate' under replace: no rule",
    ),
    "a shuffle of a removed user": (NODES["shuffle"](TOLD), "add_remove", "'shuffle' under remove: no rule"),
    "zeros in cells": (NODES["cells"](TOLD), "zero_out", "'cells' under zero: no rule"),
    "a set of all records": (fixed(TOLD, 10), "add_remove", "no set of this size is left"),
    "a set of a group that leaves too few": (dp.Group(part=fixed(TOLD, 9), size=2), "add_remove", "2 of its records"),
    "a set of groups of groups": (
        dp.Group(part=dp.Repeat(part=dp.Group(part=fixed(TOLD, 7), size=2), times=3), size=2),
        "add_remove",
        "4 of its records",
    ),
    "a rate alone": (dp.Subsample(part=TOLD, rate=1, scheme="without_replacement"), "add_remove", "a rate alone"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_nest_without_a_rule_is_refused_and_so_is_a_forged_certificate(case: str) -> None:
    """One nest of each kind of refusal, all nests being above: it names nodes and move, and so does the checker."""
    node, neighbours, said = REFUSED[case]
    with pytest.raises(UnsupportedError, match="no rule") as caught:
        dp.fold(node, neighbours)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    honest = dp.certify(noisy(2.0, neighbours), dp.Claim(epsilon=1.0, neighbours=neighbours, model="central"))
    assert verify(honest.to_json()).accepted
    data = honest.to_dict() | {"declaration": encode(node), "conditions": encode(conditions_of(node))}
    found = verify(json.dumps(data | {"digest": digest_of(data)}))
    assert found.complaints
    told = " ".join(found.complaints)
    assert any(words in told for words in ("no rule", "the rule there is", "view; the claim", "reasons follow")), told
    assert "no rule" in complaint(data["declaration"], neighbours)


ALONE = noisy(2.0, "add_remove")
ALLOWED: dict[str, tuple[dp.Declaration, Neighbours]] = {
    "a set of a set": (fixed(fixed(noisy(2.0), 1, 2)), "replace_one"),
    "a set of persons of one record": (fixed(dp.Group(part=noisy(2.0), size=1)), "replace_one"),
    "a group over a set": (dp.Group(part=dp.Repeat(part=fixed(noisy(2.0)), times=3), size=2), "add_remove"),
    "a group of groups over a set": (dp.Group(part=dp.Group(part=fixed(noisy(2.0)), size=2), size=4), "add_remove"),
    "a sample of secret steps": (dp.Subsample(part=dp.Allocate(part=ALONE, steps=4), rate=0.5), "add_remove"),
    "a group of a shuffle": (dp.Group(part=dp.Shuffle(part=TOLD, users=100), size=2), "replace_one"),
    "a group of parallel parts": (
        dp.Group(part=dp.Parallel(parts=(noisy(2.0), noisy(3.0)), key="the day"), size=2),
        "replace_one",
    ),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_a_nest_with_a_rule_is_certified_and_verified(case: str) -> None:
    """What is on the list has a finite end, which the checker confirms."""
    node, neighbours = ALLOWED[case]
    certificate = dp.certify(node, dp.Claim(epsilon=3.0, delta=1e-3, neighbours=neighbours), effort="quick")
    assert certificate.tight.epsilon.upper < 30
    assert verify(certificate.to_json()).accepted, verify(certificate.to_json())


def hypergeometric(records: int, drawn: int, whole: int) -> list[float]:
    """Return how many of a person's records a set of fixed size holds, counted out."""
    ways = [math.comb(records, j) * math.comb(whole - records, drawn - j) for j in range(min(records, drawn) + 1)]
    return [float(Fraction(way, math.comb(whole, drawn))) for way in ways]


@pytest.mark.parametrize(("records", "drawn", "whole"), [(2, 1, 3), (2, 4, 9), (3, 3, 6), (4, 5, 40)])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_removed_records_leave_a_set_by_a_hypergeometric_number(
    records: int, drawn: int, whole: int, epsilon: float
) -> None:
    """Both orders by half lines of Gaussian and Laplace sums; sigma .5, one record exchanged moves the sum by 1."""
    weights = hypergeometric(records, drawn, whole)
    count = dp.Release(label="count", mechanism=Laplace(scale=0.5, l1_sensitivity=1.0, neighbours="replace_one"))
    cuts = np.linspace(-8.0, 16.0, 24_001)
    for part, below in ((noisy(0.5), ndtr), (count, laplace.cdf)):
        mixed = sum(w * below(cuts - 2 * j) for j, w in enumerate(weights))
        alone, x = below(cuts), math.exp(epsilon)
        best = max(0.0, float(np.max((1 - mixed) - x * (1 - alone))), float(np.max(alone - x * mixed)))
        found = dp.bracket_delta(dp.fold(dp.Group(part=fixed(part, drawn, whole), size=records), "add_remove"), epsilon)
        assert best * (1 - 1e-9) <= found.upper <= best * (1 + 1e-4) + 1e-12


def test_the_binomial_number_of_a_poisson_sample_is_too_small_for_a_set() -> None:
    """n 3, m 1, k 2, mu 4, epsilon .5: .6245 is the truth, also in a repeat; a binomial number says .523."""
    one = fixed(noisy(0.25), 1, 3)
    for tree in (dp.Group(part=one, size=2), dp.Repeat(part=dp.Group(part=one, size=2), times=1)):
        assert dp.bracket_delta(dp.fold(tree, "add_remove"), 0.5).upper == pytest.approx(0.6245147, abs=1e-6)
    claim = dp.Claim(epsilon=0.5, delta=0.55, neighbours="add_remove")
    certificate = dp.certify(dp.Group(part=one, size=2), claim, effort="quick")
    assert certificate.verdict == "not_proved"
    forged = certificate.to_dict()
    forged["tight"]["delta"] |= {"upper": 0.56}
    verified = verify(json.dumps(forged | {"digest": digest_of(forged)}))
    assert not verified.accepted
    assert any("upper bound on delta" in said for said in (*verified.complaints, *verified.unconfirmed))


def test_a_curve_of_a_group_over_a_set_is_that_of_the_group() -> None:
    """A chain of removals keeps no population: the curve is the group's own one, and is refused where it has none."""
    certificate: dp.Certificate = dp.certify(
        fixed(noisy(0.25), 1, 3), dp.Claim(epsilon=0.5, delta=0.9, neighbours="add_remove")
    )
    table = certificate.curve("group", size=2)
    rows = [row for row in table.rows if float(row[0]) <= 0.5]
    assert rows[-1][2] >= 0.6245146
    with pytest.raises(UnsupportedError, match="no set of this size is left"):
        certificate.curve("group", size=3)
    steps = dp.certify(dp.Allocate(part=ALONE, steps=4), dp.Claim(epsilon=1.0, neighbours="add_remove"))
    with pytest.raises(UnsupportedError, match="'group' over 'allocate'"):
        steps.curve("group")


def test_a_rate_is_the_number_next_to_batch_over_population() -> None:
    """1/3 may be written as such; a rate next to it, and one that is rounded to 0, are refused with the right one."""
    assert fixed(TOLD, 1, 3).rate == 1 / 3
    for rate, drawn, whole in ((0.3333333333, 1, 3), (0.0, 9, 10**10), (0.95, 9, 10)):
        with pytest.raises(ValueError, match="to be batch_size / population") as caught:
            dp.Subsample(part=TOLD, rate=rate, scheme="without_replacement", population=whole, batch_size=drawn)
        assert repr(drawn / whole) in str(caught.value)


def test_a_set_of_fixed_size_states_both_sizes_or_neither() -> None:
    """A batch of .95 times 10 records is no number of records; a forged certificate of one is rejected, too."""
    noise = noisy(2.0)
    with pytest.raises(ValueError, match="Expected batch_size beside population=10"):
        dp.Subsample(part=noise, rate=0.95, scheme="without_replacement", population=10)
    with pytest.raises(ValueError, match="Expected population beside batch_size=10"):
        dp.Subsample(part=noise, rate=0.95, scheme="without_replacement", batch_size=10)
    rate_alone = dp.Subsample(part=noise, rate=0.95, scheme="without_replacement")
    data = dp.certify(rate_alone, dp.Claim(epsilon=3.0, delta=0.1, neighbours="replace_one")).to_dict()
    assert verify(json.dumps(data)).accepted
    for size in ("population", "batch_size"):
        forged = with_derivation(data | {"declaration": data["declaration"] | {size: 10}})
        found = verify(json.dumps(forged | {"digest": digest_of(forged)}))
        assert "belong together" in " ".join(found.complaints)


def test_the_loss_of_a_sample_has_no_group() -> None:
    """It does not say how many of a person's records it holds."""
    for loss in (
        SampledGaussianLoss(mu=1.0, rate=0.1),
        MixtureLoss(above=((0.0, 0.5), (1.0, 0.5)), below=((0.0, 1.0),)),
    ):
        with pytest.raises(UnsupportedError, match="nothing says how many"):
            chain(Composition.of(loss), 2)
    assert chain(Composition.of(LaplaceLoss(shift=1.0)), 2) == Composition.of(LaplaceLoss(shift=2.0))
