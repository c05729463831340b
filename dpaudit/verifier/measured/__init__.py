"""Claims in rho, mu, Renyi divergences and points of a profile, checked anew."""
