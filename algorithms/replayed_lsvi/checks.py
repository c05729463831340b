"""The conditions that a run of the replayed LSVI-UCB checks."""

from dpaudit import Condition

ONE_MESSAGE = Condition(
    kind="one_contribution",
    about=("users of all phases",),
    text="The numbers of the users who were asked about one step of one stage were in no other phase.",
)
