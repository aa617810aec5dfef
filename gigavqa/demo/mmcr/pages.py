"""Draws the three pages of a document: figures, tables, a formula, an algorithm, paragraphs, in Pillow's own font."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from gigavqa.demo.canvas import Canvas
from gigavqa.demo.mmcr.plan import BENCHMARKS, COLOURS, Paper
from gigavqa.tiling.geometry import Size

SIZE = Size(1240, 1754)
MARGIN = 110
BAR = (70, 100, 150)
"""The one colour of figure 1's bars, so that a method's colour is figure 2's to tell."""
AXIS = 700
BAR_UNIT = 5
"""Pixels of a bar's height for each unit of its value."""
_INK = (20, 20, 20)
_LINE = 40


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


class PageCanvas:
    """One page that is filled from its top."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (SIZE.width, SIZE.height), (255, 255, 255))
        self.draw = ImageDraw.Draw(self.image)
        self.y = MARGIN

    def text(self, text: str, x: float, y: float, size: int = 26, anchor: str = "la") -> None:
        """Write one line at a place."""
        self.draw.text((x, y), text, fill=_INK, font=_font(size), anchor=anchor)

    def line(self, text: str, size: int = 26, indent: int = 0) -> None:
        """Write one line below what there is."""
        self.text(text, MARGIN + indent, self.y, size)
        self.y += round(size * 1.5)

    def heading(self, text: str) -> None:
        """Write a heading."""
        self.y += 20
        self.line(text, 34)

    def paragraph(self, sentences: Sequence[str]) -> None:
        """Write sentences, broken into lines."""
        width, line = SIZE.width - 2 * MARGIN, ""
        for word in " ".join(sentences).split():
            longer = f"{line} {word}".strip()
            if self.draw.textlength(longer, font=_font(26)) > width:
                self.line(line)
                longer = word
            line = longer
        self.line(line)

    def table(self, caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Draw a table under its caption."""
        self.line(caption)
        width = (SIZE.width - 2 * MARGIN) / len(header)
        for number, row in enumerate([header, *rows]):
            if number < 2:
                self.draw.line((MARGIN, self.y, SIZE.width - MARGIN, self.y), fill=_INK, width=3)
            for column, text in enumerate(row):
                self.text(text, MARGIN + 10 + column * width, self.y + 8)
            self.y += _LINE + 6
        self.draw.line((MARGIN, self.y, SIZE.width - MARGIN, self.y), fill=_INK, width=3)
        self.y += 40

    def bars(self, caption: str, names: Sequence[str], values: Sequence[int]) -> None:
        """Draw bars of one colour on an axis, each with its value above and its name below."""
        width = (SIZE.width - 2 * MARGIN) / len(names)
        bottom = self.y + AXIS - 180
        self.draw.line((MARGIN, bottom, SIZE.width - MARGIN, bottom), fill=_INK, width=3)
        for at, (name, value) in enumerate(zip(names, values, strict=True)):
            left = MARGIN + (at + 0.2) * width
            top = bottom - BAR_UNIT * value
            self.draw.rectangle((left, top, left + 0.6 * width, bottom - 2), fill=BAR)
            self.text(str(value), left + 0.3 * width, top - 6, anchor="md")
            self.text(name, left + 0.3 * width, bottom + 12, anchor="ma")
        self.y = bottom + 70
        self.line(caption)

    def curves(self, caption: str, names: Sequence[str], curves: Sequence[Sequence[int]], height: int = 460) -> None:
        """Draw lines of one colour over rounds, each with its name at its end."""
        left, right, bottom = MARGIN, SIZE.width - MARGIN - 230, self.y + height
        self.draw.line((left, self.y, left, bottom, right, bottom), fill=_INK, width=3)
        for name, values in zip(names, curves, strict=True):
            step = (right - left) / (len(values) - 1)
            points = [(left + at * step, bottom - value * height / 100) for at, value in enumerate(values)]
            self.draw.line(points, fill=BAR, width=5)
            self.text(name, right + 16, points[-1][1], anchor="lm")
        for at in range(len(curves[0])):
            place = left + at * (right - left) / (len(curves[0]) - 1)
            self.text(str(at + 1), place, bottom + 10, anchor="ma")
        self.y = bottom + 56
        self.line(caption)

    def scatter(self, caption: str, paper: Paper, height: int = 420) -> None:
        """Draw a point for each method in its colour, and a legend that names methods by their colours."""
        top, right = self.y, SIZE.width - MARGIN - 330
        self.draw.rectangle((MARGIN, top, right, top + height), outline=_INK, width=3)
        for at, (name, colour, (x, y)) in enumerate(zip(paper.methods, paper.colours, paper.points, strict=True)):
            centre = MARGIN + x * (right - MARGIN), top + (1 - y) * height
            self._dot(*centre, colour)
            self._dot(right + 50, top + 30 + at * 60, colour)
            self.text(name, right + 80, top + 30 + at * 60, anchor="lm")
        self.y = top + height + 16
        self.line(caption)

    def _dot(self, x: float, y: float, colour: str, radius: int = 14) -> None:
        self.draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=COLOURS[colour])


def write_page(paper: Paper, number: int, path: Path) -> None:
    """Draw a page of a document and write it as a PNG file, whole or not at all."""
    Canvas(np.array(PAGES[number](paper).image)).write_png(path)


def _first(paper: Paper) -> PageCanvas:
    sheet = PageCanvas()
    sheet.line(f"Five methods for {paper.subject}", 52)
    sheet.line("A drawn document; methods and numbers are invented.")
    sheet.heading("1 Introduction")
    sheet.paragraph([f"We compare {', '.join(paper.methods[:-1])} and {paper.methods[-1]}.", *_FILLING])
    sheet.y += 60
    sheet.bars("Figure 1: error of each method on the held-out part (lower is better).", paper.methods, paper.heights)
    sheet.y += 30
    sheet.curves("Figure 3: progress over four rounds.", paper.methods, paper.curves)
    return sheet


_FILLING = (
    "All of them were trained alike and stopped by the same rule.",
    "Differences below one point are not discussed.",
)


def _second(paper: Paper) -> PageCanvas:
    sheet = PageCanvas()
    sheet.heading("2 Results")
    rows = [
        [name, *map(str, row), f"{mean:.1f}"]
        for name, row, mean in zip(paper.methods, paper.results, paper.means, strict=True)
    ]
    sheet.table("Table 1: accuracy on three tasks.", ["Method", *BENCHMARKS, "Mean"], rows)
    sheet.heading("3 Training")
    sheet.paragraph(
        [
            f"Method {name} needs {hours} hours in stage two."
            for name, hours in zip(paper.methods, paper.hours, strict=True)
        ]
    )
    sheet.y += 20
    sheet.paragraph(
        [f"{name} loses a {share} of its width." for name, share in zip(paper.methods, paper.shares, strict=True)]
    )
    sheet.heading("4 Penalty")
    sheet.paragraph(["The penalty p of a method follows from its error e in figure 1:"])
    sheet.y += 20
    sheet.text(f"p = {paper.factor} · e + {paper.offset}", SIZE.width / 2, sheet.y, 40, "ma")
    sheet.text("(1)", SIZE.width - MARGIN, sheet.y, 40, "ra")
    return sheet


def _third(paper: Paper) -> PageCanvas:
    sheet = PageCanvas()
    sheet.heading("5 Cost")
    sheet.scatter("Figure 2: speed (down) against memory (across).", paper)
    sheet.y += 30
    rows = [[name, f"{millions} M"] for name, millions in zip(paper.methods, paper.millions, strict=True)]
    sheet.table("Table 2: parameters of each method.", ["Method", "Parameters"], rows)
    sheet.line("Algorithm 1: one round.")
    for number, step in enumerate(paper.steps, start=1):
        sheet.line(f"{number}:  {step}(batch)", indent=30)
    return sheet


PAGES = (_first, _second, _third)
"""What draws each page of a document."""
