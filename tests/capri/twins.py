"""Copies of CAPRI with one planted defect each, and copies with a harmless change: who notices, and how.

A twin plants its defect by replacing one step, the mechanism, or the users of an honest plan; the product has
no switch for any of them. `caught` lists what notices it:

    trace       `admit(declaration, transcript.trace)` has findings on one ordinary run
    condition   the run itself reports a violated side-condition
    statistics  the scores of `case` separate its two neighbours further than the declared noise allows
    accountant  the paper's own arithmetic fails

`case(config)` is an ordinary `dpaudit.AuditCase`, ready for any audit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from algorithms.capri.cases import LikelihoodRatio, first_action_share, neighbours_of
from algorithms.capri.cases import _domain as audit_geometry
from algorithms.capri.design import Design, Factors, draw_design, factorise
from algorithms.capri.elimination import survivors
from algorithms.capri.lockstep import run_epochs
from algorithms.capri.users import RecordedUsers, clipped_sums
from dpaudit import AuditCase, Recorder, Streams
from mechanisms import Gaussian


@dataclass(frozen=True)
class Twin:
    """One planted defect. `plant(plan)` returns the broken plan and a wrapper of the users."""

    name: str
    text: str
    plant: Callable
    caught: tuple = ()
    model: str = "joint"
    case: Callable = None
    runs: int = 20_000
    gaussian: bool = True


def own_users(users):
    return users


def steps(**changed):
    """A twin that replaces fields of the plan; each is given as a function of the plan."""
    return lambda plan: (replace(plan, **{name: make(plan) for name, make in changed.items()}), own_users)


def scaled_mechanism(factor):
    """A twin that runs `factor` times the declared noise."""

    def plant(plan):
        mechanism = plan.mechanism.scaled(factor(plan))
        return replace(plan, mechanism=mechanism, stddev=mechanism.stddev), own_users

    return plant


def rescaled(change):
    """A twin of the bound alone: `change(factors, features, design, active, ridge)` returns the scale."""

    def broken(features, design, active, ridge):
        factors = factorise(features, design, active, ridge)
        return replace(factors, scale=change(factors, features, design, active, ridge))

    return lambda _plan: broken


# --- mechanisms --------------------------------------------------------------------------------------------


class ScalarNoise(Gaussian):
    """One normal number times the vector of ones."""

    def release(self, value, rng):
        return value + self.stddev * rng.standard_normal((*value.shape[:-1], 1))


class OneSidedNoise(Gaussian):
    """The absolute value of normal noise."""

    def release(self, value, rng):
        return value + self.stddev * np.abs(rng.standard_normal(value.shape))


class HalfPrecisionNoise(Gaussian):
    """Noise rounded to 16 bits before it is added."""

    def release(self, value, rng):
        noise = (self.stddev * rng.standard_normal(value.shape)).astype(np.float16)
        return value + noise.astype(np.float64)


def other_noise(kind):
    def plant(plan):
        honest = plan.mechanism
        mechanism = kind(stddev=honest.stddev, l2_sensitivity=honest.l2_sensitivity, neighbours=honest.neighbours)
        return replace(plan, mechanism=mechanism), own_users

    return plant


def frozen_noise(seed_of):
    """The honest mechanism, fed the same randomness at every release."""

    def plant(plan):
        box = {}

        def release(recorder, label, mechanism, value, users):
            box.setdefault("seed", seed_of(recorder.rng))
            frozen = Recorder(np.random.default_rng(box["seed"]), recorder.released)
            return frozen.release(label, mechanism, value)

        return replace(plan, release=release), own_users

    return plant


def _known_noise(made, config):
    """Subtract the noise that the fixed seed gives; what is left is the reward's sign."""
    stddev = config.plan().stddev

    def score(view):
        release = view["release"][:, 0]
        return (release - stddev * np.random.default_rng(7).standard_normal(release.shape))[:, 0]

    return case_of(made, config, score=score)


# --- steps -------------------------------------------------------------------------------------------------


def unclipped(played, _bound):
    return clipped_sums(played, math.inf)


def watched(change):
    """A twin whose public steps secretly see the epoch's users: `change(plan, box)` returns the broken plan."""

    def plant(plan):
        box = {}

        class Watched:
            def __init__(self, users):
                self.users = users

            def play(self, epoch, active, streams):
                played = self.users.play(epoch, active, streams)
                box["epoch"] = epoch.number
                box["counts"] = played.counts.reshape(len(active), -1)
                return played

        return change(plan, box), Watched

    return plant


def carried_over(plan, box):
    def collect(played, bound):
        before = box["sums"] if box["epoch"] > 1 else 0.0
        box["sums"] = before + clipped_sums(played, bound)
        return box["sums"]

    return replace(plan, collect=collect)


def data_covariance(plan, box):
    def broken(features, design, active, ridge):
        honest = factorise(features, design, active, ridge)
        data = factorise(features, Design(covariance=box["counts"], basis=design.basis), active, ridge)
        return Factors(maps=data.maps, reach=data.reach, scale=honest.scale)

    return replace(plan, factorise=broken)


def data_covariance_throughout(plan, box):
    def broken(features, design, active, ridge):
        return factorise(features, Design(covariance=box["counts"], basis=design.basis), active, ridge)

    return replace(plan, factorise=broken)


def users_as_basis(plan, box):
    def draw(law, size, rng):
        return Design(covariance=draw_design(law, size, rng).covariance, basis=box["counts"])

    return replace(plan, draw=draw)


def exact_elimination(plan):
    box = {}

    def remember(features, design, active, ridge):
        box["factors"] = factorise(features, design, active, ridge)
        return box["factors"]

    def release(recorder, label, mechanism, value, users):
        box["value"] = value
        return plan.release(recorder, label, mechanism, value, users)

    def eliminate(_estimates, active, half_width):
        factors = box["factors"]
        return survivors(factors.scale[:, None] * factors.estimates(box["value"]), active, half_width)

    return replace(plan, factorise=remember, release=release, eliminate=eliminate), own_users


def eager_users(plan):
    """Later users of an epoch copy the best action seen so far in it."""

    class Eager:
        def __init__(self, users):
            self.users = users

        def play(self, epoch, active, streams):
            played = self.users.play(epoch, active, streams)
            best = max(played.groups, key=lambda group: group[0] * 1.0)[0]
            moved = []
            for reward, counts in played.groups:
                if reward == 0 and epoch.number == 1:
                    totals = counts.sum(axis=2)
                    counts = np.zeros_like(counts)
                    counts[:, :, 0 if best > 0 else 1] = totals
                moved.append((reward, counts))
            return replace(played, groups=tuple(moved))

    return plan, Eager


def gram_inverse(features, design, active, ridge):
    """M^(-1) k_S in place of M^(-1/2) k_S, with the honest bound; S as a set, zeros elsewhere."""
    honest = factorise(features, design, active, ridge)
    kernel = features @ features.T
    present = (design.basis > 0).astype(float)
    k_s = present[:, :, None] * kernel
    m = (k_s * design.covariance[:, None, :]) @ np.swapaxes(k_s, 1, 2)
    m = m + ridge * k_s * present[:, None, :]
    maps = np.linalg.pinv(m, rcond=1e-10, hermitian=True) @ k_s
    reach = np.sqrt(np.where(active, (maps**2).sum(axis=1), 0).max(axis=1))
    return Factors(maps=maps, reach=reach, scale=honest.scale)


def log_ten_multiplier(plan):
    horizon = plan.epochs[-1].stop
    slots, natural = math.log10(horizon), math.log(horizon)
    wrong = slots * math.sqrt(math.log(1.25 * slots / 1e-5))
    return wrong / (natural * math.sqrt(math.log(1.25 * natural / 1e-5)))


def symmetric_root(features, design, active, ridge):
    """A^(-1/2) P F with the symmetric root, the projector by pseudo-inverse."""
    present = (design.basis > 0)[:, :, None] * features
    projector = np.linalg.pinv(present) @ present
    covariance = (features.T * design.covariance[:, None, :]) @ features
    values, vectors = np.linalg.eigh(projector @ covariance @ projector + ridge * np.eye(features.shape[1]))
    root = (vectors / np.sqrt(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    return replace(factorise(features, design, active, ridge), maps=root @ projector @ features.T)


def unique_basis(law, size, rng):
    drawn = draw_design(law, size, rng)
    return replace(drawn, basis=np.minimum(drawn.basis, 1))


def large_basis(law, size, rng):
    return Design(covariance=rng.multinomial(size, law), basis=rng.multinomial(2 * size, law))


# --- cases -------------------------------------------------------------------------------------------------


def case_of(twin, config, *, epochs=1, view="transcript", score=None, neighbours=None, elimination="practical"):
    """The ordinary audit case with a twin's plan and users, over the first `epochs` epochs."""
    plan, wrap = twin.plant(config.plan())
    domain = audit_geometry(replace(config, elimination=elimination), config.plan())

    def run(data, rng, n_runs):
        short = replace(plan, epochs=plan.epochs[:epochs])
        arrays = run_epochs(short, domain, wrap(data), Streams.spawn(rng), n_runs).arrays
        return dict(arrays)

    return AuditCase(
        name=f"capri twin {twin.name}",
        view=view,
        description=twin.text,
        neighbours=neighbours or neighbours_of(config.plan()),
        relation="replace_one",
        run=run,
        score=score or LikelihoodRatio(domain=domain, plan=plan),
        gaussian=twin.gaussian,
    )


def contexts_differ(config):
    """Neighbours whose first user stands at context 0 or 1, all else equal and at context 2."""
    rounds = config.plan().epochs[1].stop
    first, second = np.full(rounds, 2), np.full(rounds, 2)
    first[0], second[0] = 1, 0
    rewards = np.zeros(rounds)
    return RecordedUsers(contexts=first, rewards=rewards), RecordedUsers(contexts=second, rewards=rewards)


def others_elsewhere(config):
    """The usual neighbours, with all other users on the other feature."""
    return tuple(
        RecordedUsers(contexts=np.where(np.arange(len(data.contexts)) == 0, 0, 2), rewards=data.rewards)
        for data in neighbours_of(config.plan())
    )


@dataclass(frozen=True)
class SummedRatio:
    """The sum over epochs of the projection on the target's direction, each in units of its noise."""

    domain: object
    plan: object

    def __call__(self, view):
        total = 0.0
        for epoch in range(view["release"].shape[1]):
            design = Design(covariance=view["covariance"][:, epoch], basis=view["basis"][:, epoch])
            maps = factorise(self.domain.features, design, view["active"][:, epoch], self.plan.ridge).maps
            total = total + (maps[:, :, 0] * view["release"][:, epoch]).sum(axis=1) / view["scale"][:, epoch]
        return total


def cancelled(view):
    """The difference of the first two normalised releases: their common noise is gone."""
    return (view["release"][:, 0] - view["release"][:, 1])[:, 0]


def half_precision_score(view):
    """Whether the first coordinate less 0.3 lies on the 16-bit grid."""
    residual = view["release"][:, 0, 0] - 0.3
    return (np.abs(residual - residual.astype(np.float16).astype(np.float64)) < 1e-9).astype(float)


def asymmetric_rewards(config):
    low, high = neighbours_of(config.plan())
    low.rewards[0], high.rewards[0] = -0.7, 0.3
    return low, high


def local_case(twin, config):
    """One user's message under a twin's plan; the mechanism as the twin runs it for a single user."""
    from algorithms.capri.cases import message_case

    plan, _ = twin.plant(config.plan())
    return message_case(config, plan)


def uploaded_action_case(twin, config):
    """The message of B15: the action goes along, after elimination left context 0 and 1 different actions."""
    plan = config.plan()
    active = np.array([[True, False], [False, True], [True, True]])

    def run(data, rng, n_runs):
        actions = rng.choice(np.flatnonzero(active[data]), size=n_runs)
        noise = plan.mechanism.release(np.zeros((n_runs, 2)), rng)
        return {"release": noise, "action": actions}

    return AuditCase(
        name=f"capri twin {twin.name}",
        view="message",
        description=twin.text,
        neighbours=(0, 1),
        relation="replace_one",
        run=run,
        score=lambda view: view["action"].astype(float),
    )


def twin(name, text, plant, caught, **options):
    made = Twin(name=name, text=text, plant=plant, caught=caught, **{k: v for k, v in options.items() if k != "case"})
    build = options.get("case", lambda made, config: case_of(made, config))
    return replace(made, case=(lambda config: build(made, config)) if build else None)


def _large_reward(made, config):
    return case_of(made, config, neighbours=neighbours_of(config.plan(), reward=10.0))


def _summed(made, config):
    plan, _ = made.plant(config.plan())
    return case_of(
        made,
        config,
        epochs=3,
        score=SummedRatio(domain=audit_geometry(config, plan), plan=plan),
        neighbours=long_neighbours(config),
    )


def long_neighbours(config):
    """The usual neighbours, for the whole horizon."""
    rounds = config.horizon
    contexts = np.full(rounds, 1)
    contexts[0] = 0
    made = []
    for reward in (-1.0, 1.0):
        rewards = np.zeros(rounds)
        rewards[0] = reward
        made.append(RecordedUsers(contexts=contexts, rewards=rewards))
    return tuple(made)


def _actions_now(made, config):
    return case_of(made, config, view="actions", score=lambda v: first_action_share({"actions": v["actions"][:, 0]}))


def _actions_next(made, config):
    return case_of(
        made,
        config,
        epochs=2,
        view="actions",
        elimination="argmax",
        score=lambda v: first_action_share({"actions": v["actions"][:, 1]}),
    )


def _first_coordinate(view):
    return view["release"][:, 0, 0]


BROKEN = (
    twin(
        "B1", "sensitivity reward_bound instead of twice that", scaled_mechanism(lambda _: 0.5), ("trace", "statistics")
    ),
    twin(
        "B2",
        "the squared bound used for the bound",
        steps(factorise=rescaled(lambda f, *_: f.scale**2)),
        ("condition", "statistics"),
    ),
    twin(
        "B3",
        "the bound averaged over cells",
        steps(factorise=rescaled(lambda f, *_: np.sqrt((f.maps**2).sum(axis=1)).mean(axis=1))),
        ("condition", "statistics"),
    ),
    twin(
        "B4",
        "the bound of the next epoch",
        steps(
            factorise=rescaled(lambda _f, F, d, a, t: factorise(F, replace(d, covariance=2 * d.covariance), a, t).scale)
        ),
        ("condition", "statistics"),
    ),
    twin(
        "B5",
        "rewards are not clipped",
        steps(collect=lambda _: unclipped),
        ("condition", "statistics"),
        case=_large_reward,
    ),
    twin(
        "B6",
        "the square root of the standard deviation",
        scaled_mechanism(lambda p: p.stddev**-0.5),
        ("trace", "statistics"),
    ),
    twin(
        "B7",
        "the same noise in every epoch",
        frozen_noise(lambda rng: int(rng.integers(2**32))),
        ("trace", "condition", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(made, config, epochs=2, score=cancelled),
    ),
    twin(
        "B8",
        "one scalar of noise for all coordinates",
        other_noise(ScalarNoise),
        ("trace", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(made, config, score=lambda v: v["release"][:, 0, 0] - v["release"][:, 0, 1]),
    ),
    twin(
        "B9",
        "noise from a fixed seed",
        frozen_noise(lambda _: 7),
        ("trace", "condition", "statistics"),
        gaussian=False,
        case=_known_noise,
    ),
    twin(
        "B10",
        "one-sided noise",
        other_noise(OneSidedNoise),
        ("trace", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(made, config, score=_first_coordinate),
    ),
    twin(
        "B11",
        "the data's covariance in place of R's",
        watched(data_covariance),
        ("condition", "statistics"),
        case=lambda made, config: case_of(made, config, neighbours=others_elsewhere(config), score=_first_coordinate),
    ),
    twin(
        "B12",
        "S built from the users' contexts",
        watched(users_as_basis),
        ("condition", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(
            made,
            config,
            neighbours=contexts_differ(config),
            score=lambda v: (v["basis"][:, 0, :2].sum(axis=1) > 0).astype(float),
        ),
    ),
    twin(
        "B13",
        "sums carried over into later epochs",
        watched(carried_over),
        ("condition", "statistics"),
        case=_summed,
    ),
    twin(
        "B14",
        "local noise divided by the root of the epoch's length",
        scaled_mechanism(lambda p: p.epochs[0].length ** -0.5),
        ("trace", "statistics"),
        model="local",
        case=local_case,
    ),
    twin(
        "B15",
        "the action is uploaded with the message",
        steps(),
        ("statistics",),
        model="local",
        gaussian=False,
        case=uploaded_action_case,
    ),
    twin("B16", "M^-1 in place of M^-1/2", steps(factorise=lambda _: gram_inverse), ("condition",), case=None),
    twin(
        "B17",
        "elimination on the estimates before noise",
        exact_elimination,
        ("statistics",),
        gaussian=False,
        case=_actions_next,
    ),
    twin("B18", "actions that react within the epoch", eager_users, ("statistics",), gaussian=False, case=_actions_now),
    twin(
        "B19",
        "log10 for the natural logarithm",
        scaled_mechanism(log_ten_multiplier),
        ("trace", "accountant"),
        case=None,
    ),
    twin(
        "B20",
        "the bound computed with another ridge than the map",
        steps(factorise=rescaled(lambda _f, F, d, a, t: factorise(F, d, a, 1.5 * t).scale)),
        ("condition",),
        case=None,
    ),
    twin(
        "B21",
        "noise rounded to 16 bits",
        other_noise(HalfPrecisionNoise),
        ("trace", "statistics"),
        gaussian=False,
        case=lambda made, config: case_of(
            made, config, neighbours=asymmetric_rewards(config), score=half_precision_score
        ),
    ),
)
"""Every broken twin of the table."""


def iid_users(config):
    """Neighbours whose other users arrive by the context law, spread as evenly as it allows."""
    share = audit_geometry(config, config.plan()).context_probabilities
    low, high = neighbours_of(config.plan())
    order = np.random.default_rng(0).choice(3, size=len(low.contexts) - 1, p=share)
    contexts = np.concatenate([[0], order])
    return tuple(RecordedUsers(contexts=contexts, rewards=data.rewards) for data in (low, high))


BENIGN = (
    twin(
        "cholesky or symmetric root", "another root of the same matrix", steps(factorise=lambda _: symmetric_root), ()
    ),
    twin("S without duplicates", "only the span of S matters", steps(draw=lambda _: unique_basis), ()),
    twin("S of another size", "S may have any size", steps(draw=lambda _: large_basis), ()),
    twin(
        "reach in place of scale",
        "the tighter of two valid bounds",
        steps(factorise=rescaled(lambda factors, *_: factors.reach)),
        (),
    ),
    twin("larger ridge", "the ridge is neutral to privacy", steps(ridge=lambda _: 4.0), ()),
    twin(
        "data covariance, reward-only neighbours",
        "map and bound from the data's covariance, which the neighbours share",
        watched(data_covariance_throughout),
        (),
        case=lambda made, config: case_of(made, config, neighbours=iid_users(config), score=_first_coordinate),
    ),
)
"""Every harmless twin: nothing may notice it."""
