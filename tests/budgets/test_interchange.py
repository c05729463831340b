"""Interchange: what other tools can express survives the way there and back; the rest is refused by name."""

import json
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import ConfigError
from dpaudit.interchange.deployments_registry import registry_fields
from dpaudit.interchange.dp_event import from_event, to_event
from dpaudit.interchange.opacus_history import from_history, from_state_dict
from dpaudit.model.claim import Model, Neighbours
from dpaudit.model.declaration import Declaration, walk
from dpaudit.model.measures.claims import RenyiClaim, RhoClaim
from mechanisms import Gaussian, Laplace, RandomisedResponse

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dp_accounting as dpa
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

CLAIM = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
HALF_RHO = RhoClaim(rho=0.5, neighbours="add_remove")
NORMAL = dp.Release(label="sum", mechanism=Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one"))
LAPLACE = dp.Release(label="count", mechanism=Laplace(scale=8.0, l1_sensitivity=1.0, neighbours="replace_one"))


def random_event(rng: np.random.Generator, depth: int = 3, *, sampled: bool = False) -> dpa.DpEvent:
    """A random event of the kinds that both sides have; multipliers are as often integers as floats."""
    kind = int(rng.integers(0, 5)) if depth else 0
    if kind == 1:
        return dpa.ComposedDpEvent([random_event(rng, depth - 1, sampled=sampled) for _ in range(rng.integers(1, 4))])
    if kind == 2:
        return dpa.SelfComposedDpEvent(random_event(rng, depth - 1, sampled=sampled), int(rng.integers(1, 60)))
    if kind == 3 and not sampled:
        return dpa.PoissonSampledDpEvent(float(rng.uniform(0.01, 0.2)), random_event(rng, depth - 1, sampled=True))
    whole = bool(rng.integers(0, 2))
    noise = int(rng.integers(1, 6)) if whole else float(rng.uniform(0.7, 6.0))
    return dpa.LaplaceDpEvent(noise) if kind == 4 and not sampled else dpa.GaussianDpEvent(noise)


EVENTS = [random_event(np.random.default_rng(seed)) for seed in range(200)]


@pytest.mark.parametrize("neighbours", ["replace_one", "add_remove"])
def test_two_hundred_events_survive_the_round_trip_exactly(neighbours: Neighbours) -> None:
    for event in EVENTS:
        assert to_event(from_event(event, neighbours)) == event
    kinds = {type(node).__name__ for event in EVENTS for _, node in walk(from_event(event, "add_remove"))}
    assert kinds == {"Release", "Sequential", "Repeat", "Subsample"}


@pytest.mark.parametrize("neighbours", ["replace_one", "add_remove"])
def test_events_after_060_are_a_choice_and_a_stated_loss(neighbours: Neighbours) -> None:
    """A choice costs epsilon^2 / 8 in zCDP, a quarter of a pure loss; a failure adds its delta to the Gaussian's."""
    choice = type("ExponentialMechanismDpEvent", (dpa.DpEvent,), {"epsilon": 0.5})()
    failure = type("EpsilonDeltaDpEvent", (dpa.DpEvent,), {"epsilon": 0.0, "delta": 4e-6})()
    leaf = from_event(choice, neighbours)
    assert isinstance(leaf, dp.Release)
    assert (leaf.mechanism.name, dp.certify(leaf, replace(CLAIM, epsilon=0.5, neighbours=neighbours)).verdict) == (
        "exponential",
        "certified",
    )
    claim = dp.Claim(epsilon=4.5, delta=1e-5, neighbours=neighbours)
    noise = dpa.GaussianDpEvent(2.0 if neighbours == "replace_one" else 1.0)
    alone, with_failure = (
        dp.certify(from_event(event, neighbours), claim).tight.delta.upper
        for event in (noise, dpa.ComposedDpEvent([noise, failure]))
    )
    assert alone < with_failure <= (alone + 4e-6) * (1 + 1e-6)


def test_numbers_leave_as_floats_and_counts_as_integers() -> None:
    event = to_event(from_event(dpa.SelfComposedDpEvent(dpa.GaussianDpEvent(2), np.int64(7)), "add_remove"))
    assert type(event.event.noise_multiplier) is float
    assert type(event.count) is int


@pytest.mark.parametrize(
    ("neighbours", "relation"), [("add_remove", "ADD_OR_REMOVE_ONE"), ("replace_one", "REPLACE_ONE")]
)
def test_the_pld_accountant_and_ours_agree_on_gaussians_for_both_relations(
    neighbours: Neighbours, relation: str
) -> None:
    """At multiplier 2 and delta 1e-5: 1.993 added or removed, 4.377 replaced."""
    event = dpa.ComposedDpEvent([dpa.GaussianDpEvent(4.0), dpa.SelfComposedDpEvent(dpa.GaussianDpEvent(4), 3)])
    ours = dp.bracket_epsilon(dp.fold(from_event(event, neighbours), neighbours), 1e-5)
    theirs = dpa.pld.PLDAccountant(neighboring_relation=dpa.NeighboringRelation[relation])
    assert theirs.compose(event).get_epsilon(1e-5) == pytest.approx(ours.upper, rel=1e-3)
    assert ours.upper == pytest.approx({"add_remove": 1.993, "replace_one": 4.377}[neighbours], abs=6e-4)


def test_replacing_without_the_factor_two_would_be_seen() -> None:
    """The twin takes the multiplier over the norm of one record for a replaced one, as the Renyi accountant does."""
    twin = dp.Release(label="sum", mechanism=Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one"))
    honest = from_event(dpa.GaussianDpEvent(2.0), "replace_one")
    known = 4.377  # dp-accounting's PLD accountant, replace one, delta 1e-5
    assert dp.bracket_epsilon(dp.fold(honest, "replace_one"), 1e-5).upper == pytest.approx(known, abs=6e-4)
    assert dp.bracket_epsilon(dp.fold(twin, "replace_one"), 1e-5).upper < known / 2


@pytest.mark.parametrize("buckets", [2, 5])
def test_randomised_response_keeps_its_odds(buckets: int) -> None:
    for noise in (0.1, 0.5, 0.99):
        declared = from_event(dpa.RandomizedResponseDpEvent(noise, buckets), "replace_one")
        true, other = 1 - noise + noise / buckets, noise / buckets
        assert declared.mechanism.epsilon == pytest.approx(math.log(true / other), rel=1e-12)
        assert to_event(declared).noise_parameter == pytest.approx(noise, rel=1e-12)
        assert to_event(declared).num_buckets == buckets
    response = dp.Release(label="vote", mechanism=RandomisedResponse(epsilon=1.5, categories=buckets))
    assert from_event(to_event(response), "replace_one").mechanism.epsilon == pytest.approx(1.5, rel=1e-12)


def test_an_event_without_any_release_costs_nothing() -> None:
    for event in (dpa.NoOpDpEvent(), dpa.ComposedDpEvent([]), dpa.SelfComposedDpEvent(dpa.GaussianDpEvent(1.0), 0)):
        declared = from_event(event, "add_remove")
        assert dp.bracket_epsilon(dp.fold(declared, "add_remove"), 0.0).upper == 0.0
        assert to_event(declared) == dpa.NoOpDpEvent()


def test_sampling_a_fixed_size_is_read_and_cannot_be_written() -> None:
    declared = from_event(dpa.SampledWithoutReplacementDpEvent(1000, 50, dpa.GaussianDpEvent(1.0)), "replace_one")
    assert (declared.rate, declared.scheme) == (0.05, "without_replacement")
    with pytest.raises(dp.UnsupportedError, match="both sizes"):
        to_event(declared)


@pytest.mark.parametrize(
    ("event", "named"),
    [
        (dpa.UnsupportedDpEvent(), "UnsupportedDpEvent at event.events[1].event: dp-accounting itself"),
        (dpa.ZCDpEvent(0.5, 0.1), "ZCDpEvent at event.events[1].event: a stated part has no xi"),
        (dpa.SampledWithReplacementDpEvent(100, 5, dpa.GaussianDpEvent(1.0)), "SampledWithReplacementDpEvent"),
        (
            dpa.SingleEpochTreeAggregationDpEvent(1.0, [8, 0]),
            "SingleEpochTreeAggregationDpEvent at event.events[1].event: a removed record moves the steps",
        ),
        (
            dpa.dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 2.0], [0.5, 0.25, 0.25]),
            "MixtureOfGaussiansDpEvent at event.events[1].event: more than one random shift",
        ),
        (dpa.GaussianDpEvent(0.0), "stddev=0.0"),
        (dpa.GaussianDpEvent(-1.0), "stddev=-1.0"),
        (dpa.PoissonSampledDpEvent(7.0, dpa.GaussianDpEvent(1.0)), "rate=7.0"),
        (dpa.SelfComposedDpEvent(dpa.GaussianDpEvent(1.0), 2.5), "times=2.5"),
        (dpa.RandomizedResponseDpEvent(0.5, 2), "neighbours"),
        (dpa.RandomizedResponseDpEvent(0.0, 2), "division"),
    ],
)
def test_an_event_that_no_declaration_expresses_is_refused_by_name_and_place(event: Any, named: str) -> None:
    whole = dpa.ComposedDpEvent([dpa.NoOpDpEvent(), dpa.SelfComposedDpEvent(event, 3)])
    with pytest.raises(dp.UnsupportedError) as caught:
        from_event(whole, "add_remove")
    assert named in str(caught.value)
    assert "event.events[1].event" in str(caught.value)


@pytest.mark.parametrize(
    ("node", "named"),
    [
        (dp.Parallel(parts=(NORMAL, NORMAL), key="the day"), "'parallel'"),
        (dp.Cells(inside=NORMAL, touched=NORMAL), "'cells'"),
        (dp.Group(part=NORMAL, size=2), "'group'"),
        (dp.Stated(epsilon=0.1, source="a vendor"), "'stated'"),
    ],
)
def test_a_node_that_no_event_expresses_is_refused_by_name_and_path(node: Declaration, named: str) -> None:
    with pytest.raises(dp.UnsupportedError) as caught:
        to_event(dp.Sequential(parts=(NORMAL, dp.Repeat(part=node, times=2))))
    assert named in str(caught.value)
    assert "root.1.0" in str(caught.value)


def test_who_sees_what_is_left_out_and_the_loss_is_not() -> None:
    assert to_event(dp.Billboard(part=dp.PostProcess(part=NORMAL, steps=("round",)))) == dpa.GaussianDpEvent(8.0)


# Opacus.


def test_a_history_becomes_repeated_samples_of_gaussian_sums() -> None:
    declared = from_state_dict({"history": [(1.1, 1 / 12, 240), (2, 0.05, 10)], "mechanism": "prv"})
    first, second = declared.parts
    assert (first.times, first.part.rate, first.part.part.mechanism.noise_multiplier) == (240, 1 / 12, 1.1)
    assert (second.times, second.part.rate, second.part.part.mechanism.noise_multiplier) == (10, 0.05, 2.0)
    assert {node.mechanism.neighbours for _, node in walk(declared) if isinstance(node, dp.Release)} == {"add_remove"}


@pytest.mark.parametrize(
    ("history", "named"),
    [
        ([], "empty"),
        ([(1.1, 0.1)], "history[0]"),
        ([(1.1, 0.1, 5), (0.0, 0.1, 5)], "history[1]"),
        ([(1.1, 0.1, 5.5)], "num_steps=5.5"),
        ([(1.1, 1.7, 5)], "rate=1.7"),
        ([(1.1, 0.0, 5)], "rate=0.0"),
        (["abc"], "history[0]"),
    ],
)
def test_an_unusable_history_is_refused_by_the_entry_that_is(history: list[Any], named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_history(history)
    assert named in str(caught.value)


def test_a_state_without_a_history_is_refused_with_what_it_holds() -> None:
    with pytest.raises(ConfigError, match="'model'"):
        from_state_dict({"model": 3})


def test_every_accountant_of_opacus_leaves_a_history_that_is_read() -> None:
    """All accountants of the installed release, listed by its registry: one declaration, whichever wrote the state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        registry = pytest.importorskip("opacus.accountants.registry")
        states = []
        for name in registry._ACCOUNTANTS:
            accountant = registry.create_accountant(name)
            for _ in range(7):
                accountant.step(noise_multiplier=1.5, sample_rate=0.02)
            states.append(accountant.state_dict())
    assert {state["mechanism"] for state in states} >= {"rdp", "gdp", "prv"}
    assert {from_state_dict(state) for state in states} == {from_history([(1.5, 0.02, 7)])}


# jax-privacy: it has no events of its own, and describes its trainings by those of dp-accounting.


JAX_PRIVACY: dict[str, tuple[dpa.DpEvent, Neighbours]] = {
    "dpsgd": (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, dpa.GaussianDpEvent(3.0)), 512), "add_remove"),
    "fixed": (
        dpa.SelfComposedDpEvent(dpa.SampledWithoutReplacementDpEvent(1000, 10, dpa.GaussianDpEvent(3.0)), 20),
        "replace_one",
    ),
    "fixed, with replacement": (
        dpa.SelfComposedDpEvent(dpa.dp_event.SampledWithReplacementDpEvent(1000, 10, dpa.GaussianDpEvent(3.0)), 20),
        "replace_one",
    ),
    "truncated": (
        dpa.SelfComposedDpEvent(
            dpa.dp_event.TruncatedSubsampledGaussianDpEvent(
                dataset_size=1000, sampling_probability=0.05, truncated_batch_size=70, noise_multiplier=3.0
            ),
            20,
        ),
        "add_remove",
    ),
    "banded": (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.4, dpa.GaussianDpEvent(3.0)), 128), "add_remove"),
    "no step": (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, dpa.GaussianDpEvent(3.0)), 0), "add_remove"),
    "everybody": (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(1.0, dpa.GaussianDpEvent(3.0)), 5), "add_remove"),
    "nobody": (dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.0, dpa.GaussianDpEvent(3.0)), 5), "add_remove"),
}
"""Events of the shapes that jax-privacy's accounting module returns, with a relation that each is proved for."""


@pytest.mark.parametrize("name", JAX_PRIVACY)
def test_a_training_of_jax_privacy_is_read(name: str) -> None:
    """Each becomes a declaration that folds, and costs something where something is released."""
    event, neighbours = JAX_PRIVACY[name]
    form = dp.fold(from_event(event, neighbours), neighbours)
    assert bool(form.upper[0].parts) == (name not in ("no step", "nobody"))


def test_nothing_is_proved_of_jax_privacys_zcdp_events_on_a_sample() -> None:
    """With `use_zcdp` a training is told by rho alone: repeated it adds up, and on a sample no rule bounds it."""
    repeated = dpa.SelfComposedDpEvent(dpa.ZCDpEvent(0.05), 10)
    assert dp.certify(from_event(repeated, "add_remove"), HALF_RHO).verdict == "stated"
    drawn = dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(0.1, dpa.ZCDpEvent(0.05)), 10)
    assert dp.certify(from_event(drawn, "add_remove"), HALF_RHO).verdict == "not_proved"


# The deployments registry.

REGISTRY = {
    "dp_variant": {"variant_name"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"},
    "deployment_model": {"model_name", "model_name_details"},
    "accounting": {"composition", "post_processing"},
    "implementation": {"mechanisms"},
}
VARIANTS = {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"}


def test_a_certificate_fills_the_registrys_own_fields_with_plain_data() -> None:
    tree = dp.PostProcess(
        part=dp.Sequential(parts=(dp.Repeat(part=NORMAL, times=2), NORMAL)), steps=("round to counts",)
    )
    claim = dp.Claim(epsilon=2.5, delta=1e-5, neighbours="replace_one", unit="one traveller")
    record = registry_fields(dp.certify(tree, claim))["deployment"]
    assert {name: set(fields) for name, fields in record.items()} == REGISTRY
    assert record["dp_variant"]["variant_name"] in VARIANTS
    assert record["privacy_loss"]["privacy_unit"] == "one traveller"
    assert record["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.5, "delta": 1e-5, "rho": 3 / 32}
    assert record["accounting"]["composition"].splitlines() == [
        "- post process",
        "  - sequential",
        "    - repeat: times 2",
        "      - release: label sum",
        "    - release: label sum",
    ]
    assert record["accounting"]["post_processing"] == "- round to counts"
    assert record["implementation"]["mechanisms"] == (
        "- sum: gaussian, stddev 4.0, l2_sensitivity 1.0, neighbours replace_one"
    )
    assert json.loads(json.dumps(record)) == record


def test_a_pure_claim_is_pure_dp_without_delta_or_rho() -> None:
    record = registry_fields(dp.certify(LAPLACE, dp.Claim(epsilon=0.5, neighbours="replace_one")))["deployment"]
    assert record["dp_variant"] == {"variant_name": "Pure DP"}
    assert record["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}


def test_the_registrys_model_follows_the_claim() -> None:
    names: tuple[tuple[Model, str], ...] = (("central", "Central"), ("joint", "Central"))
    for model, name in names:
        claim = dp.Claim(epsilon=2.5, delta=1e-5, neighbours="replace_one", model=model)
        assert registry_fields(dp.certify(NORMAL, claim))["deployment"]["deployment_model"]["model_name"] == name


def test_a_poisson_sample_read_for_replacement_is_stated_for_a_record_against_none() -> None:
    """Noise multiplier 2, rate .1: the part moves by the norm of one record, and the sample by both records."""
    node = from_event(dpa.PoissonSampledDpEvent(0.1, dpa.GaussianDpEvent(2.0)), "replace_one")
    inside = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove")
    assert node == dp.Subsample(part=dp.Release(label="event.event", mechanism=inside), rate=0.1)
    form = dp.fold(dp.Repeat(part=node, times=100), "replace_one")
    assert dp.bracket_epsilon(form, 1e-5).upper == pytest.approx(4.36810, abs=2e-5)


def test_samples_of_fixed_and_bounded_size_are_translated() -> None:
    """With replacement for a replaced record, truncated for a removed one; the other relations are refused by name."""
    drawn = dpa.SampledWithReplacementDpEvent(100, 10, dpa.GaussianDpEvent(2.0))
    node = from_event(drawn, "replace_one")
    assert isinstance(node, dp.Subsample)
    assert (node.scheme, node.population, node.batch_size) == ("with_replacement", 100, 10)
    assert to_event(node) == drawn
    cut = dpa.dp_event.TruncatedSubsampledGaussianDpEvent(100, 0.1, 15, 2.0)
    held = from_event(cut, "add_remove")
    assert isinstance(held, dp.Subsample)
    assert (held.scheme, held.population, held.batch_bound) == ("truncated_poisson", 100, 15)
    for event, relation in ((drawn, "add_remove"), (cut, "replace_one")):
        with pytest.raises(dp.UnsupportedError, match="nothing is proved"):
            from_event(event, relation)  # type: ignore[arg-type]  # the pairs hold relations


@pytest.mark.parametrize(
    ("shape", "law"), [(1.0, "geometric"), (0.0, "logarithmic"), (math.inf, "poisson"), (0.5, "negative_binomial")]
)
def test_the_best_of_many_runs_costs_less_than_dp_accounting_says(shape: float, law: str) -> None:
    """Its Renyi divergences are those of Papernot and Steinke; the exact weights lie below, and no part is lost."""
    event = dpa.dp_event.RepeatAndSelectDpEvent(dpa.GaussianDpEvent(2.0), 10.0, shape)
    node = from_event(event, "add_remove")
    assert isinstance(node, dp.BestOf)
    assert node.law == law
    theirs = RdpAccountant().compose(event).get_epsilon(1e-5)
    ours = dp.bracket_epsilon(dp.fold(node, "add_remove"), 1e-5)
    assert theirs / 2 < ours.upper < theirs
    back = to_event(node)
    assert (back.shape, round(back.mean, 6)) == (shape, 10.0)


@pytest.mark.parametrize("shift", [1.0, 0.5])
def test_a_mixture_of_two_gaussians_is_a_record_on_a_sample(shift: float) -> None:
    """Its epsilon is at most that of dp-accounting in steps of 0.01; a replaced record is refused by name."""
    event = dpa.dp_event.MixtureOfGaussiansDpEvent(0.8 * shift, [0.0, shift], [0.75, 0.25])
    node = from_event(event, "add_remove")
    assert node == from_event(dpa.PoissonSampledDpEvent(0.25, dpa.GaussianDpEvent(0.8)), "add_remove")
    theirs = PLDAccountant(dpa.NeighboringRelation.ADD_OR_REMOVE_ONE, 1e-2).compose(event).get_epsilon(1e-5)
    assert dp.bracket_epsilon(dp.fold(node, "add_remove"), 1e-5).upper <= theirs * (1 + 1e-6)
    with pytest.raises(dp.UnsupportedError, match="MixtureOfGaussiansDpEvent"):
        from_event(event, "replace_one")


def test_one_run_on_average_is_one_run() -> None:
    """A mean of 1 chooses nothing, and one below 1 is refused as by dp-accounting."""
    noise = dpa.GaussianDpEvent(2.0)
    assert isinstance(from_event(dpa.dp_event.RepeatAndSelectDpEvent(noise, 1.0, 1.0), "add_remove"), dp.Release)
    with pytest.raises(dp.UnsupportedError, match=r"Expected mean=0.5 to be at least 1"):
        from_event(dpa.dp_event.RepeatAndSelectDpEvent(noise, 0.5, 1.0), "add_remove")


@pytest.mark.parametrize("noise", [0.3, 0.5, 1.7])
@pytest.mark.parametrize("moved", [1, 3])
def test_discrete_laplace_noise_agrees_with_dp_accounting(noise: float, moved: int) -> None:
    """Its pessimistic curve, discretised at 1e-4, lies above our bracket and close to it."""
    event = dpa.dp_event.DiscreteLaplaceDpEvent(noise, moved)
    theirs = PLDAccountant().compose(event).get_epsilon(1e-6)
    ours = dp.bracket_epsilon(dp.fold(from_event(event, "add_remove"), "add_remove"), 1e-6)
    assert ours.lower <= theirs * (1 + 1e-9)
    assert theirs - ours.upper <= 2e-4


@pytest.mark.parametrize("steps", [1, 7, 8, [3, 20]])
def test_restarted_trees_are_at_most_what_dp_accounting_says(steps: Any) -> None:
    """The Renyi divergence is order * levels / (2 noise^2) at each order; the exact curve lies below its epsilon."""
    event = dpa.SingleEpochTreeAggregationDpEvent(2.0, steps)
    accountant = RdpAccountant(neighboring_relation=dpa.NeighboringRelation.REPLACE_SPECIAL)
    theirs = accountant.compose(event).get_epsilon(1e-6)
    node = from_event(event, "zero_out")
    levels = max(steps if isinstance(steps, list) else [steps]).bit_length()
    assert (
        dp.certify(node, RenyiClaim(renyi=((4.0, 4 * levels / 8 * (1 + 2e-7)),), neighbours="zero_out")).verdict
        == "certified"
    )
    assert dp.bracket_epsilon(dp.fold(node, "zero_out"), 1e-6).upper <= theirs
    with pytest.raises(dp.UnsupportedError, match="moves the steps"):
        from_event(event, "add_remove")


def test_a_zcdp_event_is_stated_in_its_own_measure_and_one_without_privacy_is_infinite() -> None:
    """Rho adds up, also to that of noise, and has the epsilon of Canonne, Kamath and Steinke (2020), Proposition 12."""
    told = dpa.ComposedDpEvent([dpa.ZCDpEvent(0.25), dpa.GaussianDpEvent(math.sqrt(2.0))])
    assert (
        dp.certify(from_event(told, "add_remove"), RhoClaim(rho=0.5 + 1e-9, neighbours="add_remove")).verdict
        == "stated"
    )
    assert (
        dp.certify(from_event(told, "add_remove"), RhoClaim(rho=0.499, neighbours="add_remove")).verdict == "not_proved"
    )
    for event, epsilon in ((told, 5.2215), (dpa.NonPrivateDpEvent(), math.inf)):
        found = dp.bracket_epsilon(dp.fold(from_event(event, "add_remove"), "add_remove"), 1e-6).upper
        assert found == pytest.approx(epsilon, abs=1e-4)
    assert RdpAccountant().compose(dpa.NonPrivateDpEvent()).get_epsilon(1e-6) == math.inf
