"""The conditions that a run of the cell table checks on its own arrays."""

from dpaudit import Condition

SCHEDULE = Condition(
    kind="public_schedule",
    about=("users of each epoch",),
    text="Each epoch took exactly its scheduled number of users.",
)
CLIPPED = Condition(
    kind="clipping",
    about=("rewards",),
    text="No cell's sum of rewards exceeded reward_bound times the number of its users.",
)
