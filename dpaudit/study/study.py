"""The fields of a study: its grid, its problem and its contenders."""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from dpaudit.checks import Count, Natural, OpenProbability, Positive, ProbabilityBelowOne, TwoOrMore, settle
from dpaudit.errors import ConfigError
from dpaudit.model.claim import Neighbours

Role = Literal["private", "ceiling", "floor"]
"""With its noise; without noise, for the best that may be hoped for; with noise and without data, for the worst."""

Grid = Literal["epsilon"]

HORIZON_KEYS = ("horizon", "episodes")
"""The settings that say how long an algorithm runs; an algorithm has one of them."""

LENGTH = "horizon"
"""The text that stands for the cell's horizon as the value of a problem's parameter."""


_NOISE_KEYS = ("epsilon", "delta", "calibration")
"""The settings that decide how much noise there is and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One algorithm of a study under its label.

    `algorithm` holds the keys of an [algorithm] table without the horizon. `role`: "private" runs it as it is;
    "ceiling" runs it without noise, or as it is where it has none; "floor" runs it blind, with the data's term of every
    release set to 0. `grid` "epsilon" sweeps the study's epsilons, or the contender's own `epsilons` and `horizons`
    where they are given. `runs` of a ceiling may be fewer than the study's, where a method is slow. `tune` maps keys of
    the algorithm to values to choose among, on the study's tuning seeds.
    Raises: ValueError: a field outside its range.
    """

    label: str
    role: Role
    algorithm: dict[str, Any]
    grid: Grid | None = None
    epsilons: tuple[Positive, ...] = ()
    horizons: tuple[Count, ...] = ()
    tune: dict[str, Any] = field(default_factory=dict)
    runs: TwoOrMore | None = None

    def __post_init__(self) -> None:
        settle(self)
        if not self.label.strip():
            raise ValueError("Expected label to name the contender; it is empty.")
        if not isinstance(self.algorithm.get("name"), str):
            raise ValueError("Expected algorithm to have a key 'name', which is text.")
        _require_distinct(self, "epsilons", "horizons")
        for key in HORIZON_KEYS:
            if key in self.algorithm:
                raise ValueError(f"Expected algorithm without {key!r}: the study's horizons say how long it runs.")
        if self.grid is not None and "epsilon" in self.algorithm:
            raise ValueError("Expected grid='epsilon' or an epsilon in the algorithm, not both.")
        if self.epsilons and self.grid is None:
            raise ValueError("Expected epsilons to come with grid = 'epsilon'.")
        if self.runs is not None and self.role != "ceiling":
            raise ValueError(f"Expected runs={self.runs} of a ceiling only: other contenders are paired run by run.")
        for key, values in self.tune.items():
            if not isinstance(values, tuple | list) or not values:
                raise ValueError(f"Expected tune.{key}={values!r:.40} to be a list of values to choose among.")

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        return str(self.algorithm["name"])

    @property
    def family(self) -> str:
        """What a run without noise has in common with one with noise: all settings but epsilon, delta, calibration."""
        settings = {key: value for key, value in self.algorithm.items() if key not in _NOISE_KEYS}
        return json.dumps(settings, sort_keys=True, default=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """The [study] table of a file.

    `horizons` in rounds or episodes; `epsilons` in nats; `runs` for each cell; `problems`, the seeds of drawn problems
    (one seed for a fixed problem); `seed` of all runs; `alpha`, the error of an interval; `tuning_seeds`, problems that
    only choose settings; `delta` and `neighbours`, the one axis of the study; `gap_factors` multiply the mean
    rewards, for the worst gap; `quick` holds keys that replace others in a quick run.
    Raises: ValueError: a field outside its range.
    """

    name: str
    horizons: tuple[Count, ...]
    epsilons: tuple[Positive, ...] = ()
    runs: Count = 10
    problems: tuple[Natural, ...] = (0,)
    seed: Natural = 0
    alpha: OpenProbability = 0.05
    tuning_seeds: tuple[Natural, ...] = ()
    delta: ProbabilityBelowOne = 0.0
    neighbours: Neighbours = "replace_one"
    gap_factors: tuple[Positive, ...] = (1.0,)
    quick: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settle(self)
        if not self.name.strip():
            raise ValueError("Expected name to name the study; it is empty.")
        for key in ("horizons", "problems", "gap_factors"):
            if not getattr(self, key):
                raise ValueError(f"Expected {key} to hold one value or more.")
        _require_distinct(self, "horizons", "problems", "tuning_seeds", "epsilons", "gap_factors")
        if self.runs * len(self.problems) < 2:
            raise ValueError(f"Expected runs={self.runs} at 2 or more where there is one problem; nothing else varies.")
        both = sorted(set(self.problems) & set(self.tuning_seeds))
        if both:
            raise ValueError(f"Expected tuning_seeds to be disjoint from problems; both hold {both[0]}.")

    def quickly(self) -> "StudySettings":
        """Return the settings of a quick run.

        Raises: ConfigError: `quick` has a key that is no setting.
        """
        fields = ("horizons", "epsilons", "runs", "problems", "tuning_seeds", "gap_factors")
        for key in self.quick:
            if key not in fields:
                raise ConfigError(f"Expected study.quick key {key!r} to be one of: {', '.join(fields)}.")
        quick_settings: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in self.quick.items()
        }
        return replace(self, **quick_settings, quick={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study as its file spells it; `problem` holds the keys of the [problem] table."""

    settings: StudySettings
    problem: dict[str, Any]
    contenders: tuple[Contender, ...]

    def __post_init__(self) -> None:
        labels = [contender.label for contender in self.contenders]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ValueError(f"Expected each label once; {twice!r} stands twice.")
        if not labels:
            raise ValueError("Expected one [[contender]] or more; there is none.")

    def runs(self, label: str) -> int:
        """Return how many runs a cell of a contender has."""
        own = self.contender(label).runs
        return self.settings.runs if own is None else min(own, self.settings.runs)

    def contender(self, label: str) -> Contender:
        """Return the contender called `label`."""
        return next(contender for contender in self.contenders if contender.label == label)


def _require_distinct(table: Any, *names: str) -> None:
    """Refuse lists with a value that stands twice."""
    for name in names:
        values = getattr(table, name)
        if len(set(values)) < len(values):
            raise ValueError(f"Expected {name} without repeated values.")
