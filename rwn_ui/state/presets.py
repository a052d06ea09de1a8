"""Starting points of epsilon, k and q, fitted to a table's distances."""

from __future__ import annotations

from rwn_core.neighbors.slider_range import Reach

PRESETS = {"Light": (0.6, 3, 0.5), "Standard": (1.2, 5, 1.0), "Strong": (2.4, 15, 1.0)}


def preset_values(preset: str, slider_range: Reach) -> tuple[float, int, float]:
    """Epsilon as a multiple of the typical nearest distance, k and q."""
    radii, k, q = PRESETS[preset]
    step = slider_range.step
    epsilon = min(round(radii * slider_range.typical / step) * step, slider_range.epsilon)
    return round(epsilon, 10), min(k, slider_range.k), q
