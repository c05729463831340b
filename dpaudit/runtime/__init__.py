"""The running installation: plug-ins, the guard of the package names, and the provenance of code."""
