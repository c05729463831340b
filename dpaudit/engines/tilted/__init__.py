"""The tilted engine: two-sided bounds by a Fourier transform in doubles whose rounding is bounded."""
