"""DP-EBS's config: what it promises, what it declares, and what it runs."""

from dataclasses import dataclass
from typing import Any, ClassVar

from algorithms.dp_ebs.calibration import CALIBRATIONS, NOISES, counter_tree
from algorithms.dp_ebs.declared import declaration_of, printed_declaration_of
from algorithms.dp_ebs.plan import Plan, plan_of
from algorithms.dp_ebs.readings import READINGS
from algorithms.dp_ebs.widths import WIDTHS
from dpaudit import AuditCase, Claim, Declaration, Streams, Transcript
from dpaudit.checks import count, one_of, open_probability, positive
from mechanisms import TreeAggregation

_MODELS = ("central", "local")
_VARIANTS = ("tree", "batched")
_CREDITS = ("left", "both")
_LONGEST = 10**7


@dataclass(frozen=True, slots=True, kw_only=True)
class DpEbs:
    """A dueling bandit that removes options by noisy running counts of their wins.

    Every round one person is shown two options and says which one wins; the option on the left has played
    least so far, the one on the right is drawn from those left.

    Parameters: `epsilon` in nats; `horizon`, the number of rounds and people; `arms`, the number of options;
    `model` "central" (trees) or "local" (each person randomises their answer); `variant` "tree", or "batched" for
    doubling batches without trees; `calibration`, see `calibration.counter_tree`; `width`, see `widths`, times
    `width_factor`, at failure probability `fail_prob` (1 / horizon if absent); `removal`, see `readings`; `credit`
    "left", or "both" exactly for R3; `noise` of a node, "laplace" or "discrete".
    Guarantee: one answer replaced by its opposite changes the outputs of all counters, and so every duel and
    the final choice, by at most the loss of the declaration. Proof: fix a sequence of duels; the answer then enters
    known places of one counter (R1, R2) or two (R3), and shifts known nodes by 1. The bound holds for every output, so
    it holds for duels picked by outputs. R0 and R4 have no such guarantee, and are refuted.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    Source: Saha and Asi (2024), Algorithm 1 and Lemma 2.

    >>> config = DpEbs(epsilon=1, horizon=100_000, arms=5)
    >>> config.tree().levels, config.tree().squared_nodes
    (17, 33)
    """

    name: ClassVar[str] = "dp_ebs"

    epsilon: float
    horizon: int
    arms: int
    model: str = "central"
    variant: str = "tree"
    calibration: str = "paper"
    width: str = "paper"
    width_factor: float = 1.0
    fail_prob: float | None = None
    credit: str = "left"
    removal: str = "R2"
    noise: str = "laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon))
        object.__setattr__(self, "width_factor", positive("width_factor", self.width_factor))
        object.__setattr__(self, "arms", count("arms", self.arms, at_least=2))
        object.__setattr__(self, "horizon", count("horizon", self.horizon, at_least=self.arms + 1))
        if self.horizon > _LONGEST:
            raise ValueError(f"Expected horizon={self.horizon} at or below 10^7, where one run takes seconds.")
        if self.fail_prob is not None:
            object.__setattr__(self, "fail_prob", open_probability("fail_prob", self.fail_prob))
        for field, allowed in (
            ("model", _MODELS),
            ("variant", _VARIANTS),
            ("calibration", CALIBRATIONS),
            ("width", WIDTHS),
            ("credit", _CREDITS),
            ("removal", READINGS),
            ("noise", NOISES),
        ):
            one_of(field, getattr(self, field), allowed)
        if (self.credit == "both") != (self.removal == "R3"):
            raise ValueError(
                f"Expected credit={self.credit!r} to go with removal={self.removal!r}: crediting both options is the "
                "reading R3. Set removal = 'R3' with credit = 'both', or another reading with credit = 'left'."
            )
        if self.removal == "R4" and self.arms == 2:
            raise ValueError(
                "Expected arms=2 to be 3 or more for removal='R4': with two, the first removal is the end."
            )
        if self.model == "local" and (self.variant, self.removal) != ("tree", "R2"):
            raise ValueError(
                f"Expected variant={self.variant!r} and removal={self.removal!r} at their defaults in the local model, "
                "where the counters are exact sums of what people sent."
            )

    def claim(self) -> Claim:
        """Return what the paper promises: pure privacy of one answer, for everybody who sees every duel."""
        return Claim(
            epsilon=self.epsilon,
            neighbours="replace_one",
            model="local" if self.model == "local" else "central",
            unit="one person's answer to one comparison",
        )

    def tree(self) -> TreeAggregation:
        """Return the mechanism of one option's counter."""
        return counter_tree(
            epsilon=self.epsilon,
            horizon=self.horizon,
            arms=self.arms,
            calibration=self.calibration,
            reading=self.removal,
            noise=self.noise,
        )

    def plan(self) -> Plan:
        """Return what is settled before anybody votes: mechanisms, widths and steps."""
        return plan_of(self)

    def declaration(self) -> Declaration:
        """Return what a run releases and how it composes; see `declared.declaration_of`."""
        return declaration_of(self)

    def printed_declaration(self) -> Declaration:
        """Return the paper's own argument as a declaration; see `declared.printed_declaration_of`."""
        return printed_declaration_of(self)

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return the transcript of `n_runs` independent runs on simulated people of `problem`; see `running.run`."""
        from algorithms.dp_ebs.running import run

        return run(self, problem, streams, n_runs)

    def cases(self, problem: Any = None) -> tuple[AuditCase, ...]:
        """Return the audits of this config, at a horizon at which an audit can see something."""
        from algorithms.dp_ebs.cases import cases_of

        return cases_of(self)

    def notes(self, problem: Any) -> tuple[str, ...]:
        """Return what a reader should know beside proof and attack."""
        from algorithms.dp_ebs.notes import notes_of

        return notes_of(self, problem)
