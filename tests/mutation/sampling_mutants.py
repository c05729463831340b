"""Defects of samplers, and of what algorithms do with samples, that break privacy: one statement each.

Each row holds (name, configuration in `algorithm_inputs`, file below `algorithms/`, sound text, defective text). They were
written before anybody had tried the checks on them.
"""
# ruff: noqa: E501 - a table reads best with a row on a line

from tests.mutation.algorithm_mutants import AlgorithmMutant

_ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "gaussian 7 % less",
        "capri joint",
        "../mechanisms/gaussian.py",
        "exact + self.stddev * rng",
        "exact + 0.93 * self.stddev * rng",
    ),
    (
        "gaussian one draw a run",
        "capri joint",
        "../mechanisms/gaussian.py",
        "rng.standard_normal(exact.shape)",
        "rng.standard_normal(exact.shape[:1] + (1,) * (exact.ndim - 1))",
    ),
    (
        "gaussian calm in tails",
        "capri joint",
        "../mechanisms/gaussian.py",
        "rng.standard_normal(exact.shape)",
        "np.clip(rng.standard_normal(exact.shape), -3.2, 3.2)",
    ),
    (
        "gaussian absolute",
        "capri joint",
        "../mechanisms/gaussian.py",
        "rng.standard_normal(exact.shape)",
        "np.sqrt(rng.chisquare(1, exact.shape))",
    ),
    (
        "gaussian float16",
        "capri joint",
        "../mechanisms/gaussian.py",
        "rng.standard_normal(exact.shape)",
        "rng.standard_normal(exact.shape).astype(np.float16)",
    ),
    (
        "laplace rounded",
        "dp_ebs batched",
        "../mechanisms/_additive.py",
        "rng.laplace(0.0, scale, exact.shape)",
        "np.round(rng.laplace(0.0, scale, exact.shape), 4)",
    ),
    (
        "laplace one in 100 none",
        "dp_ebs batched",
        "../mechanisms/_additive.py",
        "rng.laplace(0.0, scale, exact.shape)",
        "rng.laplace(0.0, scale, exact.shape) * (rng.random(exact.shape) > 0.01)",
    ),
    (
        "laplace is normal",
        "dp_ebs batched",
        "../mechanisms/_additive.py",
        "rng.laplace(0.0, scale, exact.shape)",
        "rng.normal(0.0, 1.414 * scale, exact.shape)",
    ),
    (
        "laplace 5 % less",
        "pucb",
        "../mechanisms/_additive.py",
        "rng.laplace(0.0, scale, exact.shape)",
        "rng.laplace(0.0, 0.95 * scale, exact.shape)",
    ),
    (
        "laplace small for big answers",
        "dp_ebs batched",
        "../mechanisms/_additive.py",
        "rng.laplace(0.0, scale, exact.shape)",
        "rng.laplace(0.0, scale, exact.shape) * np.where(np.abs(exact) > 100, 0.5, 1.0)",
    ),
    (
        "response truer",
        "dp_ebs local",
        "../mechanisms/randomised_response.py",
        "rng.random(true.shape) < self.probability",
        "rng.random(true.shape) < self.probability + 0.02",
    ),
    (
        "response shared",
        "dp_ebs local",
        "../mechanisms/randomised_response.py",
        "truthful = rng.random(true.shape)",
        "truthful = rng.random()",
    ),
    (
        "joint vector half",
        "ucrl joint",
        "../mechanisms/joint_gaussian.py",
        "plain.release(vector, rng))",
        "(plain.release(vector, rng) + vector) / 2)",
    ),
    (
        "bank forgets parent",
        "dp_ebs central",
        "../mechanisms/_counters.py",
        "noise = flat[_slot(parent) * self.n_counters + counters] + fresh",
        "noise = fresh",
    ),
    (
        "bank noise of the counter before",
        "dp_ebs central",
        "../mechanisms/_counters.py",
        "fresh = self.leaf.release(np.zeros(clock.shape, dtype=np.int64), self.rng)",
        "fresh = np.broadcast_to(self.leaf.release(np.zeros(1, dtype=np.int64), self.rng), clock.shape)",
    ),
    (
        "tree counter reuses parent",
        "ucrl joint",
        "../mechanisms/tree_aggregation.py",
        "carried + self.tree.leaf.release(np.zeros_like(element), self.rng)",
        "carried if parent else self.tree.leaf.release(np.zeros_like(element), self.rng)",
    ),
    ("wishart one side", "lplr", "../mechanisms/symmetrised_wishart.py", "exact + first - second", "exact + first"),
    (
        "wishart same draw twice",
        "lplr",
        "../mechanisms/symmetrised_wishart.py",
        "exact + first - second",
        "exact + first - 0.5 * second",
    ),
    (
        "lsvi noise of first batch",
        "lsvi",
        "lsvi_ucb/learner.py",
        "self.noise[h][turns, runs]",
        "self.noise[h][0 * turns, runs]",
    ),
    ("lsvi noise of step 0", "lsvi", "lsvi_ucb/learner.py", "self.noise[h][turns, runs]", "self.noise[0][turns, runs]"),
    (
        "lsvi noise times 0.9",
        "lsvi",
        "lsvi_ucb/learner.py",
        "vectors[:, h] + self.noise[h][turns, runs])",
        "vectors[:, h] + 0.9 * self.noise[h][turns, runs])",
    ),
    (
        "g_optimal scaled",
        "g_optimal",
        "g_optimal_dueling/plan.py",
        "return recorder.release(label, mechanism, wins)",
        "return wins + 0.9 * (recorder.release(label, mechanism, wins) - wins)",
    ),
    (
        "g_optimal mean noise",
        "g_optimal",
        "g_optimal_dueling/plan.py",
        "return recorder.release(label, mechanism, wins)",
        "return (recorder.release(label, mechanism, wins) + recorder.release(label, mechanism, wins)) / 2",
    ),
    (
        "capri twice",
        "capri joint",
        "capri/releases.py",
        "    return recorder.release(label, mechanism, value)\n\n\ndef release_messages",
        "    return (recorder.release(label, mechanism, value) + recorder.release(label, mechanism, value)) / 2\n\n\ndef release_messages",
    ),
    (
        "capri tiny leak",
        "capri joint",
        "capri/releases.py",
        "    return recorder.release(label, mechanism, value)\n\n\ndef release_messages",
        "    return recorder.release(label, mechanism, value) + 1e-9 * value\n\n\ndef release_messages",
    ),
    (
        "lplr first half",
        "lplr",
        "lplr/sums.py",
        "first = recorder.release(label, mechanism, value)",
        "first = (recorder.release(label, mechanism, value) + value) / 2",
    ),
    (
        "dp_ebs batched averages",
        "dp_ebs batched",
        "dp_ebs/rounds/batches.py",
        "noisy = recorder.release(batch.label, mechanism, wins.sum(axis=2)) / batch.plays",
        "noisy = (recorder.release(batch.label, mechanism, wins.sum(axis=2)) + wins.sum(axis=2)) / 2 / batch.plays",
    ),
)

SAMPLING: tuple[AlgorithmMutant, ...] = tuple(
    AlgorithmMutant(name=name, configuration=configuration, file=file, old=old, new=new)
    for name, configuration, file, old, new in _ROWS
)
"""What breaks privacy in a sampler or right behind it."""
