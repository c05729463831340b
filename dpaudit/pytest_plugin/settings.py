"""The settings of a suite: number of runs, significance, and the file of evidence; and where each may be stated."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Self, get_args

from dpaudit.checks import FieldError, Natural, OpenProbability, one_of, settle
from dpaudit.configuration.files import parse_toml, read_text
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import suggestion

PROFILES = {"fast": 5_000, "ci": 50_000, "nightly": 500_000}
"""The most runs of one audit; a leak stops it earlier."""

Required = Literal["not_refuted", "declared"]
"""What a training loop must be: without a violation; or also without more noise than it declares."""

_MOST_DIGITS = 9


class Setting(NamedTuple):
    """One setting: its default as text, what it means, and its values where it is a choice.

    It stands in pytest's own file as `dp_NAME`, in the table [tool.dpaudit] as NAME, and as an option `--dp-NAME` where
    `option` says so.
    """

    default: str
    help: str
    values: tuple[str, ...] = ()
    option: bool = True


SETTINGS = {
    "profile": Setting("fast", "how many runs an audit may take", tuple(PROFILES)),
    "evidence": Setting("", "carry evidence over to the next run in this SQLite file, relative to the root"),
    "significance": Setting("0.001", "probability that one check flags correct code", option=False),
    "suite_size": Setting("0", "number of checks of the whole suite; those of the session if it is 0", option=False),
    "require": Setting("not_refuted", "declared: more noise than declared fails too", get_args(Required)),
    "strict": Setting("false", "an inconclusive check fails its test", ("true", "false")),
}
"""Every setting by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a session. `significance` is the probability that correct code is ever flagged.

    Without `evidence`, a check's seed follows from its name, so that repeating the suite repeats its outcome. With it,
    every run draws a fresh seed, and all runs that share the file share the budget. `strict` makes an inconclusive
    check fail; with `require` "declared", so does a training loop with more noise than it declares. `suite_size` is
    the number of checks of the whole suite, 0 for those of the session.
    Raises: ValueError: a field that its type does not take, or an unknown profile.
    """

    profile: str
    significance: OpenProbability
    evidence: Path | None
    seed: Natural | None
    strict: bool = False
    require: Required = "not_refuted"
    suite_size: Natural = 0

    def __post_init__(self) -> None:
        one_of("profile", self.profile, tuple(PROFILES))
        settle(self)

    @property
    def runs(self) -> int:
        """The most runs of one audit."""
        return PROFILES[self.profile]

    @classmethod
    def read(cls, stated: Mapping[str, str], *, seed: int | None, root: Path) -> Self:
        """Return the settings that texts state, by name; a missing one has its default.

        Raises: ValueError: a text that is no value of its setting, or a negative seed.
        """
        text = {name: stated.get(name, setting.default) for name, setting in SETTINGS.items()}
        for name, setting in SETTINGS.items():
            if setting.values:
                one_of(f"dp_{name}", text[name], setting.values)
        return cls(
            profile=text["profile"],
            significance=_number(text["significance"]),
            evidence=root / text["evidence"] if text["evidence"] and seed is None else None,
            seed=seed,
            strict=text["strict"] == "true",
            require="declared" if text["require"] == "declared" else "not_refuted",
            suite_size=_count(text["suite_size"]),
        )


def _number(text: str) -> float:
    """Return the significance that a text spells."""
    try:
        return float(text)
    except ValueError:
        raise FieldError("significance", f"Expected dp_significance={text!r:.40} to be a number.") from None


def _count(text: str) -> int:
    """Return the number of checks that a text spells."""
    if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
        raise FieldError("suite_size", f"Expected dp_suite_size={text!r:.40} to be a whole number of checks.")
    return int(text)


_BOOLEAN = ("true", "false")


def project_settings(root: Path) -> dict[str, str]:
    """Return the settings in `root`/pyproject.toml as text; empty without the file or the table.

    Raises: ConfigError: no TOML, an unknown key, or a value of another type.
    """
    path = root / "pyproject.toml"
    if not path.is_file():
        return {}
    table = parse_toml(path, read_text(path)).get("tool", {}).get("dpaudit", {})
    for key, value in table.items():
        if key not in SETTINGS:
            raise ConfigError(f"{path}: [tool.dpaudit] unknown key {key!r:.80}{suggestion(key, tuple(SETTINGS))}")
        wanted = "true or false" if SETTINGS[key].values == _BOOLEAN else "text or a number"
        if isinstance(value, bool) != (wanted == "true or false") or not isinstance(value, str | int | float):
            raise ConfigError(f"{path}: [tool.dpaudit] expected {key}={value!r:.80} to be {wanted}.")
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in table.items()}
