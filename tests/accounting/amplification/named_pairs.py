"""The condition that a run has named the pair of a sample, with all records that it needs beside the one that moves."""

from dpaudit import Condition

NAMED = Condition(
    kind="attained", text="One record moves the sums up, its neighbour down; the others move nothing.", status="checked"
)
