"""What a declaration says, as a program: a game on tiny data sets, with exact fractions.

`value` plays the game of a declaration on a pair of data sets. `pairs` lists the pairs of a move. Each release has a
`Table`: a finite law for each answer, and a bound on the answer for each move.
"""

from dpaudit.semantics.data import MOVE_OF as MOVE_OF
from dpaudit.semantics.data import PLACEHOLDER as PLACEHOLDER
from dpaudit.semantics.data import REVERSE as REVERSE
from dpaudit.semantics.data import DataSet as DataSet
from dpaudit.semantics.data import Move as Move
from dpaudit.semantics.data import Pair as Pair
from dpaudit.semantics.data import Record as Record
from dpaudit.semantics.data import pairs as pairs
from dpaudit.semantics.game import value as value
from dpaudit.semantics.nodes import UndefinedInstanceError as UndefinedInstanceError
from dpaudit.semantics.tables import Table as Table
from dpaudit.semantics.tables import geometric as geometric
from dpaudit.semantics.tables import laws as laws
