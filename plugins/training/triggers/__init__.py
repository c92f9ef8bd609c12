"""Triggers: when an extension runs, and when training ends."""

provides = {
    "best_value_trigger": "BestValueTrigger MaxValueTrigger MinValueTrigger",
    "early_stopping_trigger": "EarlyStoppingTrigger",
    "interval_trigger": "IntervalTrigger",
    "manual_schedule_trigger": "ManualScheduleTrigger",
    "once_trigger": "OnceTrigger",
    "plateau_trigger": "PlateauTrigger",
    "time_trigger": "TimeTrigger",
}
