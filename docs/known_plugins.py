"""Write the table of known_plugins.md from known_plugins.toml."""

import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "known_plugins.md"
BEGIN, END = "<!-- plugins: written by known_plugins.py -->\n", "<!-- end of plugins -->"


def known():
    """The plugins of the file."""
    return tomllib.loads((HERE / "known_plugins.toml").read_text(encoding="utf-8"))["plugin"]


def table(plugins):
    """The lines of the table."""
    lines = ["| distribution | what it is | what it offers | plugin API |", "|---|---|---|---|"]
    for plugin in plugins:
        source = plugin["source"]
        link = source if source.startswith("https://") else f"../{source}"
        offers = [
            f"{kind}: {', '.join(f'`{n}`' for n in names)}"
            for kind, names in plugin["offers"].items()
        ]
        cells = [
            f"[{plugin['distribution']}]({link})",
            plugin["summary"],
            "; ".join(offers),
            str(plugin["api"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "".join(f"{line}\n" for line in lines)


def page(text):
    """The page with the table as it should be."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{table(known())}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
