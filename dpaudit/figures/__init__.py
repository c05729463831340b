"""Figures as deterministic SVG, on one canvas: what reports, studies, curves and histories draw."""
