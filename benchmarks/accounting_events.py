"""The event of dp-accounting that describes a declaration, for comparisons with what that library answers.

Numbers leave as floats and counts as integers, whatever they came as, because dp-accounting takes another branch for
an integer noise multiplier.
"""

import math
from typing import TYPE_CHECKING, Any, assert_never

from dpaudit.accounting.run_counts import RunCount
from dpaudit.errors import UnsupportedError
from dpaudit.interchange.dp_event import MOVED
from dpaudit.model import declaration as nodes
from dpaudit.model.declaration import Declaration
from dpaudit.model.node_kinds import kind_of

if TYPE_CHECKING:
    from dp_accounting import DpEvent


def to_event(node: Declaration, path: str = "root") -> "DpEvent":
    """Return the event that describes `node`, to be read for the neighbours its mechanisms are stated for.

    Labels, printed rules and who sees what (post-processing, billboard, local) have no place in an event: their
    part's event is returned, which loses as much.

    Raises: UnsupportedError: a node or a mechanism that no event expresses; the message names it and its path.
    """
    from dp_accounting import dp_event

    match node:
        case nodes.Release():
            return _release_event(node, path)
        case nodes.Sequential(parts=parts):
            return dp_event.ComposedDpEvent([to_event(part, f"{path}.{i}") for i, part in enumerate(parts)])
        case nodes.Repeat(part=part, times=times):
            return dp_event.SelfComposedDpEvent(to_event(part, f"{path}.0"), times)
        case nodes.Subsample(
            part=part, rate=rate, scheme="with_replacement", population=int(whole), batch_size=int(size)
        ):
            return dp_event.SampledWithReplacementDpEvent(whole, size, to_event(part, f"{path}.0"))
        case nodes.Subsample(part=part, rate=rate, scheme="poisson"):
            return dp_event.PoissonSampledDpEvent(float(rate), to_event(part, f"{path}.0"))
        case nodes.PostProcess(part=part) | nodes.Billboard(part=part) | nodes.Local(part=part):
            return to_event(part, f"{path}.0")
        case nodes.Stated(epsilon=0.0, delta=0.0):
            return dp_event.NoOpDpEvent()
        case nodes.Stated():
            raise _refused("'stated'", path, "an event describes a mechanism, and not an (epsilon, delta)")
        case nodes.BestOf(part=part) if node.law != "fixed":
            count = RunCount.of(node)
            shape = math.inf if count.mean else count.eta
            return dp_event.RepeatAndSelectDpEvent(to_event(part, f"{path}.0"), count.expected, shape)
        case (
            nodes.Subsample()
            | nodes.Parallel()
            | nodes.Filtered()
            | nodes.Cells()
            | nodes.Allocate()
            | nodes.Shuffle()
            | nodes.Group()
            | nodes.BestOf()
        ):
            raise _refused(f"'{kind_of(node)}'", path, _WHY[type(node)])
        case _:
            assert_never(node)


_WHY: dict[type, str] = {
    nodes.Subsample: "an event needs both sizes, which the node may lack",
    nodes.Parallel: "events only add up",
    nodes.Filtered: "no event has a budget that is spent step by step",
    nodes.Cells: "events only add up",
    nodes.Allocate: "no event has secret places that a record draws once an epoch",
    nodes.Shuffle: "no event has shuffled reports",
    nodes.BestOf: "no event has a fixed number of runs of which one is shown",
    nodes.Group: "an event is about one record; put the size into the part's sensitivity",
}
"""Why a node has no event."""


def _release_event(node: nodes.Release, path: str) -> "DpEvent":
    """Return the event of one mechanism."""
    from dp_accounting import dp_event

    mechanism: Any = node.mechanism
    match mechanism.name:
        case "gaussian":
            norm = mechanism.l2_sensitivity / MOVED[mechanism.neighbours]
            return dp_event.GaussianDpEvent(mechanism.stddev / norm)
        case "laplace":
            norm = mechanism.l1_sensitivity / MOVED[mechanism.neighbours]
            return dp_event.LaplaceDpEvent(mechanism.scale / norm)
        case "randomised_response":
            noise = _response_noise(mechanism.epsilon, mechanism.categories)
            return dp_event.RandomizedResponseDpEvent(noise, mechanism.categories)
        case name:
            raise _refused(f"'{node.label}' ({name})", path, "no event describes this mechanism as dpaudit does")


def _response_noise(epsilon: float, buckets: int) -> float:
    """Return the p with odds e^epsilon; the inverse of the above."""
    return buckets / (math.expm1(epsilon) + buckets)


def _refused(what: str, path: str, why: str) -> UnsupportedError:
    """Return the error for a node that events cannot express."""
    return UnsupportedError(f"{what} at {path} cannot be a dp-accounting event: {why}.")
