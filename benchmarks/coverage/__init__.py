"""Coverage of the bounds: repeated audits of pairs whose true epsilon is known exactly."""
