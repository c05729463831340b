"""Machine-readable statements about a report's files: in-toto, and the registry of deployments."""
