"""One question about the one optotype of a picture: a Landolt ring of known size, colour, gap and place."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, model_validator

from gigavqa.evaluation import samples as host
from gigavqa.tiling.geometry import Region
from gigavqa_acuity.taxonomy import LETTERS, Attribute, Colour, Direction, RingPlace, SceneKind


class Optotype(BaseModel):
    """A Landolt ring: its box's top left corner and its outer diameter, both in level-0 pixels. Source: ISO 8596."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    x: NonNegativeFloat
    y: NonNegativeFloat
    diameter: PositiveFloat
    colour: Colour
    direction: Direction

    def lies_in(self, region: Region) -> bool:
        """Return whether a region holds the whole ring."""
        right, bottom = self.x + self.diameter, self.y + self.diameter
        across = region.x <= self.x and right <= region.x + region.width
        return across and region.y <= self.y and bottom <= region.y + region.height


class AcuitySample(host.Sample):
    """One question about a ring: its colour, or the direction that its gap points to.

    `evidence` is a region `x,y,w,h` in level-0 pixels, a square around the ring, which V3 shows; `answer` is a letter.
    """

    attribute: Attribute
    scene: SceneKind
    place: RingPlace
    optotype: Optotype
    evidence: str = Field(pattern=r"^\d+,\d+,\d+,\d+$")
    answer: str

    @property
    def truth(self) -> str:
        """The letter of the right option."""
        return self.answer

    @property
    def region(self) -> Region:
        """The evidence, which the picture may not have."""
        return Region(*map(int, self.evidence.split(",")))

    @property
    def groups(self) -> dict[str, str]:
        """The question's kind, the kind of scene, and the place."""
        return {"attribute": self.attribute, "scene": self.scene, "place": self.place}

    @model_validator(mode="after")
    def _fits(self) -> "AcuitySample":
        if wrong := list(self._misfits()):
            raise ValueError("; ".join(wrong))
        return self

    def _misfits(self) -> Iterator[str]:
        if len(self.images) != 1:
            yield f"a sign stands in one image, not in {len(self.images) or 'none'}"
        options, true = self.options or {}, getattr(self.optotype, self.attribute)
        if list(options) != list(LETTERS):
            yield f"options must be lettered A to D, not {', '.join(options) or 'missing'}"
        elif options.get(self.answer) != true:
            yield f"answer '{self.answer}' is not the option '{true}', which the optotype's {self.attribute} is"
