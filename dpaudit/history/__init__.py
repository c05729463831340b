"""The history of a subject: what many reports and checks said of it over time, on one page."""

from dpaudit.history.observations import Observation as Observation
from dpaudit.history.observations import Observed as Observed
from dpaudit.history.observations import observations_in as observations_in
from dpaudit.history.trends import Trend as Trend
from dpaudit.history.trends import trends_of as trends_of
