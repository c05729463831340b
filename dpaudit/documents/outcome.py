"""What programs read of a result: issues with their rules and places, the tests that they fail, and the exit code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of issue: what it means, and what to do about it."""

    id: str
    name: str
    level: Level = "error"
    short: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """An issue at a line of a file, as `text` shows it; an accepted one has a `reason` and a last day, `until`.

    `about` is what it is about, and the fingerprint finds it again in another run.
    """

    rule: Rule
    file: str
    line: int
    about: str
    message: str
    text: str
    fingerprint: str
    reason: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A test with the seconds that it took and the issues that it found."""

    name: str
    seconds: float
    issues: tuple[Reported, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The tests of one configuration, and the numbers that they found, by name."""

    name: str
    tests: tuple[Tested, ...]
    facts: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All issues in order, the suites of tests that found them, the day, and the exit code of the command."""

    issues: tuple[Reported, ...] = ()
    suites: tuple[Suite, ...] = ()
    day: str = ""
    exit_code: int = 0


NO_OUTCOME = Outcome()
"""That of a result in which programs read nothing."""
