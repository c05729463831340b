"""The history of a subject: what many reports and checks said of it over time, on one page."""

from dpaudit.history.observations import Observation, Observed, observations_in
from dpaudit.history.trends import Trend, trends_of

__all__ = ["Observation", "Observed", "Trend", "observations_in", "trends_of"]
