# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""What is done when mkdocs has built a page, and the site."""

import json
import pathlib


def on_post_page(output, **_):
    # The theme's search leaves out frequent words, such as "all", which people look for.
    return output.replace('"trimmer, stopWordFilter"', '"trimmer"')


def on_post_build(config):
    site = pathlib.Path(config["site_dir"])
    for path in site.rglob("*.map"):  # Of the theme's scripts.
        path.unlink()

    # The pages that only show source code are left out of the search.
    path = site / "search/search_index.json"
    index = json.loads(path.read_text())
    index["docs"] = [d for d in index["docs"] if not d["location"].startswith("source/")]
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    path.write_text(text)
    path.with_suffix(".js").write_text(f"__search.loaded = {text};\n")  # See search.js.
