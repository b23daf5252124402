#!/usr/bin/env python3
# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0
#
# usage: docs/site/pages.py FOLDER
#
# Writes the Markdown that mkdocs builds the site from to FOLDER/pages, and FOLDER/mkdocs.yml with
# the navigation. FOLDER/xml is Doxygen's output. Links between documents stay; links to other files
# of the repository lead to pages that show those files. Fails if a public entity has no text, or a
# document has no place in the navigation.

import json
import pathlib
import re
import shutil
import sys

import reference

# The documents, in the order to read them: all of docs/ must be here.
GUIDE = {
    "Start": ["guide/choose", "guide/first_server", "guide/recipes"],
    "Timers": ["guide/timers", "guide/migrating", "guide/replace_asio_timers",
               "guide/wheel", "guide/testing"],
    "Utilities": ["guide/sleep", "guide/cancel_after", "guide/timeout", "guide/deadline",
                  "guide/timeout_stream", "guide/interval", "guide/idle_timer",
                  "guide/heartbeat", "guide/delay_queue", "guide/delayed_operations",
                  "guide/backoff", "guide/retry", "guide/rate_limiter", "guide/scheduler",
                  "guide/civil_time", "guide/handler_group"],
    "In production": ["guide/operations", "guide/inspector", "guide/works_with",
                      "guide/durable_queue", "guide/packages", "reliability"],
    "Questions": ["guide/faq", "parity"],
}
DESIGN = ["design", "performance", "vocabulary", "versioning", "windows"]
PROJECT = ["CONTRIBUTING", "CHANGELOG", "SECURITY", "test/README"]

# The headers that a page is about, if it does not have the name of its only header.
HEADERS = {
    "timers": ["basic_waitable_timer", "steady_timer", "system_timer", "high_resolution_timer",
               "boottime_timer", "boottime_clock"],
    "wheel": ["wheel_service", "wheel_options", "error"],
    "interval": ["interval", "missed"],
    "testing": ["virtual_time"],
    "operations": ["stats", "lateness", "pending", "openmetrics", "tag", "wait_kind"],
    "timeout_stream": ["timeout_stream", "beast"],
    "design": ["wheel", "tick"],
}

LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".js": "js", ".sh": "bash"}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^()\s]+)\)")


class Site:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.pages = self.folder / "pages"
        self.reference = reference.Reference(self.folder / "xml")
        self.root = pathlib.Path().resolve()
        self.linked = []  # Files of the repository whose pages are yet to be written.
        self.written = set()

    def write(self, page, text):
        path = self.pages / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.written.add(page)

    # --- Where a file of the repository is on the site ------------------------------------------

    def page_of(self, path):
        """The page, from the root of the site, that shows a file or folder of the repository."""
        name = path.as_posix()
        if name == "README.md":
            return "index.md"
        if name == "include/asio_wheel.hpp":
            return "reference/index.md"
        if name == "examples/README.md":
            return "examples/index.md"
        if name == "docs/guide":
            return "docs/guide/choose.md"
        if re.fullmatch(r"include/asio_wheel/\w+\.hpp", name):
            return f"reference/{path.stem}.md"
        if path.suffix == ".md" or name.startswith("docs/images") or "/images/" in name:
            return name
        if path.parts[0] == "examples":
            return "/".join(["examples", *self.example_of(path)])
        if path not in self.linked:
            self.linked.append(path)
        return f"source/{name}.md" if path.is_file() else f"source/{name}/index.md"

    @staticmethod
    def example_of(path):
        """An example is one file, or a folder, of which each file is a section."""
        if len(path.parts) == 1:
            return ["index.md"]
        folder = path if path.is_dir() else path.parent
        if folder == pathlib.Path("examples"):
            return [f"{path.stem}.md"]
        page = "_".join(folder.parts[1:]) + ".md"
        return [page if path.is_dir() else f"{page}#{reference.slug(path.name)}"]

    def fix_links(self, text, source, page):
        """Makes links from the file `source` of the repository right for `page` of the site."""
        def fixed(match):
            label, target = match.groups()
            if re.match(r"https?:|mailto:|#", target):
                return match.group()
            address, hash_, anchor = target.partition("#")
            path = (self.root / source).parent.joinpath(address).resolve()
            if not path.exists():  # Not a link, but `[](error_code) {` outside of a block.
                return match.group()
            address = self.page_of(path.relative_to(self.root))
            up = "../" * (len(pathlib.PurePosixPath(page).parts) - 1)
            return f"{label}({up}{address}{hash_}{anchor})"
        return "\n".join(block if is_code else LINK.sub(fixed, block)
                         for is_code, block in blocks(text))

    # --- Pages ----------------------------------------------------------------------------------

    def document(self, source, page=None, title=None):
        page = page or source
        text = pathlib.Path(source).read_text()
        text = "\n".join(block if is_code else for_python_markdown(block)
                         for is_code, block in blocks(text))
        text = self.fix_links(text, source, page)
        if source.startswith("docs/"):
            up = "../" * source.count("/")
            text = self.link_names(text, up)
            headers = self.headers_of(source)
            links = " ".join(f"[Reference: {header}.hpp]({up}reference/{header}.md){{ .pill }}"
                             for header in headers)
            first, _, rest = text.partition("\n")
            text = f"{first}\n\n{links}\n{rest}"
        self.write(page, text)

    def headers_of(self, source):
        stem = pathlib.Path(source).stem
        return HEADERS.get(stem, [stem] if stem in self.reference.pages else [])

    def link_names(self, text, up):
        """Links the first mention of each public name to the reference: `make_wheel()`."""
        names = dict(self.reference.names())

        def linked(match):
            name = match.group(1).removesuffix("()")
            address = names.pop(name, None) if re.search("_|::", name) else None
            return f"[{match.group()}]({up}reference/{address})" if address else match.group()

        def in_line(line):
            return line if line.startswith(("#", "    ")) or "](" in line else re.sub(
                r"`([\w:]+(?:\(\))?)`", linked, line)
        return "\n".join(block if is_code else "\n".join(map(in_line, block.split("\n")))
                         for is_code, block in blocks(text))

    def reference_pages(self):
        for header in self.reference.headers:
            links = []
            links += [f"[Guide: {title_of(path.read_text())}](../{path}){{ .pill }}"
                      for path in sorted(pathlib.Path("docs").rglob("*.md"))
                      if header in self.headers_of(path.as_posix())]
            links += [f"[Example: {path.stem}](../{self.page_of(path)}){{ .pill }}"
                      for path in self.examples_with(header)[:3]]
            source = pathlib.Path(f"include/asio_wheel/{header}.hpp")
            links.append(f"[Source](../source/{source}.md){{ .pill }}")
            self.linked.append(source)
            self.write(f"reference/{header}.md",
                       self.reference.write_page(header, " ".join(links)))
        self.write("reference/index.md", self.reference.write_contents())

    @staticmethod
    def examples_with(header):
        return [path for path in sorted(pathlib.Path("examples").glob("*.cpp"))
                if f"#include <asio_wheel/{header}.hpp>" in path.read_text()]

    def examples(self):
        """One page for each example. Returns the pages."""
        folders = [folder for folder in sorted(pathlib.Path("examples").rglob("*"))
                   if folder.is_dir() and any(folder.glob("*.?pp"))]
        single = sorted(pathlib.Path("examples").glob("*.cpp"))
        examples = sorted(single + folders, key=lambda path: (not path.name[0].isdigit(), path))
        index = pathlib.Path("examples/README.md")
        listed = {index.parent / target for _, target in LINK.findall(index.read_text())}
        if listed != set(examples):
            sys.exit(f"{index}: {' '.join(map(str, sorted(listed ^ set(examples))))}")
        self.document(str(index), "examples/index.md")
        pages = [self.page_of(path) for path in examples]
        for path, page in zip(examples, pages):
            self.example(path, page)
        return pages

    def example(self, path, page):
        if path.is_file():
            comment, code = split_comment(path.read_text())
            self.write(page, f"# {path.name}\n\n{comment}\n\n{fenced(path, code)}\n")
            return
        parts = [f"# {path.relative_to('examples')}"]
        readme = path / "README.md"
        if readme.exists():
            parts = [self.fix_links(readme.read_text(), str(readme), page)]
        files = [f for f in sorted(path.iterdir())
                 if f.is_file() and f.name not in ("README.md", "CMakeLists.txt")]
        files.sort(key=lambda f: f.name != "main.cpp")
        for file in files:
            comment, code = split_comment(file.read_text())
            parts += [f"## {file.name} {{ #{reference.slug(file.name)} }}", comment,
                      fenced(file, code)]
        self.write(page, "\n\n".join(parts) + "\n")

    def sources(self):
        """Pages for the linked files and folders; a page may link to further ones."""
        for path in self.linked:
            if path.is_file():
                self.write(f"source/{path}.md", f"# {path}\n\n{fenced(path, path.read_text())}\n")
                continue
            page = f"source/{path}/index.md"
            rows = [f"# {path}/", "| file | what it is |\n|---|---|"]
            for file in sorted(f for f in path.iterdir() if f.suffix in (".cpp", ".hpp")):
                target = "../" * len(path.parts) + "../" + self.page_of(file)
                comment, _ = split_comment(file.read_text())
                rows[-1] += f"\n| [{file.name}]({target}) | {first_sentence(comment)} |"
            self.write(page, "\n\n".join(rows) + "\n")

    def titled(self, pages):
        """Items of the navigation: the beginnings of the pages' titles."""
        return [{title_of((self.pages / page).read_text()): page} for page in pages]

    # --- All of it ------------------------------------------------------------------------------

    def build(self):
        shutil.rmtree(self.pages, ignore_errors=True)
        guide = {title: [f"docs/{name}.md" for name in names] for title, names in GUIDE.items()}
        design = [f"docs/{name}.md" for name in DESIGN]
        project = [f"{name}.md" for name in PROJECT]
        known = set(design).union(*guide.values())
        missing = {p.as_posix() for p in pathlib.Path("docs").rglob("*.md")} - known
        if missing:
            sys.exit(f"docs/site/pages.py: not in the navigation: {' '.join(sorted(missing))}")
        grouped = {header for headers in reference.GROUPS.values() for header in headers}
        if grouped != set(self.reference.headers):
            wrong = sorted(grouped ^ set(self.reference.headers))
            sys.exit(f"docs/site/reference.py: not in one group: {' '.join(wrong)}")

        self.document("README.md", "index.md")
        index = self.pages / "index.md"
        index.write_text("---\nhide: [navigation]\n---\n" + index.read_text())
        for source in [*known, *project]:
            self.document(source)
        for folder in ("docs/images", "docs/guide/images"):
            shutil.copytree(folder, self.pages / folder)
        self.reference_pages()
        examples = self.examples()
        self.sources()
        for name in ("style.css", "search.js"):
            shutil.copy(f"docs/site/{name}", self.pages)

        groups = [{title: [{f"{h}.hpp": f"reference/{h}.md"} for h in headers]}
                  for title, headers in reference.GROUPS.items()]
        config = {
            "INHERIT": str(self.root / "docs/site/mkdocs.yml"),
            "docs_dir": "pages", "site_dir": "site",
            "theme": {"custom_dir": str(self.root / "docs/site/theme")},
            "hooks": [str(self.root / "docs/site/hooks.py")],
            "nav": [{"Home": "index.md"},
                    {"Guide": [{title: self.titled(pages)} for title, pages in guide.items()]},
                    {"Examples": [{"All examples": "examples/index.md"},
                                  *({pathlib.Path(page).stem: page} for page in examples)]},
                    {"Reference": [{"All headers": "reference/index.md"}, *groups]},
                    {"Design": self.titled(design)},
                    {"Project": self.titled(project)}]}
        (self.folder / "mkdocs.yml").write_text(json.dumps(config, indent=2))


def title_of(text):
    """`Sleeping: asio_wheel/sleep.hpp` is called Sleeping in the navigation."""
    title = re.search(r"(?m)^# (.*)", text).group(1).replace("`", "")
    return title.split(": ")[0]


def blocks(text):
    """Splits Markdown into (is code, lines)."""
    lines, is_code = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            if is_code:
                yield True, "\n".join([*lines, line])
                lines, is_code = [], False
                continue
            yield False, "\n".join(lines)
            lines, is_code = [], True
        lines.append(line)
    yield is_code, "\n".join(lines)


def for_python_markdown(text):
    """GitHub lets a list follow a paragraph at once, and nests by two or three spaces."""
    text = re.sub(r"(?m)^(?![ ]*([-*]|\d+\.) |[|#]|\s*$)(.*)\n(?=([-*]|\d+\.) )", r"\2\n\n", text)
    return re.sub(r"(?m)^( {2,3})(?=([-*]|\d+\.) )", "    ", text)


def split_comment(code):
    """The comment at the top of a source file, without the licence, as Markdown; and the rest."""
    lines = code.split("\n")
    mark = "#" if lines[0].startswith("#") else "//"
    while lines and (lines[0].startswith(mark) and re.search(r"Copyright|SPDX|#!", lines[0])
                     or lines[0].strip() in ("", mark)):
        lines.pop(0)
    comment = []
    while lines and lines[0].startswith(mark) and not lines[0].startswith("#include"):
        comment.append(lines.pop(0).removeprefix(mark).removeprefix(" "))
    return for_python_markdown("\n".join(comment)), "\n".join(lines).strip("\n")


def first_sentence(text):
    text = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=[.:]) (?=[A-Z])", text)[0].rstrip(":").replace("|", "\\|")


def fenced(path, code):
    language = LANGUAGES.get(path.suffix, "bash" if code.startswith("#!") else "text")
    ticks = "````" if "```" in code else "```"
    return f"{ticks}{language}\n{code.rstrip()}\n{ticks}"


def main():
    site = Site(sys.argv[1])
    undocumented = site.reference.undocumented()
    if undocumented:
        print("\n".join(undocumented), file=sys.stderr)
        print(f"{len(undocumented)} public entities have no text", file=sys.stderr)
    site.build()
    return 1 if undocumented else 0


if __name__ == "__main__":
    sys.exit(main())
