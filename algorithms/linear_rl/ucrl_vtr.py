"""UCRL-VTR's config: what it promises, what it declares, and what it runs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from algorithms.linear_rl.mixture_declaration import declaration_of
from algorithms.linear_rl.mixture_noise import CALIBRATIONS, PURE
from algorithms.linear_rl.regressions import Symmetry
from dpaudit import Claim, Declaration
from dpaudit.checks import count, one_of, open_probability, positive


@dataclass(frozen=True, slots=True, kw_only=True)
class UcrlVtr:
    name: ClassVar[str] = "ucrl_vtr"

    model: Literal["joint", "local"]
    epsilon: float
    episodes: int
    steps: int
    dimension: int
    delta: float = 0.0
    bonus: Literal["hoeffding", "bernstein"] = "hoeffding"
    calibration: Literal["paper", "tight", "pure_paper", "pure_repaired"] = "tight"
    clipping: Literal["horizon", "range_aware"] = "horizon"
    symmetry: Symmetry = "half"
    weight_bound: float = 1.0
    fail_prob: float = 0.05
    bonus_scale: float = 1.0
    shift_scale: float = 1.0
    planning_period: int = 1

    def claim(self) -> Claim:
        return Claim(
            epsilon=self.epsilon, delta=self.delta, neighbours="replace_one", model=self.model, unit="one episode"
        )

    def declaration(self) -> Declaration:
        return declaration_of(self)
