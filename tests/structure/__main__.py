"""Draws the diagrams and tables of our documents anew."""

from structure import compared, diagrams, options, readme

for pages, drawn in (
    (diagrams.ILLUSTRATED, diagrams.drawn),
    (options.PAGES, options.drawn),
    ([readme.README], readme.drawn),
    ([compared.PAGE], compared.drawn),
):
    for page in pages:
        page.write_text(drawn(page.read_text("utf-8")), "utf-8")
