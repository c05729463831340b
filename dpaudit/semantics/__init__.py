"""What a declaration says, as a program: a game on tiny data sets, with exact fractions.

`value` plays the game of a declaration on a pair of data sets, `replay` plays one stated algorithm. `pairs` lists the
pairs of a move. Each release has a `Table`: a finite law for each answer, and a bound on the answer for each move.
"""

from dpaudit.semantics.data import MOVE_OF, PLACEHOLDER, REVERSE, DataSet, Move, Pair, Record, pairs
from dpaudit.semantics.game import Algorithm, replay, value
from dpaudit.semantics.nodes import UndefinedInstanceError
from dpaudit.semantics.tables import Table, geometric, laws

__all__ = [
    "MOVE_OF",
    "PLACEHOLDER",
    "REVERSE",
    "Algorithm",
    "DataSet",
    "Move",
    "Pair",
    "Record",
    "Table",
    "UndefinedInstanceError",
    "geometric",
    "laws",
    "pairs",
    "replay",
    "value",
]
