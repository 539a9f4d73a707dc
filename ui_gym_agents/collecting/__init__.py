"""Where a learner's episodes come from: sampling until there are enough, recordings, filters."""

from ui_gym_agents.collecting.filters import Filters, instance
from ui_gym_agents.collecting.recorded import Recording
from ui_gym_agents.collecting.sampling import Count, Unit, sample_fixed, sample_successes

__all__ = [
    "Count",
    "Filters",
    "Recording",
    "Unit",
    "instance",
    "sample_fixed",
    "sample_successes",
]
