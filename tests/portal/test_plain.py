"""Pages for programs."""

from specvino.portal.plain import llms, plain, summary

PAGE = """\
---
hide: [toc]
---

# Title { #anchor }

Take [it](a.json){ download="b.json" }, as `{ .x }` says.

<form class="filter"><label>Field</label></form>

<article class="field"><h3 id="a.b"><a href="#a.b"><code>b</code></a></h3><p>Less &lt; more</p>
<ul><li>one</li></ul></article>

## `x-a` { #x-a }

```html
<p>{ #kept }</p>
```
"""


def test_only_the_look_is_left_out() -> None:
    assert plain(PAGE) == (
        "# Title\n\nTake [it](a.json), as `{ .x }` says.\n\n### `b`\n\nLess < more\n\n- one\n\n## `x-a`\n\n"
        "```html\n<p>{ #kept }</p>\n```\n"
    )


def test_the_summary_is_the_first_sentence_s_paragraph() -> None:
    assert summary("# T\n\nPOST `/x`\n\nIt *does* [this](a.md)\nand that.\n\nMore.\n") == "It does this and that."
    assert summary("# T\n") == ""


def test_the_list_of_pages() -> None:
    pages = ["index.md", {"More": [{"Deep": ["a/b.md"]}]}, {"Table": "t.md"}, {"API": "reference/x.html"}]
    nav = [{"Start": [{"What": pages[0]}, *pages[1:]]}]
    texts = {"index.md": "All of it.", "a/b.md": "# Heading\n\nWords.", "t.md": "| a |"}
    text = llms("It", "An API.", nav, texts, "https://x/")
    assert text.startswith("# It\n\n> An API.\n")
    assert text.endswith(
        "\n## Start\n\n- [What](https://x/index.md): All of it.\n- [Heading](https://x/a/b.md): Words.\n"
        "- [Table](https://x/t.md)\n"
    )
