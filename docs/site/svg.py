# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""Pictures for light and dark screens, wide enough for a telephone."""

import html

WIDTH = 440
COLOURS = {"paper": ("#ffffff", "#0d1117"), "ink": ("#1f2328", "#f0f6fc"),
           "faint": ("#59636e", "#9198a1")}


def variables(colours, dark):
    return " ".join(f"--{name}: {pair[dark]};" for name, pair in colours.items())


def picture(title, height, colours, rules, parts, words=""):
    """`colours`: {name: (on light screens, on dark ones)}, for `rules`, which are CSS, as
    var(--name). `words` say what the picture shows."""
    colours = COLOURS | colours
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{html.escape(title)}</title>",
        *([f"<desc>{html.escape(words)}</desc>"] if words else []),
        f"""<style>
    svg {{ {variables(colours, False)}
          font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }}
    @media (prefers-color-scheme: dark) {{
        svg {{ {variables(colours, True)} }}
    }}
    text {{ fill: var(--ink); }}
    .paper {{ fill: var(--paper); }}
    .title {{ font-size: 17px; font-weight: 600; }}
    .faint {{ fill: var(--faint); font-size: 13px; }}{rules.rstrip()}
</style>""",
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="12" y="28">{html.escape(title)}</text>', *parts, "</svg>"]) + "\n"
