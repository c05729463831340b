"""Adapters: what each takes from an object of its library; light stand-ins where the library is not a dependency.

A stand-in has the attributes that the adapter reads, in a module of the library's name, and noise of known scale.
"""

import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audits import audit
from dpaudit import certify
from dpaudit.adapters import ADAPTERS, LibraryRelease, Question, adapt
from dpaudit.adapters.noise import scale_for
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Release, Stated, walk
from dpaudit.model.measures.claims import RhoClaim
from dpaudit.runtime.plugins import find_plugin

NOISE = np.random.default_rng(0)


def gridded(number: float) -> float:
    """Return a number on a grid of 2^-20: plain floating-point noise would leak through its lowest bits."""
    return round(number * 2**20) / 2**20


def placed(kind: type, module: str) -> type:
    """Return a class as if it stood in a module of a library."""
    kind.__module__ = module
    return kind


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that every library is installed, in version 9."""
    monkeypatch.setattr("dpaudit.adapters.finding.installed_version", lambda name: "9")


class Measurement:
    """An OpenDP measurement: Laplace noise of scale `scale` that maps a distance to distance / claimed scale."""

    def __init__(self, metric: str, measure: str = "MaxDivergence", scale: float = 1.0) -> None:
        self.input_metric, self.output_measure, self.scale = metric, measure, scale
        self.input_domain = SimpleNamespace(member=lambda data: not np.isnan(data))

    def map(self, distance: float) -> Any:
        """Return the loss."""
        return (float(distance), 1e-6) if self.output_measure.startswith("Approximate") else float(distance)

    def __call__(self, data: float) -> float:
        return gridded(data + float(NOISE.laplace(0, self.scale)))


placed(Measurement, "opendp.mod")


class Laplace:
    """A mechanism of diffprivlib, whose `share` scales its noise."""

    share = 1.0

    def __init__(self, *, epsilon: float, delta: float = 0.0, sensitivity: float, random_state: Any = None) -> None:
        self.epsilon, self.delta, self.sensitivity = epsilon, delta, sensitivity
        self.random_state = np.random.default_rng(random_state)

    def randomise(self, value: float) -> float:
        """Return a noisy value."""
        return gridded(value + float(self.random_state.laplace(0, self.share * self.sensitivity / self.epsilon)))


class HalfLaplace(Laplace):
    """The twin with half the noise; like its original it is called Laplace."""

    share = 0.5


HalfLaplace.__name__ = "Laplace"
for _kind in (Laplace, HalfLaplace):
    placed(_kind, "diffprivlib.mechanisms")


class BoundedSum:
    """An algorithm of python-dp, which publishes once."""

    def __init__(self, *, epsilon: float, delta: float = 0.0, lower_bound: int, upper_bound: int) -> None:
        self.scale, self.bounds, self.used = upper_bound / epsilon, (lower_bound, upper_bound), False

    def quick_result(self, data: Sequence[float]) -> float:
        """Return a noisy sum, and refuse a second one."""
        if self.used:
            raise RuntimeError("an algorithm publishes once")
        self.used = True
        return gridded(float(np.clip(data, *self.bounds).sum() + NOISE.laplace(0, self.scale)))


placed(BoundedSum, "pydp.algorithms.laplacian")


def audited(release: LibraryRelease, runs: int = 2_000) -> str:
    """Return the verdict of an audit at the library's own claim."""
    result = audit(release.case(), claim=release.claim, runs=runs, rng=np.random.default_rng(1), significance=0.01)
    return result.verdict


@pytest.mark.parametrize(
    ("metric", "neighbours", "epsilon"),
    [("SymmetricDistance()", "add_remove", 1.0), ("SymmetricDistance()", "replace_one", 2.0)],
)
def test_a_measurement_is_asked_at_the_distance_of_its_neighbours(metric: str, neighbours: Any, epsilon: float) -> None:
    """A replaced record is two changes under symmetric distance; half the claim would be wrong."""
    release = adapt(Measurement(metric), neighbours=neighbours, pair=(0.0, 1.0))
    assert release.claim.epsilon == epsilon
    assert release.source == f"measurement.map({int(epsilon)})"
    assert isinstance(release.declaration, Stated)
    assert release.stated_because
    assert not release.reproducible


def test_a_measurement_without_a_distance_or_a_delta_is_refused_in_one_line() -> None:
    """A metric of numbers has no distance, Renyi divergences no epsilon without delta; no measurement, no claim."""
    for subject, options in (
        (Measurement("AbsoluteDistance(f64)"), {}),
        (Measurement("ChangeOneDistance()"), {}),
        (Measurement("SymmetricDistance()", "RenyiDivergence"), {}),
        (placed(type("Transformation", (), {}), "opendp.mod")(), {}),
    ):
        with pytest.raises(UnsupportedError) as caught:
            adapt(subject, neighbours="add_remove", **options)
        assert "\n" not in str(caught.value)


def test_a_measurement_is_audited_at_its_own_claim() -> None:
    """The right noise is not accused; half of it is. A data set outside the domain is called misuse."""
    options: dict[str, Any] = {"neighbours": "replace_one", "distance": 1.0, "pair": (0.0, 1.0)}
    assert audited(adapt(Measurement("AbsoluteDistance(f64)"), **options)) != "violation"
    assert audited(adapt(Measurement("AbsoluteDistance(f64)", scale=0.4), **options)) == "violation"
    outside = adapt(Measurement("AbsoluteDistance(f64)"), **options | {"pair": (0.0, float("nan"))})
    assert "Misuse" in outside.notes[0]
    assert audited(outside) == "violation"


def test_a_zcdp_measurement_claims_its_rho_and_is_audited_in_rho() -> None:
    """No delta, no conversion: the library's rho is stated as rho; the twin with a tenth of the noise falls in rho."""
    release = adapt(Measurement("SymmetricDistance()", "ZeroConcentratedDivergence"), neighbours="add_remove")
    assert release.claim == RhoClaim(rho=1.0, neighbours="add_remove", unit=release.claim.unit)
    assert certify(release.declaration, release.claim).verdict == "stated"
    loud = Measurement("SymmetricDistance()", "ZeroConcentratedDivergence", scale=0.1)
    assert audited(adapt(loud, neighbours="add_remove", pair=(0.0, 1.0))) == "violation"
    assert (
        audited(
            adapt(
                Measurement("SymmetricDistance()", "ZeroConcentratedDivergence"),
                neighbours="add_remove",
                pair=(0.0, 1.0),
            )
        )
        != "violation"
    )


@pytest.mark.parametrize(
    ("kind", "fields", "declared"),
    [
        ("Laplace", {}, "laplace"),
        ("LaplaceTruncated", {}, "laplace"),
        ("LaplaceFolded", {}, "laplace"),
        ("Geometric", {}, "discrete_laplace"),
        ("GeometricTruncated", {}, "discrete_laplace"),
        ("GeometricFolded", {}, "discrete_laplace"),
        ("Gaussian", {"delta": 1e-5}, "gaussian"),
        ("Binary", {}, "randomised_response"),
        ("Exponential", {"monotonic": False}, "exponential"),
        ("Exponential", {"monotonic": True}, ""),
        ("LaplaceBoundedNoise", {"delta": 0.1}, ""),
        ("LaplaceBoundedDomain", {}, ""),
        ("GaussianAnalytic", {"delta": 1e-5}, ""),
        ("PermuteAndFlip", {"monotonic": False}, "permute_and_flip"),
        ("Staircase", {}, ""),
    ],
)
def test_a_mechanism_of_diffprivlib_is_declared_where_its_formula_says_the_noise(
    kind: str, fields: dict[str, Any], declared: str
) -> None:
    """What is declared is certified for the library's own claim; a kind without a formula here stays stated."""
    made = placed(type(kind, (Laplace,), {}), "diffprivlib.mechanisms")
    subject = made(epsilon=0.7, sensitivity=2.0, **{"delta": 0.0} | {k: v for k, v in fields.items() if k == "delta"})
    for name, value in fields.items():
        setattr(subject, name, value)
    release = adapt(subject, neighbours="replace_one")
    names = [node.mechanism.name for _, node in walk(release.declaration) if isinstance(node, Release)]
    assert names == ([declared] if declared else [])
    assert certify(release.declaration, release.claim).verdict == ("certified" if declared else "stated")


class Kept(Laplace):
    """A mechanism that computes its scale when it is made, as the Gaussian and the exponential one do."""

    def __init__(self, *, epsilon: float, delta: float = 0.0, sensitivity: float, random_state: Any = None) -> None:
        super().__init__(epsilon=epsilon, delta=delta, sensitivity=sensitivity, random_state=random_state)
        self._scale = self.sensitivity / self.epsilon

    def randomise(self, value: float) -> float:
        """Return a noisy value."""
        return gridded(value + float(self.random_state.laplace(0, self._scale)))


@pytest.mark.parametrize("change", ["epsilon", "sensitivity", "randomise"])
def test_a_mechanism_of_diffprivlib_that_was_changed_is_refused(change: str) -> None:
    """Its noise is that of the parameters with which it was made. The twins: the same object unchanged, and used."""
    kind = placed(type("Laplace", (Kept,), {}), "diffprivlib.mechanisms")
    subject = kind(epsilon=2.0, sensitivity=1.0)
    subject.randomise(0.0)
    assert (
        certify((release := adapt(subject, neighbours="replace_one")).declaration, release.claim).verdict == "certified"
    )
    setattr(subject, change, (lambda value: value) if change == "randomise" else 0.1)
    with pytest.raises(UnsupportedError, match="was changed after it was made"):
        adapt(subject, neighbours="replace_one")


def test_a_mechanism_of_diffprivlib_is_declared_and_repeats_with_its_seed() -> None:
    """Scale sensitivity over epsilon; the same seed gives the same outputs; the twin with half the noise falls."""
    release = adapt(Laplace(epsilon=1.0, sensitivity=2.0), neighbours="replace_one")
    assert isinstance(release.declaration, Release)
    assert certify(release.declaration, release.claim).verdict == "certified"
    assert release.pair == (0.0, 2.0)
    assert release.function is not None
    first, second = (release.function(0.0, np.random.default_rng(3), 50)["output"] for _ in range(2))
    assert first == second
    assert len(set(first)) == 50
    assert audited(release) != "violation"
    assert audited(adapt(HalfLaplace(epsilon=1.0, sensitivity=2.0), neighbours="replace_one")) == "violation"


@pytest.mark.parametrize("epsilon", [3.48, 1.6701489749470442, 0.849043281649917])
def test_a_scale_that_rounding_alone_puts_below_the_claim_is_no_accusation(epsilon: float) -> None:
    """1 / epsilon in doubles may lie below the exact quotient; a billionth less noise is refuted all the same."""
    mechanism = adapt(Laplace(epsilon=epsilon, sensitivity=1.0), neighbours="replace_one")
    options: dict[str, Any] = {"epsilon": epsilon, "lower_bound": 0, "upper_bound": 1}
    for release in (mechanism, adapt(BoundedSum, neighbours="add_remove", **options)):
        assert certify(release.declaration, release.claim).verdict == "certified"
    noise = find_plugin("mechanisms", "laplace")
    for scale, verdict in ((1 / epsilon, "refuted"), ((1 - 1e-9) / epsilon, "refuted")):
        plain = noise(scale=scale, l1_sensitivity=1.0, neighbours="replace_one")
        assert certify(Release(label="plain", mechanism=plain), mechanism.claim).verdict == verdict
        assert (scale_for(epsilon, scale, 1.0) == scale) is (scale < 1 / epsilon)


def test_the_lowest_bits_of_plain_floating_point_noise_are_seen_without_a_score() -> None:
    """Laplace noise added in doubles to 0 and to 1: outputs finer than 2^-53 come from 0 alone."""

    class Plain(Laplace):
        def randomise(self, value: float) -> float:
            return value + float(self.random_state.laplace(0, self.sensitivity / self.epsilon))

    Plain.__name__ = "Laplace"
    placed(Plain, "diffprivlib.mechanisms")
    assert audited(adapt(Plain(epsilon=1.0, sensitivity=1.0), neighbours="replace_one"), 4_000) == "violation"


def test_a_statistic_of_diffprivlib_is_stated_with_a_note_on_its_relation() -> None:
    """The runs of one batch share a generator; neighbours that the sensitivity is not for are called misuse."""

    def mean(array: Any, epsilon: float = 1.0, random_state: Any = None) -> float:
        return float(np.mean(array) + random_state.laplace(0, 1 / len(array) / epsilon))

    mean.__module__ = "diffprivlib.tools.utils"
    pair = np.zeros(4), np.array([0.0, 0.0, 0.0, 1.0])
    release = adapt(mean, neighbours="replace_one", pair=pair, epsilon=2.0)
    assert release.claim.epsilon == 2.0
    assert isinstance(release.declaration, Stated)
    assert release.notes == ()
    assert release.function is not None
    assert len(set(release.function(pair[0], np.random.default_rng(0), 30)["output"])) == 30
    assert "Misuse" in adapt(mean, neighbours="add_remove", pair=pair).notes[0]


def test_an_algorithm_of_python_dp_is_fresh_in_every_run() -> None:
    """A class with its parameters, never an object; Laplace noise is declared for added and removed records."""
    options: dict[str, Any] = {"epsilon": 1.0, "lower_bound": 0, "upper_bound": 10, "pair": ([1], [1, 10])}
    release = adapt(BoundedSum, neighbours="add_remove", **options)
    assert certify(release.declaration, release.claim).verdict == "certified"
    assert release.function is not None
    assert {type(output) for output in release.function([1], np.random.default_rng(0), 20)["output"]} == {float}
    assert audited(release) != "violation"
    assert isinstance(adapt(BoundedSum, neighbours="replace_one", **options).declaration, Stated)
    with pytest.raises(UnsupportedError, match="publishes only once"):
        adapt(BoundedSum(epsilon=1.0, lower_bound=0, upper_bound=10), neighbours="add_remove")


def test_an_aggregation_of_pipelinedp_is_stated_and_a_refusal_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget is the claim; what raises on one side alone is a violation, not the end of the audit."""

    class Engine:
        def __init__(self, accountant: Any, backend: Any) -> None:
            self.epsilon = accountant.epsilon

        def aggregate(self, rows: Any, parameters: Any, extractors: Any, public_partitions: Any) -> Any:
            if any(value > 9 for _, _, value in rows):
                raise ValueError("a value too large for this stand-in")
            return [
                (key, (gridded(len(rows) + float(NOISE.laplace(0, 1 / self.epsilon))),)) for key in public_partitions
            ]

    library = SimpleNamespace(
        NaiveBudgetAccountant=lambda total_epsilon, total_delta: SimpleNamespace(
            epsilon=total_epsilon, compute_budgets=lambda: None
        ),
        DataExtractors=lambda **_: None,
        LocalBackend=lambda: None,
        DPEngine=Engine,
    )
    monkeypatch.setattr("dpaudit.adapters.pipelinedp.library_module", lambda *_: library)
    subject = placed(type("AggregateParams", (), {"metrics": ["COUNT"]}), "pipeline_dp.aggregate_params")()
    row = (1, "a", 0)
    options: dict[str, Any] = {"neighbours": "add_remove", "epsilon": 1.0, "public_partitions": ["a"]}
    assert audited(adapt(subject, pair=([row], [row, row]), **options)) != "violation"
    large = (1, "a", 10)
    refused = adapt(subject, pair=([row], [large]), **options)
    assert audited(refused, 400) == "violation"
    assert refused.function is not None
    assert {type(output) for output in refused.function([large], np.random.default_rng(0), 3)["output"]} == {ValueError}


def test_a_query_of_smartnoise_makes_a_reader_for_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost is the reader's; the header of the answer is not an output."""
    made: list[Any] = []

    def from_df(frame: Any, privacy: Any, metadata: Any) -> Any:
        made.append(frame)
        return SimpleNamespace(
            get_privacy_cost=lambda query: (privacy.epsilon, 0.01),
            execute=lambda query: [("count",), (frame + int(NOISE.geometric(0.5)),)],
        )

    monkeypatch.setattr("dpaudit.adapters.smartnoise_sql.library_module", lambda *_: SimpleNamespace(from_df=from_df))
    privacy = placed(type("Privacy", (), {"epsilon": 1.5}), "snsql.sql.privacy")()
    release = adapt(privacy, neighbours="add_remove", pair=(3, 4), query="SELECT COUNT(*) FROM t", metadata={})
    assert (release.claim.epsilon, release.claim.delta) == (1.5, 0.01)
    assert release.function is not None
    assert all(rows[0][0] >= 4 for rows in release.function(3, np.random.default_rng(0), 5)["output"])
    assert len(made) == 6
    with pytest.raises(UnsupportedError, match="query"):
        adapt(privacy, neighbours="add_remove", pair=(3, 4))


def test_an_accountant_of_opacus_is_a_declaration() -> None:
    """Its epsilon is the claim; the proved one is at most that, since its accountant is a Renyi accountant."""
    accountants = pytest.importorskip("opacus.accountants")
    accountant = accountants.RDPAccountant()
    accountant.history = [(1.1, 0.01, 100)]
    release = adapt(accountant, neighbours="add_remove", delta=1e-5)
    assert certify(release.declaration, release.claim).verdict == "certified"
    with pytest.raises(UnsupportedError, match="runs nothing"):
        release.case((0, 1))
    for options in ({"neighbours": "add_remove"}, {"neighbours": "replace_one", "delta": 1e-5}):
        with pytest.raises(UnsupportedError, match="Expected"):
            adapt(accountant, **options)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_an_event_of_dp_accounting_is_a_declaration(neighbours: Any) -> None:
    """The library's PLD accountant claims what the declaration delivers; half of it would be refuted."""
    events = pytest.importorskip("dp_accounting")
    event = events.SelfComposedDpEvent(events.GaussianDpEvent(8.0), 10)
    release = adapt(event, neighbours=neighbours, delta=1e-5)
    tight = certify(release.declaration, release.claim).tight.epsilon
    assert tight.lower <= release.claim.epsilon * (1 + 1e-6)
    assert release.claim.epsilon <= tight.upper * 1.01
    with pytest.raises(UnsupportedError, match="delta"):
        adapt(event, neighbours=neighbours)


def test_a_foreign_object_and_a_missing_library_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """No adapter: the known packages are named; not installed: the distribution is."""
    with pytest.raises(UnsupportedError, match="No adapter for objects of the package 'builtins'"):
        adapt(3, neighbours="add_remove")
    monkeypatch.undo()
    with pytest.raises(UnsupportedError, match="smartnoise-sql is not installed"):
        adapt(placed(type("Privacy", (), {}), "snsql.sql")(), neighbours="add_remove")


def test_a_plug_in_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point of the group `dpaudit.adapters`, named like the package."""
    seen: list[Any] = []

    def answer(subject: Any, question: Question) -> Any:
        seen.append((subject, question))
        return "release"

    point = SimpleNamespace(name="their_library", load=lambda: SimpleNamespace(adapt=answer))
    monkeypatch.setattr("dpaudit.adapters.finding.entry_points", lambda group: [point] if "adapters" in group else [])
    subject = placed(type("Query", (), {}), "their_library.queries")()
    assert str(adapt(subject, neighbours="add_remove", depth=3)) == "release"
    assert seen[0][1].parameters == {"depth": 3}
    point.load, point.value = lambda: answer, "their_adapter:adapt"
    with pytest.raises(UnsupportedError, match="'their_adapter:adapt' is no adapter: name a module"):
        adapt(subject, neighbours="add_remove")


def test_no_adapter_imports_its_library_before_an_object_is_adapted() -> None:
    """All adapters are imported, and none of the libraries that are not installed here."""
    modules: list[ModuleType] = [sys.modules[f"dpaudit.adapters.{name}"] for name in ("opendp", "diffprivlib")]
    assert modules
    for package, (_, module) in ADAPTERS.items():
        __import__(module)
        assert package in ("opacus", "dp_accounting") or package not in sys.modules
