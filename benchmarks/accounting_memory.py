"""Peak memory of certifying and verifying, one child process a declaration: `python -m benchmarks.accounting_memory`.

The examples as they ship, every mechanism's own examples, and declarations that are heavy on purpose. Prints the
largest resident set and the processor seconds of both; ends with 1 if one exceeds a GiB.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

LIMIT = 1 << 20  # in KiB, as Linux counts ru_maxrss
ROOT = Path(__file__).parent.parent


def declarations():
    """Return makers of (declaration, claim) by name."""
    from dpaudit import Claim, Parallel, Release, Repeat, Sequential, Subsample
    from mechanisms import DiscreteGaussian, Exponential, Gaussian, Laplace, TreeAggregation

    def claim(epsilon, neighbours="replace_one"):
        return Claim(epsilon=epsilon, delta=1e-6, neighbours=neighbours)

    def release(mechanism):
        return Release(label="x", mechanism=mechanism)

    def laplace(scale):
        return Laplace(scale=scale, l1_sensitivity=1.0, neighbours="replace_one")

    def gaussian(stddev, neighbours="replace_one"):
        return Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours)

    choice = Exponential(epsilon=2.0, linf_sensitivity=1.0, neighbours="replace_one")
    wide = DiscreteGaussian(stddev=500.0, l2_sensitivity=40, neighbours="replace_one")
    tree = TreeAggregation(horizon=10**6, leaf=gaussian(50.0), signs=(1, 1, 1), separation=7)
    kinds = Sequential(parts=tuple(Repeat(part=release(laplace(300 + 5 * i)), times=500) for i in range(100)))
    parts = Parallel(parts=(release(gaussian(3.0)), release(laplace(3.0))), key="the day")
    return {
        "40 exponential choices": (Repeat(part=release(choice), times=40), claim(60.0)),
        "40 wide discrete Gaussians": (Repeat(part=release(wide), times=40), claim(4.0)),
        "1000 Laplace": (Repeat(part=release(laplace(10.0)), times=1000), claim(20.0)),
        "100 kinds of Laplace": (kinds, claim(10.0)),
        "tree, three participations": (release(tree), claim(1.0)),
        "10^4 sampled Gaussians": (
            Repeat(part=Subsample(part=release(gaussian(1.0, "add_remove")), rate=0.01), times=10_000),
            claim(8.0, "add_remove"),
        ),
        "300 adaptive choices": (Repeat(part=parts, times=300), claim(60.0)),
    }


def measure(name: str) -> None:
    """Certify and verify one declaration or configuration, and print what it took."""
    from dpaudit import certify
    from dpaudit.verifier import verify

    started = time.process_time()
    if name.endswith((".toml", ".json")):
        from dpaudit.configuration.config import read_config
        from dpaudit.workflow import certificate_of

        certificate = certificate_of(read_config(ROOT / name), 0)
    else:
        certificate = certify(*declarations()[name])
    certified = time.process_time()
    found = verify(certificate.to_json())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(peak, certified - started, time.process_time() - certified, certificate.verdict, found.accepted)


def main() -> int:
    names = [
        f"examples/{path.name}" for path in sorted((ROOT / "examples").iterdir()) if path.suffix in (".toml", ".json")
    ]
    largest = 0
    print(f"{'declaration':36} {'MiB':>6} {'certify s':>10} {'verify s':>9}  outcome")
    for name in [*names, *declarations()]:
        command = [sys.executable, __file__, name]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            print(f"{name:36} {ended.stderr.strip().splitlines()[-1]}", flush=True)
            largest = LIMIT + 1
            continue
        peak, certifying, verifying, verdict, accepted = ended.stdout.split()
        largest = max(largest, int(peak))
        outcome = f"{verdict}, {'accepted' if accepted == 'True' else 'REJECTED'}"
        print(
            f"{name:36} {int(peak) // 1024:6} {float(certifying):10.2f} {float(verifying):9.2f}  {outcome}", flush=True
        )
    return int(largest > LIMIT)


if __name__ == "__main__":
    sys.exit(measure(sys.argv[1]) if len(sys.argv) > 1 else main())
