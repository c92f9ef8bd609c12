"""What `core.training.triggers` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.training.triggers.best_value_trigger import BestValueTrigger as BestValueTrigger
from plugins.training.triggers.best_value_trigger import MaxValueTrigger as MaxValueTrigger
from plugins.training.triggers.best_value_trigger import MinValueTrigger as MinValueTrigger
from plugins.training.triggers.early_stopping_trigger import (
    EarlyStoppingTrigger as EarlyStoppingTrigger,
)
from plugins.training.triggers.interval_trigger import IntervalTrigger as IntervalTrigger
from plugins.training.triggers.manual_schedule_trigger import (
    ManualScheduleTrigger as ManualScheduleTrigger,
)
from plugins.training.triggers.once_trigger import OnceTrigger as OnceTrigger
from plugins.training.triggers.plateau_trigger import PlateauTrigger as PlateauTrigger
from plugins.training.triggers.time_trigger import TimeTrigger as TimeTrigger

def of(distribution: str) -> Offer: ...
