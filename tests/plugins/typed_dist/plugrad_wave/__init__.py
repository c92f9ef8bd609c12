"""A plugin whose function and optimizer say what they take by their declarations alone."""

from typing import Any

from core import Elementwise, GradientMethod, UpdateRule, hookimpl

requires_plugin_api = 1


class Wave(Elementwise):
    height: float = 1.0
    periods: tuple[int, ...] = (1,)

    def compute(self, xp: Any, x: Any) -> Any:
        return sum(self.height * xp.sin(period * x) for period in self.periods)


class DriftRule(UpdateRule):
    speed: float = 0.1

    def step(self, xp: Any, param: Any, grad: Any) -> None:
        param -= self.speed


class Drift(GradientMethod):
    rule = DriftRule


@hookimpl
def register_functions() -> dict[str, Any]:
    return {"wave": Wave.call, "swell": "plugrad_wave:Wave.call"}


@hookimpl
def register_optimizers() -> dict[str, Any]:
    return {"Drift": "plugrad_wave:Drift"}
