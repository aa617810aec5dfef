"""Checks that every benchmark must pass, for authors of one: what is asked, what is right, and that order is nothing.

    from gigavqa.testing import BenchmarkSuite

    class TestMine(BenchmarkSuite):
        folder = Path(__file__).parent / "data"      # a data set of a few samples, as `gigavqa dataset check` takes it

pytest runs them; each says what is wrong and with which sample. Nothing is served: replies are made of the truths.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Cell, JobSpec
from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import AnswerForms, CellRules, RecordLayout, whole_record
from gigavqa.evaluation.closing_turns import NO_ANSWER
from gigavqa.evaluation.datasets import Dataset, load_dataset, load_for_scoring
from gigavqa.evaluation.errors import EvaluationError
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.outcomes import SampleOutcome
from gigavqa.evaluation.replies import Reply
from gigavqa.evaluation.response_files import read_replies
from gigavqa.evaluation.samples import Sample
from gigavqa.reports.report import report_on_tally, tally_replies
from gigavqa.reports.score import outcomes_of_files, page_of_files, score_files
from gigavqa.reports.tallies import dump_tally, merge_tally
from gigavqa.reports.writers.exports import render_csv, render_json, render_latex
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.roots import ImageRoot

_MODEL, _UNKNOWN_MODEL = "qwen3-vl-8b", "somebodys/model"
_ABSTENTIONS = ("I cannot tell.", "No idea.", "There is not enough information.", "无法判断。", "")
_SHUFFLES = 2
_MOST_CELLS = 6
"""Cells that replies are spread over, at most."""


class BenchmarkSuite:
    """Check what holds of every benchmark, over the data set in `folder`; `says` puts a truth as a model would.

    A benchmark whose replies are no texts with an announced answer overrides `says`.
    """

    folder: ClassVar[Path]

    def says(self, truth: str) -> Iterator[str]:
        """Replies that say a truth, any of which is to be right."""
        yield truth
        yield f"Final answer: {truth}"
        yield f"<answer>{truth}</answer>"

    def test_every_record_can_be_asked(self) -> None:
        """Each is read, its pictures are there, and no truth is out of the prompt's reach."""
        root = ImageRoot(self.folder.parent)
        found = inspect_dataset(
            self.folder, lambda image, show: read_header(root.locate(self._named(image)), show).size
        )
        assert not found.errors, "; ".join(map(str, found.errors))
        assert found.dataset and found.dataset.samples, f"{self.folder}: holds no sample"

    def test_what_is_written_reads_the_same(self) -> None:
        """A sample that the benchmark writes as a record is read as the same sample."""
        benchmark = self._dataset.benchmark
        for sample in self._dataset.samples:
            again = json.loads(json.dumps(whole_record(RecordLayout.of(benchmark), sample)))
            read = [one for one in self._read(benchmark, again) if one.id == sample.id]
            assert read == [sample], f"{sample.id}: written as {again}, and read as {read}"

    def test_every_plan_asks_the_same_every_time(self) -> None:
        """Any of its chats, to the letter; one that needs more than these samples have is refused with a sentence."""
        refused = []
        for plan in self._dataset.benchmark.plans:
            try:
                first, second = (self._asked(plan) for _ in range(2))
            except EvaluationError as error:
                refused.append(f"plan {plan}: {error}")
                continue
            assert first, f"plan {plan} asks none of the samples"
            assert first == second, f"plan {plan} asks something else the second time"
        assert len(refused) < len(self._dataset.benchmark.plans), "no plan can be asked: " + "; ".join(refused)

    def test_a_truth_is_right(self) -> None:
        """However it is said, at least in one of the ways of `says`."""
        for sample in self._scored:
            truths = AnswerForms.of(self._dataset.benchmark).answer_form(sample).truths
            texts = [text for truth in truths for text in self.says(truth)]
            found = [one.outcome for one in self._judged(sample, texts)]
            assert not texts or "right" in found, f"{sample.id}: none of {texts} is right, but {found}"

    def test_an_abstention_is_never_right(self) -> None:
        """Nor is a text of no words."""
        for sample in self._scored:
            for text, one in zip(_ABSTENTIONS, self._judged(sample, _ABSTENTIONS), strict=True):
                assert one.outcome != "right", f"{sample.id}: '{text}' is right, by {one.status}"

    def test_a_closing_turn_can_be_right(self) -> None:
        """Of the words that it is held to, under every protocol; and the word for no answer is none."""
        benchmark = self._dataset.benchmark
        for sample, protocol in product(self._scored, benchmark.protocols):
            form = AnswerForms.of(benchmark).closed_form(sample, protocol)
            if form is None or form.bare is None or form.bare.choice is None:
                continue
            values = [form.value_of(word) for word in form.bare.choice]
            right = [value for value in values if value is not None and form.is_right(value)]
            assert right, f"{sample.id}, {protocol}: none of {', '.join(form.bare.choice)} is right"
            assert form.value_of(NO_ANSWER) is None, f"{sample.id}, {protocol}: '{NO_ANSWER}' is read as an answer"

    def test_the_order_of_replies_changes_nothing(self) -> None:
        """Nor that they lie in several files, nor that they are counted part by part: every form is the same text."""
        lines = [*self._lines()]
        expected = self._forms([lines])
        for seed in range(_SHUFFLES):
            draw = random.Random(seed)
            shuffled = draw.sample(lines, len(lines))
            cuts = sorted(draw.sample(range(len(lines) + 1), min(3, len(lines))))
            files = [shuffled[first:last] for first, last in pairwise((0, *cuts, len(lines)))]
            self._require_same(expected, self._forms([shuffled]), f"another order (seed {seed}) gives another")
            self._require_same(expected, self._forms(files), f"{len(files)} files (seed {seed}) give another")
            counted = self._counted_by_parts([part for part in files if part])
            self._require_same(expected, {"json": counted}, f"{len(files)} parts (seed {seed}) give another")

    @property
    def _dataset(self) -> Dataset:
        return load_dataset(self.folder)

    @property
    def _scored(self) -> list[Sample]:
        return [sample for sample in self._dataset.samples if sample.scored]

    def _named(self, image: str) -> str:
        return f"{self.folder.name}/{image}"

    def _truths(self, sample: Sample) -> Iterator[str]:
        for truth in AnswerForms.of(self._dataset.benchmark).answer_form(sample).truths:
            yield from self.says(truth)

    def _read(self, benchmark: Benchmark[Any, Any], record: dict[str, Any]) -> list[Sample]:
        with TemporaryDirectory() as folder:
            copy = Path(folder) / self.folder.name
            for path in self.folder.iterdir():
                if path.is_file():
                    (copy / path.name).parent.mkdir(exist_ok=True)
                    (copy / path.name).write_bytes(path.read_bytes())
            (copy / "samples").mkdir(parents=True, exist_ok=True)
            (copy / "samples" / "again.json").write_text(json.dumps([record]))
            if (self.folder / "images").is_dir():
                (copy / "images").symlink_to((self.folder / "images").resolve())
            return list(load_dataset(copy).samples)

    def _asked(self, plan: str) -> list[str]:
        spec = JobSpec(dataset=self.folder.name, models=(_MODEL,), plan=plan, seed=1)
        root = ImageRoot(self.folder.parent)

        def size_of(image: str) -> Size:
            return read_header(root.locate(image)).size

        return [request.model_dump_json() for _, request in expand(self._dataset, spec, load_catalogue(), size_of)]

    def _judged(self, sample: Sample, texts: Sequence[str]) -> list[SampleOutcome]:
        lines = [json.dumps({"sample_id": sample.id, "text": text, "repeat": at}) for at, text in enumerate(texts)]
        with TemporaryDirectory() as folder:
            (Path(folder) / "replies.ndjson").write_text("\n".join(lines))
            found = outcomes_of_files(self._dataset, Path(folder), catalogue=load_catalogue()) if lines else iter(())
            return list(found)

    def _lines(self) -> Iterator[str]:
        """Replies of two models, one of them in no catalogue, under protocols and conditions: right, wrong, failed."""
        benchmark, number = self._dataset.benchmark, count()
        cells = [Cell(protocol=name, condition=shown) for name in benchmark.protocols for shown in benchmark.conditions]
        spread = cells[:: -(-len(cells) // _MOST_CELLS)]
        for cell, model in product(spread, (_MODEL, _UNKNOWN_MODEL)):
            for sample in self._dataset.samples:
                texts = (*self._truths(sample), *_ABSTENTIONS, "B", "7") if cell == cells[0] else ("B", "")
                said: list[dict[str, Any]] = [{"text": text} for text in texts]
                said.append({"failure": {"type": "EngineLostError"}})
                for repeat, one in enumerate(said if CellRules.of(benchmark).applies(sample, cell) else ()):
                    labels = {"sample_id": sample.id, "model": model, "repeat": repeat, "job_id": f"job {repeat % 2}"}
                    at = {
                        "protocol": cell.protocol,
                        "condition": cell.condition,
                        "request_id": f"request {next(number)}",
                    }
                    yield json.dumps(labels | at | one)
        yield json.dumps({"sample_id": "nobody's", "text": "B", "request_id": "nobody's"})

    @staticmethod
    def _require_same(expected: Mapping[str, str], found: Mapping[str, str], told: str) -> None:
        for form, text in found.items():
            assert text == expected[form], f"{told} report as {form}"

    def _forms(self, files: Sequence[Sequence[str]]) -> dict[str, str]:
        with TemporaryDirectory() as folder:
            paths = self._written(Path(folder), files)
            report = score_files(self.folder, *paths)
            page = page_of_files(report, self.folder, *paths, catalogue=load_catalogue())
        forms = {"json": render_json, "md": render_markdown, "csv": render_csv, "tex": render_latex}
        return {name: render(report) for name, render in forms.items()} | {"html": page}

    def _counted_by_parts(self, files: Sequence[Sequence[str]]) -> str:
        """Return the report of what was tallied of each file by itself, written and read again, as the service does."""
        dataset, catalogue = load_for_scoring(self.folder), load_catalogue()
        tally = tally_replies(dataset, (), catalogue)
        with TemporaryDirectory() as folder:
            for path in self._written(Path(folder), files):
                by_job: dict[str, list[Reply]] = {}
                for reply in read_replies([path], next(iter(dataset.benchmark.protocols))):
                    by_job.setdefault(reply.job_id, []).append(reply)
                for job, replies in by_job.items():
                    part = json.loads(json.dumps(dump_tally(tally_replies(dataset, replies, catalogue))))
                    merge_tally(tally, job, part, dataset.benchmark)
        return render_json(report_on_tally(dataset, tally, catalogue))

    @staticmethod
    def _written(folder: Path, files: Sequence[Sequence[str]]) -> list[Path]:
        paths = [folder / f"{number}.ndjson" for number in range(len(files))]
        for path, lines in zip(paths, files, strict=True):
            path.write_text("\n".join(lines))
        return paths
