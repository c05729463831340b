"""The law of noise: samples of a mechanism against the law that its parameters state."""
