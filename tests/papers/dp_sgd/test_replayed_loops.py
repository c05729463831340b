"""Replays of training loops: whatever follows the records otherwise than by the noisy sums is named."""

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audits import watch_opacus
from audits.training.replay_data import Records
from audits.training.replay_runs import Start
from audits.training.replayed import Replay, replay_loop
from audits.training.training_audit import _as_loaded
from dpaudit import Claim
from dpaudit.model.mechanism import Array
from dpaudit.training import Training, Watch

DECLARED = Training(noise_multiplier=2.0, max_grad_norm=1.0, sample_rate=0.1, steps=12, records=120)

Step = Callable[["Softmax", Array, Array], None]


def records() -> Records:
    rng = np.random.default_rng(7)
    features = rng.normal(size=(DECLARED.records, 4))
    return Records(features=features, labels=(features @ rng.normal(size=(4, 3))).argmax(axis=1))


def replayed(train: Callable[..., Any]) -> Replay:
    return replay_loop(Start(train=train, records=records(), seed=11).run(), DECLARED, np.random.default_rng(5))


@dataclass(kw_only=True)
class Softmax:
    """A softmax classifier in numpy; a leak replaces a part, or is called after each step with the batch."""

    after: Step = lambda loop, x, errors: None
    normed: tuple[str, ...] = ("weights", "bias")
    divisor: Callable[[int], float] = lambda size: 12.0
    noise: Callable[[np.random.Generator, Array], Array] = lambda rng, sums: 2 * rng.standard_normal(sums.shape)
    steps: Callable[["Softmax"], Any] = lambda loop: range(12)
    start: Callable[[Array, Array], float] = lambda features, labels: 0.0
    kept: Callable[[Array], Array] = lambda features: np.ones(len(features))
    mixed: bool = False
    source: Callable[[np.random.Generator], np.random.Generator] = lambda rng: rng
    weight: Callable[[Array], Array] = lambda labels: np.ones(3)
    factor: Callable[[Array], Array] = lambda norms: np.minimum(1, DECLARED.max_grad_norm / norms)
    drawn: Callable[["Softmax"], Array] = lambda loop: np.ones(len(loop.labels))
    rate: float = 0.5
    held: dict[str, Array] = field(default_factory=dict[str, Array])
    beside: list[Any] = field(default_factory=list[Any])
    features: Array = field(default_factory=lambda: np.zeros(0))
    labels: Array = field(default_factory=lambda: np.zeros(0))

    def __call__(self, features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> Any:
        features = features * self.kept(features)[:, None]
        self.rate, self.beside, self.features, self.labels = 0.5, [], features, labels
        start = np.full(3, self.start(features, labels))
        self.held = {"weights": np.zeros((features.shape[1], 3)), "bias": start}
        watch.follow(lambda: {**self.held, "rate": self.rate})
        source = self.source(rng)
        for _ in self.steps(self):
            batch = np.flatnonzero(source.random(len(labels)) < DECLARED.sample_rate * self.drawn(self))
            x = features[batch] - (features[batch].mean(axis=0) if self.mixed and len(batch) else 0.0)
            errors = self.errors(x, labels[batch]) * self.weight(labels)[labels[batch], None]
            each = {"weights": x[:, :, None] * errors[:, None, :], "bias": errors}
            norms = np.sqrt(sum((each[name].reshape(len(x), -1) ** 2).sum(axis=1) for name in self.normed))
            factor = self.factor(np.maximum(norms, 1e-9)) if len(batch) else norms
            sums = {name: np.einsum("n...,n->...", values, factor) for name, values in each.items()}
            noisy = watch.step({k: v + self.noise(rng, v) for k, v in sums.items()}, sums, batch)
            for name, values in noisy.items():
                self.held[name] = self.held[name] - self.rate * values / self.divisor(len(batch))
            self.after(self, x, errors)
        return {**self.held, "beside": self.beside}

    def errors(self, x: Array, labels: Array) -> Array:
        scores = x @ self.held["weights"] + self.held["bias"]
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True) - np.eye(3)[labels])

    def loss(self) -> float:
        return float(np.abs(self.errors(self.features, self.labels)).mean())


def raw_update(loop: Softmax, x: Array, errors: Array) -> None:
    loop.held["bias"] = loop.held["bias"] - 0.001 * errors.sum(axis=0)


def rate_by_loss(loop: Softmax, x: Array, errors: Array) -> None:
    loop.rate = 0.5 + 0.1 * loop.loss()


def logged_loss(loop: Softmax, x: Array, errors: Array) -> None:
    loop.beside.append(loop.loss())


def average(loop: Softmax, x: Array, errors: Array) -> None:
    loop.beside.append(loop.held["weights"].mean())


def near_the_others(features: Array) -> Array:
    norms = np.linalg.norm(features, axis=1)
    return np.asarray(norms < 2 * norms.mean(), dtype=float)


def of_classes(labels: Array) -> Array:
    """Return weights that are larger for rarer classes."""
    return np.asarray(40 / np.maximum(1, np.bincount(labels, minlength=3)))


def at_the_median(norms: Array) -> Array:
    """Return factors that clip at the batch's median norm, and stretch that to the declared norm."""
    return np.asarray(np.minimum(1 / np.median(norms), 1 / norms))


def over_the_longest(norms: Array) -> Array:
    return np.full(len(norms), 1 / norms.max())


def without_outliers(norms: Array) -> Array:
    """Return factors that leave out gradients longer than twice the batch's median."""
    return np.asarray(np.where(norms <= 2 * np.median(norms), np.minimum(1, 1 / norms), 0.0))


def hard_ones(loop: Softmax) -> Array:
    """Return how much more often records are drawn that the model does not fit."""
    size = np.abs(loop.errors(loop.features, loop.labels)).sum(axis=1)
    return np.asarray(size / size.mean())


def seeded_by_sums(rng: np.random.Generator, sums: Array) -> Array:
    """Return noise whose seed everybody can compute who knows the records of the batch."""
    own = np.random.default_rng(list(sums.astype(np.float32).tobytes()))
    return 2 * own.standard_normal(sums.shape)


def sized_by_sums(rng: np.random.Generator, sums: Array) -> Array:
    """Return noise of the declared size at least, whose size tells the norm of the exact sum."""
    size: float = 2 + float(np.linalg.norm(sums)) / 100
    return size * rng.standard_normal(sums.shape)


def of_its_own(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator that the loop makes and keeps."""
    return np.random.default_rng(int(rng.integers(2**31)))


def early(loop: Softmax) -> Any:
    return itertools.takewhile(lambda step: step < 4 or (step < 12 and loop.loss() > 0.42), itertools.count())


def while_common(loop: Softmax) -> Any:
    """Return the steps of a loop that stops where the first class is rare."""
    return range(12 if (loop.labels == 0).sum() > 20 else 6)


LEAKS: dict[str, tuple[Callable[[], Softmax], str, str]] = {
    "a gradient without noise": (lambda: Softmax(after=raw_update), "DPA224", "bias"),
    "a rate that follows the loss": (lambda: Softmax(after=rate_by_loss), "DPA224", "rate"),
    "early stopping on the exact loss": (lambda: Softmax(steps=early), "DPA224", "number of steps"),
    "steps while the first class is common": (lambda: Softmax(steps=while_common), "DPA224", "number of steps"),
    "a published loss": (lambda: Softmax(after=logged_loss), "DPA224", "published result beside"),
    "the size of the batch": (lambda: Softmax(divisor=lambda size: max(1, size)), "DPA224", "weights"),
    "the size of a batch that another generator draws": (
        lambda: Softmax(divisor=lambda size: max(1, size), source=of_its_own),
        "DPA224",
        "weights",
    ),
    "a start from the records": (lambda: Softmax(start=lambda x, y: float(y.mean())), "DPA224", "bias"),
    "a layer that is not clipped": (lambda: Softmax(normed=("weights",)), "DPA220", "weights"),
    "records left out by the mean norm": (lambda: Softmax(kept=near_the_others), "DPA220", ""),
    "weights of classes": (lambda: Softmax(weight=of_classes), "DPA220", ""),
    "hard records drawn more often": (lambda: Softmax(drawn=hard_ones), "DPA326", "batches"),
    "a mean over the batch": (lambda: Softmax(mixed=True), "DPA220", "weights"),
    "a norm that is the batch's median": (lambda: Softmax(factor=at_the_median), "DPA220", ""),
    "the longest gradient as the scale of all": (lambda: Softmax(factor=over_the_longest), "DPA220", ""),
    "gradients left out by the batch's median": (lambda: Softmax(factor=without_outliers), "DPA220", ""),
    "a seed from the batch": (lambda: Softmax(noise=seeded_by_sums), "DPA227", "noise"),
    "a scale from the batch": (lambda: Softmax(noise=sized_by_sums), "DPA212", "noise"),
    "a constant seed": (
        lambda: Softmax(noise=lambda rng, sums: 2 * np.random.default_rng(0).standard_normal(sums.shape)),
        "DPA227",
        "noise",
    ),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_what_follows_the_records_is_named(leak: str) -> None:
    """Nineteen leaks, each with its rule and the name of what leaks; nothing of it is a matter of chance."""
    made, rule, where = LEAKS[leak]
    findings = replayed(made()).findings
    assert findings
    assert findings[0].rule == rule
    assert where in findings[0].where


@pytest.mark.parametrize("loop", [Softmax(), Softmax(after=average), Softmax(source=of_its_own)])
def test_a_right_loop_has_no_finding_and_nothing_unseen(loop: Softmax) -> None:
    """Weights, bias, rate and returned averages of noisy weights were compared; sums too."""
    seen = replayed(loop)
    assert (seen.findings, seen.unseen, seen.sums) == ((), (), True)
    assert set(seen.compared) >= {"weights", "bias", "rate", "result weights"}


def test_a_finding_says_step_values_and_line() -> None:
    """The rate before and after, and the line that set it."""
    message = replayed(Softmax(after=rate_by_loss)).findings[0].message
    assert "after step 1 (rate 0." in message
    line = rate_by_loss.__code__.co_firstlineno + 1
    assert f"seen at test_replayed_loops.py:{line}" in message


def test_what_cannot_be_replayed_is_not_observed() -> None:
    """Randomness from elsewhere, sums that are not gone on with, nothing returned, and printed losses: no finding."""

    def unseeded(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> Array:
        weights = np.random.default_rng().normal(size=(4, 1))
        noisy: Array = watch.step(rng.normal(size=(4, 1)))
        return weights + noisy

    def deaf(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> Array:
        sums: Array = features[:, :, None].sum(axis=0) + rng.normal(size=(4, 1))
        watch.step(sums)
        return sums

    def silent(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> None:
        watch.step(rng.normal(size=(4, 1)))

    def talking(loop: Softmax, x: Array, errors: Array) -> None:
        print(loop.loss())  # noqa: T201 - what is tested

    reasons = {
        unseeded: "draw all randomness",
        deaf: "go on with",
        silent: "return it",
        Softmax(after=talking).__call__: "printed text",
    }
    for train, reason in reasons.items():
        seen = replayed(train)
        assert seen.findings == ()
        assert any(reason in what for what in seen.unseen), seen.unseen


@pytest.mark.parametrize("loss", [True, False])
def test_a_loss_that_is_printed_beside_times_is_seen(loss: bool) -> None:
    """The times of two runs differ anyhow, and hide nothing; alone they are harmless."""
    clock = itertools.count()

    def talking(loop: Softmax, x: Array, errors: Array) -> None:
        print({"loss": loop.loss() if loss else 0.5, "seconds": next(clock)})  # noqa: T201 - what is tested

    seen = replayed(Softmax(after=talking))
    assert seen.findings == ()
    assert any("printed text" in what for what in seen.unseen) is loss


def heads_of_labels(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> dict[str, Array]:
    """Train one vector for each label, and release those of labels that the batch holds."""
    heads = {str(label): np.zeros(features.shape[1]) for label in range(3)}
    watch.follow(lambda: dict(heads))
    for _ in range(DECLARED.steps):
        batch = np.flatnonzero(rng.random(len(labels)) < DECLARED.sample_rate)
        clipped = features[batch] / np.maximum(1, np.linalg.norm(features[batch], axis=1))[:, None]
        sums = {str(label): clipped[labels[batch] == label].sum(axis=0) for label in np.unique(labels[batch])}
        noisy = watch.step({label: each + 2 * rng.standard_normal(4) for label, each in sums.items()}, sums, batch)
        heads |= {label: heads[label] + each / 12 for label, each in noisy.items()}
    return heads


def test_a_loop_that_takes_no_step_on_its_records_is_compared() -> None:
    """Others make it take steps: their number is the finding. The twin takes no step on any records."""
    own = records()

    def when_others(loop: Softmax) -> Any:
        return range(12 * (not np.array_equal(loop.features, own.features)))

    assert any("number of steps" in finding.message for finding in replayed(Softmax(steps=when_others)).findings)
    assert replayed(Softmax(steps=lambda loop: range(0))).findings == ()


def test_sums_of_other_parts_are_no_lines() -> None:
    """A loop that sums the parameters of the batch's labels alone has a finding; its mixed batches have more parts."""
    assert {finding.rule for finding in replayed(heads_of_labels).findings} == {"DPA224"}


def opacus_loop(kind: str, *, poisson: bool = True) -> Callable[..., Any]:
    """A loop through Opacus; `kind` is a leak or a harmless part."""
    torch = pytest.importorskip("torch")
    engine = pytest.importorskip("opacus").PrivacyEngine

    def train(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> Any:
        torch.manual_seed(int(rng.integers(2**31)))
        x, y = torch.tensor(features).float(), torch.tensor(labels)
        middle: list[Any] = [torch.nn.Dropout(0.3)] if kind == "dropout" else []
        model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), *middle, torch.nn.Linear(6, 3))
        model, optimizer, loader = engine().make_private(
            module=model,
            optimizer=torch.optim.Adam(model.parameters(), lr=0.05),
            data_loader=torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=12, shuffle=True),
            noise_multiplier=2.0,
            max_grad_norm=1.0,
            poisson_sampling=poisson,
        )
        if kind.startswith("each layer"):
            optimizer.clip_and_accumulate = lambda: each_layer(torch, optimizer)
        if kind == "whole sum":
            optimizer.clip_and_accumulate = lambda: whole_sum(torch, optimizer)
        weights = torch.tensor(of_classes(labels) if kind == "class weights" else np.ones(3)).float()
        with watch_opacus(model, optimizer, loader, watch):
            for batch, classes in itertools.chain(loader, loader):
                optimizer.zero_grad()
                with torch.autocast("cpu", torch.bfloat16, enabled="half" in kind):
                    losses = torch.nn.functional.cross_entropy(model(batch), classes, reduction="none")
                (weights[classes] * losses).mean().backward()
                for parameter in model.parameters() if "single" in kind else ():
                    parameter.grad_sample = parameter.grad_sample.float()
                if kind == "neighbour":
                    add_second_gradient(optimizer)
                optimizer.step()
                if kind == "second optimizer":
                    list(model.parameters())[-1].data -= 0.01 * optimizer.params[-1].summed_grad
                if kind == "size":
                    optimizer.expected_batch_size = max(1, len(batch))
        return model

    return train


def add_second_gradient(optimizer: Any) -> None:
    """Add the second record's gradient to the first one's before clipping, so that the second one counts twice."""
    for p in optimizer.params:
        if len(p.grad_sample) > 1:
            p.grad_sample[0] += p.grad_sample[1]


def each_layer(torch: Any, optimizer: Any) -> None:
    for p in optimizer.params:
        norms = p.grad_sample.flatten(1).norm(dim=1)
        factors = (1 / norms.clamp(min=1e-6)).clamp(max=1)
        p.summed_grad = torch.einsum("n,n...->...", factors, p.grad_sample).float()


def whole_sum(torch: Any, optimizer: Any) -> None:
    sums = [p.grad_sample.sum(0) for p in optimizer.params]
    norm = torch.stack([one.norm() for one in sums]).norm()
    for p, one in zip(optimizer.params, sums, strict=True):
        p.summed_grad = one / norm.clamp(min=1.0)


@pytest.mark.parametrize(
    ("kind", "poisson", "rules"),
    [
        ("plain", True, set()),
        ("dropout", True, set()),
        ("size", False, set()),
        ("size", True, {"DPA224"}),
        ("second optimizer", True, {"DPA224"}),
        ("each layer", True, {"DPA220"}),
        ("whole sum", True, {"DPA220"}),
        ("neighbour", True, {"DPA220"}),
        ("class weights", True, {"DPA220"}),
    ],
)
def test_opacus_is_replayed_with_its_own_sums_and_batches(kind: str, poisson: bool, rules: set[str]) -> None:
    """Dropout and sizes of shuffled batches are harmless; sizes of Poisson samples and wrong clipping are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = replayed(opacus_loop(kind, poisson=poisson))
    assert {finding.rule for finding in seen.findings} == rules
    assert seen.unseen == ()


@pytest.mark.parametrize(
    "kind", ["half precision", "half precision, clipped in single", "each layer in half precision"]
)
def test_half_precision_is_no_leak_and_not_the_declared_norm(kind: str) -> None:
    """Gradients that bfloat16 makes a little longer are not seen to be clipped, unless single precision clips them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = replayed(opacus_loop(kind))
    assert {finding.rule for finding in seen.findings} == ({"DPA220"} if "layer" in kind else set())
    longer = any("half precision makes them up to 1 % longer" in what for what in seen.unseen)
    assert "layer" in kind or longer is ("single" not in kind)


@pytest.mark.parametrize(("loaded", "judged"), [(1e-7, 2.0), (1.5, 1.5)])
def test_noise_without_a_finite_epsilon_leaves_the_declared_noise(loaded: float, judged: float) -> None:
    """A loader whose noise protects nothing is judged by what is declared, and the audit ends."""
    loader: Any = SimpleNamespace(rate=0.1, noise_multiplier=loaded, fixed_size=False)
    watch: Any = SimpleNamespace(loader=loader, steps=12, records=130)
    claim = Claim(epsilon=4.0, delta=1e-5, neighbours="add_remove")
    declared, claimed = _as_loaded(DECLARED, claim, watch)
    assert (declared.noise_multiplier, declared.records) == (judged, 130)
    assert 4.0 <= claimed.epsilon < 20


def test_leaving_the_block_gives_the_optimizer_and_the_sampler_back() -> None:
    """What the watch put in place is taken away again."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("opacus")
    from opacus.optimizers import DPOptimizer
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler

    model = torch.nn.Linear(2, 2)
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1), noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=1
    )
    sampler = UniformWithReplacementSampler(num_samples=3, sample_rate=0.5)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(3, 2)), batch_sampler=sampler)
    before = optimizer.add_noise
    with watch_opacus(model, optimizer, loader) as watch:
        assert optimizer.add_noise is not before
        assert type(sampler) is not UniformWithReplacementSampler
    assert watch.records == 3
    assert optimizer.add_noise == before
    assert type(sampler) is UniformWithReplacementSampler
