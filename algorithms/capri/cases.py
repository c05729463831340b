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
from algorithms.capri.users import RecordedUsers
from algorithms.problems.worst_case import audit_domain
from dpaudit import AuditCase, Recorder, Streams
from dpaudit.model.mechanism import Array

_TARGET_CONTEXT, _WITNESS_CONTEXT = 0, 1


def cases_of(settings: CapriSettings, problem: Any = None) -> tuple[AuditCase, ...]:
    """Return the audits that fit the model, all on the domain where the worst case is attained.

    `problem` does not matter: privacy depends on the settings alone, and no problem is worse than that domain.
    """
    plan = plan_of(settings)
    if settings.model == "local":
        return (message_case(settings, plan),)
    return transcript_case(settings, plan), actions_case(settings, plan)


def transcript_case(settings: CapriSettings, plan: Plan) -> AuditCase:
    """Return the white-box audit: all that is published in the target's epoch, scored by its likelihood ratio."""
    domain = audit_geometry(settings, plan)

    def run(data: RecordedUsers, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        short = replace(plan, epochs=plan.epochs[:1])
        return run_epochs(short, domain, data, Streams.spawn(rng), n_runs).view("transcript")

    return AuditCase(
        name="capri transcript",
        view="transcript",
        description="Everything published in the first epoch; the first user's reward is -1 or +1 times its bound.",
        neighbours=neighbours_of(plan),
        relation="replace_one",
        run=run,
        score=LikelihoodRatio(domain=domain, plan=plan),
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


def message_case(settings: CapriSettings, plan: Plan) -> AuditCase:
    """Return the local audit: one user's own message, a run being a user of the first epoch."""
    domain = audit_geometry(settings, plan)

    def run(data: float, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        streams = Streams.spawn(rng)
        active = np.ones((1, 3, domain.n_actions), dtype=bool)
        law = cell_law(domain.context_probabilities, active)
        design = plan.draw(law, plan.epochs[0].length, streams.public)
        factors = plan.factorise(domain.features, design, active.reshape(1, -1), plan.ridge)
        cells = _TARGET_CONTEXT * domain.n_actions + streams.actions.integers(domain.n_actions, size=n_runs)
        vectors = factors.maps[0].T[cells] / factors.scale
        rewards = np.full(n_runs, np.clip(data, -plan.reward_bound, plan.reward_bound))
        sent = message(Recorder(streams.noise), plan.label(plan.epochs[0]), plan.mechanism, vectors, rewards)
        public = {"basis": design.basis, "covariance": design.covariance, "scale": factors.scale}
        shared = {name: np.repeat(array[:, None], n_runs, axis=0) for name, array in public.items()}
        return {**shared, "release": sent[:, None, :]}

    return AuditCase(
        name="capri message",
        view="message",
        description="One user's own message; their reward is -1 or +1 times its bound.",
        neighbours=(-plan.reward_bound, plan.reward_bound),
        relation="replace_one",
        run=run,
        score=LikelihoodRatio(domain=domain, plan=plan),
        gaussian=True,
    )


def neighbours_of(plan: Plan, reward: float | None = None) -> tuple[RecordedUsers, RecordedUsers]:
    """Return two data sets for the first two epochs that differ in the first user's reward, -`reward` or +`reward`."""
    rounds = plan.epochs[1].stop
    size = plan.reward_bound if reward is None else reward
    contexts = np.full(rounds, _WITNESS_CONTEXT)
    contexts[0] = _TARGET_CONTEXT
    low, high = np.zeros(rounds), np.zeros(rounds)
    low[0], high[0] = -size, size
    return RecordedUsers(contexts=contexts, rewards=low), RecordedUsers(contexts=contexts, rewards=high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LikelihoodRatio:
    """The log likelihood ratio of the first release between rewards +reward_bound and -reward_bound.

    The target's own action is not in the view, so each law is a mixture over it. The public map is computed
    again from the published sets R and S, as an adversary would. The optimal score: no test does better.
    """

    domain: Domain
    plan: Plan

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run; larger means +reward_bound. Shape (n_runs,)."""
        cells, actions = len(self.domain.features), self.domain.n_actions
        design = Design(covariance=view["covariance"][:, 0], basis=view["basis"][:, 0])
        active = np.ones((len(design.basis), cells), dtype=bool)
        maps = factorise(self.domain.features, design, active, self.plan.ridge).maps
        target = slice(_TARGET_CONTEXT * actions, (_TARGET_CONTEXT + 1) * actions)
        shifts = self.plan.reward_bound * maps[:, :, target] / view["scale"][:, :1, None]
        overlap = (view["release"][:, 0, :, None] * shifts).sum(axis=1) / self.plan.stddev**2
        square = (shifts**2).sum(axis=1) / (2 * self.plan.stddev**2)
        ratio: Array = logsumexp(overlap - square, axis=1) - logsumexp(-overlap - square, axis=1)
        return ratio


def first_action_share(view: Mapping[str, Array]) -> Array:
    """Return the share of first actions among the later users at context 1; one half where none came."""
    played = view["actions"].reshape(len(view["actions"]), 3, -1)[:, _WITNESS_CONTEXT]
    share: Array = np.where(played.sum(axis=1) > 0, played[:, 0] / np.maximum(played.sum(axis=1), 1), 0.5)
    return share


def audit_geometry(settings: CapriSettings, plan: Plan) -> Domain:
    """Return the audit domain, with the target's direction rare but almost surely met in the first epoch."""
    share = float(np.clip(7 / plan.epochs[0].length, 0.06, 0.3))
    return domain_of(replace(settings, kernel="features"), audit_domain(canary_share=share))
