"""Draw ratios: a line for each workload, a mark for each framework, the goals as ticks."""

from pathlib import Path
from typing import Any

from benchmarks import BenchmarkError
from benchmarks.contestants import ALL, PLAIN, SUBJECT

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "soft": "#6e7781",
    "line": "#e3e7eb",
    "ahead": "#eef7f1",
    "torch": "#d9480f",
    "torch-best": "#862e9c",
    "jax": "#1971c2",
    "chainer": "#868e96",
    "numpy": "#2b8a3e",
    "plugrad-plain": "#b08800",
}
DARK = {
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "soft": "#9198a1",
    "line": "#262c36",
    "ahead": "#10231a",
    "torch": "#ff922b",
    "torch-best": "#da77f2",
    "jax": "#4dabf7",
    "chainer": "#adb5bd",
    "numpy": "#69db7c",
    "plugrad-plain": "#ffd43b",
}
MARKS = {
    "torch": "o",
    "torch-best": "D",
    "jax": "s",
    "chainer": "^",
    "numpy": "v",
    "plugrad-plain": "P",
}
LABELS = {"torch-best": "PyTorch, best setting"}
ROW = 0.34
"""Inches that a workload takes."""


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the ratios."""
    for_both(picture, result, path)


def draw_growth(found: dict[str, Any], path: Path) -> None:
    """Draw what an operation costs in graphs of all sizes."""
    for_both(curves, found, path)


def draw_communication(found: dict[str, Any], path: Path) -> None:
    """Draw what sums over ranks take, and what is predicted for many."""
    for_both(communication, found, path)


def for_both(drawn: Any, found: dict[str, Any], path: Path) -> None:
    """Draw for a light and for a dark page."""
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError as error:
        raise BenchmarkError("--plot needs matplotlib: pip install 'plugrad[plot]'") from error
    dark = path.with_name(f"{path.stem}-dark{path.suffix}")
    for target, colours in ((path, LIGHT), (dark, DARK)):
        drawn(found, target, colours)


def picture(result: dict[str, Any], path: Path, c: dict[str, str]) -> None:
    """Draw in the colours of one page."""
    import matplotlib.pyplot as plt

    rows = list(result["rows"].values())
    names = [n for n in MARKS if n != PLAIN and any(n in row["ratios"] for row in rows)]
    height = ROW * len(rows) + 1.75
    figure, axes = plt.subplots(figsize=(10, height), facecolor=c["paper"])
    figure.subplots_adjust(left=0.42, right=0.97, top=1 - 0.8 / height, bottom=0.62 / height)
    axes.set(facecolor=c["paper"], xscale="log", ylim=(len(rows) - 0.4, -0.6))
    low, high = limits(rows)
    axes.set_xlim(low, high)
    axes.axvspan(low, 1, color=c["ahead"], linewidth=0, zorder=0)
    axes.axvline(1, color=c["soft"], linewidth=1.2, zorder=1)
    for y, row in enumerate(rows):
        axes.axhline(y, color=c["line"], linewidth=0.8, zorder=1)
        for i, name in enumerate(names):
            ratio, goal = row["ratios"].get(name), row["goals"].get(name)
            place = y + 0.17 * (i - (len(names) - 1) / 2) / max(1, len(names) - 1) * 2
            if goal is not None:
                axes.plot([goal] * 2, [place - 0.2, place + 0.2], color=c[name], lw=1.4, zorder=2)
            if ratio is not None:
                axes.plot([ratio["low"], ratio["high"]], [place] * 2, color=c[name], lw=2, zorder=3)
                axes.plot(
                    ratio["median"], place, MARKS[name], color=c[name], ms=6.5, zorder=4,
                    markeredgecolor=c["paper"], markeredgewidth=0.8,
                )  # fmt: skip
    axes.set_yticks(
        range(len(rows)), [row["title"] + ("" if row["kept"] else " *") for row in rows]
    )
    ticks = [
        t for t in (0.0625, 0.125, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 16) if low <= t <= high
    ]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.xaxis.set_minor_locator(plt.NullLocator())
    axes.tick_params(colors=c["ink"], labelsize=9, length=0, pad=6)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xlabel(
        "median ratio of times, in the last rows of memory; bar: quartiles; upright line: goal",
        color=c["soft"], fontsize=9, labelpad=8,
    )  # fmt: skip
    handles = [
        plt.Line2D([], [], color=c[n], marker=MARKS[n], linestyle="", ms=6.5,
                   label=LABELS.get(n, ALL[n].label))
        for n in names
    ]  # fmt: skip
    m = result["machine"]
    figure.text(
        0.02,
        1 - 0.3 / height,
        "Time of plugrad over that of others",
        color=c["ink"],
        fontsize=14,
        weight="bold",
    )
    figure.text(
        0.02, 1 - 0.55 / height,
        f"{m['processor']}, {result['threads']} threads, {m['time'][:10]}"
        + ("   * disturbed" if any(not row["kept"] for row in rows) else ""),
        color=c["soft"], fontsize=9,
    )  # fmt: skip
    figure.legend(
        handles=handles, loc="upper right", bbox_to_anchor=(0.98, 1 - 0.12 / height),
        ncols=len(handles), frameon=False, labelcolor=c["ink"], fontsize=9, handletextpad=0.2,
        columnspacing=1.2,
    )  # fmt: skip
    axes.annotate("plugrad is faster ", (1, 0), (0, 4), ("data", "axes fraction"), "offset points",
                  ha="right", color=c["soft"], fontsize=8)  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=144, facecolor=c["paper"])
    plt.close(figure)


def limits(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """The least and the largest of what is drawn, with room beside it; 1 is between them."""
    values = [v for row in rows for n, r in row["ratios"].items() if n not in (SUBJECT, PLAIN)
              for v in (r["low"], r["high"])]  # fmt: skip
    values += [goal for row in rows for goal in row["goals"].values()]
    return min([0.5, *values]) / 1.15, max([2.0, *values]) * 1.15


def curves(found: dict[str, Any], path: Path, c: dict[str, str]) -> None:
    """A line for each kind of graph: flat where the cost grows with the size alone."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.2), facecolor=c["paper"])
    figure.subplots_adjust(left=0.09, right=0.8, top=0.83, bottom=0.15)
    axes.set(facecolor=c["paper"], xscale="log")
    colours = [c["torch"], c["jax"], c["numpy"]]
    labels = {"deep": "deep graph", "wide": "wide graph", "parameters": "update"}
    for (name, costs), colour in zip(found["microseconds"].items(), colours, strict=True):
        sizes, values = [int(n) for n in costs], list(costs.values())
        axes.plot(sizes, values, "o-", color=colour, lw=2, ms=6, markeredgecolor=c["paper"])
        axes.annotate(labels[name], (sizes[-1], values[-1]), (9, -3), textcoords="offset points",
                      color=colour, fontsize=10)  # fmt: skip
    axes.set_ylim(
        0, 1.15 * max(v for costs in found["microseconds"].values() for v in costs.values())
    )
    axes.set_xlabel("operations, or parameters", color=c["soft"], fontsize=9)
    axes.tick_params(colors=c["ink"], labelsize=9, length=0, which="both")
    axes.grid(axis="y", color=c["line"], linewidth=0.8)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
    figure.text(0.03, 0.93, "Microseconds of each", color=c["ink"], fontsize=14, weight="bold")
    m = found["machine"]
    place = f"{m['processor']}, {m['time'][:10]}"
    about = f"operation forward and backward, or parameter, in processor time; {place}"
    figure.text(0.03, 0.87, about, color=c["soft"], fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=144, facecolor=c["paper"])
    plt.close(figure)


def communication(found: dict[str, Any], path: Path, c: dict[str, str]) -> None:
    """Measured sums beside the fitted model; and the efficiency of many ranks on networks."""
    import matplotlib.pyplot as plt

    from benchmarks.alpha_beta import here

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), facecolor=c["paper"])
    figure.subplots_adjust(left=0.07, right=0.93, top=0.78, bottom=0.13, wspace=0.24)
    colours = [c["torch"], c["jax"], c["numpy"]]
    counts = sorted({ranks for ranks, _, _ in found["points"]})
    for ranks, colour in zip(counts, colours, strict=False):
        points = sorted((size, took) for n, size, took in found["points"] if n == ranks)
        sizes = [size for size, _ in points]
        left.plot(sizes, [1e3 * took for _, took in points], "o", color=colour, ms=6,
                  markeredgecolor=c["paper"], label=f"{ranks} ranks, measured")  # fmt: skip
        for shape, line in (("ring", "-"), ("tree", ":")):
            fitted = found["fits"][shape]
            ms = [1e3 * here(ranks, size, shape, fitted, found["cores"]) for size in sizes]
            left.plot(sizes, ms, line, color=colour, lw=1.5, label=f"{ranks} ranks, {shape}")
    left.set(xscale="log", yscale="log")
    left.set_xlabel("bytes of gradients", color=c["soft"], fontsize=9)
    left.set_title("Milliseconds of an exchange", color=c["ink"], fontsize=11, loc="left")
    left.legend(frameon=False, labelcolor=c["ink"], fontsize=8)
    for (name, steps), colour in zip(found["ahead"].items(), colours, strict=True):
        values = [100 * found["compute"] / each.step for each in steps]
        right.plot(found["ranks"], values, "-", color=colour, lw=2)
        for ranks, value, each in zip(found["ranks"], values, steps, strict=True):
            filled = colour if each.shape == "ring" else c["paper"]
            right.plot(ranks, value, "o", ms=6, color=filled, markeredgecolor=colour)
        right.annotate(name, (found["ranks"][-1], values[-1]), (8, -3), color=colour, fontsize=9,
                       textcoords="offset points", annotation_clip=False)  # fmt: skip
    right.set(xscale="log", ylim=(0, 105))
    right.set_xticks(found["ranks"], [f"{n:,}" for n in found["ranks"]])
    right.xaxis.set_minor_locator(plt.NullLocator())
    right.set_xlabel("ranks; a filled mark: ring, an open one: tree", color=c["soft"], fontsize=9)
    right.set_title("Predicted efficiency, %, with as many examples for each rank",
                    color=c["ink"], fontsize=11, loc="left")  # fmt: skip
    for axes in (left, right):
        axes.set_facecolor(c["paper"])
        axes.tick_params(colors=c["ink"], labelsize=8, length=0, which="both")
        axes.grid(axis="y", color=c["line"], linewidth=0.8)
        axes.set_axisbelow(True)
        for side in axes.spines.values():
            side.set_visible(False)
    figure.text(0.02, 0.93, "Exchange of gradients", color=c["ink"], fontsize=14, weight="bold")
    m = found["machine"]
    about = f"{m['processor']}, {m['cores']} cores, {m['time'][:10]}"
    about += "; MLP 784-1000-1000-10, 128 examples for each rank"
    figure.text(0.02, 0.87, about, color=c["soft"], fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=144, facecolor=c["paper"])
    plt.close(figure)
