"""Asks about the scenes: what each shows, and which of several invented countries that makes it, by a stated rule."""

from collections.abc import Iterator, Sequence

import numpy as np

from gigavqa.benchmarks.atombench.taxonomy import DIMENSION_OF
from gigavqa.demo.atombench.scenes import TRAITS, StreetScene
from gigavqa.demo.draws import stream
from gigavqa.demo.records import Record, sentence, shuffled

COUNTRIES = ("Velmar", "Ostrin", "Tarnhal", "Quelldor", "Ummeny", "Sarvik")
_DIFFICULTIES = (("easy", "medium"), ("hard", "easy"), ("medium", "hard"), ("easy", "hard"), ("medium", "easy"))
"""How hard the two conclusion questions of each picture are."""
_TOLD = {"easy": 1, "medium": 2, "hard": 3}
"""How many traits the rule of a conclusion question takes."""


def records(scenes: Sequence[StreetScene], seed: int) -> Iterator[Record]:
    """Yield the questions of each picture, as one object an image; steps are the positions of its clues."""
    for scene, (first, second) in zip(scenes, _DIFFICULTIES, strict=True):
        rng = stream(seed, "atombench", scene.name, "questions")
        yield {
            "image": scene.image,
            "clues": [_clue(scene, domain, rng) for domain in scene.asked],
            "conclusions": [_location(scene, first, rng), _decisive(scene, second, rng)],
        }


def _clue(scene: StreetScene, domain: str, rng: np.random.Generator) -> Record:
    trait = TRAITS[domain]
    labels = {"scope": trait.scope, "certainty": trait.certainty}
    texts = [sentence(text) for text in (*trait.ways, *trait.bait)]
    return {
        "dimension": DIMENSION_OF[domain],
        "domain": domain,
        **labels,
        "question": trait.question,
        **_choices(texts, sentence(scene.way(domain)), rng),
    }


def _location(scene: StreetScene, difficulty: str, rng: np.random.Generator) -> Record:
    """Return which country it is, by a rule that takes one, two or three traits.

    Of a single trait each way is a country's.
    """
    domains = scene.asked[: _TOLD[difficulty]]
    rules = [tuple(scene.shows[domain] for domain in domains)]
    for at, domain in enumerate(domains):
        rules += [(*rules[0][:at], other, *rules[0][at + 1 :]) for other in _others(scene, domain)]
    rules = rules[:4] if len(domains) == 1 else rules[:5]
    names = [COUNTRIES[int(at)] for at in rng.permutation(len(COUNTRIES))]
    told = [f"in {name} {_told(domains, rule)}" for name, rule in zip(names, rules, strict=False)]
    order = [int(at) for at in rng.permutation(len(told))]
    rule = "; ".join(told[at] for at in order)
    left = names[len(rules) : len(rules) + 1]
    return {
        "kind": "location",
        "difficulty": difficulty,
        "question": f"{sentence(rule)}. Where was this picture taken?",
        **_choices([*names[: len(rules)], *left], names[0], rng),
    }


def _others(scene: StreetScene, domain: str) -> list[int]:
    return [way for way in range(len(TRAITS[domain].ways)) if way != scene.shows[domain]]


def _told(domains: Sequence[str], rule: Sequence[int]) -> str:
    parts = (f"{TRAITS[domain].subject} {TRAITS[domain].ways[way]}" for domain, way in zip(domains, rule, strict=True))
    return " and ".join(parts)


def _decisive(scene: StreetScene, difficulty: str, rng: np.random.Generator) -> Record:
    """Return which clue tells two countries apart that are alike in one or more others."""
    *common, deciding = scene.asked[-1 - min(_TOLD[difficulty], len(scene.asked) - 1) :]
    here, there = (COUNTRIES[int(at)] for at in rng.permutation(len(COUNTRIES))[:2])
    other = TRAITS[deciding].ways[_others(scene, deciding)[0]]
    subject = TRAITS[deciding].subject
    alike = _told(common, [scene.shows[domain] for domain in common])
    mine, theirs = f"{subject} {scene.way(deciding)}", f"{subject} {other}"
    right = f"That {mine}: it is {here}"
    texts = [
        right,
        f"That {theirs}: it is {there}",
        f"That {_told(common[:1], [scene.shows[common[0]]])}: it is {there}",
        f"A sign that says '{here}' in Latin letters: it is {here}",
    ]
    if difficulty == "hard":
        texts.append("None: nothing in the picture tells the two apart")
    return {
        "kind": "decisive_clue",
        "difficulty": difficulty,
        "question": f"In both {here} and {there} {alike}; in {here} {mine}, in {there} {theirs}. Which clue in the "
        "picture decides between the two, and for which?",
        **_choices(texts, right, rng),
    }


def _choices(texts: Sequence[str], right: str, rng: np.random.Generator) -> Record:
    return dict(zip(("options", "answer"), shuffled(texts, right, rng), strict=True))
