"""Training runs on one tape: a sound loop is clean, and each loop with one wrong line is found."""

from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from algorithms.dp_sgd import DpSgd, loop
from algorithms.dp_sgd import run as running
from algorithms.problems.affairs import affairs
from audits import replay_program
from dpaudit.model.transcript import record_run

pytestmark = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("opacus") is None, reason="not run: the extra 'opacus' is not installed"
)

_BACKWARD = "            backward(x, y.long())"
_TOLD = "            pinned = step(_array(parameter.grad), _array(before), np.array(batch))\n"
_ZEROS = "        torch.nn.init.zeros_(model.weight)\n"
_EPOCH = "    while taken < steps:\n"

BROKEN: dict[str, tuple[str, str]] = {
    "a record enters twice": (
        _BACKWARD,
        "            twice = [0, *range(len(x))]\n            x, y = x[twice], y[twice]\n" + _BACKWARD,
    ),
    "weights take less noise than was shown": (
        _TOLD,
        _TOLD + "            parameter.grad.copy_(0.05 * before + 0.95 * parameter.grad)\n",
    ),
    "weights start at a mean of the records": (
        _ZEROS,
        _ZEROS + "        model.weight.data[0] += 1e-3 * data.tensors[0].mean(dim=0)\n",
    ),
    "every pass begins with the same state": (
        _EPOCH,
        "    state = optimizer.generator.get_state()\n" + _EPOCH + "        optimizer.generator.set_state(state)\n",
    ),
}


def config(**changed: str) -> DpSgd:
    settings = {"epsilon": 0.75, "delta": 1e-5, "noise_multiplier": 4.0, "sample_rate": 0.1, "steps": 24}
    return DpSgd(**settings, max_grad_norm=0.1, **changed)  # type: ignore[arg-type]


def said(algorithm: DpSgd) -> set[str]:
    """Return the rules of all findings, and the words of violated conditions."""
    problem = affairs(records=605)
    recorded = record_run(algorithm, problem, n_runs=1, seed=3)
    replayed = replay_program(algorithm, problem, algorithm.declaration(), (), recorded)
    conditions = (*recorded.transcript.conditions, *replayed.conditions)
    violated = {condition.about[0] for condition in conditions if condition.status == "violated" and condition.about}
    return {finding.rule for finding in replayed.findings} | violated


def planted(monkeypatch: pytest.MonkeyPatch, folder: Path, old: str, new: str) -> None:
    """Let runs take a copy of the training loop in which `new` stands for `old`."""
    text = Path(loop.__file__).read_text(encoding="utf-8")
    assert text.count(old) == 1
    file = folder / "loop.py"
    file.write_text(text.replace(old, new), encoding="utf-8")
    spec = spec_from_file_location("planted_loop", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(running, "loop", module)


@pytest.mark.parametrize("mode", ["hooks", "ghost"])
def test_a_sound_loop_is_clean_and_its_conditions_are_checked(mode: str) -> None:
    """Nothing is found; what a run can show is checked: on the tape of the loop, and on its sampler's draws."""
    algorithm, problem = config(grad_sample_mode=mode), affairs(records=605)
    replayed = replay_program(algorithm, problem, algorithm.declaration(), ())
    assert replayed.findings == ()
    kinds = {c.kind for c in replayed.conditions if c.status == "checked"}
    assert kinds == {"sensitivity", "fresh_noise", "secret_sample", "implementation"}
    assert len(kinds) == len(replayed.conditions)


@pytest.mark.parametrize("name", BROKEN)
def test_each_wrong_line_of_a_loop_is_found(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A record that enters twice, weights that read the exact sum or the records, and randomness that comes again."""
    planted(monkeypatch, tmp_path, *BROKEN[name])
    expected = {
        "a record enters twice": {"sums of clipped gradients"},
        "weights take less noise than was shown": {"trained weights"},
        "weights start at a mean of the records": {"DPA224", "trained weights"},
        "every pass begins with the same state": {"fresh noise"},
    }
    assert expected[name] <= said(config())
