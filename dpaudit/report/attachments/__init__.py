"""Machine-readable statements about the files of a report: in-toto, and the registry of deployments."""
