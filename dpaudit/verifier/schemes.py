"""The losses of a part under sampling and at secret steps, from above and from below."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np

from dpaudit.verifier import integers, losses, polygons, splits
from dpaudit.verifier.losses import Loss, Multiset, black_box, discrete, most, reverse, reversed_all, shows_all, times
from dpaudit.verifier.mechanisms import with_leaves
from dpaudit.verifier.numerics import rates
from dpaudit.verifier.numerics.rates import absent, log_absent, sampled
from dpaudit.verifier.numerics.sizes import cut_sizes
from dpaudit.verifier.refusals import Table, Unfollowed, follow, require
from dpaudit.verifier.shape import TABLES
from dpaudit.verifier.together import together

_NOTHING: Multiset = Counter()
_RARE = 1e-22  # numbers of draws that are not told apart
_HARDLY = 1e-18  # at most this probability that a record replaces another one in a cut sample counts as seen
_MOVED = ("truncated_poisson", "with_replacement")


def inside(node: Table, relation: str) -> str:
    """Return the relation that the part of a node is stated for."""
    if node["node"] not in ("subsample", "allocate"):
        return relation
    relations = TABLES["relations"]["allocate" if node["node"] == "allocate" else node.get("scheme", "poisson")]
    require(relation in relations, "a sample's scheme, rate and neighbours do not fit")
    return str(relations[relation])


def bare(node: Table, other: str) -> Table:
    """Return the node below post-processing and nodes of one other kind, which leave a loss alone."""
    while node["node"] in ("post_process", other):
        node = node["part"]
    return node


def above(node: Table, part: list[Multiset], relation: str) -> list[Multiset]:
    """Return alternatives from above: each order of the part may be the worse one."""
    make = _allocated if node["node"] == "allocate" else _sampled
    once = inside(node, relation) == "replace_one" and all(map(losses.alone, part))
    alone = relation != "replace_one" and node.get("scheme", "poisson") == "poisson" and not _one_order(node["part"])
    orders = part if once or alone else [order for a in part for order in losses.distinct([a, reversed_all(a)])]
    return losses.distinct([make(node, order, relation, low=False) for order in orders])


def _one_order(node: Table) -> bool:
    """Return whether a release outside further samples states a law of one order, which may be the record's or not."""
    parts = with_leaves(node.get("mechanism", {}))
    rows = [row for part in parts for row in part.get("stated", {}).get("upper", [])]
    if any(part.get("name") == "one_sided_wishart" for part in parts) or any(row.get("one_order") for row in rows):
        return True
    inner = [*node.get("parts", []), *(node[key] for key in ("inside", "touched", "part") if key in node)]
    return node["node"] not in ("subsample", "allocate") and any(map(_one_order, inner))


def needs_others(node: Table, relation: str) -> bool:
    """Return whether a pair needs others that a sensitivity does not promise: opposite ones, or some without effect."""
    everybody = relation == "zero_out" and node.get("scheme") == "poisson" and node["rate"] == 1
    return relation in TABLES["others"].get(node.get("scheme", node["node"]), []) and not everybody


def below(node: Table, part: Multiset, relation: str, *, beside: bool, labels: list[str]) -> Multiset:
    """Return what a pair attains that attains the part by itself; nothing where no pair is known.

    `labels` names the releases that are moved, all of them if empty.
    `beside` says that the records that a pair needs beside it are there; a zeroed one then meets copies of itself.
    """
    part = polygons.smaller(part)
    if not part or part != reversed_all(part) or _choices(part):
        return _NOTHING
    if not beside and needs_others(node, relation):
        copies = node.get("scheme") == "without_replacement" and node["rate"]
        return _once(part, float(node["rate"])) if copies else _NOTHING
    if node["node"] == "allocate":
        return _allocated(node, part, relation, low=True)
    return _sampled(node, part, relation, low=True, labels=labels)


def _sampled(node: Table, part: Multiset, relation: str, *, low: bool, labels: list[str] | None = None) -> Multiset:
    """Return a part on a sample."""
    rate, scheme = float(node["rate"]), node.get("scheme", "poisson")
    _sized(node, rate, scheme)
    apart = scheme == "poisson" and relation == "replace_one"
    zeroed = scheme == "without_replacement" and relation == "zero_out" and rate < 1
    if not part or not rate:
        return _NOTHING
    part = _boxed(part, 1.0) if scheme in _MOVED and _choices(part) else part
    if _choices(part):
        return _boxed(_doubled(part) if apart or zeroed else part, rate)
    noise = bare(node["part"], "billboard").get("mechanism", {}) if apart else {}
    if noise.get("name") in integers.LATTICE and "stated" not in noise:
        return Counter([integers.opposed(noise, rate, low=low)])
    if noise.get("name") == "finite" and "stated" not in noise:
        return _once(part, rate) if low else _both(polygons.either(part), rate)
    if apart and not _shift(part) and (moved_loss := _moved_apart(node, part, labels or [], low=low)):
        return Counter([moved_loss])
    if inside(node, relation) == "replace_one" and not low:
        part = polygons.either(part)
    if scheme == "with_replacement":
        return _drawn(node, part, low=low)
    if scheme == "truncated_poisson":
        return _truncated(node, part, low=low)
    if apart and (shift := _shift(part)):
        kind, size = shift[:2]
        return Counter([("mixture", kind, losses.perhaps(rate, size), losses.perhaps(rate, -size))])
    if zeroed:
        return _zeroed(part, rate, low=low)
    if apart:
        return _NOTHING if low else _both(_doubled(part), rate)
    either = scheme == "without_replacement" and relation == "replace_one" and not low
    return _both(part, rate) if either else _once(part, rate)


def _choices(part: Multiset) -> bool:
    """Return whether a loss is picked by what was seen before."""
    return any(loss[0] == "choice" for loss in part)


def _sized(node: Table, rate: float, scheme: str) -> None:
    """Reject a rate or sizes that do not fit a scheme."""
    require(0 <= rate <= 1, "a rate is out of range")
    sizes = {key for key in node if key in ("population", "batch_size", "batch_bound")}
    require(sizes <= {*TABLES["sizes"][scheme]}, f"the scheme {scheme} has no {', '.join(sorted(sizes))}")
    alone = scheme == "without_replacement" and len(sizes) == 1
    require(not alone, "a set of fixed size has one size of two: population and batch_size belong together")
    ratio = node["batch_size"] / node["population"] if len(sizes - {"batch_bound"}) == 2 else rate
    require(ratio == rate, "a rate is not its sizes' ratio")


def _moved_apart(node: Table, part: Multiset, labels: list[str], *, low: bool) -> Loss:
    """Return several releases on a sample whose record is replaced; of too many nothing is known from below."""
    rate = float(node["rate"])
    try:
        return together(node["part"], rate, labels, low=low)
    except Unfollowed:
        return ("between", *_both(_doubled(part), rate), discrete([(0.0, 1.0)])) if rate < 1 else ()


def _zeroed(part: Multiset, rate: float, *, low: bool) -> Multiset:
    """Return a record of a sample of fixed size against its zero."""
    if 1e-3 <= (mu := _mu(part)) <= 17:
        return Counter([integers.zeroed_cells(mu, rate) if low else integers.zeroed(mu, rate)])
    return _once(part, rate) if low else _both(_doubled(part), rate)


def _once(part: Multiset, rate: float) -> Multiset:
    """Return a part on a sample that holds the record with probability `rate`, which may be 1."""
    return Counter([_on(part, rate)]) if rate < 1 else part


def _on(part: Multiset, rate: float) -> Loss:
    """Return the loss of a sample that holds the record with probability `rate` against one without it."""
    if shows_all(part):
        return discrete([(log_absent(rate), absent(rate))], rate)
    if shift := _shift(part):
        return losses.on_sample(shift[0], shift[1], rate)
    if losses.alone(part):
        return integers.mapped(part, rate)
    if part.total() == 1 and (loss := next(iter(part)))[0] == "between" and loss[1][0] == loss[2][0] == "discrete":
        return ("between", *(integers.mapped(Counter([side]), rate) for side in loss[1:]))
    return ("map", tuple(sorted(losses.merged(part).items(), key=repr)), rate, "remove")


def _both(part: Multiset, rate: float) -> Multiset:
    """Return what is above both orders of the map at once."""
    if rate == 1:
        return part
    if shows_all(part):
        return Counter([black_box(0.0, rate)])
    return Counter([losses.halves(_on(part, rate), reverse(_on(reversed_all(part), rate)))])


def _drawn(node: Table, part: Multiset, *, low: bool) -> Multiset:
    """Return draws with replacement: a binomial number of copies is replaced."""
    draws, chance, mu = node["batch_size"], 1 / node["population"], _mu(part)
    if low:
        return Counter([("mixture", "gaussian", binomial(draws, chance, mu), ((0.0, 1.0),))]) if mu else _NOTHING
    joint = losses.merged(part)
    follow(joint.total() == 1, "draws of several releases are beyond this checker")
    drawn_chance = -math.expm1(draws * math.log1p(-chance)) if chance < 1 else 1.0
    each = [(j, w / drawn_chance) for j, w in rates.binomial(draws, chance) if j]
    weighted = [(w, next(iter(_doubled(joint, j) if j > 1 else joint))) for j, w in each if w > _RARE]
    lost_weight = math.fsum(w for _, w in each if w <= _RARE) * (1 + 1e-9)  # counts that lose all
    options = (*weighted, (lost_weight, discrete([], 1.0, 1.0))) if lost_weight else tuple(weighted)
    return _both(Counter([("average", options)]), drawn_chance)


def _truncated(node: Table, part: Multiset, *, low: bool) -> Multiset:
    """Return the average over how many others a Poisson sample drew before it was cut."""
    rate, bound, others = float(node["rate"]), node["batch_bound"], node["population"] - 1
    if others < bound:
        return _once(part, rate)
    mean_rate, room, replaced = cut_sizes(others, rate, bound)
    if low:
        return _once(part, mean_rate)
    shown = math.fsum(weight for weight, _ in replaced) * (1 + 1e-9) * rate  # drawn, and in the place of another one
    if shown <= _HARDLY:
        return _once(part, rate) + Counter([black_box(0.0, shown)] if shown else [])
    shares = [(room, rate, part), *((weight, share, _doubled(part)) for weight, share in replaced)]
    options = [(weight, _on(moved_part, share)) for weight, share, moved_part in shares if weight > 0]
    return Counter([("average", tuple(options)) if len(options) > 1 else options[0][1]])


def _allocated(node: Table, part: Multiset, relation: str, *, low: bool) -> Multiset:
    """Return a part at secret steps."""
    steps, epochs, places = node["steps"], node.get("epochs", 1), node.get("per_epoch", 1)
    require(places <= steps, "more places than steps")
    mu = _mu(part)
    if low and relation == "replace_one":
        return Counter({("gaussian", 2 * mu * places / math.sqrt(steps)): epochs}) if mu else _NOTHING
    if low and places == steps:
        return times(part, steps * epochs)
    again = node.get("positions", "fresh") == "repeated"
    if relation == "replace_one":
        joint, once = mu * math.sqrt(epochs), places == 1 < steps <= splits.LONGEST and (again or epochs == 1)
        if once and splits.LEAST <= joint <= splits.MOST:
            return Counter([splits.split(joint, steps)])
        return times(_doubled(part), places * epochs)
    if _choices(part):
        return times(part, places * epochs)
    step = Counter([("gaussian", mu * math.sqrt(epochs))]) if again and mu else times(part, epochs) if again else part
    if low and places > 1:
        placed: Loss = ("allocated", tuple(sorted(losses.merged(step).items(), key=repr)), steps, "remove", places)
        return Counter({placed: 1 if again else epochs})
    size, longer = divmod(steps, places)
    sizes = Counter({size: places - longer}) + Counter({size + 1: longer})
    blocks = [times(secret(step, length), n * (1 if again else epochs)) for length, n in sizes.items()]
    return sum(blocks, start=Counter())


def secret(part: Multiset, steps: int) -> Multiset:
    """Return a part met at one secret step out of several."""
    if steps == 1 or not part or shows_all(part):
        return part
    return Counter([("allocated", tuple(sorted(losses.merged(part).items(), key=repr)), steps, "remove")])


def of_a_person(loss: Loss, records: int) -> Loss:
    """Return what as many records lose that move a release together, or enter a sample each by itself; or nothing."""
    if loss[0] in losses.SHIFTS:
        return (loss[0], loss[1] * records)
    if not (sample := losses.drawn(loss)):
        return ()
    mixed = ("mixture", "gaussian", binomial(records, *sample), ((0.0, 1.0),))
    return mixed if len(loss[3]) == 1 else reverse(mixed)


def from_a_set(node: Table, part: Multiset, records: int) -> Multiset:
    """Return records of a person who leaves a set of fixed size: the number that it holds is hypergeometric."""
    if not part:
        return part
    shift = _shift(part)
    follow(bool(shift), "a group over a set of fixed size of other noise than one shift is beyond this checker")
    drawn, others = node["batch_size"], node["population"] - node["batch_size"]
    follow(records <= 1000, "a group of more than 1000 records over a set of fixed size is beyond this checker")
    arrangements = math.perm(drawn + others, records)
    ways = [math.comb(records, j) * math.perm(drawn, j) * math.perm(others, records - j) for j in range(records + 1)]
    weights = [(j * shift[1], max(float(Fraction(way, arrangements)), 5e-324)) for j, way in enumerate(ways) if way]
    return Counter([("mixture", shift[0], tuple(weights), ((0.0, 1.0),))])


def binomial(trials: int, rate: float, shift: float) -> tuple[tuple[float, float], ...]:
    """Return (j shift, probability of j successes), but for what is below 1e-300 in all."""
    return tuple((j * shift, weight) for j, weight in rates.binomial(trials, rate))


def _mu(part: Multiset) -> float:
    """Return the joint mu of Gaussian losses, 0 for any other part."""
    if not part or any(loss[0] != "gaussian" for loss in part):
        return 0.0
    return math.sqrt(math.fsum(n * loss[1] ** 2 for loss, n in part.items()))


def _shift(part: Multiset) -> Loss:
    """Return the one shift that a part is, or nothing."""
    joint = losses.merged(part)
    return next(iter(joint)) if joint.total() == 1 and next(iter(joint))[0] in losses.SHIFTS else ()


def longer(loss: Loss, size: int) -> Loss:
    """Return a loss that dominates `size` records changed one after another.

    Two records of a sample each enter it or not, and what both do has no rule.
    """
    if loss[0] in losses.SHIFTS:
        return (loss[0], loss[1] * size)
    if loss[0] == "concentrated":  # Bun and Steinke (2016), Proposition 1.9
        return (loss[0], loss[1] * size**2)
    known = loss[0] in ("discrete", "range", "between", "choice")
    follow(known, "a group over a sample of this kind is beyond this checker")
    epsilon, delta = map(max, zip(*(most(Counter([order])) for order in (loss, reverse(loss))), strict=True))
    follow(epsilon < math.inf, "a group over a choice without a largest loss is beyond this checker")
    box = black_box(size * max(0.0, epsilon), losses.group_delta(max(0.0, epsilon), delta, size))
    return (*box, "sampled") if loss[0] == "between" else box


def _doubled(part: Multiset, times: int = 2) -> Multiset:
    """Return what is above two records moved together, or several, which may meet different options of a choice."""
    moved: Multiset = Counter()
    for loss, n in part.items():
        for each in met_apart(loss):
            moved[longer(each, times)[:4]] += n
    return moved


def met_apart(loss: Loss) -> tuple[Loss, ...]:
    """Return the options of a choice of shifts, which compose; of any other one e^epsilon multiplies a delta."""
    options = losses.options(loss)
    return options if all(option[0] in losses.SHIFTS for option in options) else (loss,)


def _boxed(part: Multiset, rate: float) -> Multiset:
    """Return a part of several kinds as a black box on a sample."""
    epsilon, delta = map(max, zip(most(part), most(reversed_all(part)), strict=True))
    require(epsilon < math.inf, "a sampled part without a largest loss cannot be derived again")
    return Counter([black_box(float(sampled(np.array(epsilon), rate)), rate * delta)])
