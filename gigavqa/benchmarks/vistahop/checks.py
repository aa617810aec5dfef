"""Check questions for what a table needs, and against the files beside the data set."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.evaluation.benchmark import Finding


def check_sample(sample: VistaHopSample) -> Iterator[str]:
    """Say what keeps a question from a table, one sentence each."""
    if not sample.scored:
        yield "has no answer: it is asked, and left out of every accuracy until an expert has answered it"
    if sample.hops is None:
        yield "has no hops: it counts in P@1, and in the column of no level"
    if sample.unshown:
        yield f"has {1 + len(sample.unshown)} pictures, of which only the first is shown"
    if lacking := [name for name in ("category", "form", "answer_type") if getattr(sample, name) is None]:
        yield f"has no {', '.join(lacking)}, so that those tables leave it out"
    if not any(anchor.box for anchor in sample.all_anchors):
        yield "has no anchor with a box: nothing can tell whether a crop showed one"


def compare_samples(samples: Sequence[VistaHopSample], documents: AbstractSet[str] | None) -> Iterator[Finding]:
    """Say which questions name documents that the corpus does not have; None is no corpus, and refuses none."""
    for sample in samples if documents is not None else ():
        named = (name for hop in sample.all_hops for name in hop.documents)
        if missing := sorted(set(named) - (documents or set())):
            yield Finding(sample.id, f"chain: the corpus has no document {', '.join(missing)}", is_error=True)
