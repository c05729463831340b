"""All event classes of dp-accounting: the proved epsilon is at most the library's own, or the event is stated."""

import inspect
from typing import Any

import pytest

from dpaudit import certify
from dpaudit.adapters import adapt
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Neighbours

events = pytest.importorskip("dp_accounting.dp_event")

ROUNDED = 1e-6
NORMAL = events.GaussianDpEvent(2.0)
EXAMPLES: dict[str, tuple[Any, str]] = {
    "NoOpDpEvent": (events.NoOpDpEvent(), "stated"),
    "NonPrivateDpEvent": (events.NonPrivateDpEvent(), "claims no finite epsilon"),
    "UnsupportedDpEvent": (events.UnsupportedDpEvent(), "No accountant of dp-accounting reads"),
    "RandomizedResponseDpEvent": (events.RandomizedResponseDpEvent(0.4, 3), "agrees"),
    "GaussianDpEvent": (NORMAL, "agrees"),
    "LaplaceDpEvent": (events.LaplaceDpEvent(2.0), "agrees"),
    "DiscreteLaplaceDpEvent": (events.DiscreteLaplaceDpEvent(1.0, 1), "agrees"),
    "SelfComposedDpEvent": (events.SelfComposedDpEvent(NORMAL, 5), "agrees"),
    "ComposedDpEvent": (events.ComposedDpEvent([NORMAL, events.LaplaceDpEvent(3.0)]), "agrees"),
    "PoissonSampledDpEvent": (events.PoissonSampledDpEvent(0.1, NORMAL), "agrees"),
    "SampledWithReplacementDpEvent": (
        events.SampledWithReplacementDpEvent(100, 10, NORMAL),
        "No accountant of dp-accounting reads",
    ),
    "SampledWithoutReplacementDpEvent": (
        events.SampledWithoutReplacementDpEvent(100, 10, NORMAL),
        "No accountant of dp-accounting reads",
    ),
    "SingleEpochTreeAggregationDpEvent": (
        events.SingleEpochTreeAggregationDpEvent(4.0, [8]),
        "No accountant of dp-accounting reads",
    ),
    "RepeatAndSelectDpEvent": (events.RepeatAndSelectDpEvent(NORMAL, 5.0, 1.0), "agrees"),
    "MixtureOfGaussiansDpEvent": (events.MixtureOfGaussiansDpEvent(8.0, [0.0, 1.0], [0.5, 0.5]), "agrees"),
    "ZCDpEvent": (events.ZCDpEvent(0.1, 0.05), "stated"),
    "TruncatedSubsampledGaussianDpEvent": (events.TruncatedSubsampledGaussianDpEvent(1000, 0.01, 20, 4.0), "agrees"),
}
"""By class: an event, and its outcome for one of the relations of neighbours."""


def outcome(event: Any, neighbours: Neighbours) -> str:
    """Return whether the proved epsilon is at most the library's, else the verdict at its claim, or what is refused."""
    try:
        release = adapt(event, neighbours=neighbours, delta=1e-5)
    except UnsupportedError as error:
        return str(error)
    certificate = certify(release.declaration, release.claim)
    agrees = certificate.tight.epsilon.upper <= release.claim.epsilon * (1 + ROUNDED)
    return "agrees" if agrees and certificate.verdict != "stated" else certificate.verdict


def test_every_class_of_the_installed_release_has_an_example() -> None:
    classes = [kind for _, kind in inspect.getmembers(events, inspect.isclass) if issubclass(kind, events.DpEvent)]
    assert {kind.__name__ for kind in classes} - {"DpEvent"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_proved_epsilon_of_an_event_is_at_most_the_librarys(name: str) -> None:
    """For the neighbours that an accountant of the library reads the event for."""
    event, expected = EXAMPLES[name]
    relations: tuple[Neighbours, ...] = ("add_remove", "replace_one")
    assert any(expected in outcome(event, relation) for relation in relations)
