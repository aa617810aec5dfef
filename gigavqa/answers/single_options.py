"""Tells which one option a text says of what was asked, where its other sentences leave that alone.

One option is right, so what is said of other things need not be understood: a clause must say no more of the option
than the question does, and no sentence may deny, suppose, ask, take back or abstain (decision 0010).
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from gigavqa.answers.abstention import abstains, commits
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.broken_lists import ends_in_list, ends_in_sentence
from gigavqa.answers.described_options import is_described, is_told_apart, is_told_of_the_rest
from gigavqa.answers.glosses import without_glosses
from gigavqa.answers.known_words import (
    asks_for_lack,
    bare,
    content,
    denies,
    denies_another,
    is_asked,
    known_classes,
    unknown_words,
)
from gigavqa.answers.letter_sets import parse_letters
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.normalization import passages
from gigavqa.answers.option_forms import with_option_words
from gigavqa.answers.option_groups import OptionGroup, groups_of
from gigavqa.answers.option_numbers import is_counted
from gigavqa.answers.option_series import with_full_names
from gigavqa.answers.option_stances import LONGEST_UNDERSTOOD, Stance, is_unsaid, stance_of, without_mentions
from gigavqa.answers.own_labels import without_own_labels
from gigavqa.answers.set_sentences import AMBIGUOUS_LETTERS, ParsedLetters, SetReader, reader_of, worded_alone
from gigavqa.answers.text import answer_of, plain, sentences_of
from gigavqa.answers.unanswered import abstains_of
from gigavqa.answers.withdrawals import is_ascribed, is_first_thought, opens_with_contrast

_BORDER = lazy_pattern(
    rf"[;；:：—–]|[,，、،](?=\s?{words('contrast', 'set_against', 'copula', 'conclusion')})"
    rf"|(?<=[\s]){words('set_against')}|[,，](?=是)",
    re.IGNORECASE,
)
_OUT_OF_VIEW = Words("out_of_view")
_TAKES_BACK = Words("retraction", "taken_back", "dropped", "second_look", "rejecting")


def parse_option(text: str, options: Mapping[str, str], asked: Asked, quoted: str | None = None) -> ParsedLetters:
    """Parse a response that names no letter, to a question with one right option: a set of one, by its words.

    What it announces counts where that is the option that it was found to have `quoted`. Where what is missing is
    asked for, letters of what is there may be named, too.
    """
    if asks_for_lack(asked):
        found = parse_letters(text, options, asked)
        return found if len(found.letters) < 2 else AMBIGUOUS_LETTERS
    answer = answer_of(text)
    if answer is None or answer.before:
        return ParsedLetters((), "too_long" if answer else "unfinished")
    options, _ = without_own_labels(tuple(options.items()))
    told = with_option_words(with_full_names(without_glosses(answer.text, options), options), options)
    reader = reader_of(told, options, asked)._replace(lettered=lambda _: [])
    if ends_in_list(told, reader) or ends_in_sentence(told, reader):
        return ParsedLetters((), "unfinished")
    announced = {_chosen_in(one.partition("\n")[0], reader, asked) for one in passages(told)[:-1]}
    chosen = worded_alone(told, options) or (quoted if announced == {quoted} else _chosen_in(told, reader, asked))
    if chosen and is_counted(plain(told), plain(options[chosen])):
        return ParsedLetters((chosen,), "option_text")
    if abstains(told) and not commits(told):
        return ParsedLetters((), "abstained")
    return AMBIGUOUS_LETTERS if reader.worded(told) else ParsedLetters((), "none")


def _chosen_in(text: str, reader: SetReader, asked: Asked) -> str | None:
    """Return the letter of the one option that a text says of what was asked; None where any sentence may unsay it."""
    if len(text) > LONGEST_UNDERSTOOD or _TAKES_BACK.search(text.lower()):
        return None
    clauses: list[str] = []
    is_set_apart = False
    for whole in sentences_of(text):
        sentence = _without_the_rest(whole, reader, asked)
        is_set_apart |= sentence != whole
        named = reader.worded(sentence)
        if named or abstains_of(sentence, asked, reader.language) is not False:
            if is_unsaid(without_mentions(sentence, named)):
                return None
            clauses += _BORDER.split(sentence)
    if any(_unsays(clause, reader, asked) for clause in clauses):
        return None
    found = [one for clause in clauses for one in _stances(clause, reader, asked)]
    if len(found) == 1 and found[0][1] == "unknown" and len(_named(text, reader)) == 1:
        group = found[0][0]
        return group.letters[0] if _is_meant(group, reader, asked, is_set_apart=is_set_apart) else None
    is_plain = "unknown" not in [stance for _, stance in found] and not any(
        unknown_words(clause, asked, reader.language) for clause in clauses if not reader.worded(clause)
    )
    told = [group for group, stance in found if stance in ("stated", "listed")]
    chosen = {letter for group in told if is_plain or _is_tied(group, reader, asked) for letter in group.letters}
    denied = {letter for group, stance in found if stance == "denied" for letter in group.letters}
    return chosen.pop() if len(chosen) == 1 and chosen.isdisjoint(denied) else None


def _named(text: str, reader: SetReader) -> frozenset[str]:
    return frozenset(str(one.value) for sentence in sentences_of(text) for one in reader.worded(sentence))


def _is_meant(group: OptionGroup, reader: SetReader, asked: Asked, *, is_set_apart: bool) -> bool:
    """Return whether the one option that a text names is meant, of which it says what is in no question."""
    return (
        (is_set_apart and not denies(bare(f"{group.lead} ; {group.tail}"), reader.language))
        or is_described(group, asked, reader.language)
        or is_told_apart(group, reader.options, asked, reader.language)
    )


def _without_the_rest(sentence: str, reader: SetReader, asked: Asked) -> str:
    """Return a sentence without the clauses that say of all other options that they are not what was asked for."""
    clauses = _BORDER.split(sentence)
    kept = [one for one in clauses if reader.worded(one) or not is_told_of_the_rest(one, asked, reader.language)]
    return sentence if len(kept) == len(clauses) else "; ".join(kept)


def _stances(clause: str, reader: SetReader, asked: Asked) -> Iterator[tuple[OptionGroup, Stance]]:
    """Yield what a clause says of options, but for what others say, a first thought, and things that are listed."""
    mentions = reader.worded(clause)
    if not mentions or is_first_thought(clause):
        return
    for group in groups_of(clause, mentions, reader.language):
        if not is_ascribed(group.lead, group.tail) and not _is_listed(group, reader.language):
            yield group, stance_of(group, asked, reader.language, is_lettered=False)


@lru_cache(maxsize=16)
def _comparison(language: str) -> Words:
    return Words(f"comparison.{language}", pattern=r"(?<!rather\s)(?<!other\s){}")


def _unsays(clause: str, reader: SetReader, asked: Asked) -> bool:
    """Return whether a clause compares options, or names none, and denies or hides what was asked, or nothing else."""
    if reader.worded(clause):
        return _comparison(reader.language).search(clause.lower()) is not None
    lowered = bare(clause)
    if _OUT_OF_VIEW.search(lowered):
        return any(is_asked(word, asked.words) for word in content(lowered, reader.language))
    if not denies(lowered, reader.language):
        return False
    return opens_with_contrast(clause) or not denies_another(lowered, asked, reader.language)


def _is_listed(group: OptionGroup, language: str) -> bool:
    """Return whether an option is only one of several things that are listed, "a glass, a plate and an apple"."""
    joint = [*words_in(language, "addition").finditer(group.lead.lower())][-1:]
    is_last = bool(joint) and not any(map(str.isalnum, group.lead[joint[0].end() :]))
    return is_last and bool(content(group.lead[: joint[0].start()].lower(), language))


def _is_tied(group: OptionGroup, reader: SetReader, asked: Asked) -> bool:
    """Return whether an option is said of what was asked, in its words or by a pronoun, and not only to be there."""
    said = bare(f"{group.lead} ; {group.tail}")
    if any(is_asked(word, asked.words) for word in content(said, reader.language)):
        return True
    scene = words_in(reader.language, *known_classes(reader.language, ("scene", "existence_told")))
    return scene.search(said) is None
