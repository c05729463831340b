"""Audits of CAPRI: neighbouring data sets, the algorithm run on them, and the likelihood ratio of its output.

All cases run on the audit domain: there the sensitivity bound is attained at context 0, whatever action the
user draws, and context 1 shows which direction the estimate prefers. The target is the user of the first
round; the neighbours give them reward -reward_bound or +reward_bound. All other users see reward 0, which
makes their sum known, and stand at context 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from algorithms.capri.design import Design, cell_law, factorise
from algorithms.capri.domain import domain_of
from algorithms.capri.plan import Domain, Plan, plan_of
from algorithms.capri.releases import message
from algorithms.capri.run import run_epochs
from algorithms.capri.settings import CapriSettings
from algorithms.capri.users import RecordedUsers, one_record
from algorithms.problems.worst_case import audit_domain
from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.mechanism import Array

_TARGET_CONTEXT, _WITNESS_CONTEXT = 0, 1


def cases_of(settings: CapriSettings, problem: Any = None) -> tuple[AuditCase, ...]:
    """Return the audits that fit the model, all on the domain where the worst case is attained.

    The releases of the first epoch, of the middle one and of the last one are attacked.

    `problem` does not matter: privacy depends on the settings alone, and no problem is worse than that domain.
    """
    plan = plan_of(settings)
    last = sum(plan.releases(epoch) for epoch in plan.epochs) - 1
    later = sorted({last // 2, last} - {0, -1})
    if settings.model == "local":
        return message_case(settings, plan), *(message_case(settings, plan, index) for index in later)
    return (
        transcript_case(settings, plan),
        actions_case(settings, plan),
        *(transcript_case(settings, plan, index) for index in later),
    )


def transcript_case(settings: CapriSettings, plan: Plan, index: int = 0) -> AuditCase:
    """Return the white-box audit: all that is published in the target's epoch, scored by its likelihood ratio.

    The target is the first user of epoch `index`, which counts from 0; the epochs before it are played.
    """
    domain = audit_geometry(settings, plan, index)

    def run(data: RecordedUsers, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        short = replace(plan, epochs=plan.epochs[: index + 1])
        return run_epochs(short, domain, data, Streams.spawn(rng), n_runs).view("transcript")

    first = index == 0
    epoch = plan.label(plan.epochs[index])
    return AuditCase(
        name="capri transcript" if first else f"capri transcript, {epoch}",
        view="transcript",
        description=f"Everything published in {'the first epoch' if first else f'the epochs up to {epoch}'}; the "
        f"{'first user' if first else 'first user of that epoch'}'s reward is -1 or +1 times its bound.",
        neighbours=neighbours_of(plan, index),
        relation="replace_one",
        run=run,
        score=LikelihoodRatio(domain=domain, plan=plan, index=index),
        gaussian=True,
    )


def actions_case(settings: CapriSettings, plan: Plan) -> AuditCase:
    """Return the black-box audit: what users of the second epoch play, when only the best action survives."""
    domain = audit_geometry(replace(settings, elimination="argmax"), plan)

    def run(data: RecordedUsers, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        second = replace(plan.epochs[1], complete=False)
        short = replace(plan, epochs=(plan.epochs[0], second))
        actions = run_epochs(short, domain, data, Streams.spawn(rng), n_runs).arrays["actions"]
        return {"actions": actions[:, 1]}

    return AuditCase(
        name="capri actions",
        view="actions",
        description="What later users play; elimination keeps the best action only. The first user's reward differs.",
        neighbours=neighbours_of(plan),
        relation="replace_one",
        run=run,
        score=first_action_share,
        gaussian=True,
    )


def message_case(settings: CapriSettings, plan: Plan, index: int = 0) -> AuditCase:
    """Return the local audit: one user's own message, a run being a user of epoch `index`, which counts from 0."""
    domain, epoch = audit_geometry(settings, plan, index), plan.epochs[index]

    def run(data: float, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        active = np.ones((n_runs, 3, domain.n_actions), dtype=bool)
        law = cell_law(domain.context_probabilities, active)
        design = plan.draw(law, epoch.length, streams.public)
        factors = plan.factorise(domain.features, design, active.reshape(n_runs, -1), plan.ridge)
        cells = _TARGET_CONTEXT * domain.n_actions + streams.actions.integers(domain.n_actions, size=n_runs)
        vectors = factors.maps[np.arange(n_runs), :, cells] / factors.scale[:, None]
        rewards = np.full(n_runs, np.clip(data, -plan.reward_bound, plan.reward_bound))
        sent = message(Recorder(streams.noise), plan.label(epoch), plan.mechanism, vectors, rewards)
        public = {"basis": design.basis, "covariance": design.covariance, "scale": factors.scale}
        return {**{name: array[:, None] for name, array in public.items()}, "release": sent[:, None, :]}

    return AuditCase(
        name="capri message" if index == 0 else f"capri {plan.label(epoch)}",
        view="message",
        description="One user's own message; their reward is -1 or +1 times its bound.",
        neighbours=(-plan.reward_bound, plan.reward_bound),
        relation="replace_one",
        run=run,
        score=LikelihoodRatio(domain=domain, plan=plan),
        gaussian=True,
    )


def neighbours_of(plan: Plan, index: int = 0) -> tuple[RecordedUsers, RecordedUsers]:
    """Return two data sets that differ in one reward, the least or the largest: that of the first user of an epoch.

    They hold the users up to the epoch after it, where there is one.
    """
    rounds, at = plan.epochs[min(index + 1, len(plan.epochs) - 1)].stop, plan.epochs[index].start
    return one_record(rounds, at, -plan.reward_bound), one_record(rounds, at, plan.reward_bound)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LikelihoodRatio:
    """The log likelihood ratio of one epoch's release between rewards +reward_bound and -reward_bound.

    The target's own action is not in the view, so each law is a mixture over the actions that were active. The public
    map is computed again from the published sets R and S, as an adversary would. The optimal score: no test does
    better. `index` counts epochs from 0; a view of a single message has that message alone.
    """

    domain: Domain
    plan: Plan
    index: int = 0

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run; larger means +reward_bound. Shape (n_runs,)."""
        cells, actions = len(self.domain.features), self.domain.n_actions
        at = min(self.index, view["basis"].shape[1] - 1)
        design = Design(covariance=view["covariance"][:, at], basis=view["basis"][:, at])
        active = view["active"][:, at] if "active" in view else np.ones((len(design.basis), cells), dtype=bool)
        maps = factorise(self.domain.features, design, active, self.plan.ridge).maps
        target = slice(_TARGET_CONTEXT * actions, (_TARGET_CONTEXT + 1) * actions)
        shifts = self.plan.reward_bound * maps[:, :, target] / view["scale"][:, at : at + 1, None]
        overlap = (view["release"][:, at, :, None] * shifts).sum(axis=1) / self.plan.stddev**2
        square = (shifts**2).sum(axis=1) / (2 * self.plan.stddev**2)
        weight = active[:, target].astype(np.float64)
        return logsumexp(overlap - square, axis=1, b=weight) - logsumexp(-overlap - square, axis=1, b=weight)


def first_action_share(view: Mapping[str, Array]) -> Array:
    """Return the share of first actions among the later users at context 1; one half where none came."""
    played = view["actions"].reshape(len(view["actions"]), 3, -1)[:, _WITNESS_CONTEXT]
    return np.where(played.sum(axis=1) > 0, played[:, 0] / np.maximum(played.sum(axis=1), 1), 0.5)


def audit_geometry(settings: CapriSettings, plan: Plan, index: int = 0) -> Domain:
    """Return the audit domain, with the target's direction rare but almost surely met in epoch `index`."""
    least = 0.06 if index == 0 else 1e-4
    share = float(np.clip(7 / plan.epochs[index].length, least, 0.3))
    return domain_of(replace(settings, kernel="features"), audit_domain(canary_share=share))
