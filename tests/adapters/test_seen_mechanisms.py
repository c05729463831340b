"""What objects of libraries show of their noise, by stand-ins: declared where it is seen, else stated."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpaudit import certify
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.model.declaration import Release, Stated, walk


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that every library is installed, in version 9."""
    monkeypatch.setattr("dpaudit.adapters.finding.installed_version", lambda name: "9")


def named(name: str, module: str, **fields: Any) -> Any:
    """Return an object of a class of this name in a module of a library."""
    return type(name, (SimpleNamespace,), {"__module__": module})(**fields)


def made(
    function: str, claimed: float, *, metric: str = "AbsoluteDistance(f64)", domain: str = "T=f64", **given: Any
) -> Any:
    """Return a measurement of OpenDP that keeps its constructor and maps a distance to `claimed` for each unit."""
    return named(
        "Measurement",
        "opendp.mod",
        input_metric=metric,
        input_domain=domain,
        output_measure=given.pop("measure", "MaxDivergence"),
        map=lambda distance: claimed * distance,
        __opendp_dict__={"__function__": function, "__kwargs__": given},
    )


def mechanisms(release: LibraryRelease) -> list[str]:
    """Return the names of the declared mechanisms."""
    return [node.mechanism.name for _, node in walk(release.declaration) if isinstance(node, Release)]


def bits(claimed: float, weight: int | None = 2, f: float = 0.5) -> Any:
    """Return randomised response on a vector of bits."""
    domain = SimpleNamespace(__opendp_dict__={"__kwargs__": {"max_weight": weight}})
    return made("make_randomized_response_bitvec", claimed, metric="DiscreteDistance()", f=f, input_domain=domain)


LAPLACE = made("make_laplace", 0.5, scale=2.0)
SUM = SimpleNamespace(map=lambda distance: 10 * distance)


@pytest.mark.parametrize(
    ("measurement", "declared"),
    [
        (LAPLACE, ["laplace"]),
        (made("make_laplace", 0.5, scale=2.0, metric="L1Distance(i32)", domain="T=i32"), ["discrete_laplace"]),
        (made("make_geometric", 1.0, scale=1.0, metric="AbsoluteDistance(i32)", domain="T=i32"), ["discrete_laplace"]),
        (made("make_noise", 0.5, scale=2.0), ["laplace"]),
        (made("make_chain_mt", 5.0, measurement1=LAPLACE, transformation0=SUM), ["laplace"]),
        (made("make_chain_pm", 0.5, measurement0=LAPLACE, postprocess1=None), ["laplace"]),
        (made("make_composition", 1.0, measurements=[LAPLACE, LAPLACE]), ["laplace", "laplace"]),
        (made("make_noisy_max", 2.0, scale=1.0, metric="LInfDistance(T=f64)"), ["permute_and_flip"]),
        (made("make_noisy_max", 1.0, scale=1.0, metric="LInfDistance(monotonic, T=f64)"), ["permute_and_flip"]),
        (made("make_randomized_response_bool", math.log(3), prob=0.75), ["randomised_response"]),
        (made("make_randomized_response", math.log(6), prob=0.75, categories=["a", "b", "c"]), ["randomised_response"]),
        (bits(4 * math.log(3)), ["randomised_response"]),
        (bits(0.5, weight=None), []),
        (made("make_laplace_threshold", 0.5, scale=2.0, threshold=5), []),
        (made("make_user_measurement", 0.5, privacy_map=None), []),
        (made("make_population_amplification", 0.5, measurement=LAPLACE, population_size=100), []),
        (made("make_composition", 1.0, measurements=[LAPLACE, made("make_user_measurement", 0.5)]), []),
        (made("make_laplace", 0.5, scale=0.0), []),
        (made("make_laplace", 0.5, scale=2.0, metric="L2Distance(f64)"), []),
    ],
)
def test_a_measurement_is_declared_by_the_constructors_that_it_keeps(measurement: Any, declared: list[str]) -> None:
    """What is declared is certified at the measurement's own map; other constructors are stated, with a reason."""
    release = adapt(measurement, neighbours="replace_one", distance=1.0)
    assert mechanisms(release) == declared
    assert certify(release.declaration, release.claim).verdict == ("certified" if declared else "stated")
    assert bool(release.stated_because) is not bool(declared)


def test_a_measurement_in_rho_is_declared_and_a_map_below_its_noise_is_refuted() -> None:
    """Gaussian noise of scale 2 has rho 1/8; a noisy maximum in rho is the exponential mechanism; half is false."""
    zcdp = "ZeroConcentratedDivergence"
    gaussian = made("make_gaussian", 0.125, scale=2.0, measure=zcdp)
    maximum = made("make_noisy_max", 0.5, scale=1.0, metric="LInfDistance(T=f64)", measure=zcdp)
    for measurement, name in ((gaussian, "gaussian"), (maximum, "exponential")):
        release = adapt(measurement, neighbours="replace_one", distance=1.0)
        assert mechanisms(release) == [name]
        assert certify(release.declaration, release.claim).verdict == "certified"
    laplace, response = made("make_laplace", 0.4, scale=2.0), bits(3 * math.log(3))
    for wrong in (made("make_gaussian", 0.0625, scale=2.0, measure=zcdp), laplace, response):
        release = adapt(wrong, neighbours="replace_one", distance=1.0)
        assert certify(release.declaration, release.claim).verdict == "refuted"


def test_the_budget_of_pipelinedp_is_declared_share_by_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Laplace noise on counts at its share, the choice of partitions stated at its own: a mixture is stated."""

    def share(name: str, kind: str, delta: float = 0.0) -> Any:
        spec = SimpleNamespace(name=name, mechanism_type=SimpleNamespace(name=kind), eps=0.5, delta=delta)
        return SimpleNamespace(mechanism_spec=spec)

    def library(*shares: Any) -> Any:
        accountant = SimpleNamespace(_mechanisms=shares, compute_budgets=lambda: None)
        engine = SimpleNamespace(aggregate=lambda *_, **__: [])
        return SimpleNamespace(
            NaiveBudgetAccountant=lambda **_: accountant,
            DataExtractors=lambda **_: None,
            LocalBackend=lambda: None,
            DPEngine=lambda *_: engine,
        )

    bounds = {"max_partitions_contributed": 2, "max_contributions_per_partition": 3, "min_value": -1, "max_value": 5}
    subject = named("AggregateParams", "pipeline_dp.aggregate_params", metrics=["COUNT"], **bounds)
    kinds = {"Count": 6.0, "PrivacyIdCount": 2.0, "Sum": 30.0, "MeanSum": 18.0}
    for name, sensitivity in kinds.items():
        monkeypatch.setattr(
            "dpaudit.adapters.pipelinedp.library_module", lambda *_, n=name: library(share(n, "LAPLACE"))
        )
        release = adapt(subject, neighbours="add_remove", epsilon=0.5, pair=([], [(1, "a", 1.0)]))
        assert isinstance(release.declaration, Release)
        assert release.declaration.mechanism.l1_sensitivity == sensitivity  # type: ignore[attr-defined]
        assert certify(release.declaration, release.claim).verdict == "certified"
    shares = share("Count", "LAPLACE"), share("PartitionSelection", "TRUNCATED_GEOMETRIC", 1e-6)
    monkeypatch.setattr("dpaudit.adapters.pipelinedp.library_module", lambda *_: library(*shares))
    mixed = adapt(subject, neighbours="add_remove", epsilon=1.0, delta=1e-6, pair=([], [(1, "a", 1.0)]))
    assert mechanisms(mixed) == ["laplace"]
    assert certify(mixed.declaration, mixed.claim).verdict == "stated"
    assert isinstance(adapt(subject, neighbours="add_remove", epsilon=1.0).declaration, Stated)


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [(["Laplace"], "certified"), (["Laplace", "Gaussian"], "stated"), (["Laplace", "NoneType"], "stated")],
)
def test_a_query_of_smartnoise_is_declared_where_every_column_is_laplace_noise(
    monkeypatch: pytest.MonkeyPatch, columns: list[str], verdict: str
) -> None:
    """A column without noise is the key of a group; with it, or with other noise, the whole query is stated."""
    chosen = [
        named(kind, "snsql", scale=3.0, sensitivity=3, max_contrib=1, epsilon=1.0) if kind != "NoneType" else None
        for kind in columns
    ]
    reader = SimpleNamespace(
        get_privacy_cost=lambda query: (float(len(columns)), 0.01),
        _rewrite=lambda query: (query, query),
        _get_mechanisms=lambda query: chosen,
    )
    module = SimpleNamespace(from_df=lambda *_, **__: reader)
    monkeypatch.setattr("dpaudit.adapters.smartnoise_sql.library_module", lambda *_: module)
    privacy = named("Privacy", "snsql.sql.privacy", epsilon=1.0)
    release = adapt(privacy, neighbours="add_remove", pair=(3, 4), query="SELECT COUNT(*) FROM t", metadata={})
    assert certify(release.declaration, release.claim).verdict == verdict


class LaplaceTruncated:
    """A mechanism of diffprivlib that draws from the state that it is given."""

    def __init__(self, epsilon: float, sensitivity: float, state: Any) -> None:
        self.epsilon, self.delta, self.sensitivity, self.state = epsilon, 0.0, sensitivity, state

    def randomise(self, value: float) -> float:
        """Return a noisy value."""
        return value + float(self.state.laplace(0, self.sensitivity / self.epsilon))


def statistic(**shares: float) -> Any:
    """Return a mean whose sensitivity is the range over the number of records, unless `shares` says otherwise."""

    def mean(array: Any, epsilon: float = 1.0, bounds: Any = None, axis: Any = None, random_state: Any = None) -> float:
        width = float(shares.get("data", 0.0) * np.ptp(array) or (bounds or (0, 1))[1])
        noise = LaplaceTruncated(epsilon * shares.get("epsilon", 1.0), width / len(array), random_state)
        return noise.randomise(float(np.mean(array)))

    mean.__module__ = "diffprivlib.tools.utils"
    return mean


@pytest.mark.parametrize(
    ("subject", "options", "verdict"),
    [
        (statistic(), {"bounds": (0, 2)}, "certified"),
        (statistic(), {}, "stated"),  # bounds from the data
        (statistic(), {"bounds": (0, 2), "axis": 0}, "stated"),
        (statistic(epsilon=0.5), {"bounds": (0, 2)}, "stated"),  # a share of epsilon
        (statistic(data=1.0), {"bounds": (0, 2)}, "stated"),  # a sensitivity that follows the data
    ],
)
def test_a_statistic_of_diffprivlib_is_declared_by_the_mechanism_that_draws(
    subject: Any, options: dict[str, Any], verdict: str
) -> None:
    """One mechanism, the same on both data sets, at the whole epsilon."""
    pair = np.zeros(4), np.array([0.0, 0.0, 0.0, 1.0])
    release = adapt(subject, neighbours="replace_one", pair=pair, **options)
    assert certify(release.declaration, release.claim).verdict == verdict
    assert mechanisms(release) == (["laplace"] if verdict == "certified" else [])
