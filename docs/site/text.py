# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""Turns the text of a comment, in Doxygen's XML, into Markdown."""

import re

# A paragraph that begins with one of these words is shown under it, as in "Errors: success; ...".
LABELS = (
    "Completion signature", "Completion signatures", "Completion", "Errors", "Executor",
    "Per-operation cancellation", "Allocation", "Lifetimes", "Lifetimes, thread safety",
    "Thread safety", "Cost", "Memory", "Keys", "Where it runs", "Nested deadlines",
    "A timer of the user's", "Handlers that throw", "Not followed",
    "Errors, executor, cancellation, allocation",
)
LABEL = re.compile(r"({})[.:]\s+(.*)".format("|".join(sorted(LABELS, key=len, reverse=True))),
                   re.DOTALL)

# What is code although the comment does not say so: names with :: or _, and calls.
CODE = re.compile(r"(?<![\w`<])(?:[A-Za-z]\w*::)*(?:[A-Za-z]\w*(?:::|_)\w+|[A-Za-z]\w*(?=\())"
                  r"(?:<[\w:, <>]*>)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?")
SYMBOLS = {"ndash": "–", "mdash": "—", "nonbreakablespace": " ", "linebreak": "<br>", "sp": " ",
           "hellip": "…"}


def escape(text):
    text = re.sub(r"([\\`*\[\]|])", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mark_code(text, address_of=lambda name: None):
    """Escapes plain text, and marks the code in it. Names that have an address are links."""
    parts, end = [], 0
    for match in CODE.finditer(text):
        code = match.group()
        address = address_of(code.removesuffix("()"))
        parts += [escape(text[end:match.start()]),
                  f"[`{code}`]({address})" if address else f"`{code}`"]
        end = match.end()
    return "".join(parts) + escape(text[end:])


class Writer:
    """link(refid) and address_of(name) return the address of an entity, or None. Doxygen links most
    names, but not enumerators, nor functions of a namespace."""

    def __init__(self, link, address_of=lambda name: None):
        self.link = link
        self.address_of = address_of

    def plain(self, text):
        return mark_code(text or "", self.address_of)

    def inline(self, element):
        parts = [self.plain(element.text)]
        for child in element:
            parts += [self.inline_child(child), self.plain(child.tail)]
        text = "".join(parts)
        # `a::`[`b()`](...) and the like: a name of which Doxygen has linked a part.
        return re.sub(r"\s+", " ", text)

    def inline_child(self, child):
        content = "".join(child.itertext())
        if child.tag == "ref":
            address = self.link(child.get("refid"))
            return f"[`{content}`]({address})" if address else f"`{content}`"
        if child.tag == "computeroutput":
            return f"`{content}`"
        if child.tag == "ulink":
            return f"[{escape(content)}]({child.get('url')})"
        if child.tag in SYMBOLS:
            return SYMBOLS[child.tag]
        if child.tag in ("emphasis", "bold"):
            mark = "*" if child.tag == "emphasis" else "**"
            return mark + self.inline(child) + mark
        if child.tag == "anchor":
            return ""
        raise ValueError(f"a comment has <{child.tag}>: {content[:60]!r}")

    def blocks(self, element):
        """The Markdown of each paragraph, list, table and piece of code."""
        if element is None:
            return []
        result = []
        for child in element:
            if child.tag == "para":
                result += self.paragraph(child)
            elif child.tag not in ("title", "internal"):
                result += self.block(child)
        return result

    def paragraph(self, para):
        """A <para> may have lists and code inside."""
        result = []
        run = type(para)("para")  # What is between them.
        run.text = para.text

        def flush():
            text = self.inline(run).strip()
            if text:
                result.append(text)

        for child in para:
            if child.tag in ("itemizedlist", "orderedlist", "table", "verbatim", "programlisting",
                             "simplesect", "preformatted"):
                flush()
                result += self.block(child)
                run = type(para)("para")
                run.text = child.tail
            else:
                run.append(child)
        flush()
        return result

    def block(self, element):
        if element.tag in ("verbatim", "preformatted"):
            return [fence(element.text or "")]
        if element.tag in ("itemizedlist", "orderedlist"):
            mark = "- " if element.tag == "itemizedlist" else "1. "
            return ["\n".join(mark.ljust(4) + indent("\n\n".join(self.blocks(item)), 4).lstrip()
                              for item in element.iterfind("listitem"))]
        if element.tag == "table":
            return [self.table(element)]
        raise ValueError(f"a comment has <{element.tag}>")

    def table(self, element):
        rows = [["<br>".join(self.blocks(cell)) for cell in row.iterfind("entry")]
                for row in element.iterfind("row")]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|" + "---|" * len(rows[0]))
        return "\n".join(lines)

    def text(self, entity):
        """The whole text of an entity. Labelled paragraphs become a list of definitions."""
        result = []
        labelled = False
        for block in self.blocks(entity.brief) + self.blocks(entity.text):
            if labelled and block.startswith("Completes"):
                block = "Completion: " + block
            match = LABEL.match(block)
            if match:
                label, rest = match.groups()
                if label.startswith("Completion signature") and rest.startswith(("void(", "`void")):
                    rest = signature_as_code(rest)
                block = f"{label}\n:   {indent(rest[:1].upper() + rest[1:], 4).lstrip()}"
                labelled = True
            elif labelled and block.startswith(("- ", "1. ")):
                block = indent(block, 4)  # The list that belongs to the label.
            elif labelled:
                labelled = False
            result.append(block)
        return "\n\n".join(result)


def signature_as_code(text):
    """`void(a::b, c); as ...` → the signature is code."""
    plain = re.sub(r"[`\\]", "", text)
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    return re.sub(r"void\([^()]*(?:\([^()]*\))?[^()]*\)", lambda m: f"`{m.group()}`", plain)


def indent(text, spaces):
    return re.sub(r"^(?=.)", " " * spaces, text, flags=re.MULTILINE)


def fence(code):
    lines = code.rstrip().splitlines()
    while lines and not lines[0].strip():
        lines.pop(0)
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "```cpp\n" + "\n".join(line[margin:] for line in lines) + "\n```"
