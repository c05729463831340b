"""For each sentence that a run or a replay can check, a defect that makes the sentence false.

Each row holds the kind of the condition, what it is about, a configuration of `algorithm_inputs`, the function at fault,
its sound text and its defective text. Rows of `REPLAYED` are decided by replays, all others by one ordinary run.
"""
# ruff: noqa: E501 - a table reads best with a row on a line

from dataclasses import dataclass

from tests.mutation.planting import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedMutant:
    """A defect that turns the condition (kind, about) of a configuration from checked to violated."""

    kind: str
    about: str
    configuration: str
    defect: Source


_LSVI_DUE = "due[:] = True\n        if due.any():\n            runs = np.flatnonzero(due)\n            # Q_k+1,h and V_k+1,h for h = H, ..., 1, with fresh vector noise eta_h^(b+1)\n            learned, vectors[runs], others[runs] = learner.learn(runs, turns[runs])"
_LSVI_LATE = _LSVI_DUE.replace("turns[runs]", "np.minimum(turns[runs], plan.releases - 1)")
_LOOP = "algorithms.dp_sgd.loop:"
_TWO_POINTS = """        add_noise()
        for p, s in zip(optimizer.params, summed):
            p.grad.copy_(s + (p.grad - s).sign() * (p.grad - s).square().mean().sqrt())
        #"""
_FIRST_ALWAYS = """            import torch; index = torch.unique(torch.cat([index, 0 * index[:1]])); x, y, _ = loader.dataset[index]
            batch = index.numpy()"""
_BACKWARD = "backward(x, y.long())"

_RUN: tuple[tuple[str, str, str, str, str, str], ...] = (
    (
        "clipping",
        "confidence entries",
        "lplr",
        "algorithms.lplr.device_steps:within_unit",
        "np.clip(half_widths, 0.0, 1.0)",
        "np.clip(half_widths, 3.0, 4.0)",
    ),
    (
        "clipping",
        "features",
        "lplr",
        "algorithms.lplr.device_steps:unit_ball",
        "finite / np.maximum(1.0, ",
        "2 * finite / np.maximum(1.0, ",
    ),
    (
        "clipping",
        "residuals beyond the first layer",
        "lplr",
        "algorithms.lplr.device_steps:clipped_residual",
        "np.clip(prediction, -1, 1)",
        "np.asarray(prediction)",
    ),
    (
        "clipping",
        "feature vectors",
        "ucrl joint",
        "algorithms.ucrl_vtr.plan:products",
        "outer: Array = features",
        "outer: Array = 1e4 * features",
    ),
    (
        "clipping",
        "optimistic values",
        "lsvi",
        "algorithms.lsvi_ucb.planning:plan_batch",
        "optimistic[:, h] = plan.clip(",
        "optimistic[:, h] = 2 * plan.clip(",
    ),
    (
        "clipping",
        "regression targets",
        "lsvi",
        "algorithms.lsvi_ucb.learner:Learner.learn",
        "targets = domain",
        "targets = 9 + domain",
    ),
    (
        "clipping",
        "rewards",
        "capri joint",
        "algorithms.capri.users:bounded_reward",
        "float(np.clip(",
        "2 * float(np.clip(",
    ),
    (
        "distinct_noise",
        "",
        "capri joint",
        "algorithms.capri.releases:release_sum",
        "return recorder.release",
        "return Recorder(np.random.default_rng(0), recorder.released).release",
    ),
    (
        "implementation",
        "divisor",
        "dp_sgd",
        "algorithms.dp_sgd.divisor:divisor_of",
        '(1 / count("batches", batches))',
        "1",
    ),
    (
        "independent_design",
        "R and S",
        "capri joint",
        "algorithms.capri.run:_run_block",
        "design = plan.draw(law, epoch.length, streams.public)",
        "design = plan.draw(law, epoch.length, streams.public)\n            design = type(design)(covariance=played.counts.reshape(n_runs, -1), basis=design.basis)",
    ),
    (
        "one_contribution",
        "answers",
        "dp_ebs batched",
        "algorithms.dp_ebs.rounds.batches:_played",
        "batch.plays * active",
        "(1 + batch.plays) * active",
    ),
    (
        "one_contribution",
        "answers",
        "g_optimal",
        "algorithms.g_optimal_dueling.phases:_Cell.play",
        "won = voters.wins",
        "won = counts + 1 + 0 * voters.wins",
    ),
    (
        "one_contribution",
        "steps of a user",
        "pucb",
        "algorithms._tabular_rl.run:run_table",
        "counts[runs, h, state, chosen, after] = 1.0",
        "counts[runs, h, state, chosen, after] = 2.0",
    ),
    (
        "one_contribution",
        "users of all phases",
        "lplr",
        "algorithms.lplr.run:answers_of",
        "range(start, start + users)",
        "range(start, start + users + 1)",
    ),
    (
        "own_noise_stream",
        "",
        "dp_ebs batched",
        "dpaudit.model.streams:Streams.spawn",
        "public=public)",
        "public=noise)",
    ),
    (
        "public_schedule",
        "duels",
        "dp_ebs batched",
        "algorithms.dp_ebs.rounds.batches:_fill",
        "int(rest[run])",
        "1 + int(rest[run])",
    ),
    (
        "public_schedule",
        "elements of a counter",
        "dp_ebs central",
        "algorithms.dp_ebs.rounds.event_state:EventRun.advance",
        "self.paths[arm].advance(length)",
        "self.paths[arm].advance(max(0, length - 1))",
    ),
    (
        "public_schedule",
        "policies",
        "lsvi",
        "algorithms.lsvi_ucb.run:run_batches",
        f"elif not final:\n            {_LSVI_DUE}",
        f"else:\n            {_LSVI_LATE}",
    ),
    (
        "public_schedule",
        "switches of policy",
        "lsvi switching",
        "algorithms.lsvi_ucb.run:run_batches",
        f"elif not final:\n            {_LSVI_DUE}",
        f"if True:\n            {_LSVI_LATE}",
    ),
    (
        "public_schedule",
        "users of each epoch",
        "capri joint",
        "algorithms.capri.users:SimulatedUsers.play",
        "multinomial(epoch.length,",
        "multinomial(1 + epoch.length,",
    ),
    (
        "public_schedule",
        "users of each phase",
        "lplr",
        "algorithms.lplr.run:answers_of",
        "multinomial(users,",
        "multinomial(1 + users,",
    ),
    (
        "training_loop",
        "noise",
        "dp_sgd",
        f"{_LOOP}train",
        "noise_multiplier=noise_multiplier,",
        "noise_multiplier=0.8 * noise_multiplier,",
    ),
    (
        "training_loop",
        "largest contribution",
        "dp_sgd",
        f"{_LOOP}train",
        "max_grad_norm=max_grad_norm,",
        "max_grad_norm=2 * max_grad_norm,",
    ),
    ("training_loop", "sampling rate", "dp_sgd", f"{_LOOP}_run", "batch = index.numpy()", "batch = index.numpy()[::2]"),
    (
        "training_loop",
        "dispersion of the sample",
        "dp_sgd",
        f"{_LOOP}train",
        "poisson_sampling=poisson,",
        "poisson_sampling=False,",
    ),
    (
        "training_loop",
        "law of the noise",
        "dp_sgd",
        f"{_LOOP}_run",
        "        add_noise()  #",
        _TWO_POINTS,
    ),
    (
        "training_loop",
        "draws of the sampler",
        "dp_sgd",
        f"{_LOOP}_run",
        "            batch = index.numpy()",
        _FIRST_ALWAYS,
    ),
    (
        "training_loop",
        "draws of the sampler in all runs",
        "dp_sgd",
        f"{_LOOP}_run",
        "            batch = index.numpy()",
        _FIRST_ALWAYS,
    ),
    ("training_loop", "number of steps", "dp_sgd", f"{_LOOP}_run", "if taken == steps:", "if taken == steps - 1:"),
    ("training_loop", "sums of clipped gradients", "dp_sgd", f"{_LOOP}_run", _BACKWARD, "backward(x, 1 - y.long())"),
    (
        "training_loop",
        "trained weights",
        "dp_sgd",
        f"{_LOOP}_run",
        "optimizer.step()",
        "optimizer.step(); optimizer.params[0].data.add_(0.01)",
    ),
    (
        "whole_domain",
        "contexts and active actions",
        "capri joint",
        "algorithms.capri.run:_run_block",
        "design, flat, plan.ridge)",
        "design, flat & (np.arange(flat.shape[1]) > 3), plan.ridge)",
    ),
)

_REPLAYED: tuple[tuple[str, str, str, str, str, str], ...] = (
    (
        "attained",
        "",
        "pucb",
        "algorithms._tabular_rl.run:run_table",
        "np.broadcast_to(canary, shape).copy()",
        "np.broadcast_to(canary / 2, shape).copy()",
    ),
    (
        "secret_sample",
        "poisson",
        "dp_sgd",
        f"{_LOOP}_run",
        "batch = index.numpy()",
        "if len(index) < 0.75 * len(loader.dataset) / len(loader):\n                continue\n            batch = index.numpy()",
    ),
    (
        "secret_sample",
        "poisson",
        "dp_sgd",
        f"{_LOOP}_run",
        "batch = index.numpy()",
        "calm = x.norm(dim=1) < 1e4\n            x, y, index = x[calm], y[calm], index[calm]\n            batch = index.numpy()",
    ),
    ("fresh_noise", "", "capri local", "algorithms.capri.releases:release_messages", "root * recorder", "recorder"),
    (
        "attained",
        "",
        "lplr",
        "algorithms.lplr.message:update_answers",
        "count[index] = 1.0",
        "count[index] = 0.5",
    ),
    (
        "sensitivity",
        "",
        "capri joint",
        "algorithms.capri.users:bounded_reward",
        "float(np.clip(reward, -reward_bound, reward_bound))",
        "float(reward)",
    ),
    (
        "public_key",
        "epoch",
        "capri joint",
        "algorithms.capri.users:RecordedUsers.play",
        "contexts, rewards = self.contexts[epoch.start : epoch.stop], self.rewards[epoch.start : epoch.stop]",
        "contexts, rewards = self.contexts[max(0, epoch.start - 1) : epoch.stop], self.rewards[max(0, epoch.start - 1) : epoch.stop]",
    ),
    (
        "one_part",
        "epoch",
        "capri joint",
        "algorithms.capri.run:_run_block",
        "noisy = plan.release(recorder, plan.label(epoch), plan.mechanism, value, epoch.length)",
        "noisy = plan.release(recorder, plan.label(epoch), plan.mechanism, value, epoch.length)\n            noisy = plan.release(recorder, plan.label(epoch), plan.mechanism, value, epoch.length)",
    ),
    (
        "declared_times",
        "",
        "pucb",
        "algorithms._traced_tree:TracedTree.__call__",
        "if length & (length - 1) == 0:",
        "if length & (length - 1) == 0 or length == 3:",
    ),
    (
        "no_data_read",
        "",
        "capri joint",
        "algorithms.capri.run:_run_block",
        "factors.estimates(noisy)",
        "factors.estimates(noisy + 1e-3 * value)",
    ),
)


def _mutants(rows: tuple[tuple[str, str, str, str, str, str], ...]) -> tuple[CheckedMutant, ...]:
    """Return rows as objects."""
    return tuple(
        CheckedMutant(
            kind=kind, about=about, configuration=configuration, defect=Source(target=target, old=old, new=new)
        )
        for kind, about, configuration, target, old, new in rows
    )


RUN = _mutants(_RUN)
"""What an ordinary run sees."""

REPLAYED = _mutants(_REPLAYED)
"""What replays on one tape see."""
