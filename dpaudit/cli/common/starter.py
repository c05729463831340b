"""The files of a new project: a configuration, its tests, an empty list of accepted issues, and a pipeline."""

import json
import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from importlib.resources import files

from dpaudit.checks import FieldError
from dpaudit.cli.common.options import Host
from dpaudit.errors import ConfigError
from dpaudit.gate.baseline import Baseline
from dpaudit.model.claim import Claim
from dpaudit.runtime.plugins import load_package

_DIGITS = Context(prec=4, rounding=ROUND_CEILING)


PIPELINES: dict[Host, str] = {"github": ".github/workflows/privacy.yml", "gitlab": ".gitlab-ci.yml"}
"""The file that each host reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """A claim about one release and the host of its pipeline, from which the files of a project follow.

    Raises: ConfigError: a claim that is none, or an epsilon of 0, for which no noise is enough.
    """

    unit: str
    epsilon: float
    delta: float
    host: Host

    def __post_init__(self) -> None:
        if not self.unit.strip() or not self.unit.isprintable():
            raise ConfigError(f"Expected unit={self.unit!r:.80} to say on one line what one person contributes.")
        if not math.isfinite(self.epsilon) or self.epsilon <= 0:
            raise ConfigError(f"Expected epsilon={self.epsilon!r} to be positive and finite.")
        try:
            self.claim()
        except FieldError as error:
            raise ConfigError(str(error)) from None

    def claim(self) -> Claim:
        """Return the claim about one release."""
        return Claim(epsilon=self.epsilon, delta=self.delta, neighbours="replace_one", unit=self.unit)

    def contents(self) -> dict[str, str]:
        """Return each file's text by its path in the project."""
        written = {
            "privacy/release.toml": self._filled("release.toml"),
            "privacy/test_release.py": self._filled("test_release.py.txt"),
            "privacy/accepted.json": Baseline().to_json(),
        }
        if self.host in PIPELINES:
            written[PIPELINES[self.host]] = _template(f"{self.host}.yml")
        return written

    def _filled(self, name: str) -> str:
        """Return a template with the claim and the noise that it needs in place of its marks."""
        text = _template(name)
        for mark, value in self._values().items():
            text = text.replace(f"@{mark}@", value)
        return text

    def _values(self) -> dict[str, str]:
        """Return what stands for each mark: Gaussian noise, or Laplace noise where delta is 0."""
        shared = {
            "unit": json.dumps(self.unit, ensure_ascii=False),
            "epsilon": _number(self.epsilon),
            "delta": _number(self.delta),
        }
        mechanisms = load_package("mechanisms")
        if self.delta == 0:
            noise = mechanisms.Laplace.calibrated(self.claim(), l1_sensitivity=1.0).scale
            words = ("laplace", "Laplace", "scale", "l1_sensitivity", "laplace")
        else:
            noise = mechanisms.Gaussian.calibrated(self.claim(), l2_sensitivity=1.0).stddev
            words = ("gaussian", "Gaussian", "stddev", "l2_sensitivity", "normal")
        named = zip(("mechanism", "class", "parameter", "sensitivity", "sampler"), words, strict=True)
        return shared | dict(named) | {"noise": _number(float(_DIGITS.create_decimal(Decimal(noise))))}


def _number(value: float) -> str:
    """Return the shortest decimal of a number, as TOML and Python read it."""
    return repr(float(value)).replace("e-0", "e-")


def _template(name: str) -> str:
    """Return a file of the starter as it stands."""
    return files("dpaudit").joinpath("starter", name).read_text(encoding="utf-8")
