"""An independent truth: delta(epsilon) by a contour integral with many digits.

delta(epsilon) = (1 / 2 pi i) integral of M(s) e^(-s epsilon) / (s (s + 1)) ds over Re s = c > 0, with
M(s) = E_P[e^(s L)] (Alghamdi et al., 2023, Theorem 3.1). The line goes through the saddle point, where the
trapezoidal rule converges exponentially. Losses of lattice kind are summed exactly instead.
"""

from mpmath import mp, mpc, mpf

from dpaudit import ApproximateLoss, Composition, DiscreteLoss, GaussianLoss, LaplaceLoss, SampledGaussianLoss


def log_moment(loss, s):
    """Return ln E_P[e^(s L)]; L is conditioned to be finite where it may be infinite."""
    match loss:
        case GaussianLoss(mu=mu):
            return mpf(mu) ** 2 / 2 * s * (1 + s)
        case LaplaceLoss(shift=shift):
            x = mpf(shift)
            return s * x + mp.log((s + 1) / (2 * s + 1) + s / (2 * s + 1) * mp.exp(-(1 + 2 * s) * x))
        case ApproximateLoss(epsilon=epsilon):
            e = mpf(epsilon)
            return mp.log((mp.exp((1 + s) * e) + mp.exp(-s * e)) / (1 + mp.exp(e)))
        case DiscreteLoss(atoms=atoms, infinite_mass=mass):
            return mp.log(mp.fsum(mpf(p) * mp.exp(s * mpf(v)) for v, p in atoms) / (1 - mpf(mass)))
        case SampledGaussianLoss(mu=mu, rate=rate, order=order):
            return _sampled(mpf(mu), mpf(rate), order, s)


_NODES = {}


def _legendre(points):
    """Return Gauss-Legendre nodes on [-1, 1], refined from double precision by Newton's method."""
    if (points, mp.dps) not in _NODES:
        import numpy as np

        found = []
        for guess in np.polynomial.legendre.leggauss(points)[0]:
            x = mpf(float(guess))
            for _ in range(4):
                low, high = mpf(1), x
                for k in range(2, points + 1):
                    low, high = high, ((2 * k - 1) * x * high - (k - 1) * low) / k
                slope = points * (x * high - low) / (x * x - 1)
                x -= high / slope
            found.append((x, 2 / ((1 - x * x) * slope**2)))
        _NODES[points, mp.dps] = found
    return _NODES[points, mp.dps]


def _sampled(mu, rate, order, s):
    """Return the log moment of a sampled Gaussian by quadrature over the output."""
    reach = mpf(12)
    panels, total = 40, mpc(0)
    low, high = -reach, reach + mu + (s.real if isinstance(s, mpc) else s) * mu
    width = (high - low) / panels
    for i in range(panels):
        for node, weight in _legendre(16):
            x = low + width * (i + (node + 1) / 2)
            ratio = 1 - rate + rate * mp.exp(mu * x - mu * mu / 2)
            power = s + 1 if order == "remove" else -s
            total += width / 2 * weight * mp.npdf(x) * mp.exp(power * mp.log(ratio))
    return mp.log(total)


def true_delta(composition: Composition, epsilon: float, digits: int = 50):
    """Return delta(epsilon) to about 20 digits or better, relative."""
    with mp.workdps(digits):
        finite = mpf(1)
        for loss, times in composition.parts:
            finite *= (1 - mpf(loss.infinite_mass)) ** times
        parts = [(loss, times) for loss, times in composition.parts if loss.supremum > 0 or _has_atoms(loss)]
        if all(isinstance(loss, ApproximateLoss | DiscreteLoss) for loss, _ in parts):
            return 1 - finite + finite * _summed(parts, mpf(epsilon))
        return 1 - finite + finite * _integrated(parts, mpf(epsilon))


def _has_atoms(loss):
    return isinstance(loss, DiscreteLoss)


def _summed(parts, epsilon):
    """Return delta(epsilon) of finitely many atoms, by convolving them exactly."""
    held = {mpf(0): mpf(1)}
    for loss, times in parts:
        fresh = {}
        for value, weight in _power(loss, times):
            for old, mass in held.items():
                key = mp.nstr(old + value, 35)
                place = fresh.setdefault(key, [old + value, mpf(0)])
                place[1] += weight * mass
        held = dict(map(tuple, fresh.values()))
    return mp.fsum(mass * (1 - mp.exp(epsilon - value)) for value, mass in held.items() if value > epsilon)


def _power(loss, times):
    """Return the atoms of `times` copies."""
    if isinstance(loss, ApproximateLoss):
        e = mpf(loss.epsilon)
        up, down = 1 / (1 + mp.exp(-e)), 1 / (1 + mp.exp(e))
        for k in range(times + 1):
            yield (2 * k - times) * e, mp.binomial(times, k) * up**k * down ** (times - k)
        return
    held = {0: (mpf(0), mpf(1))}
    for _ in range(times):
        fresh = {}
        for value, mass in held.values():
            for v, p in loss.atoms:
                key = mp.nstr(value + mpf(v), 35)
                old = fresh.get(key, (value + mpf(v), mpf(0)))
                fresh[key] = (old[0], old[1] + mass * mpf(p) / (1 - mpf(loss.infinite_mass)))
        held = fresh
    yield from held.values()


def _integrated(parts, epsilon):
    """Return delta(epsilon) by the trapezoidal rule through the saddle point.

    Raises: ArithmeticError: few or small Laplace losses alone are nearly a lattice; the integrand then returns far
        out along the line, where the sum would have stopped.
    """
    between = sum(n * min(loss.shift, 1) for loss, n in parts if isinstance(loss, LaplaceLoss))
    if all(isinstance(loss, LaplaceLoss) for loss, _ in parts) and between < 80:
        raise ArithmeticError("nearly a lattice")

    def exponent(s):
        return mp.fsum(n * log_moment(loss, s) for loss, n in parts) - s * epsilon - mp.log(s) - mp.log(s + 1)

    low, high = mpf(10) ** -6, mpf(10) ** 6
    golden = (mp.sqrt(5) - 1) / 2
    a, b = mp.log(low), mp.log(high)
    for _ in range(60):
        c, d = b - golden * (b - a), a + golden * (b - a)
        if mp.re(exponent(mp.exp(c))) < mp.re(exponent(mp.exp(d))):
            b = d
        else:
            a = c
    saddle = mp.exp((a + b) / 2)
    step = saddle / 100
    base = exponent(saddle)
    curvature = (exponent(saddle + step) - 2 * base + exponent(saddle - step)) / step**2
    scale = min(1 / mp.sqrt(abs(curvature)), saddle)
    previous = None
    for halving in range(2, 9):
        h = scale / 2**halving * 2
        total, n, quiet = mpf(1) / 2, 1, 0
        while quiet < 8:
            term = mp.re(mp.exp(exponent(mpc(saddle, n * h)) - base))
            total += term
            quiet = quiet + 1 if abs(term) < mpf(10) ** -17 * abs(total) else 0
            n += 1
            if n > 6000:
                raise ArithmeticError("The contour integral does not converge.")
        value = total * h / mp.pi * mp.exp(base)
        if previous is not None and abs(value - previous) < mpf(10) ** -13 * abs(value):
            return value
        previous = value
    raise ArithmeticError("The contour integral does not settle.")
