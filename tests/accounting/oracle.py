"""An independent truth: delta(epsilon) by a contour integral with many digits.

delta(epsilon) = (1 / 2 pi i) integral of M(s) e^(-s epsilon) / (s (s + 1)) ds over Re s = c > 0, with
M(s) = E_P[e^(s L)] (Alghamdi et al., 2023, Theorem 3.1). The line goes through the saddle point, where the
trapezoidal rule converges exponentially. Losses of lattice kind are summed exactly instead, and so are few equal
Laplace losses, which are nearly a lattice: there the integrand returns far out along the line. Beside Gaussian losses
the sum goes on until their damping alone makes any return negligible.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from math import comb
from typing import Any

from mpmath import mp, mpc, mpf

from dpaudit.model import losses


def log_moment(loss: losses.Loss, s: Any) -> Any:
    """Return ln E_P[e^(s L)]; L is conditioned to be finite where it may be infinite."""
    match loss:
        case losses.GaussianLoss(mu=mu):
            return mpf(mu) ** 2 / 2 * s * (1 + s)
        case losses.LaplaceLoss(shift=shift):
            x = mpf(shift)
            return s * x + mp.log((s + 1) / (2 * s + 1) + s / (2 * s + 1) * mp.exp(-(1 + 2 * s) * x))
        case losses.ApproximateLoss(epsilon=epsilon):
            e = mpf(epsilon)
            return mp.log((mp.exp((1 + s) * e) + mp.exp(-s * e)) / (1 + mp.exp(e)))
        case losses.DiscreteLoss(atoms=atoms, infinite_mass=mass):
            return mp.log(mp.fsum(mpf(p) * mp.exp(s * mpf(v)) for v, p in atoms) / (1 - mpf(mass)))
        case losses.SampledGaussianLoss(mu=mu, rate=rate, order=order):
            return _sampled(mpf(mu), mpf(rate), order, s)


_RATIOS: dict[tuple[Any, ...], tuple[Any, Any]] = {}


def _node(mu: float, rate: float, k: int) -> Any:
    """Return ln N(x; 0, 1) and the log density ratio of the mixture at x = k / 8; neither depends on s."""
    key = (mu, rate, k, mp.dps)
    if key not in _RATIOS:
        x = mpf(k) / 8
        _RATIOS[key] = mp.log(mp.npdf(x)), mp.log(1 - rate + rate * mp.exp(mu * x - mu * mu / 2))
    return _RATIOS[key]


def _sampled(mu: float, rate: float, order: str, s: Any) -> Any:
    """Return the log moment of a sampled Gaussian by the trapezoidal rule over the output.

    The integrand is analytic up to i pi / mu, so that steps of 1/8 leave out e^(-16 pi^2 / mu) for mu >= 1.
    """
    power = s + 1 if order == "remove" else -s
    high = 12 + max(mpf(0), mp.re(power)) * mu
    nodes = (_node(mu, rate, k) for k in range(-96, int(8 * high) + 1))
    return mp.log(mp.fsum(mp.exp(weight + power * ratio) for weight, ratio in nodes) / 8)


def true_delta(composition: losses.Composition, epsilon: float, digits: int = 50, agreed: float = 1e-9) -> Any:
    """Return delta(epsilon), relatively right to `agreed` for nearly a lattice of Laplace losses, else to 1e-13.

    Raises: ArithmeticError: that cannot be promised.
    """
    with mp.workdps(digits):
        finite = mpf(1)
        for loss, times in composition.parts:
            finite *= (1 - mpf(loss.infinite_mass)) ** times
        parts = [(loss, times) for loss, times in composition.parts if loss.supremum > 0 or _has_atoms(loss)]
        if all(isinstance(loss, losses.ApproximateLoss | losses.DiscreteLoss) for loss, _ in parts):
            return 1 - finite + finite * _summed(parts, mpf(epsilon))
        return 1 - finite + finite * _integrated(parts, mpf(epsilon), agreed)


def _has_atoms(loss: losses.Loss) -> bool:
    return isinstance(loss, losses.DiscreteLoss)


def _summed(parts: Sequence[tuple[losses.Loss, int]], epsilon: float) -> Any:
    """Return delta(epsilon) of finitely many atoms, by convolving them exactly."""
    held = {mpf(0): mpf(1)}
    for loss, times in parts:
        fresh: dict[Any, list[Any]] = {}
        for value, weight in _power(loss, times):
            for old, mass in held.items():
                key = mp.nstr(old + value, 35)
                place = fresh.setdefault(key, [old + value, mpf(0)])
                place[1] += weight * mass
        held = dict(map(tuple, fresh.values()))
    return mp.fsum(mass * (1 - mp.exp(epsilon - value)) for value, mass in held.items() if value > epsilon)


def _power(loss: losses.Loss, times: int) -> Iterator[tuple[Any, Any]]:
    """Return the atoms of `times` copies."""
    if isinstance(loss, losses.ApproximateLoss):
        e = mpf(loss.epsilon)
        up, down = 1 / (1 + mp.exp(-e)), 1 / (1 + mp.exp(e))
        for k in range(times + 1):
            yield (2 * k - times) * e, mp.binomial(times, k) * up**k * down ** (times - k)
        return
    held: dict[Any, tuple[Any, Any]] = {0: (mpf(0), mpf(1))}
    for _ in range(times):
        fresh: dict[Any, tuple[Any, Any]] = {}
        for value, mass in held.values():
            for v, p in loss.atoms:
                key = mp.nstr(value + mpf(v), 35)
                old = fresh.get(key, (value + mpf(v), mpf(0)))
                fresh[key] = (old[0], old[1] + mass * mpf(p) / (1 - mpf(loss.infinite_mass)))
        held = fresh
    yield from held.values()


def _laplace_sum(shift: float, times: int, epsilon: float) -> Any:
    """Return delta(epsilon) of equal Laplace losses, exactly: the binomial expansion of M(s), residue by residue.

    M(s) = sum over k of C(n, k) (s + 1)^(n-k) s^k (2s + 1)^-n e^(s (n - 2k) x - k x). Over s (s + 1) and times
    e^(-s epsilon), a term with y = (n - 2k) x - epsilon > 0 gives the residues at s = -1/2 and, for k = 0, at s = 0.
    With v = 2s + 1 and z = y / 2 the former is 2^(1-n) e^-z times the coefficient of v^(n-1) in
    (v + 1)^(n-k-1) (v - 1)^(k-1) e^(v z), whose polynomial has whole coefficients.
    """
    n, x, bits = times, mpf(shift), 2 * times + 200
    total = mpf(0)
    with mp.workprec(bits + 50):
        held: list[int] = []
        for k in range(n):
            y = (n - 2 * k) * x - epsilon
            if y <= 0:
                break
            held = _next_polynomial(held, n, k)
            z, power, found = int(mp.ldexp(y / 2, bits)), 1 << bits, 0
            for m in range(n):  # power is z^m / m!
                found += held[n - 1 - m] * power
                power = (power * z >> bits) // (m + 1)
            term = mp.ldexp(mpf(found), 1 - n - bits) * mp.exp(-y / 2)
            total += mp.binomial(n, k) * mp.exp(-k * x) * (term + (1 if k == 0 else 0))
    return +total


def _next_polynomial(held: list[Any], n: int, k: int) -> list[Any]:
    """Return the n coefficients of (v + 1)^(n-k-1) (v - 1)^(k-1) from those of the k before."""
    if k == 0:  # 1 / (v - 1) = -(1 + v + v^2 + ...)
        return [-total for total in accumulate(comb(n - 1, j) for j in range(n))]
    if k == 1:
        return [comb(n - 2, j) for j in range(n)]
    divided, carried = [0] * n, 0
    for j in reversed(range(1, n)):  # by v + 1, from the top
        carried = held[j] - carried
        divided[j - 1] = carried
    return [(divided[j - 1] if j else 0) - divided[j] for j in range(n)]


def _returning(parts: Sequence[tuple[losses.Loss, int]], saddle: Any, epsilon: float) -> Any:
    """Return a bound on what a sum that stops before the integrand's first return leaves out.

    From half way to the first return on, every Laplace loss is at most |s + 1| / |2s + 1| + e^(-(1 + 2c) x) / 2 times
    e^(c x), and a Gaussian one damps on; what is left of the integrand falls with t^-2.
    """
    start = mp.pi / (2 * max(mpf(loss.shift) for loss, _ in parts))
    s = mpc(saddle, start)
    bound = -saddle * epsilon
    for loss, times in parts:
        x = mpf(loss.shift)
        bound += times * (saddle * x + mp.log(abs(s + 1) / abs(2 * s + 1) + mp.exp(-(1 + 2 * saddle) * x) / 2))
    return mp.exp(bound) / (mp.pi * start)


def _saddle(exponent: Callable[..., Any]) -> Any:
    """Return where `exponent` is least on the positive line, to three digits or so."""
    golden = (mp.sqrt(5) - 1) / 2
    a, b = mp.log(mpf(10) ** -6), mp.log(mpf(10) ** 6)
    for _ in range(25):
        c, d = b - golden * (b - a), a + golden * (b - a)
        if mp.re(exponent(mp.exp(c))) < mp.re(exponent(mp.exp(d))):
            b = d
        else:
            a = c
    return mp.exp((a + b) / 2)


def _integrated(parts: Sequence[tuple[losses.Loss, int]], epsilon: float, agreed: float) -> Any:
    """Return delta(epsilon) by the trapezoidal rule through the saddle point, right to `agreed` at least.

    Raises: ArithmeticError: the integral does not settle, or too many Laplace losses are nearly a lattice.
    """
    laplace = all(isinstance(loss, losses.LaplaceLoss) for loss, _ in parts)

    def exponent(s: Any) -> Any:
        return mp.fsum(n * log_moment(loss, s) for loss, n in parts) - s * epsilon - mp.log(s) - mp.log(s + 1)

    with mp.workdps(15):  # any line will do; the saddle's is the shortest
        saddle = _saddle(exponent)
    step = saddle / 100
    base = exponent(saddle)
    curvature = (exponent(saddle + step) - 2 * base + exponent(saddle - step)) / step**2
    scale = min(1 / mp.sqrt(abs(curvature)), saddle)
    if laplace:
        left_out = _returning(parts, saddle, epsilon)
        height = mp.exp(base) * scale / mp.pi
        if left_out > agreed * height:
            if len(parts) == 1 and parts[0][1] <= 2200:
                return _laplace_sum(parts[0][0].shift, parts[0][1], epsilon)
            raise ArithmeticError("nearly a lattice")
    square = mp.fsum(n * mpf(loss.mu) ** 2 for loss, n in parts if isinstance(loss, losses.GaussianLoss))

    def damped(t: Any) -> Any:
        """Return what an integrand that returns is at most, beside that at the saddle; 0 where nothing bounds it."""
        return mp.exp(-square * t * t / 2) * saddle * (saddle + 1) / (t * t) if square else mpf(0)

    previous = None
    for halving in range(2, 9):
        h = scale / 2**halving * 2
        total, n, quiet = mpf(1) / 2, 1, 0
        while quiet < 8 or damped(n * h) > mpf(10) ** -15 * abs(total):
            term = mp.re(mp.exp(exponent(mpc(saddle, n * h)) - base))
            total += term
            quiet = quiet + 1 if abs(term) < mpf(10) ** -17 * abs(total) else 0
            n += 1
            if n > 20_000:
                raise ArithmeticError("The contour integral does not converge.")
        value = total * h / mp.pi * mp.exp(base)
        if previous is not None and abs(value - previous) < mpf(10) ** -13 * abs(value):
            return value
        previous = value
    raise ArithmeticError("The contour integral does not settle.")
