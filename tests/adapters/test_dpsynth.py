"""dpsynth, by stand-ins: the event as claim and declaration, and beside the draws that a mechanism really makes."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audits import audit
from dpaudit import certify
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.draws import RecordingGenerator, compare
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Release, Sequential, Stated, walk

events = pytest.importorskip("dp_accounting")


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that the library is installed, in version 9."""
    monkeypatch.setattr("dpaudit.adapters.finding.installed_version", lambda name: "9")


def pick(rng: Any, scores: Any, epsilon: float, sensitivity: float = 1.0) -> int:
    """Return an index by the exponential mechanism."""
    weights = np.exp(epsilon / (2 * sensitivity) * (scores - np.max(scores)))
    return int(rng.choice(len(scores), p=weights / weights.sum()))


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """A calibrated mechanism: normal noise on the counts of three values; `share` scales the noise that is drawn."""

    sigma: float
    share: float = 1.0
    max_records_per_user: int = 1

    @property
    def dp_event(self) -> Any:
        """The event of one Gaussian release."""
        return events.GaussianDpEvent(self.sigma)

    def __call__(self, rng: Any, data: Any) -> Any:
        """Return the measurement of a column."""
        counts = np.bincount(data, minlength=3)
        scale = self.share * self.max_records_per_user * self.sigma
        noisy = np.round((counts + rng.normal(scale=scale, size=3)) * 2**20) / 2**20
        attribute = SimpleNamespace(possible_values=["x", "y", "z"])
        measured = SimpleNamespace(noisy_measurement=noisy, clique=("a",))
        return SimpleNamespace(measurement=measured, categorical_attribute=attribute, bin_edges=None)


@dataclass(frozen=True, kw_only=True)
class Tree(Histogram):
    """A zCDP bound, spent on choices and on two marginals of one Gaussian release."""

    rho: float = 0.5

    @property
    def dp_event(self) -> Any:
        """The event of a histogram and of a bound."""
        return events.ComposedDpEvent([events.GaussianDpEvent(self.sigma), events.ZCDpEvent(self.rho)])

    def __call__(self, rng: Any, data: Any) -> Any:
        """Return the measurements of a synthesizer."""
        column = Histogram.__call__(replace(self, share=1.0), rng, data)
        size = self.max_records_per_user
        for _ in range(2):
            pick(rng, np.bincount(data, minlength=3), math.sqrt(8 * self.rho / 4), size)
        scale = size * math.sqrt(1 / self.rho) * math.sqrt(2) * self.share
        noisy = [rng.normal(scale=scale, size=2) for _ in range(2)]
        measured = [SimpleNamespace(noisy_measurement=one, clique=("a", "b")) for one in noisy]
        codec = SimpleNamespace(columns={"a": SimpleNamespace(column_measurement=column)})
        return SimpleNamespace(codec=codec, discrete_mechanism_result=SimpleNamespace(measurements=measured))


for _kind in (Histogram, Tree):
    _kind.__module__ = "dpsynth.local_mode"
PAIR = np.array([0, 1]), np.array([0, 1, 1])
ASKED: dict[str, Any] = {"neighbours": "add_remove", "pair": PAIR, "delta": 1e-5}


def verdicts(release: LibraryRelease, runs: int = 2_000) -> tuple[str, str]:
    """Return the verdicts of the certificate and of an audit, both at the library's own claim."""
    certificate = certify(release.declaration, release.claim)
    result = audit(release.case(), claim=release.claim, runs=runs, rng=np.random.default_rng(1), significance=0.01)
    return certificate.verdict, result.verdict


def test_an_event_is_claim_and_declaration_and_the_draws_keep_to_it() -> None:
    """The PLD accountant's epsilon, the Gaussian leaf, no finding; a person of two records has twice the noise."""
    release = adapt(Histogram(sigma=1.0), **ASKED)
    assert isinstance(release.declaration, Release)
    assert release.source == "PLDAccountant.get_epsilon(1e-05) of dp_event, rounded up to 6 digits"
    assert release.claim.epsilon == 4.37718  # 4.377178 and more is the Gaussian's at noise 1 and delta 1e-5
    assert release.notes == ()
    assert verdicts(release)[0] == "certified"
    assert verdicts(release)[1] != "violation"
    two = adapt(Histogram(sigma=1.0, max_records_per_user=2), **ASKED)
    assert (two.claim.unit, two.notes) == ("one person with at most 2 records", ())


def test_half_the_noise_is_a_finding_not_proved_and_a_violation() -> None:
    """The event alone would certify it; the draws do not keep to it, and an audit sees it."""
    release = adapt(Histogram(sigma=6.0, share=0.1), **ASKED)
    assert "Finding: " in release.notes[0]
    assert "1 × normal noise of scale 0.6" in release.notes[0]
    assert release.stated_because == "the draws exceed the declared event if all of them are noise on data"
    assert verdicts(release, 6_000) == ("not_proved", "violation")
    unseen = adapt(Histogram(sigma=6.0, share=0.1), **ASKED | {"pair": None})
    assert certify(unseen.declaration, unseen.claim).verdict == "certified"
    assert unseen.notes == ("No draw was compared with the event; that needs pair=(data, neighbouring data).",)


@pytest.mark.parametrize(("share", "found"), [(1.0, False), (1 + 1e-6, False), (1 - 1e-6, True), (0.5, True)])
@pytest.mark.parametrize("size", [1, 3])
def test_choices_and_marginals_share_a_bound(share: float, size: int, *, found: bool) -> None:
    """Two choices and two marginals use all of rho; a millionth less noise exceeds it. A bound alone is stated."""
    release = adapt(Tree(sigma=2.0, share=share, max_records_per_user=size), **ASKED)
    assert bool(release.notes) is found
    assert any(isinstance(node, Stated) and node.rho for _, node in walk(release.declaration)) is not found
    assert release.source.startswith("RdpAccountant")
    assert release.function is not None
    outputs = release.function(PAIR[0], np.random.default_rng(0), 2)["output"]
    assert list(outputs[0]) == ["0: a b", "1: a b", "2: a", "values 0"]


def test_frames_have_awkward_neighbours() -> None:
    """A frame with a row more, awkward in one column; arrays have none."""
    frames = pytest.importorskip("pandas")

    class Table(Histogram):
        def __call__(self, rng: Any, data: Any) -> Any:
            return Histogram.__call__(self, rng, [0] * len(data))

    Table.__module__ = "dpsynth.data_generation"
    frame = frames.DataFrame({"city": ["a", "b"], "hours": [0.5, 1.5]})
    release = adapt(Table(sigma=1.0), **ASKED | {"pair": (frame[:1], frame)})
    assert len(release.cases()) == 5
    assert adapt(Histogram(sigma=1.0), **ASKED).awkward == ()


def test_what_was_calibrated_is_the_claim() -> None:
    """`epsilon` is the one that the mechanism was calibrated for; a smaller one than its event has is refuted."""
    honest = adapt(Histogram(sigma=1.0), epsilon=4.4, **ASKED)
    assert honest.source == "calibrate(epsilon=4.4, delta=1e-05)"
    assert certify(honest.declaration, honest.claim).verdict == "certified"
    wrong = adapt(Histogram(sigma=1.0), epsilon=4.0, **ASKED)
    assert certify(wrong.declaration, wrong.claim).verdict == "refuted"


class Event(SimpleNamespace):
    """An event of a later dp-accounting."""


def drawn(*draws: tuple[str, float], unread: tuple[str, ...] = ()) -> RecordingGenerator:
    """Return a generator that made these draws."""
    generator = RecordingGenerator(np.random.PCG64(0))
    generator.draws += draws
    generator.unread |= set(unread)
    return generator


def event(name: str, **fields: float) -> Any:
    """Return an event of a class of this name."""
    return type(name, (Event,), {})(**fields)


@pytest.mark.parametrize(
    ("declared", "draws", "words"),
    [
        (event("NoOpDpEvent"), (), ""),
        (
            event("NoOpDpEvent"),
            (("normal", 5.0),),
            "leaves mu^2 = 0 for draws of undeclared scale, which need 0.04 if each is noise on data: "
            "1 × normal noise of scale 5.",
        ),
        (event("ExponentialMechanismDpEvent", epsilon=1.0), (("choice", 1.0),), ""),
        (event("ExponentialMechanismDpEvent", epsilon=1.0), (("choice", 1.1),), "1 × a choice at epsilon 1.1"),
        (event("EpsilonDeltaDpEvent", epsilon=0.0, delta=1e-6), (), ""),
        (event("GaussianDpEvent", noise_multiplier=2.0), (("normal", 0.0),), "need inf"),
        (event("GaussianDpEvent", noise_multiplier=2.0), (), ""),
        (event("ZCDpEvent", rho=0.5), (("normal", math.sqrt(2)), ("choice", math.sqrt(2))), ""),
        (event("ZCDpEvent", rho=0.5), (("normal", math.sqrt(2)), ("choice", 1.5)), "leaves mu"),
    ],
)
def test_draws_of_undeclared_scale_share_what_is_left(declared: Any, draws: Any, words: str) -> None:
    """Squares of mu: 1 / scale^2 of normal noise, epsilon^2 / 4 of a choice, 2 rho of a bound."""
    comparison = compare(declared, drawn(*draws), 1)
    assert comparison.open_points == ()
    assert words in comparison.finding
    assert bool(words) is bool(comparison.finding)


def test_what_draws_cannot_decide_is_an_open_point_and_no_finding() -> None:
    """More draws at a declared scale may read disjoint records, or none; other noise and other events are not read."""
    levels = events.SelfComposedDpEvent(event("ExponentialMechanismDpEvent", epsilon=1.0), 2)
    more = compare(levels, drawn(*[("choice", 1.0)] * 3), 1)
    assert (more.finding, more.open_points) == (
        "",
        ("Not decided: 1 × a choice at epsilon 1 beyond what is declared.",),
    )
    other = compare(events.GaussianDpEvent(1.0), drawn(("normal", 1.0), unread=("laplace",)), 1)
    assert other.open_points == ("Not decided: draws by laplace.",)
    sampled = events.PoissonSampledDpEvent(0.1, events.GaussianDpEvent(1.0))
    assert compare(sampled, drawn(("normal", 0.1)), 1).open_points == (
        "Draws are not compared with PoissonSampledDpEvent.",
    )


def test_a_recording_generator_draws_as_its_seed_says() -> None:
    """Recording changes no draw; Laplace noise and spawned generators are unread."""
    plain, recording = np.random.default_rng(5), RecordingGenerator(np.random.default_rng(5).bit_generator)
    assert plain.normal(1.0, [2.0, 3.0]).tolist() == recording.normal(1.0, [2.0, 3.0]).tolist()
    assert pick(plain, np.arange(3.0), 0.5) == pick(recording, np.arange(3.0), 0.5)
    recording.laplace()
    assert (recording.draws, recording.unread) == ([("normal", 2.0), ("choice", 0.5)], {"laplace"})


def test_what_has_no_event_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A configuration, no delta, another relation, an event that no accountant reads, or a class it does not have."""
    config = type("Config", (), {"__module__": "dpsynth.api"})()
    unknown = type("Sampled", (Histogram,), {"dp_event": events.UnsupportedDpEvent(), "__module__": "dpsynth.api"})
    later = type(
        "Later", (Histogram,), {"dp_event": property(lambda _: events.LaterDpEvent()), "__module__": "dpsynth"}
    )
    for subject, options, words in (
        (config, {}, "configure or calibrate"),
        (Histogram(sigma=1.0), {"delta": None}, "Expected delta="),
        (Histogram(sigma=1.0), {"neighbours": "replace_one"}, "Expected neighbours='add_remove'"),
        (unknown(sigma=1.0), {}, "No accountant of dp-accounting reads the event"),
        (later(sigma=1.0), {}, "needs a newer dp-accounting"),
    ):
        with pytest.raises(UnsupportedError, match=words) as caught:
            adapt(subject, **ASKED | options)
        assert "\n" not in str(caught.value)
    raising = type(
        "Raising", (Histogram,), {"__call__": lambda self, rng, data: data["a"], "__module__": "dpsynth.api"}
    )
    assert adapt(raising(sigma=1.0), **ASKED).notes == ("A run that was to be compared raised IndexError.",)
    monkeypatch.undo()
    with pytest.raises(UnsupportedError, match="dpsynth is not installed"):
        adapt(Histogram(sigma=1.0), **ASKED)


def test_a_histogram_after_another_is_two_releases() -> None:
    """Composed events become parts in sequence."""
    both = type(
        "Both",
        (Histogram,),
        {"dp_event": events.ComposedDpEvent([events.GaussianDpEvent(2.0)] * 2), "__module__": "dpsynth.api"},
    )
    release = adapt(both(sigma=2.0), **ASKED)
    assert isinstance(release.declaration, Sequential)
    assert release.notes == ()
