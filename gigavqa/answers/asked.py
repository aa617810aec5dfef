"""What a question asks for: the words of the things that it counts or names, and those by which they are told apart.

Readers of numbers and truths look at it where a reply says several things, or none plainly (decision 0010).
"""

import re
from functools import cached_property, lru_cache

from gigavqa.answers.asking_sentences import LEAD, TAG, asking_sentence
from gigavqa.answers.content_words import Token, is_content, named, run_at, stem_of, tokens
from gigavqa.answers.contraries import CONTRARIES
from gigavqa.answers.lexicon import UNSPACED, Words, by_language, phrases

ASPECT = frozenset(phrases("aspect"))
_HEAD_FIRST = frozenset({"fr", "es", "pt", "ar"})
"""Languages whose adjectives stand behind their nouns."""
_SCRIPTS = (
    ("ja", re.compile(r"[ぁ-ゟァ-ヺ]")),
    ("zh", re.compile(r"[㐀-鿿]")),
    ("ko", re.compile(r"[가-힣]")),
    ("ru", re.compile(r"[а-яё]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
)
_WORD = re.compile(r"[^\W\d_]+")
_LATIN_WORDS = {
    language: frozenset(by_language("function_word")[language]) for language in ("en", "de", "fr", "pt", "es")
}


@lru_cache(maxsize=256)
def words_in(language: str, *names: str) -> Words:
    """Return what finds the phrases of some classes in one language."""
    return Words(*(f"{name}.{language}" for name in names))


def language_of(lowered: str, usual: str = "en", margin: int = 1) -> str:
    """Return the language of a lower-case text: by its script, or by its articles and pronouns, else the usual one.

    Another language than that has more of these, by a margin.
    """
    if script := next((name for name, letters in _SCRIPTS if letters.search(lowered)), ""):
        return script
    said = [word for word in _WORD.findall(lowered) if len(word) > 1]
    counts = {language: sum(word in empty for word in said) for language, empty in _LATIN_WORDS.items()}
    most = max(counts, key=lambda language: counts[language])
    return most if counts[most] - counts.get(usual, 0) >= margin else usual


class Asked:
    """The words of one question, by what they do in it; made once a question by `asked_of`."""

    def __init__(self, text: str) -> None:
        self._sentence = asking_sentence(text).lower()
        self.text = TAG.sub("", LEAD.sub("", self._sentence))

    @cached_property
    def language(self) -> str:
        """The language of the question."""
        return "es" if "¿" in self._sentence else language_of(self.text)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The words of the question in order."""
        return tokens(self.text, self.language)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of what is asked for, without prepositions."""
        return named(self.tokens)

    @cached_property
    def things(self) -> frozenset[str]:
        """Of these, the noun phrase of what is counted."""
        found = self.find("quantity_asked")
        run = self._first_run(found.end() if found else 0) or (self._last_run(found.start()) if found else ())
        return named(token for token in run if not token.is_posture)

    @cached_property
    def places(self) -> frozenset[str]:
        """Of the words, those of noun phrases behind a preposition."""
        behind = [at + 1 for at, one in enumerate(self.tokens) if one.is_preposition]
        behind = [next((at for at in range(at, len(self.tokens)) if self.tokens[at].stem), 0) for at in behind]
        return frozenset().union(*(named(run_at(self.tokens, at)) for at in behind if is_content(self.tokens[at])))

    def is_contrary_to(self, said: frozenset[str]) -> bool:
        """Return whether some words tell of another colour or side than what is asked for."""
        return any(others & said and word not in said for word, others in self.contraries)

    def without_contraries(self, given: frozenset[str], said: frozenset[str]) -> frozenset[str]:
        """Return those given words of the question that some words do not go against."""
        return given - said - {word for word, others in self.contraries if others & said}

    @cached_property
    def contraries(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """Words of the question, each with those that are none of what it is."""
        return tuple((word, CONTRARIES[word]) for word in self.words if word in CONTRARIES)

    @cached_property
    def told_apart(self) -> frozenset[str]:
        """Words of the question that have contraries."""
        return frozenset(word for word, _ in self.contraries)

    @cached_property
    def is_of_one_count(self) -> bool:
        """Whether one count is asked for, and no difference, share or sum, nor what is left of one."""
        return bool(self.things) and not self.find("of_several")

    @cached_property
    def counts_things(self) -> bool:
        """Whether it is asked how many things there are, and not how much one measures."""
        if not self.things or not self.find("count_asked"):
            return False
        units = self.things & _units(self.language) & named(tokens(_MEASURED.sub(" ", self.text), self.language))
        return not units or (bool(UNSPACED.search(self.text)) and units != self.things)

    @cached_property
    def measures(self) -> bool:
        """Whether the question names a unit of what it asks for."""
        return bool(self.words & _units(self.language))

    @cached_property
    def is_denied(self) -> bool:
        """Whether a word of denial stands in the question, but for one that only asks, "有没有"."""
        asks = self.find("existence_asked")
        rest = _EITHER_WAY.sub(" ", self.text.replace(asks[0], " ") if asks else self.text)
        return words_in(self.language, "negator").search(rest) is not None

    @cached_property
    def affirmed(self) -> "Asked":
        """The same question without the denial, of which what is asked to be there is the same."""
        found = Asked(self._sentence)
        found.is_denied = False
        return found

    @cached_property
    def existing(self) -> frozenset[str]:
        """The noun phrase of what is asked to be there; empty of any other question."""
        return named(self._existing_run)

    @cached_property
    def existing_noun(self) -> str:
        """The noun of that phrase: its last word, or the first where adjectives follow it."""
        return self._existing_run[0 if self.is_head_first else -1].stem

    @cached_property
    def _existing_run(self) -> tuple[Token, ...]:
        if self.find("of_several") and not words_in(self.language, "negator").search(self.text):
            return ()
        if found := self.find("existence_asked"):
            return self._first_run(found.end())
        behind = [*words_in(self.language, "existence_asked_behind").finditer(self.text)]
        return self._last_run(behind[-1].start()) if behind else ()

    @cached_property
    def in_order(self) -> tuple[str, ...]:
        """All words of a statement or question of yes or no, prepositions among them, in their order."""
        spoken = tokens(TAG.sub("", self._sentence), self.language)
        return tuple(token.stem for token in spoken if token.stem and token.stem not in ASPECT)

    @cached_property
    def opens_with_verb(self) -> bool:
        """Whether the question begins with a word of its own, as verbs do: "Trägt der Mann einen Helm?"."""
        return bool(self.tokens) and bool(self.tokens[0].stem)

    @cached_property
    def has_subject(self) -> bool:
        """Whether the first of several words is one of its own, for which a pronoun can stand, "Is the man armed?"."""
        first = next((token for token in self.tokens if token.stem), None)
        return len(self.in_order) > 1 and first is not None and not first.is_preposition

    @cached_property
    def has_no_preposition(self) -> bool:
        """Whether no word of the question sets its things in an order."""
        return not any(token.is_preposition for token in self.tokens)

    @property
    def is_head_first(self) -> bool:
        """Whether its language sets adjectives behind nouns."""
        return self.language in _HEAD_FIRST

    def _first_run(self, start: int) -> tuple[Token, ...]:
        """Return the first noun phrase behind a place that no preposition stands before.

        Where there is none, the last word behind a preposition: no article need part a place from what is there.
        """
        found = [token for token in self.tokens if token.start >= start]
        is_place, at = False, 0
        place: tuple[Token, ...] = ()
        while at < len(found):
            if found[at].is_preposition:
                is_place = True
            elif not found[at].stem:
                is_place = is_place and self.text[found[at].start : found[at].end] in _ARTICLES
            elif is_place:
                place = run_at(found, at)
                at += len(place) - 1
                is_place = False
            else:
                return run_at(found, at)
            at += 1
        return place[1:][-1:]

    def _last_run(self, end: int) -> tuple[Token, ...]:
        """Return the last noun phrase before a place."""
        found = [token for token in self.tokens if token.end <= end]
        last = next((at for at in reversed(range(len(found))) if is_content(found[at])), None)
        return run_at(found, last) if last is not None else ()

    def find(self, name: str) -> re.Match[str] | None:
        """Find a phrase of a class in the question, in its language."""
        return words_in(self.language, name).search(self.text) if name in _KNOWN[self.language] else None


_EITHER_WAY = re.compile(r"([㐀-鿿])[不没]\1")
"""What asks in Chinese whether something is so, and denies nothing."""
_CLASSES = (
    "quantity_asked", "count_asked", "of_several", "negator", "existence_asked", "existence_asked_behind",
    "falsehood_asked", "truth_denied_asked", "somebody_asked", "shown_asked",
)  # fmt: skip
_KNOWN = {
    language: frozenset(name for name in _CLASSES if by_language(name).get(language))
    for language in (*_LATIN_WORDS, *(name for name, _ in _SCRIPTS))
}


@lru_cache(maxsize=1 << 12)
def asked_of(text: str) -> Asked | None:
    """Return what a question asks for; None where it holds no word that tells."""
    asked = Asked(text)
    return asked if asked.words else None


_MEASURED = re.compile(r"\d\s?[^\W\d_]+")
"""A number with its unit, by which a question tells things apart, "larger than 5 mm"."""


@lru_cache(maxsize=16)
def _units(language: str) -> frozenset[str]:
    """Return the units of a language, with their signs."""
    return frozenset(map(stem_of, (*phrases("measure_unit.en"), *phrases(f"measure_unit.{language}"))))


_ARTICLES = frozenset(phrases("article"))
