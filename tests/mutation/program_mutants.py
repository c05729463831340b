"""Defects that only a part of a program shows: a late phase, a later user, one engine, one entry, one device.

Each row holds (name, configuration in `algorithm_inputs`, file below `algorithms/`, sound text, defective text). They were
written before anybody had tried the checks on them. The subtle ones change one statement; shapes stay, and variances
stay within ten per cent.
"""
# ruff: noqa: E501 - a table reads best with a row on a line

from tests.mutation.algorithm_mutants import AlgorithmMutant

Row = tuple[str, str, str, str, str]

_OBVIOUS: tuple[Row, ...] = (
    (
        "capri device sends its first entry exactly",
        "capri local",
        "capri/releases.py",
        "return recorder.release(label, mechanism, np.asarray(rewards)[:, None] * vectors)",
        "return np.where(np.arange(vectors.shape[1]) == 0, np.asarray(rewards)[:, None] * vectors, recorder.release(label, mechanism, np.asarray(rewards)[:, None] * vectors))",
    ),
    (
        "capri bound from the cells that were played",
        "capri joint",
        "capri/run.py",
        "factors = plan.factorise(domain.features, design, flat, plan.ridge)",
        "factors = plan.factorise(domain.features, design, flat & (played.counts.reshape(flat.shape) > 0), plan.ridge)",
    ),
    (
        "capri clips sums of cells instead of rewards",
        "capri joint",
        "capri/users.py",
        "sum(bounded_reward(reward, reward_bound) * counts for reward, counts in played.groups)",
        "np.clip(sum(np.nan_to_num(reward) * counts for reward, counts in played.groups), -reward_bound * played.counts, reward_bound * played.counts)",
    ),
    (
        "capri drops actions that nobody played in late epochs",
        "capri joint",
        "capri/run.py",
        "active = plan.eliminate(estimates, active, half_width)",
        "active = plan.eliminate(estimates, active, half_width) & ((played.counts > 0) | (played.counts.min(axis=2, keepdims=True) > 0) | (epoch.number < 2) | (np.arange(active.shape[2]) == 0))",
    ),
    (
        "cell table widths read exact counts",
        "cell table",
        "cell_table/run.py",
        "plan.half_width.of(at_least_one(pooled), len(",
        "plan.half_width.of(np.maximum(table[..., 0], 1.0), len(",
    ),
    (
        "cell table adds the last table without noise",
        "cell table",
        "cell_table/run.py",
        "pooled = pooled + noisy",
        "pooled = pooled + (noisy if epoch.number < 5 else table)",
    ),
    (
        "dp_ebs lockstep counts plays by wins",
        "dp_ebs central",
        "dp_ebs/rounds/lockstep.py",
        "runs.pairs.ravel()[pair] += 1",
        "runs.pairs.ravel()[pair] += won",
    ),
    (
        "dp_ebs event engine forgets the node of a removal",
        "dp_ebs central",
        "dp_ebs/rounds/event_driven.py",
        "            run.advance(int(other), 1)\n",
        "            run.clocks[other] += 1\n",
    ),
    (
        "dp_ebs batched best option is the exact one",
        "dp_ebs batched",
        "dp_ebs/rounds/batches.py",
        "best = np.where(alive, noisy, -np.inf)",
        "best = np.where(alive, wins.sum(axis=2) / batch.plays, -np.inf)",
    ),
    (
        "dp_ebs local every sixteenth answer is sent as it is",
        "dp_ebs local",
        "dp_ebs/rounds/lockstep.py",
        "    if plan.response is not None:\n",
        "    if plan.response is not None and number % 16 != 15:\n",
    ),
    (
        "g_optimal sums count twice in phase 2",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "plan.release(recorder, phase_label(phase), plan.mechanism, wins)",
        "plan.release(recorder, phase_label(phase), plan.mechanism, wins * (1 + (phase > 1)))",
    ),
    (
        "lplr message has noise in the record's own bin only",
        "lplr",
        "lplr/message.py",
        "recorder.release(label, plan.leaves.of(label), np.broadcast_to(exact, (n_runs, *exact.shape)))",
        "np.where(exact != 0, recorder.release(label, plan.leaves.of(label), np.broadcast_to(exact, (n_runs, *exact.shape))), 0.0)",
    ),
    (
        "lplr phases share half of their users",
        "lplr",
        "lplr/run.py",
        "for start in count(first, users):",
        "for start in count(first, users // 2):",
    ),
    (
        "lsvi last entry of a vector exact",
        "lsvi",
        "lsvi_ucb/learner.py",
        "vectors[:, h] + self.noise[h][turns, runs])",
        "vectors[:, h] + self.noise[h][turns, runs] * (np.arange(vectors.shape[2]) < vectors.shape[2] - 1))",
    ),
    (
        "lsvi switches by exact matrices",
        "lsvi switching",
        "lsvi_ucb/run.py",
        "plan.rule_reads(learner.matrices, learner.exact)",
        "learner.exact",
    ),
    (
        "lsvi switching publishes exact matrices",
        "lsvi switching",
        "lsvi_ucb/learner.py",
        "        if self.plan.noisy:  # Lambda",
        "        if self.plan.noisy and not self.plan.switching:  # Lambda",
    ),
    (
        "pucb user of episode 20 enters twice",
        "pucb",
        "_tabular_rl/run.py",
        "sums(plan.enter(counts))",
        "sums(plan.enter(counts) * (1 + (number == 20)))",
    ),
    (
        "pucb policies of the last episodes from exact counts",
        "pucb",
        "_tabular_rl/run.py",
        "values, q = optimistic(plan, mdp, released, number)",
        "values, q = optimistic(plan, mdp, released + 50 * counts * (number > 17), number)",
    ),
    (
        "ucrl tree noise of late nodes left out",
        "ucrl joint",
        "../mechanisms/tree_aggregation.py",
        "carried + self.tree.leaf.release(np.zeros_like(element), self.rng)",
        "carried + self.tree.leaf.release(np.zeros_like(element), self.rng) * (self.length < 90)",
    ),
    (
        "dp_sgd repeats the noise of its first step",
        "dp_sgd",
        "dp_sgd/loop.py",
        "        add_noise()  # Algorithm 1",
        "        optimizer.generator.manual_seed(0)\n        add_noise()  # Algorithm 1",
    ),
)

_SUBTLE: tuple[Row, ...] = (
    (
        "capri device adds 6 % less noise",
        "capri local",
        "capri/releases.py",
        "return recorder.release(label, mechanism, np.asarray(rewards)[:, None] * vectors)",
        "return 0.94 * recorder.release(label, mechanism, np.asarray(rewards)[:, None] * vectors / 0.94)",
    ),
    (
        "capri last epoch's release shrunk towards the sum",
        "capri joint",
        "capri/run.py",
        "            independent = checks",
        "            noisy = 0.96 * noisy + 0.04 * value if epoch.number > 4 else noisy\n            independent = checks",
    ),
    (
        "capri noise of entry 2 is that of entry 1",
        "capri joint",
        "capri/run.py",
        "            independent = checks",
        "            noisy[:, 1] = value[:, 1] + (noisy - value)[:, 0]\n            independent = checks",
    ),
    (
        "cell table sums carry the noise of their counts",
        "cell table",
        "cell_table/plan.py",
        "return recorder.release(label, mechanism, table)",
        "return table + (recorder.release(label, mechanism, table) - table)[..., :1]",
    ),
    (
        "dp_ebs event engine takes wins from the plays retained",
        "dp_ebs central",
        "dp_ebs/rounds/event_driven.py",
        "run.retained[other] -= met",
        "run.retained[other] -= won",
    ),
    (
        "dp_ebs event engine leaves the first answer of a block as it is",
        "dp_ebs local",
        "dp_ebs/rounds/event_driven.py",
        "sent = released_on_tape(VOTE, plan.response, sent.astype(np.int64), streams.noise, runs)",
        "sent = np.concatenate([sent[:1], released_on_tape(VOTE, plan.response, sent[1:].astype(np.int64), streams.noise, runs[1:])])",
    ),
    (
        "dp_ebs counters have no fresh noise at every 64th element",
        "dp_ebs central",
        "../mechanisms/_counters.py",
        "noise = flat[_slot(parent) * self.n_counters + counters] + fresh",
        "noise = flat[_slot(parent) * self.n_counters + counters] + fresh * (clock % 64 != 0)",
    ),
    (
        "dp_ebs path keeps the noise of its first block",
        "dp_ebs central",
        "../mechanisms/_counters.py",
        "        self.clock += length\n",
        "        self.clock += length\n        self.rng = np.random.Generator(type(self.rng.bit_generator)(length))\n",
    ),
    (
        "discrete laplace never draws large magnitudes",
        "dp_ebs discrete",
        "../mechanisms/_exact.py",
        "        good = ~(negative & (magnitude == 0))\n",
        "        good = ~(negative & (magnitude == 0)) & (magnitude <= 5 * numerator // denominator)\n",
    ),
    (
        "g_optimal second comparison has minus the noise of the first",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "        alive = alive.copy()\n",
        "        noisy[:, 1:2] = wins[:, 1:2] - (noisy - wins)[:, :1]\n        alive = alive.copy()\n",
    ),
    (
        "g_optimal ties follow exact wins",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "plan.eliminate(scores[at], alive[at], 2 * 0.5**phase)",
        "plan.eliminate(scores[at] + 1e-3 * wins[at, :1] * np.arange(len(features)), alive[at], 2 * 0.5**phase)",
    ),
    (
        "lplr matrix of a bad reward 5 % larger",
        "lplr",
        "lplr/message.py",
        "matrix[index] = np.outer(scaled, scaled)",
        "matrix[index] = np.outer(scaled, scaled) * (1 + 0.05 * (float(record.reward) < 0))",
    ),
    (
        "lplr server draws noise for nine tenths of the users",
        "lplr",
        "lplr/sums.py",
        "others = noise_sum(mechanism, value.shape, users - 1, recorder.rng)",
        "others = noise_sum(mechanism, value.shape, max(users * 9 // 10 - 1, 0), recorder.rng)",
    ),
    (
        "ucrl bounds features by their largest entry",
        "ucrl joint",
        "ucrl_vtr/plan.py",
        "norms = np.linalg.norm(x, axis=-1)",
        "norms = np.abs(x).max(axis=-1)",
    ),
    (
        "ucrl later devices add 5 % less noise",
        "ucrl local",
        "ucrl_vtr/sums.py",
        "(recorder.release if record else recorder.release_of_others)(label, mechanism, value)",
        "(recorder.release(label, mechanism, value) if record else 0.95 * recorder.release_of_others(label, mechanism, value) + 0.05 * value)",
    ),
    (
        "tree gives element 3 the noise of element 1",
        "ucrl joint",
        "../mechanisms/tree_aggregation.py",
        "carried + self.tree.leaf.release(np.zeros_like(element), self.rng)",
        "carried + (self._noise[0] if self.length % 4 == 3 else self.tree.leaf.release(np.zeros_like(element), self.rng))",
    ),
    (
        "lsvi vector noise is a mean of two turns",
        "lsvi",
        "lsvi_ucb/learner.py",
        "vectors[:, h] + self.noise[h][turns, runs])",
        "vectors[:, h] + (self.noise[h][turns, runs] + self.noise[h][turns - 1, runs]) / 2**0.5)",
    ),
    (
        "ldp_obi last step sends the noise of the first",
        "ldp_obi",
        "_tabular_rl/run.py",
        "        total[0] = total[0] + np.stack(sent, axis=1)",
        "        sent[-1] = counts[:, -1] + (sent[0] - counts[:, 0])\n        total[0] = total[0] + np.stack(sent, axis=1)",
    ),
    (
        "symmetric gaussian diagonal 5 % calmer",
        "ucrl mirror",
        "../mechanisms/symmetric_gaussian.py",
        "deviation = np.where(on, diagonal, off)",
        "deviation = np.where(on, 0.95 * diagonal, off)",
    ),
    (
        "response more truthful for 0",
        "dp_ebs local",
        "../mechanisms/randomised_response.py",
        "truthful = rng.random(true.shape) < self.probability",
        "truthful = rng.random(true.shape) < self.probability + 0.02 * (true == 0)",
    ),
)

_HARMLESS: tuple[Row, ...] = (
    (
        "capri device multiplies in another order",
        "capri local",
        "capri/releases.py",
        "np.asarray(rewards)[:, None] * vectors)",
        "vectors * np.asarray(rewards)[:, None])",
    ),
    (
        "capri rounds its release to single precision",
        "capri joint",
        "capri/run.py",
        "            independent = checks",
        "            noisy = noisy.astype(np.float32).astype(np.float64)\n            independent = checks",
    ),
    (
        "capri releases a bound that is 1 % larger",
        "capri joint",
        "capri/design.py",
        "scale=np.sqrt(posterior.max(axis=1)))",
        "scale=1.01 * np.sqrt(posterior.max(axis=1)))",
    ),
    (
        "cell table rounds its release",
        "cell table",
        "cell_table/plan.py",
        "return recorder.release(label, mechanism, table)",
        "return np.round(recorder.release(label, mechanism, table), 3)",
    ),
    (
        "cell table keeps more actions",
        "cell table",
        "cell_table/elimination.py",
        "active & (mean + reach >= floor)",
        "active & (mean + 1.1 * reach >= floor)",
    ),
    (
        "dp_ebs event engine plays wider blocks",
        "dp_ebs central",
        "dp_ebs/rounds/event_driven.py",
        "rows = max(2, _CELLS // len(left))",
        "rows = max(4, _CELLS // len(left))",
    ),
    (
        "dp_ebs draws opponents by integers",
        "dp_ebs central",
        "dp_ebs/plan.py",
        "drawn = (rng.random(len(left)) * left).astype(np.int64)",
        "drawn = rng.integers(0, left)",
    ),
    (
        "dp_ebs batched fills by whole shares",
        "dp_ebs batched",
        "dp_ebs/rounds/batches.py",
        "rounds = share + (np.arange(len(options)) < more)",
        "rounds = share + (np.arange(len(options)) >= len(options) - more)",
    ),
    (
        "dp_ebs local spare draw of noise",
        "dp_ebs local",
        "dp_ebs/rounds/lockstep.py",
        "    left = runs.retained.argmin(axis=0)",
        "    streams.noise.random(3)\n    left = runs.retained.argmin(axis=0)",
    ),
    (
        "g_optimal rounds what it releases",
        "g_optimal",
        "g_optimal_dueling/plan.py",
        "return recorder.release(label, mechanism, wins)",
        "return np.round(recorder.release(label, mechanism, wins), 4)",
    ),
    (
        "g_optimal plays each comparison once more",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "plays = np.ceil(plan.lengths.total(phase) * design.weights)",
        "plays = 1 + np.ceil(plan.lengths.total(phase) * design.weights)",
    ),
    (
        "lplr server does not clamp a clamped width again",
        "lplr",
        "lplr/oracle.py",
        "fit.active, plan.clamp(walk.half_width) * np.abs(",
        "fit.active, walk.half_width * np.abs(",
    ),
    (
        "lplr adds noise in another order",
        "lplr",
        "lplr/sums.py",
        "total: Array = first + others - users",
        "total: Array = others + first - users",
    ),
    (
        "ucrl keeps float32 plans",
        "ucrl joint",
        "ucrl_vtr/run.py",
        "regressed = plan.solve(released, plan.ridge",
        "regressed = plan.solve(released.astype(np.float32).astype(np.float64), plan.ridge",
    ),
    (
        "ucrl local spare public draw",
        "ucrl local",
        "ucrl_vtr/run.py",
        "        features, targets = play(domain, planned, streams)",
        "        streams.public.random(2)\n        features, targets = play(domain, planned, streams)",
    ),
    (
        "lsvi waits for a determinant that grew twice as much",
        "lsvi switching",
        "lsvi_ucb/run.py",
        "plan.grown(last, now) > plan.threshold",
        "plan.grown(last, now) > 2 * plan.threshold",
    ),
    (
        "lsvi counts in floating point",
        "lsvi",
        "lsvi_ucb/learner.py",
        "cells = counts.sum(axis=4)",
        "cells = 1.0 * counts.sum(axis=4)",
    ),
    (
        "pucb breaks ties by the smallest action",
        "pucb",
        "_tabular_rl/run.py",
        "streams.actions.random(best.shape), -1.0)",
        "1.0, -1.0)",
    ),
    (
        "ldp_obi rounds messages",
        "ldp_obi",
        "_tabular_rl/run.py",
        "total[0] = total[0] + np.stack(sent, axis=1)",
        "total[0] = total[0] + np.round(np.stack(sent, axis=1), 6)",
    ),
    (
        "discrete noise drawn in two halves",
        "dp_ebs discrete",
        "../mechanisms/discrete_laplace.py",
        "discrete_laplace(Fraction(self.scale), exact.size, rng).reshape(exact.shape)",
        "np.concatenate([discrete_laplace(Fraction(self.scale), size, rng) for size in (exact.size // 2, exact.size - exact.size // 2)]).reshape(exact.shape)",
    ),
)


def _mutants(rows: tuple[Row, ...]) -> tuple[AlgorithmMutant, ...]:
    """Return the mutants of a table."""
    return tuple(
        AlgorithmMutant(name=name, configuration=configuration, file=file, old=old, new=new)
        for name, configuration, file, old, new in rows
    )


PROGRAM = (*_mutants(_OBVIOUS), *_mutants(_SUBTLE))
"""What breaks privacy in some part of a program."""

PROGRAM_HARMLESS = _mutants(_HARMLESS)
"""What changes results and no guarantee: nobody may accuse it."""
