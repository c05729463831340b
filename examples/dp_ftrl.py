"""DP-FTRL: a private classifier of a survey answer, trained on batches in a fixed public order.

No sampling is claimed, so that no sampler has to be trusted. Every gradient sum goes through a strategy matrix before
noise is added; the weights follow the noisy prefix sums. A respondent is in one batch an epoch, at the same place in
each, and the neighbouring data set has zeros in the respondent's place.

The script certifies the mechanism that it trains with, trains, and attacks one respondent whose answers nobody shares.
Source: Kairouz et al. (2021), Algorithm 1; Denisov et al. (2022) for adaptive streams through a matrix.
"""

from dataclasses import dataclass

import numpy as np

from algorithms.problems.affairs import Classification, affairs
from audits import Settings, audit
from dpaudit import AuditCase, AuditResult, Certificate, Claim, Release, certify
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian, Matrix

CLAIM = Claim(epsilon=1.0, delta=1e-6, neighbours="zero_out", unit="one respondent's answers")
BATCHES, EPOCHS, CLIP, RATE, PLACE = 256, 2, 0.5, 0.5, 0
RARE = 3.0  # the answer that only the attacked respondent gives, in a column of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Many runs side by side: noisy `rows` (runs, columns, steps), `weights` (runs, columns) after the last step, and
    `answers` (runs, steps), the gradient along the rare column that the attacked respondent has at the weights shown.
    """

    rows: Array
    weights: Array
    answers: Array


def calibrated(strategy: str) -> Matrix:
    """Return the matrix with the least noise that meets the claim: "square_root", or fresh noise on every gradient."""
    leaf = Gaussian(stddev=1.0, l2_sensitivity=CLIP, neighbours=CLAIM.neighbours)
    steps = BATCHES * EPOCHS
    if strategy == "square_root":
        return Matrix.calibrated(
            CLAIM, strategy="square_root", horizon=steps, leaf=leaf, participations=EPOCHS, separation=BATCHES
        )
    return Matrix.calibrated(
        CLAIM, strategy="toeplitz", entries=(1.0,), horizon=steps, leaf=leaf, participations=EPOCHS, separation=BATCHES
    )


def proved(matrix: Matrix) -> Certificate:
    """Return the certificate of what training publishes: all noisy rows, and everything computed from them."""
    return certify(Release(label="gradient sums", mechanism=matrix), CLAIM)


def train(matrix: Matrix, problem: Classification, *, rare: bool, rng: np.random.Generator, n_runs: int) -> Trained:
    """Return runs of a logistic classifier; with `rare`, the attacked respondent is in the data, else zeros are."""
    features = np.column_stack([problem.features, np.ones(len(problem.labels)), np.zeros(len(problem.labels))])
    columns, steps = features.shape[1], BATCHES * EPOCHS
    order = np.random.default_rng(0).permutation(len(features))  # public, and drawn without data: the file is sorted
    batches = np.array_split(order, BATCHES)
    noise = matrix.release(np.zeros((n_runs, columns, steps)), rng)
    late = matrix.prefix_sums(noise)
    gradients, answers = np.zeros((n_runs, columns, steps)), np.zeros((n_runs, steps))
    weights, total = np.zeros((n_runs, columns)), np.zeros((n_runs, columns))
    for step in range(steps):
        batch = batches[step % BATCHES]
        gradients[:, :, step] = clipped_sums(features[batch], problem.labels[batch], weights)
        if step % BATCHES == PLACE:
            attacked = np.eye(columns)[-1:] * RARE
            answers[:, step] = clipped_sums(attacked, np.array([1]), weights)[:, -1]
            gradients[:, -1, step] += answers[:, step] if rare else 0.0
        total += gradients[:, :, step]
        weights = -RATE * BATCHES / len(features) * (total + late[:, :, step])
    return Trained(rows=matrix.rows(gradients) + noise, weights=weights, answers=answers)


def clipped_sums(features: Array, labels: Array, weights: Array) -> Array:
    """Return the sum of logistic gradients, each clipped to a norm of CLIP. Shape: (runs, columns)."""
    errors = 1 / (1 + np.exp(-weights @ features.T)) - labels
    norms = np.abs(errors) * np.linalg.norm(features, axis=1)
    summed: Array = (errors * np.minimum(1.0, CLIP / np.maximum(norms, CLIP))) @ features
    return summed


def attacked(matrix: Matrix, problem: Classification, noise: float = 1.0) -> AuditCase:
    """Return the attack on the rare respondent, with a factor of the declared noise in the code that it attacks.

    The adversary sees every noisy row, and so every weight, and computes what the respondent would have added at it:
    the score is the exact likelihood ratio given the past.
    """
    used = matrix.scaled(noise)

    def run(data: bool, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:  # noqa: FBT001 - a data set
        done = train(used, problem, rare=data, rng=rng, n_runs=n_runs)
        return {"rows": done.rows[:, -1], "answers": done.answers}

    def log_ratio(view: dict[str, Array]) -> Array:
        zeros = np.zeros_like(view["answers"])
        ratio: Array = matrix.log_density(view["rows"], view["answers"]) - matrix.log_density(view["rows"], zeros)
        return ratio

    return AuditCase(
        name="DP-FTRL, a respondent with an answer of their own",
        view="noisy rows",
        description="All noisy rows along a column that one respondent alone has; the respondent is there or zeroed.",
        neighbours=(False, True),
        relation=CLAIM.neighbours,
        run=run,
        score=log_ratio,
        gaussian=True,
    )


def audited(matrix: Matrix, problem: Classification, *, runs: int, seed: int, noise: float = 1.0) -> AuditResult:
    """Return what the attack shows against the claim and the certificate."""
    certified = proved(matrix).tight.epsilon.upper
    rng = np.random.default_rng(seed)
    return audit(
        attacked(matrix, problem, noise),
        claim=CLAIM,
        runs=runs,
        rng=rng,
        how=Settings(certified=certified, control_runs=0, chunk_runs=1000),
    )


def accuracy(matrix: Matrix, problem: Classification, *, runs: int, seed: int) -> float:
    """Return the mean share of records that trained models label rightly."""
    done = train(matrix, problem, rare=False, rng=np.random.default_rng(seed), n_runs=runs)
    shown = np.column_stack([problem.features, np.ones(len(problem.labels))])
    return float(((done.weights[:, :-1] @ shown.T > 0) == problem.labels).mean())


def main() -> None:
    """Print the certificate's bracket, the audit, and the accuracy beside that of fresh noise on every gradient."""
    problem = affairs()
    matrix = calibrated("square_root")
    certificate = proved(matrix)
    bracket = certificate.tight.epsilon
    result = audited(matrix, problem, runs=8000, seed=1)
    print(f"{certificate.verdict}: epsilon in [{bracket.lower:.4f}, {bracket.upper:.4f}] at delta {CLAIM.delta:g}")
    print(f"audit: {result.verdict}, epsilon at least {result.epsilon_lower:.2f} in {result.runs} runs")
    print(f"accuracy: {accuracy(matrix, problem, runs=200, seed=2):.4f}")
    print(f"accuracy with fresh noise: {accuracy(calibrated('fresh'), problem, runs=200, seed=2):.4f}")
    print(f"share of the larger label: {1 - problem.labels.mean():.4f}")


if __name__ == "__main__":
    main()
