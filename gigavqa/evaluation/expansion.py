"""Expands a job into requests: deterministic ids, seeds, views and prompts."""

import hashlib
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from gigavqa.catalogue.entry import CatalogueEntry, Decoding
from gigavqa.contract.jobs import LIKELIHOOD, Cell, ClosingSetting, JobSpec
from gigavqa.contract.requests import Closing, InferenceRequest, Sampling, Turn
from gigavqa.evaluation.capabilities import AnswerForms, CellRules, JobOptions, PaperSettings
from gigavqa.evaluation.chat_order import order_chats
from gigavqa.evaluation.chats import Chat, Scene, SizeOf
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import (
    ClosingUnavailableError,
    LikelihoodUnavailableError,
    SampleUnknownError,
    SamplingInvalidError,
)
from gigavqa.evaluation.likelihood_chats import require_weighable, weighed_answer, weighing_chats
from gigavqa.evaluation.options import ViewOptions, read_options
from gigavqa.evaluation.packed_samples import ChosenSamples
from gigavqa.evaluation.plans import select_cells
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.truth_checks import require_reachable_truths
from gigavqa.runtime.plurals import list_some
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.validation import describe_faults
from gigavqa.tiling.views import View

_SEED_BITS = 31
_MOST_CACHED_CHATS = 1000  # chats of one image that are brought into their order together: decision 0004
_MOST_CLOSINGS = 1 << 16  # closing turns, by sample and protocol, that are made once for all that asks for them
_MOST_NAMED, _LONGEST_ID = 100, 200  # unknown samples in one message, and what of each is shown


@dataclass(frozen=True)
class Expansion:
    """A job whose names all exist, ready to be expanded as often as wanted, into the same requests every time."""

    dataset: Dataset
    spec: JobSpec
    samples: Sequence[Sample]
    cells: tuple[Cell, ...]
    decodings: Mapping[str, Decoding]
    shown: ViewOptions
    options: Any

    @property
    def digest(self) -> str:
        """The digest of what it is made from, besides the job and the images: the data set's records."""
        return self.dataset.digest

    @property
    def num_requests(self) -> int:
        """The number of requests."""
        return self.num_asked * self._times * (1 if self.spec.likelihood is None else 2)

    @cached_property
    def num_asked(self) -> int:
        """The number of pairs of a sample and a cell that are asked, whatever the models and repeats."""
        return sum(self._applies(sample, cell) for sample in self.samples for cell in self.cells)

    def requests(self, size_of: SizeOf, *, repeats: int | None = None) -> Iterator[tuple[str, InferenceRequest]]:
        """Yield (image, request) pairs, image by image; no more than a thousand chats lie in memory at a time.

        Pairs of one (model, image) are consecutive, and among a thousand of them chats that share work are neighbours
        (`chat_order`). `image` is the sample's first image relative to the data root, as views name it;
        `size_of` gives such an image's level-0 size. `repeats` takes fewer of them than the job asks for. Raises
        EvidenceMissingError where an image is smaller than its evidence says.
        """
        repeated = range(self.spec.repeats if repeats is None else repeats)
        for image, samples in self.dataset.by_image(self.samples).items():
            portions = self._portions(len(samples))
            kept = self._ask(samples, size_of) if len(portions) == 1 else ()  # made once for all models
            for model, decoding in self.decodings.items():
                settings = decoding.model_dump()
                for portion in portions:
                    for asked in kept or self._ask(samples[portion], size_of):
                        for repeat in repeated:
                            yield image, self._request(asked, model, settings, repeat)

    def show_of(self, image: str) -> str:
        """Return how an image is shown, by its name as views have it: as the job says, else as the data set does."""
        return self.dataset.show_of(image, self.shown.show)

    def remarks(self) -> Iterator[str]:
        """Yield what to know of how the job asks: which requests get no closing turn, or are not weighed."""
        if self.spec.likelihood is not None and (left := len(self.samples) * len(self.cells) - self.num_asked):
            yield (
                f"likelihood: {left} of {len(self.samples) * len(self.cells)} pairs of a sample and a cell are not "
                "weighed: their answer is not known, or they are not asked so"
            )
        if unclosed := self.unclosed:
            requests = Counter({kind: number * self._times for kind, number in unclosed.items()})
            yield (
                f"closing {self.spec.closing}: {requests.total()} of {self.num_requests} requests get no closing turn, "
                f"since their answers are of other forms: {_list_unclosed(requests)}"
            )

    @cached_property
    def unclosed(self) -> Counter[str]:
        """The number of pairs of a sample and a cell that no closing turn of the job's kind fits, by the kind of their
        answer.
        """
        if self.spec.closing is None:
            return Counter()
        asked = ((one, cell) for one in self.samples for cell in self.cells if self._applies(one, cell))
        form_of = self._forms.answer_form
        return Counter(form_of(one).kind for one, cell in asked if self._closing(one, cell) is None)

    @property
    def _times(self) -> int:
        """The number of times that each of these pairs is asked."""
        return len(self.decodings) * self.spec.repeats

    def _applies(self, sample: Sample, cell: Cell) -> bool:
        if self.spec.likelihood is not None and not weighed_answer(self._forms, sample, cell.protocol):
            return False
        return self._rules.applies(sample, cell)

    @cached_property
    def _rules(self) -> CellRules[Any]:
        return CellRules.of(self.dataset.benchmark)

    @cached_property
    def _forms(self) -> AnswerForms[Any]:
        return AnswerForms.of(self.dataset.benchmark)

    def _closing(self, sample: Sample, cell: Cell) -> Closing | None:
        """Return the closing turn that the job wants of a sample in a cell.

        None where its answer is of another form.
        """
        if self.spec.closing is None:
            return None
        key = (sample.id, cell.protocol)
        if key in self._closings:
            return self._closings[key]
        form = self._forms.closed_form(sample, cell.protocol)
        closing = form.closing(self.spec.closing) if form else None
        if len(self._closings) < _MOST_CLOSINGS:
            self._closings[key] = self._alike.setdefault(closing.model_dump_json() if closing else "", closing)
        return closing

    @cached_property
    def _closings(self) -> dict[tuple[str, str], Closing | None]:
        return {}

    @cached_property
    def _alike(self) -> dict[str, Closing | None]:  # equal ones are kept once
        return {}

    @cached_property
    def _choices(self) -> "ChatSettings":
        # Prepared from the whole data set, whatever samples are asked.
        shared = self.dataset.prepare(self.options, self.spec.seed)
        return ChatSettings(self.spec.seed, self.shown, shared)

    def _portions(self, number: int) -> list[slice]:
        """As many samples together as have a thousand chats."""
        size = max(1, _MOST_CACHED_CHATS // len(self.cells))
        return [slice(start, start + size) for start in range(0, number, size)]

    def _ask(self, samples: Sequence[Sample], size_of: SizeOf) -> "Sequence[_PlannedChat]":
        asked = ((sample, cell) for cell in self.cells for sample in samples if self._applies(sample, cell))
        return order_chats(chat for one in asked for chat in self._plan(*one, size_of))

    def _plan(self, sample: Sample, cell: Cell, size_of: SizeOf) -> "Iterator[_PlannedChat]":
        """Yield the chat that asks a sample in a cell, or those that weigh its answer."""
        chat, mask = ask_sample(self.dataset, sample, cell, size_of, self._choices), self.spec.likelihood
        if mask is None:
            yield _PlannedChat(sample, cell, chat, self._closing(sample, cell))
            return
        answer = weighed_answer(self._forms, sample, cell.protocol)
        for weighed in weighing_chats(chat, sample, cell, answer, mask):
            yield _PlannedChat(sample, cell, weighed.chat, ending=weighed.ending)

    def _request(self, asked: "_PlannedChat", model: str, settings: Mapping[str, Any], repeat: int) -> InferenceRequest:
        identity = request_id(asked.sample.id, asked.cell, model, repeat)
        ending = asked.closing.kind if asked.closing else asked.ending
        return InferenceRequest(
            request_id=request_id(asked.sample.id, asked.cell, model, repeat, ending),
            sample_id=asked.sample.id,
            model=model,
            protocol=LIKELIHOOD if asked.ending else asked.cell.protocol,
            condition=asked.cell.condition,
            repeat=repeat,
            prompt_version=asked.chat.prompt_version,
            system=asked.chat.system,
            turns=asked.chat.turns,
            loop=asked.chat.loop,
            closing=asked.closing,
            details=asked.chat.details,
            # The decoding was checked, once for all requests of the model. A closing turn changes no draw before it.
            sampling=Sampling.model_construct(**settings, seed=request_seed(self.spec.seed, identity)),
        )


class _PlannedChat(NamedTuple):
    """The chat that asks one sample in one cell; `ending` tells those apart that weigh its answer."""

    sample: Sample
    cell: Cell
    chat: Chat
    closing: Closing | None = None
    ending: str = ""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of the chat."""
        return self.chat.turns


def prepare_expansion(dataset: Dataset, spec: JobSpec, catalogue: Mapping[str, CatalogueEntry]) -> Expansion:
    """Check everything of a job but its images.

    Raises PlanUnknownError, ProtocolUnavailableError, SampleUnknownError, SamplingInvalidError, OptionsInvalidError,
    EvidenceMissingError, AnnotationMissingError, AnnotationInvalidError, ClosingUnavailableError, and the catalogue's
    ModelUnknownError.
    """
    choices = read_choices(dataset, spec, catalogue)
    samples = _select_samples(dataset, spec)
    require_reachable_truths(samples, dataset.samples, AnswerForms.of(dataset.benchmark).answer_form)
    CellRules.of(dataset.benchmark).validate(samples, choices.cells)
    if spec.likelihood is not None:
        require_weighable(spec, choices.cells, CellRules.of(dataset.benchmark))
    expansion = Expansion(dataset, spec, samples, *choices)
    _require_closing(expansion)
    if spec.likelihood is not None and not expansion.num_asked:
        raise LikelihoodUnavailableError("likelihood: no sample has a known answer that is asked in these cells")
    return expansion


class JobChoices(NamedTuple):
    """What a job chooses, whatever the samples of its data set: `options` are its benchmark's."""

    cells: tuple[Cell, ...]
    decodings: Mapping[str, Decoding]
    shown: ViewOptions
    options: Any


def read_choices(dataset: Dataset, spec: JobSpec, catalogue: Mapping[str, CatalogueEntry]) -> JobChoices:
    """Check what a job chooses, without looking at samples; raises as `prepare_expansion` does."""
    cells = select_cells(dataset.benchmark, spec)
    options = read_options(spec.options, JobOptions.of(dataset.benchmark).options)
    papers = PaperSettings.of(dataset.benchmark).decoding
    decodings = {model: decoding_of(catalogue[model], papers, spec) for model in spec.models}
    return JobChoices(cells, decodings, *options)


def _require_closing(expansion: Expansion) -> None:
    """Refuse a kind of closing turn that fits nothing that is asked."""
    unclosed = expansion.unclosed
    if unclosed and unclosed.total() == expansion.num_asked:
        raise ClosingUnavailableError(
            f"closing: {expansion.spec.closing} fits none of what is asked, whose answers are of other forms: "
            f"{_list_unclosed(unclosed)}; leave it out, or name another of {', '.join(get_args(ClosingSetting))}"
        )


def _list_unclosed(unclosed: Counter[str]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in unclosed.most_common())


def expand(
    dataset: Dataset,
    spec: JobSpec,
    catalogue: Mapping[str, CatalogueEntry],
    size_of: SizeOf,
) -> Iterator[tuple[str, InferenceRequest]]:
    """Return the (image, request) pairs of a job; raises what `prepare_expansion` does before the first one."""
    return prepare_expansion(dataset, spec, catalogue).requests(size_of)


class ChatSettings(NamedTuple):
    """The settings that a job fixes for all its chats; `shared` is what the benchmark prepared for them."""

    seed: int
    shown: ViewOptions
    shared: Any


def ask_sample(dataset: Dataset, sample: Sample, cell: Cell, size_of: SizeOf, choices: ChatSettings) -> Chat:
    """Ask one sample in one cell. Raises EvidenceMissingError as the benchmark does."""
    images = tuple(dataset.image_of(image) for image in sample.images)
    scene = Scene(images, size_of, f"{choices.seed}:{sample.id}", choices.shown.thumbnail, choices.shared)
    chat = dataset.benchmark.ask(sample, cell, scene)
    first, *others = chat.turns
    turns = (first.model_copy(update={"parts": (*chat.views, *first.parts)}), *others)
    return replace(chat, turns=tuple(with_displays(turn, dataset, choices.shown, sample) for turn in turns))


def with_displays(turn: Turn, dataset: Dataset, shown: ViewOptions, sample: Sample) -> Turn:
    """Return a turn whose views say how their images are shown: as the job says, else the sample, else the data set."""
    if not turn.views or not (shown.show or sample.show or dataset.displays.patterns):
        return turn
    parts = tuple(
        part.model_copy(update={"show": part.show or dataset.show_of(part.image, shown.show, sample)})
        if isinstance(part, View)
        else part
        for part in turn.parts
    )
    return turn.model_copy(update={"parts": parts})


def with_pins(request: InferenceRequest, pins: Mapping[str, str]) -> InferenceRequest:
    """Return a request whose views say which versions of images elsewhere are meant, by the images' names."""
    return request.model_copy(update={"turns": tuple(_with_pins(turn, pins) for turn in request.turns)})


def _with_pins(turn: Turn, pins: Mapping[str, str]) -> Turn:
    parts = tuple(
        part.model_copy(update={"pin": pins[part.image]}) if isinstance(part, View) and part.image in pins else part
        for part in turn.parts
    )
    return turn.model_copy(update={"parts": parts})


def decoding_of(entry: CatalogueEntry, papers: Mapping[str, float | int], spec: JobSpec) -> Decoding:
    """Return the model's own decoding, over it what the benchmark's `papers` decode by, and over that the job's.

    A benchmark asks for no longer answers than the model gives by itself. Raises SamplingInvalidError naming every
    field.
    """
    known = set(Decoding.model_fields)
    if unknown := sorted(set(spec.sampling) - known):
        raise SamplingInvalidError(f"sampling has no {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    try:
        own = {**entry.decoding.model_dump(), **papers}
        own["max_tokens"] = min(own["max_tokens"], entry.decoding.max_tokens)
        return Decoding.model_validate({**own, **spec.sampling})
    except ValidationError as error:
        raise SamplingInvalidError(describe_faults(error, "sampling")) from error


def request_id(sample_id: str, cell: Cell, model: str, repeat: int, ending: str = "") -> str:
    """Readable identity of a request within its job; with another `ending`, such as a closing turn, it is another."""
    rounds = "" if cell.rounds is None else f"-n{cell.rounds}"
    closed = f"+{ending}" if ending else ""
    return f"{sample_id}:{cell.protocol}-{cell.condition}{rounds}{closed}:{model}:{repeat}"


def is_about(request: str, samples: Container[str]) -> bool:
    """Return whether a request, by its id, may be about one of some samples; ids of samples may have colons, too."""
    beginning, colon, _ = request.rpartition(":")
    while colon:
        if beginning in samples:
            return True
        beginning, colon, _ = beginning.rpartition(":")
    return False


def request_seed(seed: int, identity: str) -> int:
    """Seed of one request's draws, 0 to 2^31 - 1: a hash of the job's seed and the request's id."""
    digest = hashlib.sha256(f"{seed}\0{identity}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - _SEED_BITS)


def _select_samples(dataset: Dataset, spec: JobSpec) -> Sequence[Sample]:
    if not spec.samples:
        return dataset.samples
    wanted = set(spec.samples)
    if set_apart := sorted(wanted & {example.id for example in dataset.examples}):
        named = list_some([name[:_LONGEST_ID] for name in set_apart], _MOST_NAMED)
        raise SampleUnknownError(f"data set '{dataset.name}' sets {named} apart as examples, which are never asked")
    if unknown := wanted - dataset.positions.keys():
        named = list_some([name[:_LONGEST_ID] for name in sorted(unknown)], _MOST_NAMED)
        first = min(unknown)[:_LONGEST_ID]
        close = did_you_mean(first, dataset.positions)
        raise SampleUnknownError(f"data set '{dataset.name}' has no sample {named}{close}")
    return ChosenSamples(dataset.samples, sorted(dataset.positions[name] for name in wanted))
