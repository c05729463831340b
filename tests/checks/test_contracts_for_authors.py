"""Tests of the contract tests for authors: shipped mechanisms hold, and each broken twin fails its own check."""

import inspect
import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import pytest

import mechanisms
from audits.testing import (
    algorithm_checks,
    assert_function,
    assert_mechanism,
    mechanism_checks,
    neighbouring_data_sets,
    record_values,
    smallest_leak,
)
from audits.testing.algorithm import _covered
from audits.testing.density import law_check
from audits.testing.losses import pairs_check
from audits.testing.moves import moved_answers
from dpaudit.errors import ConfigError
from dpaudit.gate.plugin_check import check_plugin
from dpaudit.model.case import AuditCoverage
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import LaplaceLoss
from dpaudit.model.mechanism import Array, Mechanism
from mechanisms import Gaussian, Laplace, load
from tests.checks.test_program_replay import Means
from tests.command_line import dpaudit
from tests.noise.test_contract import EXAMPLES

NOISE = Laplace(scale=2.0, l1_sensitivity=2.0, neighbours="replace_one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic:
    """Logistic noise, whose law no reference knows; `twin` names what is broken."""

    name: ClassVar[str] = "logistic_noise"
    item_axes: ClassVar[int] = 0
    scale: float
    l1_sensitivity: float
    neighbours: Neighbours
    twin: str = ""

    def loss(self) -> LaplaceLoss:
        return LaplaceLoss(shift=self.l1_sensitivity / self.scale * (0.3 if self.twin == "loss" else 1.0))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        exact = np.asarray(value, dtype=np.float64)
        if self.twin == "global":
            return exact + np.random.default_rng().logistic(0.0, self.scale, exact.shape)
        if self.twin == "shared":
            return exact + rng.logistic(0.0, self.scale)
        if self.twin == "in place":
            value += 1.0
        noise = rng.logistic(0.0, self.scale * (0.94 if self.twin == "size" else 1.0), exact.shape)
        if self.twin == "clipped":
            noise = np.clip(noise, -4 * self.scale, 4 * self.scale)
        if self.twin == "one in a hundred":
            noise = noise * (rng.random(exact.shape) > 0.01)
        return exact + (np.round(noise, 2) if self.twin == "rounded" else noise)

    def log_density(self, output: Array, value: Array) -> Array:
        x = np.abs(np.asarray(output) - np.asarray(value)) / self.scale
        density: Array = -x - 2 * np.log1p(np.exp(-x)) - np.log(self.scale)
        return density + (0.1 if self.twin == "mass" else 0.0)

    def scaled(self, factor: float) -> Self:
        return replace(self, scale=self.scale * (1 / factor if self.twin == "scaled" else factor))

    def worst_pair(self) -> tuple[float, float]:
        return self.l1_sensitivity, 0.0


@cache
def failed(twin: str) -> frozenset[str]:
    """Return the checks that a twin fails; computed once, as the sound one stands beside each twin."""
    noise = Logistic(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one", twin=twin)
    return frozenset(check.what for check in mechanism_checks(noise, np.random.default_rng(0)) if check.failed)


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip", "above_threshold"])
def test_where_a_record_moves_all_numbers_one_way_no_pair_has_two_signs(name: str) -> None:
    """The monotone examples hold their contract; of general numbers moves of two signs are tried."""
    examples = inspect.getmodule(load(name)).EXAMPLES
    field = next(f for f in ("utilities", "scores", "queries") if hasattr(examples[0], f))
    monotone = next(example for example in examples if getattr(example, field) == "monotone")
    pair, rng = monotone.worst_pair(), np.random.default_rng(0)
    assert pairs_check(monotone, pair, rng).outcome == "ok"
    general = [(one, other) for _, one, other in moved_answers(replace(monotone, **{field: "general"}), pair, rng)]
    assert any(np.ptp(np.sign(np.asarray(one) - np.asarray(other))) == 2 for one, other in general)


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_every_shipped_mechanism_holds_its_contract(mechanism: Mechanism) -> None:
    """No check of any example fails; each follows its own density at every entrance."""
    assert_mechanism(mechanism)


@pytest.mark.parametrize(
    ("twin", "what"),
    [
        ("loss", "loss"),
        ("global", "samples"),
        ("shared", "samples"),
        ("in place", "samples"),
        ("size", "law"),
        ("clipped", "law"),
        ("one in a hundred", "law"),
        ("rounded", "law"),
        ("mass", "law"),
        ("scaled", "scaled"),
    ],
)
def test_each_twin_of_a_mechanism_fails_its_check(twin: str, what: str) -> None:
    """A mechanism of an author is judged by its own density; the sound one passes."""
    assert not failed("")
    assert what in failed(twin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logistics:
    """Three logistic numbers, as an author writes it; `twin` names what is broken."""

    name: ClassVar[str] = "logistic_numbers"
    scale: float
    l1_sensitivity: float
    neighbours: Neighbours
    twin: str = ""

    def loss(self) -> LaplaceLoss:
        return LaplaceLoss.exactly(Fraction(self.l1_sensitivity / self.scale))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        exact = np.asarray(value, dtype=np.float64)
        noise = rng.logistic(0.0, self.scale, exact.shape)
        if self.twin == "follows":
            noise[..., 2] = np.sqrt(0.96) * noise[..., 2] + 0.2 * noise[..., 0]
        if self.twin == "size by sign":
            noise[..., 2] *= np.where(noise[..., 0] > 0, 1.05, 0.95)
        if self.twin == "last exact":
            noise[..., -1] = 0.0
        return exact + noise

    def log_density(self, output: Array, value: Array) -> Array:
        x = np.abs(np.asarray(output) - np.asarray(value)) / self.scale
        density: Array = -x - 2 * np.log1p(np.exp(-x)) - np.log(self.scale)
        return density[..., :2] if self.twin == "last exact" else density

    def scaled(self, factor: float) -> Self:
        return replace(self, scale=self.scale * factor)

    def worst_pair(self) -> tuple[Array, Array]:
        return np.array([0.0, 0.0, self.l1_sensitivity]), np.zeros(3)


@pytest.mark.parametrize(
    ("twin", "says"),
    [
        ("", "66,666 samples follow log_density, in 3 of their numbers"),
        ("follows", "entries that depend on each other"),
        ("size by sign", "entries whose size depends on the sign of another"),
        ("last exact", "1 numbers that log_density does not read are functions of the answer"),
    ],
)
def test_outputs_of_several_numbers_are_judged_by_their_own_density(twin: str, says: str) -> None:
    """Each number against its law given the others, all pairs of numbers, and numbers that no density reads."""
    noise = Logistics(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one", twin=twin)
    check = law_check(noise, noise.worst_pair()[0], np.random.default_rng(0), noise.worst_pair()[1])
    assert says in check.says
    assert check.failed == bool(twin)


def test_numbers_that_depend_on_each_other_are_judged_by_conditional_laws() -> None:
    """A tree's prefix sums, by the tree's own density: the sound one passes, a last sum with half the noise fails."""
    tree: Any = inspect.getmodule(load("tree_aggregation")).EXAMPLES[0]

    def half(value: Array, rng: np.random.Generator) -> Array:
        sums: Array = tree.release(value, rng)
        sums[..., -1] = (sums[..., -1] + sums[..., -2]) / 2
        return sums

    broken: Any = SimpleNamespace(name="sums", release=half, log_density=tree.log_density)
    zeros = np.zeros(tree.horizon)
    assert law_check(tree, zeros, np.random.default_rng(0)).outcome == "ok"
    assert law_check(broken, zeros, np.random.default_rng(0)).failed


class SmallLoss(Laplace):
    """States a loss that is 2 % too small."""

    __slots__ = ()

    name: ClassVar[str] = "small_loss"

    def loss(self) -> LaplaceLoss:
        return LaplaceLoss.exactly(Fraction(0.98 * self.l1_sensitivity / self.scale))


class NearPair(Laplace):
    """Names a pair that is only half as far apart as neighbours can be."""

    __slots__ = ()

    def worst_pair(self) -> tuple[float, float]:
        return self.l1_sensitivity / 2, 0.0


@pytest.mark.parametrize(("kind", "what"), [(Laplace, set()), (SmallLoss, {"loss", "pairs"}), (NearPair, {"loss"})])
def test_what_a_mechanism_says_of_its_loss_is_checked(kind: type[Laplace], what: set[str]) -> None:
    """Integrals find a loss that is 2 % too small, and a pair that is too near."""
    noise = kind(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    found = {check.what for check in mechanism_checks(noise, np.random.default_rng(0)) if check.failed}
    assert found <= what
    assert bool(found) == bool(what)


def test_a_search_finds_a_pair_that_loses_more() -> None:
    """l2 sensitivity where the loss is that of a move of one number: all numbers together lose more."""
    noise = mechanisms.BallLaplace(dimension=4, scale=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    one = np.array([1.0, 0.0, 0.0, 0.0])
    sound = pairs_check(noise, noise.worst_pair(), np.random.default_rng(0))

    class Small(mechanisms.BallLaplace):
        name: ClassVar[str] = "small"

        def loss(self) -> LaplaceLoss:
            return LaplaceLoss(shift=1.0)

        def attained_loss(self) -> LaplaceLoss:
            return LaplaceLoss(shift=1.0)

    small = Small(dimension=4, scale=1.0, l2_sensitivity=1.0, neighbours="replace_one")
    found = pairs_check(small, (one, np.zeros(4)), np.random.default_rng(0))
    assert (sound.outcome, found.outcome) == ("ok", "failed")


def test_a_law_check_is_false_with_small_probability() -> None:
    """Twenty samples of a sound law give twenty times ok: each fails with probability 1e-9."""
    noise = Logistic(scale=0.01, l1_sensitivity=1.0, neighbours="replace_one")
    for seed in range(20):
        assert law_check(noise, 1e3, np.random.default_rng(seed)).outcome == "ok"


def test_a_thing_that_is_no_mechanism_fails_at_once() -> None:
    """What lacks members of the protocol fails the first check, without a traceback."""
    thing: Any = object()
    (check,) = mechanism_checks(thing, np.random.default_rng(0))
    assert (check.what, check.outcome) == ("members", "failed")


@pytest.mark.parametrize(("twin", "what"), [("", None), ("no clipping", "replays"), ("released twice", "trace")])
def test_an_algorithm_is_checked_on_a_tape(twin: str, what: str | None) -> None:
    """A sound algorithm fails nothing; a twin fails the replays or the trace; without cases coverage stays open."""
    checks = algorithm_checks(Means(twin=twin), None)
    assert {check.what for check in checks if check.failed} >= ({what} if what else set())
    assert bool([check for check in checks if check.failed]) is bool(what)
    assert {check.what for check in checks if check.outcome == "not looked at"} >= {"releases"}


def test_lines_that_no_case_executes_are_named() -> None:
    """Those that every case missed; nothing is named where each line was executed by some case."""
    first = AuditCoverage(declared=(), attacked=(), recorded=True, lines=9, missed=("m:7-9",))
    program: Any = SimpleNamespace(found={"m": range(1, 10)})
    *_, lines = _covered([first, replace(first, missed=("m:8",))], program)
    assert lines.says.endswith(
        "8 of the 9 lines of an ordinary run's functions are executed by some audit case; not: m:8"
    )
    *_, lines = _covered([replace(first, missed=())], program)
    assert lines.says.endswith("some audit case")


def test_the_claim_of_an_algorithm_is_certified_and_attacked() -> None:
    """LPLR as printed: its claim is refuted, and a short audit shows a case above it; a sound algorithm holds both."""
    examples = Path(__file__).parents[2] / "examples"
    for name, status in (("lplr_paper", "failed"), ("dueling_local", "ok")):
        found = {check.what: check.status for check in check_plugin(str(examples / f"{name}.toml"))}
        assert (found["claim"], found["audits"]) == (status, status)


def clipped(data: Array, tape: Any, rng: np.random.Generator) -> Any:
    """Release the clipped sum; what is not a number counts as 0."""
    del rng
    return tape.release("sum", NOISE, np.array([np.clip(np.nan_to_num(data, nan=0.0), -1.0, 1.0).sum()]))


def unclipped(data: Array, tape: Any, rng: np.random.Generator) -> Any:
    """Release the sum of records as they are sent."""
    del rng
    return tape.release("sum", NOISE, np.array([data.sum()]))


def count_shows(data: Array, tape: Any, rng: np.random.Generator) -> Any:
    """Publish whether anybody is above 0.9 beside the sum."""
    return clipped(data, tape, rng), bool((data > 0.9).any())


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_a_sound_function_has_no_leak(relation: Neighbours) -> None:
    """A clipped sum of hostile records passes a hundred pairs of neighbours of either relation."""
    assert_function(clipped, neighbouring_data_sets(record_values(), relation=relation))


def test_a_leak_shrinks_to_one_record() -> None:
    """Of all pairs at which an unclipped sum moves too far the smallest has one record, and the text shows it."""
    leak = smallest_leak(unclipped, neighbouring_data_sets(record_values()))
    assert leak is not None
    assert len(leak.pair[0]) == len(leak.pair[1]) == 1
    assert {finding.rule for finding in leak.findings} == {"DPA220"}
    with pytest.raises(AssertionError, match="DPA220"):
        assert_function(unclipped, neighbouring_data_sets(record_values()))


def test_a_field_beside_the_release_is_a_leak() -> None:
    """A flag that one record decides is found (DPA224), also without hostile records."""
    leak = smallest_leak(count_shows, neighbouring_data_sets(record_values(hostile=False)), examples=300)
    assert leak is not None
    assert {finding.rule for finding in leak.findings} == {"DPA224"}


def test_pairs_of_either_relation_are_neighbours() -> None:
    """Under add_remove the second has one record more; under replace_one one place differs at most."""
    from hypothesis import find

    longer = find(neighbouring_data_sets(record_values(), relation="add_remove"), lambda pair: len(pair[0]) >= 2)
    assert len(longer[1]) == len(longer[0]) + 1
    equal = find(neighbouring_data_sets(record_values(hostile=False)), lambda pair: len(pair[0]) >= 3)
    assert int((equal[0] != equal[1]).sum()) <= 1


def test_doctor_checks_a_plugin_and_names_unknown_ones() -> None:
    """A mechanism by name passes with exit code 0; an unknown name is one line and exit code 2."""
    sound = dpaudit("doctor", "finite", "--format", "json")
    assert (sound.exit_code, sound.stderr) == (0, "")
    assert {row["status"] for row in json.loads(sound.stdout)} == {"ok"}
    wrong = dpaudit("doctor", "finit")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "did you mean 'finite'" in wrong.stderr


def test_a_plugin_without_examples_is_refused() -> None:
    """An algorithm without EXAMPLES needs a configuration file; the message says so."""
    with pytest.raises(ConfigError, match="EXAMPLES"):
        check_plugin("capri")


def test_gaussian_examples_are_checked_one_by_one() -> None:
    """Each example has all seven checks under its own name."""
    checks = check_plugin("gaussian")
    assert len(checks) == 7 * len(inspect.getmodule(Gaussian).EXAMPLES)
