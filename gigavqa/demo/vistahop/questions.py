"""The sixteen questions: one chain of facts, or two that are fused; every truth follows from what was made up."""

from collections.abc import Mapping, Sequence

from gigavqa.demo.records import Record, letter_of, lettered
from gigavqa.demo.vistahop.plan import PICTURES, Chain, World, common

Hits = Mapping[str, Sequence[tuple[str, str]]]
"""Of each picture, titles of pages with pictures like it and the files of their thumbnails."""

AWAITING = "street-larger"
"""The question without a truth."""
WITHOUT_HITS = "fair-device"
"""The question of which an image search finds nothing."""
_SINGLES: Mapping[str, tuple[str, str]] = {
    "yard-mark": ("Technology", "entity"),
    "market-shop": ("Life", "location"),
    "harbour-mark": ("Society", "date"),
    "harbour-engine": ("Technology", "date"),
    "street-shop": ("Culture", "count"),
    "street-portrait": ("Culture", "count"),
    "fair-mark": ("Technology", "date"),
    "fair-device": ("Science", "entity"),
    "hall-folly": ("Culture", "location"),
    "hall-plant": ("Science", "location"),
}
"""Category and type of the answer, by the chain."""
_LETTERED = "hall-plant"


def records(world: World, hits: Hits, boxes: Mapping[str, Sequence[float]], ids: Mapping[str, str]) -> list[Record]:
    """Return all questions.

    `boxes` are those of signs, in parts of their pictures' sides, `ids` those of facts' pages.
    """
    singles = [_single(world, name, *labels) for name, labels in _SINGLES.items()]
    found = [*singles, *_fused(world)]
    for record in found:
        for part in record.get("components", [record]):
            for anchor in part["anchors"]:
                anchor["box"] = [round(side, 6) for side in boxes[anchor.pop("sign")]]
            for hop in part["chain"]:
                hop["documents"] = [ids[name] for name in hop["documents"]]
        titles = hits[record["scenario"]] if record["id"] != WITHOUT_HITS else ()
        record["image_search"] = [{"title": title, "thumbnail": file} for title, file in titles]
        if record["id"] == AWAITING:
            record["answers"] = []
    return found


def _single(world: World, name: str, category: str, kind: str) -> Record:
    chain = world.chain(name)
    record = {**_about(chain, name, category, kind), "form": "single", **_asked(chain)}
    return {**record, **_lettered(world, chain)} if name == _LETTERED else record


def _about(chain: Chain, name: str, category: str, kind: str) -> Record:
    picture = PICTURES[chain.way.picture]
    return {
        "id": name, "images": [picture.image], "scenario": picture.name, "category": category, "answer_type": kind,
    }  # fmt: skip


def _asked(chain: Chain) -> Record:
    """Question, truths, hops, anchor and chain."""
    return {
        "question": chain.question,
        "answers": [*chain.facts[-1].answers],
        "hops": len(chain.facts),
        "anchors": [{"label": chain.label, "kind": chain.way.anchor, "sign": chain.sign.text}],
        "chain": [
            {"from": fact.subject, "relation": fact.name, "to": fact.object, "documents": [fact.document]}
            for fact in chain.facts
        ],
    }


def _lettered(world: World, chain: Chain) -> Record:
    """Return the same with four towns to choose from."""
    others = (_place(world, name) for name in ("hall-folly", "fair-mark", "street-shop"))
    options = lettered(sorted({chain.facts[-1].object, *others}))
    told = " ".join(f"{letter}. {town}" for letter, town in options.items())
    return {
        "question": f"{chain.question} {told}",
        "options": options,
        "answers": [letter_of(options, chain.facts[-1].object)],
    }


def _place(world: World, name: str) -> str:
    """Return what the last fact of a chain is about."""
    return world.chain(name).facts[-1].subject


def _fused(world: World) -> list[Record]:
    return [
        _earlier(world, "harbour-earlier", "harbour-mark", "harbour-engine"),
        _difference(world, "harbour-years", "harbour-mark", "harbour-engine"),
        _sum(world, "street-sum", "street-shop", "street-portrait"),
        _larger(world, AWAITING, "street-shop", "street-portrait"),
        _by_year(world, "fair-by-year", "fair-mark", "fair-device"),
        _shared_guild(world, "hall-guild", "hall-folly", "hall-plant"),
    ]


def _joined(
    chains: Sequence[Chain], name: str, form: str, category: str, kind: str, question: str, answer: str
) -> Record:
    components = [{**_asked(chain), "value": chain.facts[-1].object} for chain in chains]
    return {
        **_about(chains[0], name, category, kind),
        "form": form,
        "question": question,
        "answers": [answer],
        "hops": sum(one["hops"] for one in components),
        "components": components,
    }


def _values(chains: Sequence[Chain]) -> tuple[int, int]:
    one, other = (int(chain.facts[-1].object) for chain in chains)
    return one, other


def _both(chains: Sequence[Chain], first: str = "town", second: str = "town") -> str:
    """Return the ways to what a fused question is about."""
    one, other = chains
    return (
        f"Follow two ways from step to step. To the {'first ' if first == second else ''}{first}: {one.steps}. "
        f"To the {'second ' if first == second else ''}{second}: {other.steps}."
    )


def _earlier(world: World, name: str, *names: str) -> Record:
    chains = [world.chain(one) for one in names]
    one, other = _values(chains)
    told = f"{_both(chains)} Which of the two towns was given its charter first?"
    answer = _place(world, names[0] if one < other else names[1])
    return _joined(chains, name, "temporal", "Society", "comparative", told, answer)


def _difference(world: World, name: str, *names: str) -> Record:
    chains = [world.chain(one) for one in names]
    one, other = _values(chains)
    told = f"{_both(chains)} How many years lie between the charters of the two towns?"
    return _joined(chains, name, "arithmetic", "Life", "count", told, str(abs(one - other)))


def _sum(world: World, name: str, *names: str) -> Record:
    chains = [world.chain(one) for one in names]
    told = (
        f"{_both(chains)} Add the number of bridges of the first town to the number of towers that the wall of the "
        "second town has. What is the sum?"
    )
    return _joined(chains, name, "arithmetic", "Life", "count", told, str(sum(_values(chains))))


def _larger(world: World, name: str, *names: str) -> Record:
    chains = [world.chain(one) for one in names]
    one, other = _values(chains)
    told = (
        f"{_both(chains)} If the first town has more bridges than the wall of the second has towers, name the first "
        "town, otherwise the second."
    )
    answer = _place(world, names[0 if one > other else 1])
    return _joined(chains, name, "conditional", "Culture", "comparative", told, answer)


def _by_year(world: World, name: str, *names: str) -> Record:
    chains = [world.chain(one) for one in names]
    year = int(chains[0].facts[-1].object)
    told = (
        f"{_both(chains, 'town', 'ship')} If the year in which that town held its first fair is even, who was the "
        "first captain of that ship? If it is odd, what is the name of that town?"
    )
    answer = chains[1].facts[-1].object if year % 2 == 0 else _place(world, names[0])
    return _joined(chains, name, "conditional", "Science", "entity", told, answer)


def _shared_guild(world: World, name: str, *names: str) -> Record:
    chains = [world.chain(one, "guilds") for one in names]
    told = f"{_both(chains)} Which guild has a house in both towns?"
    answer = common(*(chain.facts[-1].objects for chain in chains))
    return _joined(chains, name, "cross_anchor", "Society", "entity", told, answer)
