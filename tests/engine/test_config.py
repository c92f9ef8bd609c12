"""Configuration: what a thread sets for itself, and what everybody shares."""

import asyncio
import copy
import io
import re
import threading

import ml_dtypes
import numpy as np
import pytest
from samples import variable

import core
from core.errors import UnknownName
from core.registry import configuration


@pytest.fixture
def shared():
    """The shared configuration, put back afterwards."""
    before = dict(core.configuration._shared)
    yield core.global_config
    for name in set(core.configuration._shared) - set(before):
        del core.configuration._shared[name]
    for name, value in before.items():
        setattr(core.global_config, name, value)


@pytest.fixture
def own():
    """The configuration of the thread; what a test sets is removed afterwards."""
    yield core.config
    for name in list(core.configuration.current_state().own):
        delattr(core.config, name)


def in_a_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


def test_entries_and_their_defaults():
    config = core.config
    assert config.train and config.enable_backprop and config.type_check
    assert not config.debug and not config.keep_graph_on_report and not config.cudnn_deterministic
    assert config.use_cudnn == "auto" and config.dtype == "float32"


def test_using_config_holds_for_its_block():
    with core.using_config("train", False):
        assert not core.config.train
        with core.using_config("train", True):
            assert core.config.train
        assert not core.config.train
    assert core.config.train


def test_using_config_undoes_itself_after_an_exception():
    with pytest.raises(ZeroDivisionError), core.using_config("train", False):
        raise ZeroDivisionError
    assert core.config.train


def test_using_config_as_a_decorator():
    @core.using_config("train", False)
    def f():
        return core.config.train

    assert f() is False and core.config.train


def test_what_is_set_inside_a_block_stays(own):
    with core.using_config("debug", True):
        core.config.train = False
        with core.no_backprop_mode():
            assert core.config.debug and not core.config.train and not core.config.enable_backprop
    assert not core.config.train and not core.config.debug and core.config.enable_backprop
    del core.config.train
    assert core.config.train


def test_a_new_thread_starts_from_the_shared_values(own):
    core.config.train = False
    with core.no_backprop_mode():
        assert in_a_thread(lambda: (core.config.train, core.config.enable_backprop)) == (True, True)


def test_what_a_thread_sets_is_its_own():
    def other():
        core.config.train = False
        return core.config.train

    assert in_a_thread(other) is False and core.config.train


def test_shared_values_reach_every_thread_that_set_none(shared, own):
    shared.train = False
    assert not core.config.train and in_a_thread(lambda: core.config.train) is False
    core.config.train = True
    assert core.config.train and in_a_thread(lambda: core.config.train) is False
    with core.using_config("debug", False):
        assert core.config.train


def test_shared_values_set_in_a_block_are_undone(shared):
    with core.using_config("train", False, core.global_config):
        assert in_a_thread(lambda: core.config.train) is False
    assert core.global_config.train


def test_shared_flags_are_seen_by_operations_at_once(shared):
    shared.enable_backprop = False
    assert (variable(3) * 2).creator is None
    shared.enable_backprop = True
    assert (variable(3) * 2).creator is not None


def test_asynchronous_tasks_keep_their_own():
    async def task(value):
        with core.using_config("train", value):
            await asyncio.sleep(0)
            return core.config.train

    async def both():
        return await asyncio.gather(task(True), task(False))

    assert asyncio.run(both()) == [True, False] and core.config.train


def test_no_backprop_mode_and_force_backprop_mode():
    x = variable(3)
    with core.no_backprop_mode():
        y = x * x
        with core.force_backprop_mode():
            assert (x * x).creator is not None
    assert y.creator is None and not y.requires_grad and (x * x).creator is not None


def test_debug_has_its_own_switches(own):
    core.set_debug(True)
    assert core.is_debug() and core.config.debug
    core.set_debug(False)
    with core.DebugMode(True):
        assert core.is_debug()
    assert not core.is_debug()


@pytest.mark.parametrize("config", [core.config, core.global_config], ids=["own", "shared"])
def test_a_misspelt_entry_gets_the_nearest(config):
    with pytest.raises(UnknownName, match="'trian'. Did you mean 'train'"):
        _ = config.trian
    with pytest.raises(UnknownName, match="Did you mean 'enable_backprop'"):
        config.enable_backporp = False
    with pytest.raises(UnknownName, match="Did you mean 'train'"), core.using_config("trian", 0):
        pass


def test_names_of_ones_own_that_look_like_slips(own, shared):
    for config in (core.config, core.global_config):
        with pytest.raises(UnknownName, match="begin with 'user_'"):
            config.my_debug = 1
        config.user_debug = 1
        with core.using_config("user_train", 2, config):
            assert core.config.user_train == 2
        del config.user_debug


def test_entries_of_ones_own(shared):
    shared.my_laboratory = 3
    assert core.config.my_laboratory == 3
    with core.using_config("my_laboratory", [1]):
        assert core.config.my_laboratory == [1]


GOOD = {
    "flag": [True, False, 0, 1, np.bool_(False), np.True_],
    "choice": ["always", "auto", "never"],
    "dtype": ["float64", "bfloat16", np.float16, np.dtype("f8"), ml_dtypes.bfloat16, core.mixed16],
    "count": [1, 7, None],
}
BAD = {
    "flag": ["no", "False", None, 2, -1, 0.5, [], np.zeros(1), "train"],
    "choice": [True, None, "sometimes", 1],
    "dtype": ["int32", np.int32, None, 32, "f4", "flaot32", float, np.ones(1, "f")],
    "count": [0, -1, True, 1.0, "2", np.ones(1)],
}


def kind_of(name):
    kinds = {
        "dtype": "dtype",
        "use_cudnn": "choice",
        "use_cudnn_tensor_core": "choice",
        "num_threads": "count",
    }
    return kinds.get(name, "flag")


def entries():
    out = io.StringIO()
    core.global_config.show(out)
    return [line.split()[0] for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("name", entries())
def test_every_entry_knows_what_it_may_be(name, own, shared):
    before = getattr(core.config, name)
    for value in GOOD[kind_of(name)]:
        with core.using_config(name, value), core.using_config(name, value, core.global_config):
            assert getattr(core.config, name) is value
        setattr(own, name, value)
        delattr(own, name)
    for value in BAD[kind_of(name)]:
        for way in (
            lambda value=value: setattr(core.config, name, value),
            lambda value=value: setattr(core.global_config, name, value),
            lambda value=value: core.using_config(name, value).__enter__(),
            lambda value=value: core.using_config(name, value, core.global_config)(len)([]),
        ):
            with pytest.raises(ValueError, match=f"config.{name}: expected .* got"):
                way()
            assert getattr(core.config, name) is before


def test_the_nearest_word_is_offered():
    with pytest.raises(ValueError, match="use_cudnn: expected 'always', 'auto' or 'never', got"):
        core.config.use_cudnn = True
    with pytest.raises(ValueError, match="got 'nevr'. Did you mean 'never'"):
        core.config.use_cudnn = "nevr"
    with pytest.raises(ValueError, match="got 'flaot32'. Did you mean 'float32'"):
        core.config.dtype = "flaot32"


def test_deleting_what_was_not_set():
    with pytest.raises(UnknownName, match="has set no config entry 'train'"):
        del core.config.train


def test_show_prints_every_entry():
    out = io.StringIO()
    with core.using_config("train", False):
        core.config.show(out)
        assert re.fullmatch(
            r"<LocalConfig of \d+ entries; print\(\) shows them>", repr(core.config)
        )
        assert f"{core.config}\n" == out.getvalue()
    lines = out.getvalue().splitlines()
    assert any(line.split() == ["train", "False"] for line in lines)
    shared = io.StringIO()
    core.global_config.show(shared)
    assert any(line.split() == ["train", "True"] for line in shared.getvalue().splitlines())
    assert f"{core.global_config}\n" == shared.getvalue()


def test_unchecked_types_are_let_through():
    x, y = np.ones(3, "f"), np.ones(3, "d")
    with core.using_config("type_check", False):
        z = core.Variable(x) * core.Variable(y)
    assert z.dtype == "float64"


# -- blocks that do not nest -----------------------------------------------------------------------


def test_one_object_may_be_entered_again():
    mode = core.no_backprop_mode()
    with mode:
        with mode:
            assert not core.config.enable_backprop
        assert not core.config.enable_backprop
    assert core.config.enable_backprop
    with mode:
        pass
    assert core.config.enable_backprop
    shared = core.using_config("train", False, core.global_config)
    with shared, shared:
        assert not core.global_config.train
    assert core.global_config.train


def test_one_object_may_be_entered_by_several_threads():
    mode, inside, leave = core.using_config("train", False), threading.Barrier(4), []

    def work():
        core.config.train = True
        with mode:
            inside.wait()
            leave.append(core.config.train)
            inside.wait()
        leave.append(core.config.train)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(leave) == [False] * 4 + [True] * 4


def test_a_decorated_function_may_call_itself():
    seen = []

    @core.using_config("train", False)
    def descend(n):
        seen.append(core.config.train)
        if n:
            descend(n - 1)
        seen.append(core.config.train)

    descend(2)
    assert seen == [False] * 6 and core.config.train


def test_a_generator_keeps_its_block_open_for_the_caller():
    def steps():
        with core.using_config("train", False):
            yield core.config.train
            yield core.config.train

    walk = steps()
    assert next(walk) is False and core.config.train is False
    with core.using_config("debug", True):
        assert list(walk) == [False]
        assert core.config.train and core.config.debug
    assert core.config.train and not core.config.debug
    walk = steps()
    next(walk)
    walk.close()
    assert core.config.train


def test_blocks_may_end_in_any_order():
    first, second = core.using_config("train", False), core.using_config("debug", True)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert core.config.train and core.config.debug
    second.__exit__(None, None, None)
    assert core.config.train and not core.config.debug


def test_configs_of_ones_own_share_nothing_with_the_frameworks():
    shared = configuration.GlobalConfig()
    local = configuration.LocalConfig(shared)
    shared.depth = 3
    assert local.depth == 3 and not hasattr(core.global_config, "depth")
    assert not hasattr(shared, "train") and not hasattr(local, "train")
    local.depth = 4
    seen = []
    thread = threading.Thread(target=lambda: seen.append(local.depth))
    thread.start()
    thread.join()
    assert (local.depth, shared.depth, seen) == (4, 3, [3])
    for config, before in ((local, 4), (shared, 3)):
        with core.using_config("depth", 5, config), core.using_config("new", 1, config):
            assert config.depth == 5 and config.new == 1
        assert config.depth == before and not hasattr(config, "new")
    del local.depth
    stream = io.StringIO()
    local.show(stream)
    shared.show(stream)
    assert stream.getvalue() == "depth 3\n" * 2
    del shared.depth
    for config in (local, shared):
        with pytest.raises(UnknownName, match="depth"):
            del config.depth
        config.show(stream)
    assert stream.getvalue() == "depth 3\n" * 2
    assert copy.copy(shared) is not shared and copy.copy(local) is not local
    with pytest.raises(UnknownName, match=r"config\.train is what operations read"):
        del core.global_config.train
