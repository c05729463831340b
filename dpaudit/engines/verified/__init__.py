"""The verified engine: two-sided bounds on composed privacy losses in exact integer arithmetic."""
