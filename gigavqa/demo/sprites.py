"""Small pictures with transparency, drawn large without smoothing and reduced to the size they are pasted at."""

from collections.abc import Callable, Sequence

from PIL import Image, ImageDraw

Color = tuple[int, int, int]
Point = tuple[float, float]


class Pen:
    """Draws on a transparent sheet of `width` x `height` units with `zoom` pixels a unit; origin top left."""

    def __init__(self, width: float, height: float, zoom: float) -> None:
        self.zoom = zoom
        self.sheet = Image.new("RGBA", (round(width * zoom), round(height * zoom)), (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self.sheet)

    def _scaled(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self.zoom, y * self.zoom) for x, y in points]

    def polygon(self, points: Sequence[Point], color: Color) -> None:
        """Fill a polygon."""
        self._draw.polygon(self._scaled(points), fill=color)

    def ellipse(self, x1: float, y1: float, x2: float, y2: float, color: Color) -> None:
        """Fill the ellipse inside a rectangle."""
        self._draw.ellipse(self._scaled([(x1, y1), (x2, y2)]), fill=color)

    def ring(self, x: float, y: float, radius: float, width: float, color: Color) -> None:
        """Draw a circle's outline of the given width, inside its radius."""
        box = self._scaled([(x - radius, y - radius), (x + radius, y + radius)])
        self._draw.ellipse(box, outline=color, width=max(1, round(width * self.zoom)))

    def half_ellipse(self, x1: float, y1: float, x2: float, y2: float, color: Color) -> None:
        """Fill the upper half of the ellipse inside a rectangle."""
        self._draw.pieslice(self._scaled([(x1, y1), (x2, y2)]), 180, 360, fill=color)

    def box(self, x1: float, y1: float, x2: float, y2: float, color: Color, radius: float = 0) -> None:
        """Fill a rectangle, its corners rounded by `radius`."""
        self._draw.rounded_rectangle(self._scaled([(x1, y1), (x2, y2)]), radius * self.zoom, fill=color)

    def line(self, points: Sequence[Point], width: float, color: Color) -> None:
        """Draw a line with round ends and joints."""
        pixels = max(1, round(width * self.zoom))
        scaled = self._scaled(points)
        self._draw.line(scaled, fill=color, width=pixels, joint="curve")
        for x, y in scaled:
            self._draw.ellipse((x - pixels / 2, y - pixels / 2, x + pixels / 2, y + pixels / 2), fill=color)


def draw(width: float, height: float, painter: Callable[[Pen], None], zoom: float = 6) -> Image.Image:
    """Let `painter` draw on a sheet of the given units, and cut it to what was drawn, so that a box of it is tight."""
    pen = Pen(width, height, zoom)
    painter(pen)
    return pen.sheet.crop(pen.sheet.getbbox())


def fitted(sprite: Image.Image, width: float, height: float) -> Image.Image:
    """Reduce a sprite to exactly `width` x `height` pixels, at least one of each."""
    return sprite.resize((max(1, round(width)), max(1, round(height))), Image.Resampling.BOX, reducing_gap=3.0)


def shaded(color: Color, factor: float) -> Color:
    """Return the color made darker (factor < 1) or lighter (factor > 1)."""
    red, green, blue = (max(0, min(255, round(channel * factor))) for channel in color)
    return red, green, blue
