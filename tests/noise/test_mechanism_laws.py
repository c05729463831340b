"""Samples of every shipped mechanism follow the reference law, and defective samplers do not."""

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any, cast

import numpy as np
import pytest

import mechanisms
from audits.checks.laws.entrances import samples_of
from audits.checks.laws.mechanism_law import law_findings
from audits.checks.laws.uniforms import chi_square_difference, has_reference
from dpaudit.model.mechanism import Array

Sampler = Callable[[Any, Array, np.random.Generator], Array]


def shape_of(mechanism: Any) -> tuple[int, ...]:
    """The shape of one answer that a mechanism is tried with."""
    dimension = getattr(mechanism, "dimension", 3)
    shapes = {
        "symmetric_gaussian": (3, 3),
        "joint_gaussian": (2, 3),
        "one_sided_wishart": (dimension, dimension),
        "symmetrised_wishart": (dimension, dimension),
        "matrix": (getattr(mechanism, "horizon", 3),),
        "ball_laplace": (dimension,),
        "gaussian": (3,),
        "laplace": (3,),
    }
    return shapes.get(mechanism.name, ())


EXAMPLES = [
    pytest.param(mechanism, id=f"{name}-{number}")
    for name in mechanisms.NAMES
    for number, mechanism in enumerate(import_module(f"mechanisms.{name}").EXAMPLES)
]


def said(mechanism: Any) -> str:
    """What the check says about a mechanism; an empty text if nothing."""
    return "".join(finding.message for finding in law_findings([(mechanism, shape_of(mechanism), "answer")]))


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_shipped_mechanisms_follow_their_law(mechanism: Any) -> None:
    """False alarm: 1e-7 a sample by construction; the seed is fixed."""
    assert said(mechanism) == ""


def with_sampler(mechanism: Any, sampler: Sampler) -> Any:
    """The mechanism with another `release`; name, parameters and density stay."""

    def release(self: Any, value: Array, rng: np.random.Generator) -> Array:
        return sampler(lambda answer: type(mechanism).release(self, answer, rng), np.asarray(value), rng)

    kind = type(type(mechanism).__name__, (type(mechanism),), {"release": release, "__slots__": ()})
    return kind(**{field.name: getattr(mechanism, field.name) for field in fields(mechanism)})


def scaled_by(factor: float) -> Sampler:
    """Noise of another size."""
    return lambda release, value, _: value + factor * (release(value) - value)


def in_last_entry(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """The last entry is published exactly."""
    output = np.array(release(value), dtype=np.float64)
    output[..., -1] = value[..., -1]
    return output


def shared_by_rows(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """All rows of a call get the noise of the first one."""
    noise = release(value) - value
    result: Array = value + noise[:1]
    return result


def shared_by_pairs(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """Every second row gets the noise of the row before, turned around."""
    noise = np.array(release(value) - value)
    noise[1::2] = -noise[: 2 * (len(noise) // 2) : 2]
    result: Array = value + noise
    return result


def cut_off(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """Noise beyond three times its median size is cut off."""
    noise = release(value) - value
    most = 4 * np.median(np.abs(noise))
    result: Array = value + np.clip(noise, -most, most)
    return result


def on_a_lattice(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """Noise is rounded to 2^-20 of its size."""
    noise = release(value) - value
    unit = np.median(np.abs(noise)) * 2.0**-20
    result: Array = value + np.round(noise / unit) * unit
    return result


def sometimes_none(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """One number in two hundred is published exactly."""
    return np.where(rng.random(value.shape) < 0.005, value, release(value))


def one_sided(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """Noise is never negative."""
    result: Array = value + np.abs(release(value) - value)
    return result


def small_in_single_rows(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """Single rows get half the noise."""
    result: Array = value + (0.5 if len(value) == 1 else 1.0) * (release(value) - value)
    return result


def small_for_large_answers(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """Noise shrinks where an answer is not 0."""
    result: Array = value + np.where(value == 0, 1.0, 0.8) * (release(value) - value)
    return result


DEFECTS: dict[str, Sampler] = {
    "3 % smaller": scaled_by(0.97),
    "half": scaled_by(0.5),
    "last entry exact": in_last_entry,
    "shared by rows": shared_by_rows,
    "shared by pairs": shared_by_pairs,
    "cut off": cut_off,
    "on a lattice": on_a_lattice,
    "sometimes none": sometimes_none,
    "one sided": one_sided,
    "small in single rows": small_in_single_rows,
    "small for large answers": small_for_large_answers,
}
CONTINUOUS = [
    pytest.param(import_module(f"mechanisms.{name}").EXAMPLES[0], id=name)
    for name in ("gaussian", "laplace", "ball_laplace", "symmetric_gaussian", "joint_gaussian")
]


@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize("mechanism", CONTINUOUS)
def test_defective_samplers_are_found(mechanism: Any, defect: str) -> None:
    """Each defect of each continuous mechanism, at the size that the check promises."""
    assert said(with_sampler(mechanism, DEFECTS[defect])) != ""


def truthful_more_often(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """One answer in twenty is told as it is."""
    return np.where(rng.random(value.shape) < 0.05, value, release(value))


def best_more_often(release: Any, value: Array, rng: np.random.Generator) -> Array:
    """One choice in twenty is the best candidate, without noise."""
    result: Array = np.where(rng.random(value.shape[:-1]) < 0.05, value.argmax(axis=-1), release(value))
    return result


@pytest.mark.parametrize(
    ("sampler", "names"),
    [
        (scaled_by(0.95), ("symmetrised_wishart", "one_sided_wishart")),
        (truthful_more_often, ("randomised_response", "discrete_gaussian", "discrete_laplace")),
        (best_more_often, ("exponential", "report_noisy_max")),
    ],
    ids=["another size", "told too often", "the best too often"],
)
def test_a_sampler_of_another_size_or_share_is_found(sampler: Any, names: tuple[str, ...]) -> None:
    for mechanism in (example for name in names for example in import_module(f"mechanisms.{name}").EXAMPLES):
        assert said(with_sampler(mechanism, sampler)) != "", mechanism


def test_a_density_of_another_scale_is_found() -> None:
    """The attack by likelihoods reads the density; half the scale would blunt it."""
    noise = mechanisms.Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove")

    def log_density(self: Any, output: Array, value: Array) -> Array:
        return mechanisms.Laplace.log_density(self.scaled(1.05), output, value)

    kind = type("Laplace", (mechanisms.Laplace,), {"log_density": log_density, "__slots__": ()})
    assert "density" in said(kind(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove"))
    assert said(noise) == ""


def test_a_tree_whose_nodes_are_drawn_anew_is_found() -> None:
    """A prefix that does not carry the noise of the prefix before it."""
    tree = import_module("mechanisms.tree_aggregation").EXAMPLES[0]

    def release(self: Any, value: Array, rng: np.random.Generator) -> Array:
        result: Array = np.cumsum(value, axis=-1) + self.leaf.release(np.zeros_like(value), rng)
        return result

    kind = type("TreeAggregation", (type(tree),), {"release": release, "__slots__": ()})
    assert "trees released whole" in said(kind(**{field.name: getattr(tree, field.name) for field in fields(tree)}))


def test_the_difference_of_two_chi_square_numbers_has_this_distribution() -> None:
    """For 2 degrees of freedom it is the Laplace law of scale 2; for 3 it is that of 10^6 samples within 3e-3."""
    points = np.linspace(-15, 15, 61)
    laplace = np.where(points < 0, 0.5 * np.exp(-np.abs(points) / 2), 1 - 0.5 * np.exp(-np.abs(points) / 2))
    np.testing.assert_allclose(chi_square_difference(points, 2), laplace, atol=2e-6)
    rng = np.random.default_rng(6)
    drawn = np.sort(rng.chisquare(3, 10**6) - rng.chisquare(3, 10**6))
    shares = np.searchsorted(drawn, points) / len(drawn)
    np.testing.assert_allclose(chi_square_difference(points, 3), shares, atol=3e-3)


def test_a_mechanism_that_only_shares_a_name_is_passed_over() -> None:
    """A plug-in named as a shipped mechanism, with other parameters, is neither accused nor a crash."""

    class Gaussian:
        name = "gaussian"
        sigma = 3.0

    assert not has_reference(cast("Any", Gaussian()))
    assert has_reference(mechanisms.Gaussian(stddev=3.0, l2_sensitivity=1.0, neighbours="add_remove"))


def test_samples_of_large_answers_stay_small() -> None:
    """Answers of 10^6 numbers take four million numbers at most, in each entrance."""
    noise = mechanisms.Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove")
    for sample in samples_of(noise, (1_000_000,), np.random.default_rng(0)):
        assert sample.output.size <= 4_000_000
