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
from dpaudit.model.claim import Claim, Neighbours
from dpaudit.runtime.plugins import load_package

_DIGITS = Context(prec=4, rounding=ROUND_CEILING)


PIPELINES: dict[Host, str] = {"github": ".github/workflows/privacy.yml", "gitlab": ".gitlab-ci.yml"}
"""The file that each host reads."""


_SAID = {
    "epsilon": " # in nats: for one unit, the probability of any output changes by a factor of at most e^epsilon ...",
    "delta": " # ... plus delta; 0 is a pure claim",
    "rho": " # zero-concentrated differential privacy: rho of several releases add up",
}
"""What the configuration says of each number of the claim."""

_PAIRS: dict[Neighbours, tuple[str, str]] = {
    "replace_one": ("0.2, 0.7, -9.0", "0.2, 0.7, 9.0"),
    "add_remove": ("0.2, 0.7", "0.2, 0.7, 9.0"),
    "zero_out": ("0.2, 0.7, 0.0", "0.2, 0.7, 9.0"),
}
"""Two data sets whose clipped sums differ by 1, the sensitivity; without the clip they are further apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """A claim about one release and the host of its pipeline, from which the files of a project follow.

    The claim is in epsilon and delta, or in `rho` in their place.
    Raises: ConfigError: a claim that is none, or an epsilon or rho of 0, for which no noise is enough.
    """

    unit: str
    epsilon: float | None = None
    delta: float = 0.0
    rho: float | None = None
    neighbours: Neighbours = "replace_one"
    host: Host

    def __post_init__(self) -> None:
        if not self.unit.strip() or not self.unit.isprintable():
            raise ConfigError(f"Expected unit={self.unit!r:.80} to say on one line what one person contributes.")
        for name, value in self._numbers().items():
            if name != "delta" and (not math.isfinite(value) or value <= 0):
                raise ConfigError(f"Expected {name}={value!r} to be positive and finite.")
        try:
            self.claim()
        except FieldError as error:
            raise ConfigError(str(error)) from None

    def claim(self) -> Claim:
        """Return the claim about one release."""
        if self.rho is not None:
            return Claim(rho=self.rho, neighbours=self.neighbours, unit=self.unit)
        return Claim(epsilon=self.epsilon or 0.0, delta=self.delta, neighbours=self.neighbours, unit=self.unit)

    def _numbers(self) -> dict[str, float]:
        """Return the numbers of the claim by name."""
        if self.rho is not None:
            return {"rho": self.rho}
        return {"epsilon": self.epsilon or 0.0, "delta": self.delta}

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
        first, second = _PAIRS[self.neighbours]
        shared = {
            "unit": json.dumps(self.unit, ensure_ascii=False),
            "claim": "\n".join(f"{name} = {_number(value)}{_SAID[name]}" for name, value in self._numbers().items()),
            "neighbours": self.neighbours,
            "first": first,
            "second": second,
        }
        mechanisms = load_package("mechanisms")
        if self.rho is None and self.delta == 0:
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
