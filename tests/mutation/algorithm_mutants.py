"""Defects of the shipped algorithms that break privacy, one statement each, and harmless changes beside them.

Each row holds (name, configuration in `algorithm_inputs`, file, sound text, defective text). Shapes and labels stay;
most defects show in a late epoch, on a hostile record, in one engine, or in one entry only.
"""
# ruff: noqa: E501 - a table reads best with a row on a line

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmMutant:
    """One planted defect: in `file`, `new` stands where `old` stood once."""

    name: str
    configuration: str
    file: str
    old: str
    new: str


_BREAKING: tuple[tuple[str, str, str, str, str], ...] = (
    # --- CAPRI ---
    (
        "capri clipping deleted",
        "capri joint",
        "capri/users.py",
        "bounded_reward(reward, reward_bound) * counts",
        "float(reward) * counts",
    ),
    (
        "capri clips to twice the bound",
        "capri joint",
        "capri/users.py",
        "np.clip(reward, -reward_bound, reward_bound)",
        "np.clip(reward, -2 * reward_bound, 2 * reward_bound)",
    ),
    (
        "capri clips one side only",
        "capri joint",
        "capri/users.py",
        "np.clip(reward, -reward_bound, reward_bound)",
        "np.minimum(reward, reward_bound)",
    ),
    (
        "capri eliminates by exact estimates",
        "capri joint",
        "capri/run.py",
        "factors.estimates(noisy)",
        "factors.estimates(value)",
    ),
    (
        "capri eliminates by exact estimates after epoch 1",
        "capri joint",
        "capri/run.py",
        "factors.estimates(noisy)",
        "factors.estimates(noisy if epoch.number == 1 else value)",
    ),
    (
        "capri sums run on over epochs",
        "capri joint",
        "capri/users.py",
        "self.contexts[epoch.start : epoch.stop], self.rewards[epoch.start : epoch.stop]",
        "self.contexts[: epoch.stop], self.rewards[: epoch.stop]",
    ),
    (
        "capri epochs share the boundary user",
        "capri joint",
        "capri/users.py",
        "self.contexts[epoch.start : epoch.stop], self.rewards[epoch.start : epoch.stop]",
        "self.contexts[max(epoch.start - 1, 0) : epoch.stop], self.rewards[max(epoch.start - 1, 0) : epoch.stop]",
    ),
    (
        "capri reuses one epoch's noise",
        "capri joint",
        "capri/releases.py",
        "    return recorder.release(label, mechanism, value)\n\n\ndef release_messages",
        "    recorder.release(label, mechanism, value)\n    return value + mechanism.release(np.zeros(value.shape), np.random.default_rng(7))\n\n\ndef release_messages",
    ),
    (
        "capri publishes the first entry exactly",
        "capri joint",
        "capri/run.py",
        "            independent = checks",
        "            noisy[:, 0] = value[:, 0]\n            independent = checks",
    ),
    (
        "capri publishes one entry exactly after epoch 1",
        "capri joint",
        "capri/run.py",
        "            independent = checks",
        "            if epoch.number > 1:\n                noisy[:, -1] = value[:, -1]\n            independent = checks",
    ),
    (
        "capri design drawn from the users",
        "capri joint",
        "capri/run.py",
        "design = plan.draw(law, epoch.length, streams.public)",
        "design = plan.draw(law + 0.05 * played.counts.reshape(law.shape) / epoch.length, epoch.length, streams.public)",
    ),
    (
        "capri scale is that of the data",
        "capri joint",
        "capri/run.py",
        'arrays["scale"].append(factors.scale)',
        'arrays["scale"].append(factors.scale * (1 + 1e-9 * np.abs(sums).sum(axis=1)))',
    ),
    (
        "capri half width reads the sum",
        "capri joint",
        "capri/run.py",
        "factors.scale * plan.stddev * math.sqrt(noises))",
        "factors.scale * plan.stddev * math.sqrt(noises) * (1 + 1e-6 * np.abs(sums).sum(axis=1)))",
    ),
    (
        "capri surviving set follows the data",
        "capri joint",
        "capri/run.py",
        "active = plan.eliminate(estimates, active, half_width)",
        "active = plan.eliminate(estimates + 1e-3 * sums, active, half_width)",
    ),
    (
        "capri last epoch sums the first user again",
        "capri joint",
        "capri/users.py",
        "        groups: list[tuple[float, Array]] = []",
        "        rewards = rewards + (np.arange(len(rewards)) == 0) * self.rewards[0] * (epoch.number > 2)\n        groups: list[tuple[float, Array]] = []",
    ),
    (
        "capri local adds noise once for all",
        "capri local",
        "capri/releases.py",
        "return root * recorder.release(label, mechanism, value / root)",
        "return recorder.release(label, mechanism, value)",
    ),
    (
        "capri not-a-number reward passes",
        "capri joint",
        "capri/users.py",
        "return 0.0 if np.isnan(reward) else float(",
        "return float(",
    ),
    # --- DP-EBS ---
    (
        "dp_ebs answers taken as sent",
        "dp_ebs central",
        "_dueling/voters.py",
        "(np.asarray(records, dtype=np.float64) > 0.5).astype(np.float64)",
        "np.asarray(records, dtype=np.float64)",
    ),
    (
        "dp_ebs batched answers taken as sent",
        "dp_ebs batched",
        "_dueling/voters.py",
        "np.cumsum(as_answers(self.answers))",
        "np.cumsum(self.answers)",
    ),
    (
        "dp_ebs batched borders overlap",
        "dp_ebs batched",
        "dp_ebs/batches.py",
        "voters.duel_wins(start.astype(np.int64), duels",
        "voters.duel_wins(np.maximum(start.astype(np.int64) - 1, 0), duels",
    ),
    (
        "dp_ebs batched sums run on",
        "dp_ebs batched",
        "dp_ebs/batches.py",
        "noisy = recorder.release(batch.label, mechanism, wins.sum(axis=2)) / batch.plays",
        "total = wins.sum(axis=2) if batch.number == 1 else total + wins.sum(axis=2)\n        noisy = recorder.release(batch.label, mechanism, total) / batch.plays",
    ),
    (
        "dp_ebs batched eliminates by exact wins",
        "dp_ebs batched",
        "dp_ebs/batches.py",
        "(noisy + batch.half_width < best - batch.half_width)",
        "(wins.sum(axis=2) / batch.plays + batch.half_width < best - batch.half_width)",
    ),
    (
        "dp_ebs batched credits both options",
        "dp_ebs batched",
        "dp_ebs/batches.py",
        "recorder.release(batch.label, mechanism, wins.sum(axis=2))",
        "recorder.release(batch.label, mechanism, wins.sum(axis=2) + (duels - wins).sum(axis=1))",
    ),
    (
        "dp_ebs batched throws the noise away in batch 2",
        "dp_ebs batched",
        "dp_ebs/batches.py",
        "        best = np.where(alive, noisy",
        "        noisy = noisy if batch.number != 2 else wins.sum(axis=2) / batch.plays\n        best = np.where(alive, noisy",
    ),
    (
        "dp_ebs batched one noise for all options",
        "dp_ebs batched",
        "dp_ebs/batches.py",
        "noisy = recorder.release(batch.label, mechanism, wins.sum(axis=2)) / batch.plays",
        "noisy = recorder.release(batch.label, mechanism, wins.sum(axis=2))\n        noisy = (wins.sum(axis=2) + (noisy - wins.sum(axis=2))[:, :1]) / batch.plays",
    ),
    (
        "dp_ebs batch length follows the wins",
        "dp_ebs batched",
        "dp_ebs/batches.py",
        "        spent += duels.sum(axis=(1, 2))",
        "        spent += duels.sum(axis=(1, 2)) + (wins.sum(axis=(1, 2)) % 2)",
    ),
    (
        "dp_ebs lockstep credits a win twice",
        "dp_ebs central",
        "dp_ebs/lockstep.py",
        "runs.credit(left[ticking], ticking, won[ticking])",
        "runs.credit(left[ticking], ticking, won[ticking] * 2)",
    ),
    (
        "dp_ebs lockstep takes back twice",
        "dp_ebs central",
        "dp_ebs/lockstep.py",
        'np.full(len(some), -1.0) if reading == "R1" else -won)',
        'np.full(len(some), -1.0) if reading == "R1" else -2 * won)',
    ),
    (
        "dp_ebs event engine adds no noise to removals",
        "dp_ebs central",
        "dp_ebs/event_driven.py",
        "output = float(run.shown(int(other), run.sums[other : other + 1])[0])",
        "output = float(run.shown(int(other), run.sums[other : other + 1])[0]) * 0 + run.sums[other]",
    ),
    (
        "dp_ebs event engine reads sums without noise",
        "dp_ebs central",
        "dp_ebs/event_driven.py",
        "mean = run.shown(int(arm), totals[span, column]) / retained",
        "mean = (totals[span, column] + 0.0 * run.shown(int(arm), totals[span, column])) / retained",
    ),
    (
        "dp_ebs event engine redraws each block",
        "dp_ebs central",
        "dp_ebs/event_driven.py",
        "            self.paths[arm].advance(length)",
        "            self.paths[arm].advance(0)",
    ),
    (
        "dp_ebs event engine shares one tree",
        "dp_ebs central",
        "dp_ebs/event_driven.py",
        "shown_ahead(self.plan, self.paths[arm], arm",
        "shown_ahead(self.plan, self.paths[0], arm",
    ),
    (
        "dp_ebs clock follows the answers",
        "dp_ebs central",
        "dp_ebs/lockstep.py",
        'ticking = np.flatnonzero(won > 0) if plan.reading == "R0" else every',
        "ticking = np.flatnonzero(won > 0) if number == 1 else every",
    ),
    (
        "dp_ebs retained counts follow the answers",
        "dp_ebs central",
        "dp_ebs/lockstep.py",
        "runs.retained.ravel()[left * len(every) + every] += 1",
        "runs.retained.ravel()[left * len(every) + every] += np.where(number % 3 == 2, won, 1)",
    ),
    (
        "dp_ebs bank scales noise in small runs",
        "dp_ebs central",
        "dp_ebs/plan.py",
        "    bank: Counters = plan.tree.bank(n_counters, rng)",
        "    bank: Counters = plan.tree.scaled(1.0 if n_counters > 64 else 0.5).bank(n_counters, rng)",
    ),
    (
        "dp_ebs local answer sent as it is to the sums",
        "dp_ebs local",
        "dp_ebs/lockstep.py",
        "    won = debiased(plan, sent)  # Remark 3",
        "    won = debiased(plan, sent) if number % 2 else debiased(plan, voters.votes(number, left, right, streams.environment))  # Remark 3",
    ),
    (
        "dp_ebs event engine local answer is exact",
        "dp_ebs local",
        "dp_ebs/event_driven.py",
        "        sent = released_on_tape(",
        "        released_on_tape(",
    ),
    # --- G-optimal ---
    (
        "g_optimal phases share a person",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "won = voters.wins(self.start, self.first",
        "won = voters.wins(max(self.start - 1, 0), self.first",
    ),
    (
        "g_optimal decides by exact wins",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "noisy[at, : cell.groups], plan.radius",
        "wins[at, : cell.groups], plan.radius",
    ),
    (
        "g_optimal decides by exact wins after phase 1",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "noisy[at, : cell.groups], plan.radius",
        "(noisy if phase == 1 else wins)[at, : cell.groups], plan.radius",
    ),
    (
        "g_optimal keeps the first person for ever",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "start = int(spent[at[0]])",
        "start = 0",
    ),
    (
        "g_optimal releases wins twice",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "        alive = alive.copy()\n",
        "        noisy = (noisy + plan.release(recorder, phase_label(phase), plan.mechanism, wins)) / 2\n        alive = alive.copy()\n",
    ),
    (
        "g_optimal number of phases follows the wins",
        "g_optimal",
        "g_optimal_dueling/phases.py",
        "spent[at] += int(cell.plays.sum())",
        "spent[at] += int(cell.plays.sum()) + (wins[at].sum(axis=1) % 2).astype(np.int64)",
    ),
    (
        "g_optimal one noise for all runs",
        "g_optimal",
        "g_optimal_dueling/plan.py",
        "return recorder.release(label, mechanism, wins)",
        "return wins + (recorder.release(label, mechanism, wins) - wins)[:1]",
    ),
    # --- LPLR ---
    (
        "lplr one person answers in every phase",
        "lplr",
        "lplr/run.py",
        "phases = answers_of(problem, active, users, streams, outcomes, arrived)",
        "phases = __import__('itertools').repeat(next(answers_of(problem, active, users, streams, outcomes, arrived)))",
    ),
    (
        "lplr deep residual unclipped",
        "lplr",
        "lplr/oracle.py",
        "explained = explained + (shown - positive) * plan.residual(-reward, walk.prediction)",
        "explained = explained + (shown - positive) * (-reward - walk.prediction)",
    ),
    (
        "lplr device passes infinite rewards",
        "lplr",
        "lplr/message.py",
        "if record.action != target.action or not np.isfinite(record.reward):",
        "if record.action != target.action:",
    ),
    (
        "lplr device clips rewards to two",
        "lplr",
        "lplr/device_steps.py",
        "np.clip(reward, -1, 1) - np.clip(prediction, -1, 1)",
        "np.clip(reward, -2, 2) - np.clip(prediction, -1, 1)",
    ),
    (
        "lplr confidence entry not clamped",
        "lplr",
        "lplr/message.py",
        "width[index] = float(plan.clamp(np.asarray(target.half_width))) * along",
        "width[index] = float(np.asarray(target.half_width)) * along",
    ),
    (
        "lplr server forgets the first user's noise",
        "lplr",
        "lplr/sums.py",
        "total: Array = first + others - users",
        "total: Array = value + (first - value) * (users < 2) - users",
    ),
    (
        "lplr active sets read exact sums",
        "lplr",
        "lplr/oracle.py",
        "return principal_component(plan, walk, bins, layer, users, *(bins.shared(values) for values in noisy))",
        "return principal_component(plan, walk, bins, layer, users, *(bins.shared(values) for values in (noisy[0], vector, noisy[2])))",
    ),
    (
        "lplr residual divided by the wrong bound",
        "lplr",
        "lplr/message.py",
        "float(residual) / plan.bound(len(target.indices)) * scaled",
        "float(residual) / plan.bound(1) * scaled",
    ),
    # --- UCRL-VTR ---
    (
        "ucrl clipping of features deleted",
        "ucrl joint",
        "ucrl_vtr/plan.py",
        "    x = x * np.minimum(1.0, x_bounds / np.maximum(norms, x_bounds))[..., None]\n",
        "",
    ),
    (
        "ucrl clipping of targets deleted",
        "ucrl joint",
        "ucrl_vtr/plan.py",
        "return products(x, np.clip(y, 0.0, y_bounds))",
        "return products(x, y)",
    ),
    (
        "ucrl not-a-number features pass",
        "ucrl joint",
        "ucrl_vtr/plan.py",
        "np.nan_to_num(features, posinf=0.0, neginf=0.0)",
        "np.asarray(features)",
    ),
    (
        "ucrl plans from exact sums",
        "ucrl joint",
        "ucrl_vtr/run.py",
        "regressed = plan.solve(released, plan.ridge",
        "exact = exact + contribution if number > 1 else released\n            regressed = plan.solve(exact, plan.ridge",
    ),
    (
        "ucrl lower triangle exact",
        "ucrl joint",
        "ucrl_vtr/run.py",
        "        yield Episode(number=number",
        "        released[..., 1, 0] = (total := contribution[..., 1, 0] if number == 1 else total + contribution[..., 1, 0])\n        yield Episode(number=number",
    ),
    (
        "ucrl user enters two episodes",
        "ucrl joint",
        "ucrl_vtr/run.py",
        "canary is not None and number == canary.episode:",
        "canary is not None and number in (canary.episode, canary.episode + 8):",
    ),
    (
        "ucrl tree noise without the fresh node",
        "ucrl joint",
        "_traced_tree.py",
        "released: Array = self._counter.step(element)",
        "released: Array = self._counter.step(element) if self._counter.length % 8 != 6 else (self._counter.step(element), self._sum + element)[1]",
    ),
    (
        "ucrl local later users send without noise",
        "ucrl local",
        "ucrl_vtr/sums.py",
        "self._sum = self._sum + message",
        "self._sum = self._sum + (message if self._sum is message or np.ndim(self._sum) == 0 else contribution)",
    ),
    (
        "ucrl local later users add half of the first message",
        "ucrl local",
        "ucrl_vtr/sums.py",
        "self._sum = self._sum + message",
        "self._sum = self._sum + (message if message is self.first else contribution + self.first / 2)",
    ),
    # --- LSVI-UCB ---
    ("lsvi canary enters every batch", "lsvi", "lsvi_ucb/learner.py", "        self.entered = True\n", ""),
    (
        "lsvi target unclipped",
        "lsvi",
        "lsvi_ucb/learner.py",
        "y = np.clip(np.nan_to_num(self.canary.targets[turns, h]), 0.0, plan.bounds[h])",
        "y = self.canary.targets[turns, h]",
    ),
    (
        "lsvi features unclipped",
        "lsvi",
        "lsvi_ucb/learner.py",
        "return finite / max(float(np.linalg.norm(finite)), 1.0)",
        "return finite",
    ),
    (
        "lsvi vector noise of the first batch for all",
        "lsvi",
        "lsvi_ucb/learner.py",
        "vectors[:, h] + self.noise[h][turns, runs]",
        "vectors[:, h] + self.noise[h][0 * turns, runs]",
    ),
    (
        "lsvi vector noise left out after the first batch",
        "lsvi",
        "lsvi_ucb/learner.py",
        "vectors[:, h] + self.noise[h][turns, runs]",
        "vectors[:, h] + self.noise[h][turns, runs] * (turns == 0)[:, None]",
    ),
    (
        "lsvi plans with exact vectors",
        "lsvi",
        "lsvi_ucb/learner.py",
        "            return vectors[:, h]\n",
        "            return others[:, h]\n",
    ),
    (
        "lsvi matrices exact after the first batch",
        "lsvi",
        "lsvi_ucb/learner.py",
        "        if self.plan.noisy:  # Lambda",
        "        if self.plan.noisy and not np.any(self.own_matrices - element):  # Lambda",
    ),
    (
        "lsvi noise shared by all steps",
        "lsvi",
        "lsvi_ucb/learner.py",
        "vectors[:, h] + self.noise[h][turns, runs]",
        "vectors[:, h] + self.noise[0][turns, runs]",
    ),
    (
        "lsvi inverses from exact matrices",
        "lsvi",
        "lsvi_ucb/learner.py",
        "inverses = inverses_of(self.matrices[runs]",
        "inverses = inverses_of(self.exact[runs]",
    ),
    (
        "lsvi not-a-number features pass",
        "lsvi",
        "lsvi_ucb/learner.py",
        "finite: Array = np.nan_to_num(features, posinf=0.0, neginf=0.0)",
        "finite: Array = np.asarray(features)",
    ),
    # --- tabular ---
    (
        "pucb policies from exact counts",
        "pucb",
        "_tabular_rl/run.py",
        "values, q = optimistic(plan, mdp, released, number)",
        "values, q = optimistic(plan, mdp, released + counts, number)",
    ),
    (
        "pucb user adds two",
        "pucb",
        "_tabular_rl/run.py",
        "counts[runs, h, state, chosen, after] = 1.0",
        "counts[runs, h, state, chosen, after] = 1.0 + (number == 2)",
    ),
    (
        "pucb one tree for all steps",
        "pucb",
        "_tabular_rl/run.py",
        "return np.stack([tree(counts[:, h]) for h, tree in enumerate(trees)], axis=1)",
        "first = trees[0](counts[:, 0]) - counts[:, 0]\n        return np.stack([first + counts[:, h] for h in range(len(trees))], axis=1)",
    ),
    (
        "ldp_obi later users send without noise",
        "ldp_obi",
        "_tabular_rl/run.py",
        "else recorder.release_of_others(label, plan.mechanism, counts[:, h])",
        "else counts[:, h]",
    ),
    (
        "ldp_obi later users halve the noise",
        "ldp_obi",
        "_tabular_rl/run.py",
        "else recorder.release_of_others(label, plan.mechanism, counts[:, h])",
        "else recorder.release_of_others(label, plan.mechanism.scaled(0.5), counts[:, h])",
    ),
    (
        "ldp_obi later users reuse one draw",
        "ldp_obi",
        "_tabular_rl/run.py",
        "else recorder.release_of_others(label, plan.mechanism, counts[:, h])",
        "else counts[:, h] + plan.mechanism.release(np.zeros(counts[:, h].shape), np.random.default_rng(h))",
    ),
)

_HARMLESS: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "ucrl targets clipped to both signs",
        "ucrl joint",
        "ucrl_vtr/plan.py",
        "np.clip(y, 0.0, y_bounds)",
        "np.clip(y, -y_bounds, y_bounds)",
    ),
    (
        "lplr device forgets to shorten after the directions",
        "lplr",
        "lplr/message.py",
        "return plan.normalise(left * plan.resolution.gamma ** target.indices[-1]), prediction",
        "return left * plan.resolution.gamma ** target.indices[-1], prediction",
    ),
    (
        "lplr device does not shorten the record",
        "lplr",
        "lplr/message.py",
        "left = plan.normalise(np.asarray(record.features, dtype=np.float64))",
        "left = np.asarray(record.features, dtype=np.float64)",
    ),
    (
        "capri releases a cut epoch",
        "capri joint",
        "capri/plan.py",
        'return epoch.complete or self.model == "local"',
        "return epoch.complete or self.model == 'local' or epoch.length > 3",
    ),
    (
        "capri order of groups",
        "capri joint",
        "capri/users.py",
        "for reward in np.unique(rewards):",
        "for reward in np.unique(rewards)[::-1]:",
    ),
    (
        "capri sum in another order",
        "capri joint",
        "capri/run.py",
        "value = factors.apply(sums) / unit[:, None]",
        "value = factors.apply(sums / unit[:, None])",
    ),
    ("capri wider survival", "capri joint", "capri/elimination.py", "- 4 * half_width", "- 5 * half_width"),
    (
        "capri clips tighter",
        "capri joint",
        "capri/users.py",
        "np.clip(reward, -reward_bound, reward_bound)",
        "np.clip(reward, -0.9 * reward_bound, 0.9 * reward_bound)",
    ),
    (
        "capri spare public draw",
        "capri joint",
        "capri/run.py",
        "        flat = active.reshape(n_runs, -1)",
        "        streams.public.random(3)\n        flat = active.reshape(n_runs, -1)",
    ),
    (
        "capri local float32 features kept",
        "capri local",
        "capri/releases.py",
        "root * recorder.release(label, mechanism, value / root)",
        "recorder.release(label, mechanism, value / root) * root",
    ),
    (
        "dp_ebs batched wider",
        "dp_ebs batched",
        "dp_ebs/batches.py",
        "(noisy + batch.half_width < best - batch.half_width)",
        "(noisy + 2 * batch.half_width < best - batch.half_width)",
    ),
    (
        "dp_ebs lockstep keeps runs longer",
        "dp_ebs central",
        "dp_ebs/lockstep.py",
        "_IDLE_SHARE = 0.1",
        "_IDLE_SHARE = 0.2",
    ),
    ("dp_ebs smaller blocks", "dp_ebs central", "dp_ebs/event_driven.py", "_CELLS = 4096", "_CELLS = 2048"),
    (
        "dp_ebs local spare action draw",
        "dp_ebs local",
        "dp_ebs/lockstep.py",
        "    right = plan.opponents(",
        "    streams.actions.random(2)\n    right = plan.opponents(",
    ),
    (
        "g_optimal strict margin",
        "g_optimal",
        "g_optimal_dueling/plan.py",
        "(scores > best - margin)",
        "(scores >= best - 1.01 * margin)",
    ),
    (
        "lplr tighter survivors",
        "lplr",
        "lplr/run.py",
        "(value + half_width >= floor)",
        "(value + 0.9 * half_width >= floor)",
    ),
    (
        "lplr order of clipping",
        "lplr",
        "lplr/device_steps.py",
        "np.clip(reward, -1, 1) - np.clip(prediction, -1, 1)",
        "-(np.clip(prediction, -1, 1) - np.clip(reward, -1, 1))",
    ),
    (
        "ucrl order of a product",
        "ucrl joint",
        "ucrl_vtr/plan.py",
        "features[..., :, None] * columns[..., None, :]",
        "columns[..., None, :] * features[..., :, None]",
    ),
    (
        "ucrl local sum order",
        "ucrl local",
        "ucrl_vtr/sums.py",
        "self._sum = self._sum + message",
        "self._sum = message + self._sum",
    ),
    (
        "lsvi tighter targets",
        "lsvi",
        "lsvi_ucb/learner.py",
        "clipped = np.clip(targets, 0.0, plan.bounds[h])",
        "clipped = np.clip(targets, 0.0, 0.9 * plan.bounds[h])",
    ),
    (
        "pucb smaller bonus",
        "pucb",
        "_tabular_rl/run.py",
        "bonus = plan.bonus_scale * (",
        "bonus = 0.9 * plan.bonus_scale * (",
    ),
    (
        "ldp_obi messages in another order",
        "ldp_obi",
        "_tabular_rl/run.py",
        "total[0] = total[0] + np.stack(sent, axis=1)",
        "total[0] = np.stack(sent, axis=1) + total[0]",
    ),
)


def _mutants(rows: tuple[tuple[str, str, str, str, str], ...]) -> tuple[AlgorithmMutant, ...]:
    """Return the mutants of a table."""
    return tuple(
        AlgorithmMutant(name=name, configuration=configuration, file=file, old=old, new=new)
        for name, configuration, file, old, new in rows
    )


BREAKING = _mutants(_BREAKING)
"""What breaks privacy."""

HARMLESS = _mutants(_HARMLESS)
"""What changes results and no guarantee: nobody may accuse it."""
