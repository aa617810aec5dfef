"""UltraVR's truths by brute force over annotations, in arithmetic of its own: fractions of pixels, no rounding."""

from fractions import Fraction
from typing import Any

from gigavqa.construction.annotations import AnnotatedImage, Annotation

PLACES = {(False, False): "upper-left", (True, False): "upper-right", (False, True): "lower-left"}


def place(image: AnnotatedImage, one: Annotation) -> str:
    """Return the quadrant of a center."""
    x, y = middle(one)
    return PLACES.get((2 * x >= image.width, 2 * y >= image.height), "lower-right")


def middle(one: Annotation) -> tuple[Fraction, Fraction]:
    """Return a center in pixels."""
    box = [Fraction(side) for side in one.box]
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def answer_of(image: AnnotatedImage, record: dict[str, Any]) -> str:
    """Return what a record's question is answered with, by its texts and the annotations alone: an option's text."""
    solve = {
        ("rs", "comparison"): _difference,
        ("rs", "logical_verification"): _presence,
        ("rs", "relational_inference"): _direction,
        ("cctv", "comparison"): _claim,
        ("cctv", "logical_verification"): _pattern,
        ("cctv", "relational_inference"): _position,
    }[record["domain"], record["category"]]
    return solve(image, record)


def _of(image: AnnotatedImage, plural: str, quadrant: str = "") -> list[Annotation]:
    found = [one for one in image.annotations if f"{one.category}s" == plural]
    return [one for one in found if quadrant in ("", place(image, one))]


def _difference(image: AnnotatedImage, record: dict[str, Any]) -> str:
    words = record["question"].removeprefix("What is the absolute difference between the counts of ").removesuffix("?")
    counts = []
    for half in (words.split(" and ")[0], words.split(" and ")[1]):
        plural, _, rest = half.partition(" in the ")
        quadrant, condition = rest.split(" quadrant satisfying ")
        relation, _, landmark = condition.strip('"').partition(" the ")
        (mark,) = _of(image, f"{landmark}s", quadrant)
        test = _inside if relation == "within" else _beside
        counts.append(sum(test(one, mark) for one in _of(image, plural, quadrant)))
    return str(abs(counts[0] - counts[1]))


def _inside(one: Annotation, mark: Annotation) -> bool:
    x, y = middle(one)
    return mark.box.x1 <= x <= mark.box.x2 and mark.box.y1 <= y <= mark.box.y2


def _beside(one: Annotation, mark: Annotation) -> bool:
    """Compare squares: four times the squared gap with the squared diagonal."""
    a, b = ([Fraction(side) for side in each.box] for each in (one, mark))
    gaps = [max(Fraction(0), a[at] - b[at + 2], b[at] - a[at + 2]) for at in (0, 1)]
    return 4 * (gaps[0] ** 2 + gaps[1] ** 2) <= (b[2] - b[0]) ** 2 + (b[3] - b[1]) ** 2


def _presence(image: AnnotatedImage, record: dict[str, Any]) -> str:
    words = record["question"].removeprefix("Which statement correctly describes the presence of ")
    lies, plural = words.split()[:2]
    quadrants = [word for word in words.split() if "-" in word]
    there = [any(_lies(one) == lies for one in _of(image, plural, quadrant)) for quadrant in quadrants]
    return str(record["options"]["DCBA"[2 * there[0] + there[1]]])


def _lies(one: Annotation) -> str:
    """By the upright box: objects are three times as long as wide, and turned by 20 degrees at most."""
    return "horizontal" if one.box.x2 - one.box.x1 > one.box.y2 - one.box.y1 else "vertical"


def _direction(image: AnnotatedImage, record: dict[str, Any]) -> str:
    words = record["question"].rstrip("?").split()
    places = [at for at, word in enumerate(words) if word.endswith("most")]
    found = []
    for at in places:
        objects = _of(image, f"{words[at + 1]}s", words[at + 4])
        axis, sign = {"leftmost": (0, 1), "rightmost": (0, -1), "topmost": (1, 1), "bottommost": (1, -1)}[words[at]]
        found.append(min(objects, key=lambda one, a=axis, s=sign: s * middle(one)[a], default=None))
    if found[0] is None or found[1] is None:
        return str(record["options"]["C" if found[0] is None else "D"])
    axis = 1 if "north of" in record["options"]["A"] else 0
    return str(record["options"]["A" if middle(found[0])[axis] < middle(found[1])[axis] else "B"])


def _claim(image: AnnotatedImage, record: dict[str, Any]) -> str:
    words = record["question"].removeprefix("Comparing ").partition(",")[0].split(" and ")
    a, b = (len(_of(image, plural)) for plural in words)
    true = []
    for text in record["options"].values():
        value = text.rstrip(".").rpartition(" ")[2]
        if "difference" in text:
            holds = abs(a - b) == int(value)
        elif "total" in text:
            holds = a + b == int(value)
        elif "ratio" in text:
            holds = Fraction(a, b) == Fraction(*map(int, value.split(":")))
        elif "same count" in text:
            holds = a == b
        else:
            more = text.lower().startswith(words[0])
            holds = a > b if more else b > a
        true += [text] * holds
    (text,) = true
    return str(text)


def _pattern(image: AnnotatedImage, record: dict[str, Any]) -> str:
    words = record["question"].rstrip(".").split()
    claimed, plural = int(words[words.index("exactly") + 1]), words[words.index("exactly") + 2]
    region, extremum = words[words.index("region") - 1], words[-2]
    counts = {name: len(_of(image, plural, name)) for name in (*PLACES.values(), "lower-right")}
    other = [number for name, number in counts.items() if name != region]
    leads = counts[region] > max(other) if extremum == "most" else counts[region] < min(other)
    letter = "DCBA"[2 * (sum(counts.values()) == claimed) + leads]
    return str(record["options"][letter])


def _position(image: AnnotatedImage, record: dict[str, Any]) -> str:
    words = record["question"].removeprefix("Person A is ").partition(". Which option")[0]
    a, b = (_person(image, text) for text in words.split(", and Person B is "))
    (ax, ay), (bx, by) = middle(a), middle(b)
    return f"{'front' if ay > by else 'back'}-{'left' if ax < bx else 'right'}"


def _person(image: AnnotatedImage, text: str) -> Annotation:
    """Find the one person of whom nothing is recorded that a description does not say."""
    words = set(text.replace(",", "").split())
    quadrant = next(word for word in words if word.startswith(("upper-", "lower-")))
    seen = ("age", "pose", "upper clothing")
    fits = [
        one
        for one in _of(image, "persons", quadrant)
        if {one.attributes[name] for name in seen if name in one.attributes} <= words
    ]
    (person,) = fits
    return person
