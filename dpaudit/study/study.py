"""The fields of a study: its grid, its problem and its contenders."""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from dpaudit.checks import count, one_of, open_probability, positive, probability_below_one
from dpaudit.errors import ConfigError
from dpaudit.model.claim import NEIGHBOURS

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
    epsilons: tuple[float, ...] = ()
    horizons: tuple[int, ...] = ()
    tune: dict[str, Any] = field(default_factory=dict)
    runs: int | None = None

    def __post_init__(self) -> None:
        one_of("role", self.role, get_args(Role))
        if not self.label.strip():
            raise ValueError("Expected label to name the contender; it is empty.")
        if not isinstance(self.algorithm.get("name"), str):
            raise ValueError("Expected algorithm to have a key 'name', which is text.")
        _numbers("epsilons", self.epsilons)
        _whole("horizons", self.horizons)
        for key in HORIZON_KEYS:
            if key in self.algorithm:
                raise ValueError(f"Expected algorithm without {key!r}: the study's horizons say how long it runs.")
        if self.grid is not None and "epsilon" in self.algorithm:
            raise ValueError("Expected grid='epsilon' or an epsilon in the algorithm, not both.")
        if self.epsilons and self.grid is None:
            raise ValueError("Expected epsilons to come with grid = 'epsilon'.")
        if self.runs is not None:
            object.__setattr__(self, "runs", count("runs", self.runs, at_least=2))
            if self.role != "ceiling":
                raise ValueError(
                    f"Expected runs={self.runs} of a ceiling only: other contenders are paired run by run."
                )
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
        kept = {key: value for key, value in self.algorithm.items() if key not in _NOISE_KEYS}
        return json.dumps(kept, sort_keys=True, default=str)


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
    horizons: tuple[int, ...]
    epsilons: tuple[float, ...] = ()
    runs: int = 10
    problems: tuple[int, ...] = (0,)
    seed: int = 0
    alpha: float = 0.05
    tuning_seeds: tuple[int, ...] = ()
    delta: float = 0.0
    neighbours: str = "replace_one"
    gap_factors: tuple[float, ...] = (1.0,)
    quick: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("Expected name to name the study; it is empty.")
        for key in ("horizons", "problems", "gap_factors"):
            if not getattr(self, key):
                raise ValueError(f"Expected {key} to hold one value or more.")
        _whole("horizons", self.horizons)
        _whole("problems", self.problems, at_least=0)
        _whole("tuning_seeds", self.tuning_seeds, at_least=0)
        _numbers("epsilons", self.epsilons)
        _numbers("gap_factors", self.gap_factors)
        object.__setattr__(self, "runs", count("runs", self.runs))
        object.__setattr__(self, "seed", count("seed", self.seed, at_least=0))
        object.__setattr__(self, "alpha", open_probability("alpha", self.alpha))
        object.__setattr__(self, "delta", probability_below_one("delta", self.delta))
        one_of("neighbours", self.neighbours, NEIGHBOURS)
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
        held: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in self.quick.items()
        }
        return replace(self, **held, quick={})


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


def _whole(name: str, values: tuple[int, ...], *, at_least: int = 1) -> None:
    """Refuse what is no list of distinct whole numbers."""
    for value in values:
        count(name, value, at_least=at_least)
    if len(set(values)) < len(values):
        raise ValueError(f"Expected {name} without repeated values.")


def _numbers(name: str, values: tuple[float, ...]) -> None:
    """Refuse what is no list of distinct positive numbers."""
    for value in values:
        positive(name, value)
    if len(set(values)) < len(values):
        raise ValueError(f"Expected {name} without repeated values.")
