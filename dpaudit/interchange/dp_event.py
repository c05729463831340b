"""Translation between the events of dp-accounting and declarations.

An event has no neighbours: the accountant that reads it brings them, and reads a noise multiplier as noise over the
norm C of one record. A record that is replaced moves a sum by 2 C, one that is added or removed by C, and so does
the translation; it keeps the noise and changes only what it is compared with. (dp-accounting's PLD accountant does
the same; its Renyi accountant, up to 0.6.0, leaves the factor 2 out.) Numbers leave as floats and counts as integers,
whatever they came as, because dp-accounting takes another branch for an integer noise multiplier.
"""

import math
from typing import TYPE_CHECKING, Any

from dpaudit.accounting.run_counts import RunCount
from dpaudit.checks import meant
from dpaudit.errors import ConfigError, UnsupportedError
from dpaudit.model import declaration as nodes
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Scheme
from dpaudit.model.moves import proved_relations, relation_read
from dpaudit.model.node_kinds import kind_of
from dpaudit.runtime.plugins import find_plugin

if TYPE_CHECKING:
    from dp_accounting import DpEvent

_HALVINGS = 120
_REPLACED = {"replace_one": 2.0, "add_remove": 1.0, "zero_out": 1.0}
"""How far one record of norm 1 moves a sum."""


def from_event(event: "DpEvent", neighbours: Neighbours, where: str = "event") -> Declaration:
    """Return the declaration of what `event` describes, for data sets related by `neighbours`.

    Noise is in units of one record's norm; labels say where in the event a release stands. An event without any
    loss (no operation, nothing composed) becomes a stated epsilon of 0, one without privacy an infinite one. A choice
    by the exponential mechanism, discrete Laplace noise, a rho and an (epsilon, delta) have the same parameters for all
    neighbours, as in dp-accounting. A rho is stated: it counts for claims in rho and in Renyi divergences. Trees that
    are restarted count as the Gaussian release of a record's nodes; who is removed moves the steps of others, so that
    nothing is proved of them for add_remove.

    Raises: UnsupportedError: an event that no declaration expresses, or with an impossible parameter; the message
        names it and its place.
    """
    from dp_accounting import dp_event

    def inner(part: "DpEvent", step: str) -> Declaration:
        return from_event(part, neighbours, f"{where}.{step}")

    try:
        match event:
            case dp_event.NoOpDpEvent() | dp_event.ComposedDpEvent(events=[]) | dp_event.SelfComposedDpEvent(count=0):
                return nodes.Stated(epsilon=0.0, source="an event without any release")
            case dp_event.ComposedDpEvent(events=events):
                return nodes.Sequential(parts=tuple(inner(part, f"events[{i}]") for i, part in enumerate(events)))
            case dp_event.SelfComposedDpEvent(event=part, count=times):
                return nodes.Repeat(part=inner(part, "event"), times=times)
            case dp_event.RepeatAndSelectDpEvent(event=part, mean=mean, shape=shape):
                return _best_of(inner(part, "event"), float(mean), float(shape))
            case _:
                told = _told(event, neighbours, where) or _release(event, neighbours, where)
                return told or _from_sample(event, neighbours, where)
    except (ValueError, ZeroDivisionError, ConfigError) as error:
        raise UnsupportedError(f"{type(event).__name__} at {where}: {error}") from None


def _best_of(part: Declaration, mean: float, shape: float) -> Declaration:
    """Return the best of a random number of runs of a part; of a mean of 1 that is one run.

    Raises: ValueError: a mean below 1 or a shape below 0, as in dp-accounting.
    """
    if not (mean >= 1 and shape >= 0):
        raise ValueError(f"Expected mean={mean} to be at least 1 and shape={shape} to be 0 or more.")
    if shape == math.inf:
        return nodes.BestOf(part=part, law="poisson", mean=mean)
    if mean == 1:
        return part
    gamma = _gamma_of(mean, shape)
    if shape in (0, 1):
        return nodes.BestOf(part=part, law="geometric" if shape else "logarithmic", gamma=gamma)
    return nodes.BestOf(part=part, law="negative_binomial", gamma=gamma, eta=shape)


def _gamma_of(mean: float, shape: float) -> float:
    """Return a gamma with at least this mean, by bisection: the mean falls as gamma grows."""
    if shape == 1:
        return _at_most(1, mean)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2 if low else high / 16
        enough = 0 < middle < 1 and RunCount(gamma=middle, eta=shape).expected >= mean
        low, high = (middle, high) if enough else (low, middle)
    return low


def _told(event: "DpEvent", neighbours: Neighbours, where: str) -> nodes.Stated | None:
    """Return what an event states without a mechanism, None where it describes one."""
    from dp_accounting import dp_event

    said = f"a {type(event).__name__} of dp-accounting, {where}"
    match event:
        case dp_event.NonPrivateDpEvent():
            return nodes.Stated(epsilon=math.inf, source=said)
        case dp_event.ZCDpEvent(rho=rho, xi=0):
            return nodes.Stated(rho=rho, source=said, neighbours=neighbours)
        case _ if type(event).__name__ == "EpsilonDeltaDpEvent":
            fields = {key: getattr(event, key) for key in ("epsilon", "delta")}
            return nodes.Stated(source=f"an {said[2:]}", neighbours=neighbours, **fields)
        case _:
            return None


def _release(event: "DpEvent", neighbours: Neighbours, where: str) -> nodes.Release | None:
    """Return the release of one mechanism, None where an event is none."""
    from dp_accounting import dp_event

    def release(name: str, **parameters: Any) -> nodes.Release:
        return nodes.Release(
            label=where, mechanism=find_plugin("mechanisms", name)(**parameters, neighbours=neighbours)
        )

    moved = _REPLACED[neighbours]
    match event:
        case dp_event.GaussianDpEvent(noise_multiplier=noise):
            return release("gaussian", stddev=noise, l2_sensitivity=moved)
        case dp_event.LaplaceDpEvent(noise_multiplier=noise):
            return release("laplace", scale=noise, l1_sensitivity=moved)
        case dp_event.DiscreteLaplaceDpEvent(noise_parameter=noise, sensitivity=sensitivity):
            return release("discrete_laplace", scale=_at_most(1, noise), l1_sensitivity=sensitivity)
        case dp_event.RandomizedResponseDpEvent(noise_parameter=noise, num_buckets=buckets):
            return release("randomised_response", epsilon=_response_epsilon(noise, buckets), categories=buckets)
        case dp_event.SingleEpochTreeAggregationDpEvent() if neighbours != "add_remove":
            norm = _at_least_root(_levels(event.step_counts))
            return release("gaussian", stddev=event.noise_multiplier, l2_sensitivity=norm * moved)
        case _ if type(event).__name__ == "ExponentialMechanismDpEvent":
            epsilon: float = getattr(event, "epsilon")  # noqa: B009 - a class of later versions
            return release("exponential", epsilon=epsilon, linf_sensitivity=1.0)
        case _:
            return None


def _from_sample(event: "DpEvent", neighbours: Neighbours, where: str) -> nodes.Subsample:
    """Return the declaration of a part on a sample, or say why an event has none."""
    from dp_accounting import dp_event

    name = type(event).__name__
    scheme: Scheme = "poisson"
    population = size = bound = None
    match event:
        case dp_event.PoissonSampledDpEvent(event=part, sampling_probability=rate):
            pass
        case dp_event.SampledWithoutReplacementDpEvent(event=part, sample_size=drawn, source_dataset_size=records):
            scheme, rate, population, size = "without_replacement", drawn / records, records, drawn
        case dp_event.SampledWithReplacementDpEvent(event=part, sample_size=size, source_dataset_size=population):
            scheme, rate = "with_replacement", size / population
        case dp_event.TruncatedSubsampledGaussianDpEvent(dataset_size=population, truncated_batch_size=bound):
            scheme, rate = "truncated_poisson", event.sampling_probability
            part = dp_event.GaussianDpEvent(event.noise_multiplier)
        case dp_event.MixtureOfGaussiansDpEvent() if neighbours == "add_remove" and (moved := _moved_or_not(event)):
            norm, rate = moved
            part = dp_event.GaussianDpEvent(_at_most(event.standard_deviation, norm))
        case _:
            why = _NO_NODE.get(name, "no declaration expresses it")
            raise UnsupportedError(
                f"{name} at {where}: {why}; put a stated (epsilon, delta) with its source in its place."
            )
    if neighbours not in proved_relations(scheme):
        raise UnsupportedError(f"{name} at {where}: nothing is proved of it for {neighbours!r}.")
    inside = from_event(part, relation_read(scheme, 0, neighbours), f"{where}.event")
    return nodes.Subsample(
        part=inside, rate=float(rate), scheme=scheme, population=population, batch_size=size, batch_bound=bound
    )


def _moved_or_not(event: Any) -> tuple[float, float] | None:
    """Return the only shift of a mixture of Gaussians and its probability: a record on a Poisson sample; else None."""
    rows = zip(event.sensitivities, event.sampling_probs, strict=True)
    possible_rows = [(float(shift), float(chance)) for shift, chance in rows if chance > 0]
    moved = [row for row in possible_rows if row[0] != 0]
    sums_to_one = math.isclose(math.fsum(chance for _, chance in possible_rows), 1.0, rel_tol=1e-12)
    return moved[0] if sums_to_one and len(moved) == 1 and len(possible_rows) <= 2 and moved[0][0] > 0 else None


_NO_NODE = {
    "UnsupportedDpEvent": "dp-accounting itself has no account of it",
    "ZCDpEvent": "a stated part has no xi",
    "MixtureOfGaussiansDpEvent": "more than one random shift has no mechanism here; several records are a 'group'",
    "SingleEpochTreeAggregationDpEvent": "a removed record moves the steps of later ones; nothing is proved of that",
}
"""Why an event has no declaration."""


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
        case nodes.Subsample():
            return _sample_event(dp_event, node, path)
        case nodes.PostProcess(part=part) | nodes.Billboard(part=part) | nodes.Local(part=part):
            return to_event(part, f"{path}.0")
        case nodes.Stated(epsilon=0.0, delta=0.0):
            return dp_event.NoOpDpEvent()
        case nodes.BestOf(part=part) if node.law != "fixed":
            count = RunCount.of(node)
            shape = math.inf if count.mean else count.eta
            return dp_event.RepeatAndSelectDpEvent(to_event(part, f"{path}.0"), count.expected, shape)
        case _:
            raise _refused(node, path)


def _sample_event(dp_event: Any, node: nodes.Subsample, path: str) -> "DpEvent":
    """Return the event of a part on a sample, from the module of events."""
    match node:
        case nodes.Subsample(part=part, scheme="with_replacement", population=int(population), batch_size=int(size)):
            return dp_event.SampledWithReplacementDpEvent(population, size, to_event(part, f"{path}.0"))
        case nodes.Subsample(part=part, rate=rate, scheme="poisson"):
            return dp_event.PoissonSampledDpEvent(float(rate), to_event(part, f"{path}.0"))
        case _:
            raise _refused(node, path)


_WHY: dict[type, str] = {
    nodes.Release: "no event describes this mechanism as dpaudit does",
    nodes.Stated: "an event describes a mechanism, and not an (epsilon, delta)",
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
            norm = mechanism.l2_sensitivity / _REPLACED[mechanism.neighbours]
            return dp_event.GaussianDpEvent(mechanism.stddev / norm)
        case "laplace":
            norm = mechanism.l1_sensitivity / _REPLACED[mechanism.neighbours]
            return dp_event.LaplaceDpEvent(mechanism.scale / norm)
        case "randomised_response":
            noise = _response_noise(mechanism.epsilon, mechanism.categories)
            return dp_event.RandomizedResponseDpEvent(noise, mechanism.categories)
        case _:
            raise _refused(node, path)


def _response_epsilon(noise: float, buckets: int) -> float:
    """Return ln of the odds of the true bucket, 1 - p + p/k, against another one, p/k."""
    return math.log1p(buckets * (1 - noise) / noise)


def _response_noise(epsilon: float, buckets: int) -> float:
    """Return the p with odds e^epsilon; the inverse of the above."""
    return buckets / (math.expm1(epsilon) + buckets)


def _levels(step_counts: Any) -> int:
    """Return in how many nodes of one tree a step stands, at most: the bits of the largest number of steps."""
    counts = [step_counts] if isinstance(step_counts, int) else list(step_counts)
    if not counts or min(counts) < 1:
        raise ValueError(f"Expected step_counts={step_counts!r:.40} to be positive.")
    return int(max(counts)).bit_length()


def _at_least_root(number: int) -> float:
    """Return the root of a whole number, rounded up."""
    root = math.sqrt(number)
    return root if math.isqrt(number) ** 2 == number else math.nextafter(root, math.inf)


def _at_most(dividend: float, divisor: float) -> float:
    """Return a quotient whose decimal is not above the exact one."""
    quotient = dividend / divisor
    while meant(quotient) * meant(divisor) > dividend:
        quotient = math.nextafter(quotient, 0)
    return quotient


def _refused(node: Declaration, path: str) -> UnsupportedError:
    """Return the error for a node that events cannot express."""
    what = f"'{node.label}' ({node.mechanism.name})" if isinstance(node, nodes.Release) else f"'{kind_of(node)}'"
    return UnsupportedError(f"{what} at {path} cannot be a dp-accounting event: {_WHY[type(node)]}.")
