"""Prefix trees: node counts against enumeration, sums against plain sums, capacity, and the two ways to run one."""

import dataclasses
import math
from itertools import combinations, pairwise
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from dpaudit import Group, Release, bracket_delta, bracket_epsilon, fold
from dpaudit.model.claim import Neighbours
from dpaudit.model.codec import decode_mechanism
from dpaudit.model.losses import GaussianLoss, LaplaceLoss
from dpaudit.model.mechanism import AdditiveMechanism, Array
from mechanisms import DiscreteLaplace, Gaussian, Laplace, RandomisedResponse, SymmetricGaussian, TreeAggregation
from mechanisms._matrices.fenwick import node_values, prefix_sums, touched_nodes, worst_plan
from tests.narrowing import stddev_of

GAUSSIAN = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")
LAPLACE = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")


@dataclasses.dataclass(frozen=True)
class Ones:
    """A leaf whose noise is 1, so that a sum's noise is the number of its nodes."""

    name: ClassVar[str] = "ones"
    item_axes: ClassVar[int] = 0
    neighbours: Neighbours = "replace_one"

    def loss(self) -> GaussianLoss:
        return GaussianLoss(mu=1.0)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return value + 1.0

    def log_density(self, output: Array, value: Array) -> Array:
        return np.zeros(np.shape(output))

    def scaled(self, factor: float) -> "Ones":
        return self


def covered(node: int) -> range:
    """Return the elements of a node, from the definition."""
    return range(node - (node & -node) + 1, node + 1)


def enumerated(horizon: int, signs: tuple[int, ...], separation: float) -> int:
    """Return the largest sum of squared node counts over every admissible set of elements."""
    best = 0
    for used in range(1, len(signs) + 1):
        for elements in combinations(range(1, horizon + 1), used):
            if all(b - a >= separation for a, b in pairwise(elements)):
                counts = [
                    sum(sign for sign, element in zip(signs, elements, strict=False) if element in covered(node))
                    for node in range(1, horizon + 1)
                ]
                best = max(best, sum(count**2 for count in counts))
    return best


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 8, 9, 100, 128, 1000])
def test_an_element_touches_the_nodes_that_cover_it_and_the_first_touches_most(horizon: int) -> None:
    tree = TreeAggregation(horizon=horizon, leaf=GAUSSIAN)
    for element in {1, 2, 3, horizon // 2 + 1, horizon} & set(range(1, horizon + 1)):
        assert tree.touched(element) == tuple(n for n in range(1, horizon + 1) if element in covered(n))
    sizes = [len(touched_nodes(horizon, element)) for element in range(1, horizon + 1)]
    assert max(sizes) == sizes[0] == tree.levels == tree.squared_nodes == math.floor(math.log2(horizon)) + 1


def test_the_last_element_of_a_full_tree_touches_one_node_and_an_odd_one_more() -> None:
    assert touched_nodes(16, 16) == (16,)
    assert touched_nodes(15, 15) == (15,)
    assert touched_nodes(16, 15) == (15, 16)


@pytest.mark.parametrize("horizon", [*range(3, 40), 63, 64, 65, 139, 200, 255, 256, 300])
def test_an_element_and_its_removal_touch_the_largest_symmetric_difference_of_two_paths(horizon: int) -> None:
    paths = [set(touched_nodes(horizon, element)) for element in range(1, horizon + 1)]
    difference = max(len(first ^ second) for first, second in combinations(paths, 2))
    tree = TreeAggregation(horizon=horizon, leaf=LAPLACE, signs=(1, -1))
    assert tree.squared_nodes == difference
    # The closed form: L levels, two paths that share as little as they can.
    levels = horizon.bit_length()
    extra = sum(2 ** (levels - 1) + 2**level <= horizon for level in range(levels - 1))
    expected = 2 * levels - 3 if horizon == 2 ** (levels - 1) else max(2 * levels - 3, levels + extra)
    assert difference == expected <= 2 * levels - 1


def test_golden_symmetric_differences() -> None:
    counted = {n: TreeAggregation(horizon=n, leaf=LAPLACE, signs=(1, -1)).squared_nodes for n in (1005, 1050, 100_005)}
    assert counted == {1005: 19, 1050: 19, 100_005: 33}


@pytest.mark.parametrize("horizon", [1, 2, 5, 6, 8, 11, 12])
@pytest.mark.parametrize(
    "signs", [(1,), (1, -1), (1, 1), (1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, 1, 1, 1), (1, -1, -1, 1)], ids=str
)
@pytest.mark.parametrize("separation", [1, 2, 4])
def test_the_dynamic_program_finds_what_enumeration_finds(
    horizon: int, signs: tuple[int, ...], separation: int
) -> None:
    value, elements = worst_plan(horizon, signs, separation)
    assert value == enumerated(horizon, signs, separation)
    assert all(b - a >= separation for a, b in pairwise(elements))
    counts = [sum(s for s, e in zip(signs, elements, strict=False) if e in covered(n)) for n in range(1, horizon + 1)]
    assert sum(count**2 for count in counts) == value


def test_counting_levels_times_participations_misses_shared_nodes() -> None:
    # The broken count: each participation as if it touched nodes of its own. Shared nodes count squared.
    assert worst_plan(64, (1, 1, 1), 1)[0] > 3 * 7
    # Greedy placement (the first element, then the earliest allowed) is not the worst for removals.
    assert worst_plan(16, (1, -1), 1)[0] > len(set(touched_nodes(16, 1)) ^ set(touched_nodes(16, 2)))


@pytest.mark.parametrize("length", [1, 2, 3, 8, 13, 64, 100])
def test_prefixes_are_sums_of_disjoint_nodes_and_can_be_taken_apart_again(length: int) -> None:
    rng = np.random.default_rng(length)
    elements = rng.integers(-5, 5, (length, 3))
    nodes = np.array([elements[[e - 1 for e in covered(n)]].sum(axis=0) for n in range(1, length + 1)])
    assert np.array_equal(prefix_sums(nodes), np.cumsum(elements, axis=0))
    assert np.array_equal(node_values(np.cumsum(elements, axis=0)), nodes)


def test_a_sum_carries_the_noise_of_as_many_nodes_as_its_length_has_bits_either_way_it_is_run() -> None:
    tree = TreeAggregation(horizon=37, leaf=Ones())
    value = np.random.default_rng(1).integers(0, 9, (4, 37)).astype(float)
    bits = [n.bit_count() for n in range(1, 38)]
    released = tree.release(value, np.random.default_rng(2))
    assert np.array_equal(released - np.cumsum(value, axis=1), np.tile(bits, (4, 1)))
    counter = tree.counter((4,), np.random.default_rng(2))
    assert np.array_equal(np.stack([counter.step(column) for column in value.T], axis=1), released)


def test_a_counter_draws_each_node_once_and_its_sums_follow_the_density_of_the_whole_release() -> None:
    # 2 x 20,000 runs of 6 sums: standardised nodes are 120,000 normals of variance 1; a chi-square bound at 1e-9.
    tree = TreeAggregation(horizon=6, leaf=GAUSSIAN)
    counter = tree.counter((20_000,), np.random.default_rng(3))
    sums = np.stack([counter.step(np.ones(20_000)) for _ in range(6)])
    for outputs in (sums, tree.release(np.ones((20_000, 6)), np.random.default_rng(4)).T):
        noise = node_values(outputs - np.arange(1, 7)[:, None]) / 2.0
        band = 6 * math.sqrt(2 / noise.size)
        assert abs((noise**2).mean() - 1) < band
        assert abs((noise**2).mean() / 1.1**2 - 1) > band
        assert np.abs(np.corrcoef(noise) - np.eye(6)).max() < 6.5 / math.sqrt(20_000)


def test_a_stream_beyond_the_capacity_is_refused() -> None:
    tree = TreeAggregation(horizon=4, leaf=GAUSSIAN)
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match=r"at most horizon=4 elements.*shape \(2, 5\)"):
        tree.release(np.zeros((2, 5)), rng)
    counter = tree.counter((2,), rng)
    for _ in range(4):
        counter.step(np.zeros(2))
    with pytest.raises(ValueError, match=r"horizon=4.*full"):
        counter.step(np.zeros(2))
    with pytest.raises(ValueError, match=r"shape \(2,\), got \(\)"):
        tree.counter((2,), rng).step(np.asarray(1.0))
    with pytest.raises(ValueError, match=r"element=5 in 1 \.\. 4"):
        tree.touched(5)
    assert tree.release(np.zeros((2, 3)), rng).shape == (2, 3)


def test_a_gaussian_tree_costs_the_root_of_its_levels() -> None:
    tree = TreeAggregation(horizon=1000, leaf=GAUSSIAN)
    form = fold(Release(label="tree", mechanism=tree), "replace_one")
    single = GaussianLoss(mu=0.5 * math.sqrt(10))
    for epsilon in (0.0, 1.0, 3.0):
        bracket = bracket_delta(form, epsilon)
        assert bracket.lower <= single.hockey_stick(epsilon) * (1 + 1e-12)
        assert bracket.upper == pytest.approx(single.hockey_stick(epsilon), rel=1e-9)
    assert stddev_of(tree.scaled(2).leaf) == 4.0


def test_a_laplace_tree_of_scale_levels_over_epsilon_is_epsilon_private_and_one_level_less_is_not() -> None:
    for horizon in (7, 8, 1024, 10**6):
        levels = horizon.bit_length()
        for given, holds in ((levels, True), (levels - 1, False)):
            leaf = Laplace(scale=given / 0.5, l1_sensitivity=1.0, neighbours="replace_one")
            form = fold(Release(label="tree", mechanism=TreeAggregation(horizon=horizon, leaf=leaf)), "replace_one")
            assert (bracket_epsilon(form, 0.0).upper <= 0.5 * (1 + 1e-12)) is holds


def test_several_participations_of_laplace_noise_are_left_to_a_group() -> None:
    with pytest.raises(ValueError, match=r"signs=\(1, 1\) to alternate.*group"):
        TreeAggregation(horizon=8, leaf=LAPLACE, signs=(1, 1))
    grouped = Group(part=Release(label="tree", mechanism=TreeAggregation(horizon=8, leaf=LAPLACE)), size=2)
    ((loss, times),) = fold(grouped, "replace_one").upper[0].parts
    assert (loss, times) == (LaplaceLoss(shift=1.0), 4)


@pytest.mark.parametrize("signs", [(), (2,), (1, 0), [1], 1])
def test_signs_are_plus_and_minus_one(signs: Any) -> None:
    with pytest.raises(ValueError, match="signs="):
        TreeAggregation(horizon=8, leaf=GAUSSIAN, signs=signs)


def test_only_additive_noise_can_be_a_leaf() -> None:
    with pytest.raises(ValueError, match=r"leaf=RandomisedResponse.*adds noise"):
        TreeAggregation(horizon=8, leaf=cast("AdditiveMechanism", RandomisedResponse(epsilon=1.0)))


def test_a_declaration_written_down_gives_the_leaf_the_neighbours_of_the_claim() -> None:
    written = {
        "name": "tree_aggregation",
        "horizon": 1000,
        "signs": [1, -1],
        "leaf": {"name": "gaussian", "stddev": 90.0, "l2_sensitivity": 1.0},
    }
    tree = decode_mechanism(written, "add_remove", ("here",))
    leaf = Gaussian(stddev=90.0, l2_sensitivity=1.0, neighbours="add_remove")
    assert tree == TreeAggregation(horizon=1000, leaf=leaf, signs=(1, -1))


def test_matrices_and_integers_make_trees_too() -> None:
    matrix = SymmetricGaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    tree = TreeAggregation(horizon=5, leaf=matrix)
    value = np.ones((7, 5, 3, 3))
    output = tree.release(value, np.random.default_rng(1))
    assert output.shape == value.shape
    assert tree.log_density(output, value).shape == (7,)
    counter = tree.counter((7, 3, 3), np.random.default_rng(1))
    assert counter.step(value[:, 0]).shape == (7, 3, 3)
    whole = TreeAggregation(horizon=5, leaf=DiscreteLaplace(scale=3.0, l1_sensitivity=1, neighbours="replace_one"))
    assert whole.release(np.ones((2, 5), dtype=int), np.random.default_rng(1)).dtype == np.int64
    assert whole.counter((2,), np.random.default_rng(1)).step(np.ones(2, dtype=int)).dtype == np.int64


def test_a_smaller_separation_never_costs_less_so_that_it_may_stand_in_for_a_larger_one() -> None:
    costs = [worst_plan(64, (1, 1, 1), separation)[0] for separation in range(1, 17)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]
    with pytest.raises(ValueError, match=r"separation=17 .*upper bound"):
        TreeAggregation(horizon=64, leaf=GAUSSIAN, separation=17)
