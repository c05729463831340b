"""LSVI-UCB's config: what it promises, what it declares, and what it runs."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from algorithms.linear_rl.batch_declaration import declaration_of
from algorithms.linear_rl.regressions import Symmetry
from dpaudit import Claim, Declaration


@dataclass(frozen=True, slots=True, kw_only=True)
class LsviUcb:
    name: ClassVar[str] = "lsvi_ucb"

    epsilon: float
    episodes: int
    steps: int
    dimension: int
    delta: float = 0.0
    model: Literal["joint"] = "joint"
    calibration: Literal["paper", "tight", "pure_paper", "pure_repaired"] = "tight"
    clipping: Literal["horizon", "range_aware"] = "horizon"
    symmetry: Symmetry = "half"
    schedule: Literal["static", "switching"] = "static"
    switches: int = 10
    least_batches: int = 1
    fail_prob: float = 0.05
    bonus_scale: float = 1.0
    shift_scale: float = 1.0

    def claim(self) -> Claim:
        return Claim(
            epsilon=self.epsilon, delta=self.delta, neighbours="replace_one", model=self.model, unit="one episode"
        )

    def declaration(self) -> Declaration:
        return declaration_of(self)
