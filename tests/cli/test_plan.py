"""`gigavqa plan`: whether a model fits, how fast it is and what that costs, before there is a GPU."""

import json
import math
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.shape_configs import SHAPES, shape_of
from gigavqa.cli.console import print_json
from gigavqa.cli.workloads import one_picture
from tests.cli.installation import Installation


def test_a_model_that_fits_is_planned_as_a_worker_would_serve_it(installation: Installation) -> None:
    """Memory, pictures in the cache, and vLLM's arguments; a range of speed below the roofline."""
    told = installation.json("plan", "qwen3-vl-8b", "--gpu", "h100", "--count", "2", "--price", "3", "--json")
    assert (told["fits"], told["tensor_parallel_size"], told["workers"]) == (True, 1, 2)
    parts = {name: part["gib"] for name, part in told["memory"].items()}
    assert parts.pop("usable") == pytest.approx(sum(parts.values()), abs=0.05)
    assert told["kv"]["pictures"] == pytest.approx(told["kv"]["tokens"] // 16384, abs=1)
    assert told["arguments"]["max_num_batched_tokens"] == 32768
    slow, fast = told["speed"]["requests_per_hour"]
    assert slow < fast < told["speed"]["requests_per_hour_at_most"]
    assert told["priced_requests"] == 1000
    assert told["price"] == [hours * 2 * 3 * 1000 for hours in told["speed"]["hours"]]


def test_every_figure_says_how_it_is_known(installation: Installation) -> None:
    """Nothing was measured, and nothing claims it."""
    said = installation.ok("plan", "gemma-4-26b")
    assert {"computed", "estimated", "assumed"} <= set(said.split())
    assert "measured" not in said


def test_what_does_not_fit_is_told_and_ends_with_one(installation: Installation) -> None:
    """With what to do."""
    run = installation.run("plan", "glm-4.5v", "--gpu", "a100-40")
    assert run.returncode == 1
    assert run.stdout.startswith("glm-4.5v does not fit 1 x A100 SXM 40 GB\n")
    assert "'glm-4.5v' does not fit one such GPU" in run.stdout
    assert "are taken before there is a KV cache, 200.6 of them by weights" in run.stdout
    assert "spread it over more GPUs" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        (("qwen3-vl-8b",), "qwen3-vl-8b fits: 1 worker, on 1 x H100 SXM 80 GB"),
        (("qwen3-vl-8b", "--count", "3"), "qwen3-vl-8b fits: 3 workers, each on 1 x H100 SXM 80 GB"),
        (("qwen3.5-27b", "--gpu", "l40s", "--count", "3"), "1 worker, on 2 x L40S 48 GB; 1 of 3 GPUs is left over"),
        (
            ("qwen3.5-27b", "--gpu", "rtx4090", "--count", "6"),
            "on 4 x GeForce RTX 4090 24 GB; 2 of 6 GPUs are left over",
        ),
        (("glm-4.5v", "--gpu", "l40s", "--count", "3"), "glm-4.5v does not fit 3 x L40S 48 GB"),
    ],
    ids=str,
)
def test_the_verdict_is_a_sentence(installation: Installation, arguments: tuple[str, ...], verdict: str) -> None:
    """With as many workers and GPUs as there are, and those that serve nothing."""
    said = installation.run("plan", *arguments).stdout
    assert said.splitlines()[0].endswith(verdict)
    assert "(s)" not in said
    assert ("such pictures in the KV cache" in said) == ("left for the KV cache" in said)


OPEN = [entry.id for entry in load_catalogue().values() if entry.takes_pictures and not entry.is_closed]


@pytest.mark.parametrize("model", [model for model in OPEN if not model.startswith("demo-")])
def test_what_is_counted_of_one_picture_is_the_picture_that_is_named(model: str) -> None:
    """And hardly any picture takes more tokens: of no other shape, by the bound of the budget."""
    entry = load_catalogue()[model]
    work = one_picture(entry, shape_of(entry), 512)
    assert work.told()["prompt tokens"] == work.visual_tokens + 128
    bound = entry.visual_budget.max_visual_tokens
    assert bound >= work.visual_tokens >= 0.98 * bound


def test_a_picture_of_tiles_takes_all_of_them(installation: Installation) -> None:
    """InternVL3 makes 12 tiles and a thumbnail of 256 tokens each, of a picture that is no square."""
    told = installation.json("plan", "internvl3-8b", "--json")["workload"]
    assert (told["visual tokens"], told["prompt tokens"]) == (3328, 3456)
    assert "about a new picture of 3,328 tokens" in installation.ok("plan", "internvl3-8b")
    kimi = installation.json("plan", "kimi-vl-a3b-thinking", "--json")
    assert kimi["workload"]["visual tokens"] == kimi["workload"]["prompt tokens"] - 128 < kimi["kv"]["visual_tokens"]


def test_a_model_of_texts_has_no_rows_of_pictures(installation: Installation) -> None:
    """Nor is one asked about any."""
    said = installation.ok("plan", "tongyi-deepresearch-30b-a3b")
    assert "a request is one question, and an answer of 512 tokens" in said
    assert "picture" not in said


def test_a_model_is_spread_over_as_many_gpus_as_it_needs(installation: Installation) -> None:
    """Where its entry says fewer, of which each is too small."""
    told = installation.json("plan", "qwen3.5-27b", "--gpu", "a100-40", "--count", "4", "--json")
    assert (told["tensor_parallel_size"], told["workers"]) == (2, 2)
    assert told["arguments"]["tensor_parallel_size"] == 2
    assert told["condition"] == "gigavqa up --model qwen3.5-27b --engine-arg tensor_parallel_size=2"
    assert told["condition"] in installation.ok("plan", "qwen3.5-27b", "--gpu", "a100-40", "--count", "4")
    assert installation.json("plan", "qwen3.5-27b", "--json")["condition"] is None


def test_a_model_is_spread_over_no_gpus_that_vllm_refuses(installation: Installation) -> None:
    """Phi-4 has 10 KV heads: two workers of two GPUs, none of four."""
    told = installation.json("plan", "phi-4-reasoning-vision-15b", "--gpu", "rtx4090", "--count", "4", "--json")
    assert (told["fits"], told["tensor_parallel_size"], told["workers"]) == (True, 2, 2)


def test_what_needs_more_gpus_is_told_how_many(installation: Installation) -> None:
    """As its entry spreads it: of its context only where the entry's own GPUs have room for a picture and an answer."""
    run = installation.run("plan", "qwen3-vl-235b-a22b", "--count", "4")
    assert run.stdout.rstrip().endswith("spread it over more GPUs (--count 8)")
    lack = installation.run("plan", "qwen2.5-vl-32b").stdout
    assert ("(--count 2)" in lack, "--context" in lack) == (True, False)


def checkpoint(folder: Path, model: str = "Qwen--Qwen3-VL-8B-Instruct") -> Path:
    """The files by which a checkpoint says what it is, without weights."""
    config = tomllib.loads((SHAPES / f"{model}.toml").read_text())
    config["text_config"]["max_position_embeddings"] = 262144
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "preprocessor_config.json").write_text("{}")
    return folder


def test_the_command_that_a_plan_names_can_be_run(installation: Installation, tmp_path: Path) -> None:
    """Of a folder, which no catalogue has, and of the entry that it becomes, which is replaced."""
    folder = checkpoint(tmp_path / "my 8B")
    for model in (str(folder), "my-8b"):
        said = " ".join(installation.run("plan", model, "--gpu", "a100-40").stdout.split())
        (named,) = re.findall(r"`gigavqa (models add .*)` writes an entry that fits", said)
        installation.ok(*shlex.split(named))
        assert installation.json("plan", "my-8b", "--gpu", "a100-40", "--json")["fits"]
        installation.ok("models", "add", "my-8b", "--context", "120000", "--force")


def test_a_folder_is_named_where_it_is_to_be_served_otherwise(installation: Installation, tmp_path: Path) -> None:
    """Its id is known to no command before it was served."""
    folder = checkpoint(tmp_path / "my-32B", "Qwen--Qwen3-VL-32B-Instruct")
    told = installation.json("plan", str(folder), "--count", "2", "--json")
    assert told["condition"] == f"gigavqa up --model {folder} --engine-arg tensor_parallel_size=2"


def test_a_data_set_is_counted_as_a_job_expands_it(installation: Installation) -> None:
    """Four questions about one picture, with it and without: it is encoded once."""
    told = installation.json("plan", "qwen3-vl-8b", "tiny", "table1", "--json")
    work = told["workload"]
    assert (work["samples"], work["requests"], work["pictures"], work["encoded rasters"]) == (4, 8, 1, 1)
    assert work["answer tokens"] == 8 * 512
    assert work["prompt tokens"] - work["prefilled tokens"] == 3 * 475  # 800 x 600 pixels: 25 x 19 tokens
    once, twice = (
        installation.json("plan", "qwen3-vl-8b", "tiny", "table1", "--samples", samples, "--json")["speed"]
        for samples in ("640", "1280")
    )
    assert twice["hours_at_least"] == pytest.approx(2 * once["hours_at_least"])


def test_no_number_of_gpus_answers_faster_than_one_reads_the_weights(installation: Installation) -> None:
    """Of an answer's 512 tokens each takes the 15.1 GB of an H100's language model at 3.35 TB/s: 2.3 s."""
    asked = ("plan", "qwen3-vl-8b", "tiny", "table1", "--json")
    for more in (("--count", "8"), ("--count", "1024"), ("--count", "7"), ("--samples", "1")):
        told = installation.json(*asked, *more)
        assert told["speed"]["hours_at_least"] * 3600 > 512 * 15.1e9 / 3.35e12, more


def test_a_sample_and_a_price_are_planned(installation: Installation) -> None:
    """Of two requests, a picture at least; and assumed is what the page calls so."""
    said = installation.ok("plan", "qwen3-vl-8b", "tiny", "table1", "--samples", "1", "--price", "2")
    rows = {re.split(r" {2,}", line)[0]: re.split(r" {2,}", line.strip())[1:] for line in said.splitlines()}
    assert {"hours", "price"} <= rows.keys()
    assert rows["pictures"] == ["1", "counted"]
    assert rows["answer tokens"] == ["1,024", "assumed"]
    assert rows["prompt tokens"][1] == "counted, texts assumed"
    assert "price of 1,000 requests" in installation.ok("plan", "qwen3-vl-8b", "--price", "2")


def test_a_price_is_of_all_gpus_and_says_where_some_are_left_over(installation: Installation) -> None:
    """Of three A100 of 40 GB this model takes two."""
    said = installation.ok("plan", "qwen3-vl-8b", "--gpu", "a100-40", "--count", "3", "--price", "2")
    assert "computed from your price of all 3, those left over too" in " ".join(said.split())
    assert "left over" not in installation.ok("plan", "qwen3-vl-8b", "--gpu", "a100-40", "--count", "2", "--price", "2")


def test_what_fits_by_less_than_estimates_may_be_wrong_is_said(installation: Installation) -> None:
    """Phi-4 has 1.2 GiB to spare on an A100 of 40 GB, and 50 on one of 80."""
    (limit,) = installation.json("plan", "phi-4-reasoning-vision-15b", "--gpu", "a100-40", "--json")["limits"]
    assert limit.startswith("it fits by 1.2 GiB of each GPU")
    assert installation.json("plan", "phi-4-reasoning-vision-15b", "--gpu", "a100-80", "--json")["limits"] == []


def test_an_answer_is_no_longer_than_entry_and_context_allow(installation: Installation) -> None:
    """DeepSeek-VL2 has a context of 4,096 tokens, and every entry a bound of its own."""
    told = installation.json("plan", "deepseek-vl2", "--answer", "100000", "--json")
    work = told["workload"]
    assert work["prompt tokens"] + work["answer tokens"] == told["arguments"]["max_model_len"] == 4096
    said = installation.ok("plan", "deepseek-vl2", "--answer", "100000")
    assert "the entry allows 32,768 (decoding.max_tokens)" in said
    assert "the context of 4,096 tokens (max_model_len) has no room for more" in said
    assert installation.json("plan", "deepseek-vl2", "--json")["limits"] == []


def test_a_context_without_room_for_an_answer_has_no_speed(installation: Installation) -> None:
    """Of 5,120 tokens, a picture takes 16,384."""
    installation.ok("models", "add", "qwen2.5-vl-7b", "--id", "short", "--context", "5120")
    told = installation.json("plan", "short", "--json")
    assert "speed" not in told
    assert told["limits"] == [
        "1 turn would be refused, for its prompt fills the context of 5,120 tokens (max_model_len)"
    ]


def test_a_folder_with_a_config_is_enough(installation: Installation, tmp_path: Path) -> None:
    """No weights."""
    write_folder(tmp_path)
    told = installation.json("plan", str(tmp_path), "--gpu", "l40s", "--json")
    assert told["kv"]["bytes_per_token"] == 28 * 2 * 8 * 128 * 2
    config = json.loads((tmp_path / "config.json").read_text())
    config["text_config"]["num_hidden_layers"] = -28
    (tmp_path / "config.json").write_text(json.dumps(config))
    run = installation.run("plan", str(tmp_path))
    assert (run.returncode, "text_config.num_hidden_layers is -28" in run.stderr) == (2, True)


def write_folder(folder: Path, **quantization: object) -> str:
    """A folder of a small Qwen3-VL that is quantized so."""
    text = {
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "vocab_size": 151936,
        "max_position_embeddings": 262144,
    }
    vision = {"depth": 24, "patch_size": 16, "hidden_size": 1024, "intermediate_size": 4096}
    config = {"model_type": "qwen3_vl", "text_config": text, "vision_config": vision}
    for name, content in (
        ("config.json", config | {"quantization_config": quantization}),
        ("preprocessor_config.json", {"patch_size": 16}),
    ):
        (folder / name).write_text(json.dumps(content))
    return str(folder)


def test_a_quantized_model_says_what_the_card_makes_of_it(installation: Installation, tmp_path: Path) -> None:
    """An H100 computes in FP8, an A100 reads it and computes in 16 bits."""
    folder = write_folder(tmp_path, quant_method="fp8", ignored_layers=["model.visual"])
    for gpu, computes in (("h100", "computes in that type"), ("a100-80", "computes in 16 bits")):
        assert f"quantized by FP8: 8 bits a weight; this GPU {computes}" in installation.ok(
            "plan", folder, "--gpu", gpu
        )


def test_a_card_that_vllm_does_not_serve_a_quantized_model_on_is_refused(
    installation: Installation, tmp_path: Path
) -> None:
    """Weights of 4 bits with activations in FP8 want Hopper, however much memory there is."""
    group = {
        "targets": ["Linear"],
        "weights": {"num_bits": 4, "type": "int", "group_size": 128},
        "input_activations": {"num_bits": 8, "type": "float"},
    }
    said = {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": group}}
    folder = write_folder(tmp_path, **said)
    assert installation.json("plan", folder, "--json")["fits"]
    run = installation.run("plan", folder, "--gpu", "l40s", "--count", "8")
    assert run.returncode == 1
    assert "from compute capability 9.0 on, and L40S 48 GB has 8.9; take newer GPUs" in run.stdout


def test_a_quantization_that_is_not_known_is_refused(installation: Installation, tmp_path: Path) -> None:
    """In one sentence, with those that are."""
    run = installation.run("plan", write_folder(tmp_path, quant_method="bitsandbytes", load_in_4bit=True))
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "quant_method is 'bitsandbytes', which vLLM 0.32 or this count does not know" in run.stderr


def test_a_paper_is_planned_model_by_model(installation: Installation) -> None:
    """UltraVR's eleven on eight GPUs: those that are placed alike follow each other, the shortest first."""
    told = installation.json("plan", "--paper", "ultravr", "tiny", "table1", "--count", "8", "--price", "2", "--json")
    assert (len(told["models"]), len(told["vendors"]), told["samples"]) == (8, 3, 464)
    order = [(one["tensor_parallel_size"], one["speed"]["hours"][0]) for one in told["models"]]
    assert order == sorted(order)
    assert told["hours"][0] == pytest.approx(sum(hours for _, hours in order) + 7 * 180 / 3600)
    assert told["price"][0] == pytest.approx(told["hours"][0] * 8 * 2)
    assert told["dataset"] == "tiny"
    said = installation.ok("plan", "--paper", "ultravr", "tiny", "table1", "--count", "8")
    assert "gpt-5.5" in said
    assert said.startswith("464 samples like those of the data set 'tiny' on 8 x ")


@pytest.mark.parametrize(("count", "swaps", "left_out"), [("1", 0, 8), ("2", 1, 6)])
def test_a_total_is_of_the_models_that_fit_and_says_so(
    installation: Installation, count: str, swaps: int, left_out: int
) -> None:
    """Nothing is swapped for a model that is not served."""
    paper = ("plan", "--paper", "ultravr", "tiny", "table1", "--gpu", "rtx4090", "--count", count)
    told = json.loads(installation.run(*paper, "--json").stdout)
    assert (told["hours_of_swaps"], len(told["not_in_total"])) == (pytest.approx(swaps * 180 / 3600), left_out)
    said = installation.run(*paper).stdout
    assert f"without {left_out} of 8 models: " in said
    assert ("there is no total" in said) == (left_out == 8)
    assert said.count("--engine-arg tensor_parallel_size=2") == sum(
        one["fits"] and one["tensor_parallel_size"] == 2 for one in told["models"]
    )


def test_what_is_small_is_not_rounded_to_nothing(installation: Installation) -> None:
    """Hours, prices and tokens of a small data set have two digits; what does not fit comes last."""
    said = installation.run(
        "plan", "--paper", "ultravr", "tiny", "table1", "--gpu", "l40s", "--count", "2", "--price", "1"
    )
    rows = [re.split(r" {2,}", line) for line in said.stdout.splitlines() if re.search(r" {2,}", line)][1:]
    assert not [row for row in rows if re.search(r"\b0 (to|M)|\b0\.00 ", " ".join(row))]
    fitting = [len(row) > 3 and "does not fit" not in row for row in rows]
    assert fitting[: len(rows) - 3] == sorted(fitting[: len(rows) - 3], reverse=True)
    assert all(float(least) > 0 for row in rows for least in re.findall(r"([\d.]+) to ", " ".join(row)))


def test_a_model_of_texts_alone_is_left_out_of_a_papers_plan_and_said(installation: Installation) -> None:
    """VistaHop's paper prints rows of one, and the others are planned."""
    paper = ("plan", "--paper", "vistahop", "tiny", "table1", "--count", "8")
    told = installation.json(*paper, "--json")
    assert list(told["refused"]) == ["tongyi-deepresearch-30b-a3b"]
    assert {one["model"] for one in told["models"]} == {"qwen3-vl-30b-a3b", "qwen3-vl-235b-a22b", "sensenova-mars-32b"}
    assert "tongyi-deepresearch-30b-a3b is left out: " in installation.ok(*paper)


def test_the_largest_plan_is_json(installation: Installation) -> None:
    """No sum of what may be asked for leaves the numbers that JSON has."""
    most = ("--price", "1e9", "--samples", "1000000000", "--count", "1024")
    text = installation.ok("plan", "qwen3-vl-8b", "tiny", "table1", *most, "--json")
    assert "Infinity" not in text and json.loads(text)["price"][1] > 1e13
    with pytest.raises(ValueError, match="JSON"):
        print_json({"price": math.inf})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a MODEL"),
        (("qwen3-vl-8b", "--gpu", "h10"), "did you mean 'h100'"),
        (("qwen3vl-8b",), "did you mean 'qwen3-vl-8b'"),
        (("qwen3-vl-8b", "--count", "0"), "--count '0' is out of range (1 to 1024)"),
        (("qwen3-vl-8b", "--count", "10000"), "--count '10000' is out of range (1 to 1024)"),
        (("qwen3-vl-8b", "--count", "1.5"), "--count '1.5' is no whole number (1 to 1024)"),
        (("qwen3-vl-8b", "tiny", "--samples", "9" * 400), "is out of range (1 to 1000000000)"),
        (("qwen3-vl-8b", "--price", "1e306"), "--price '1e306' is out of range (0 to 1000000000)"),
        (("qwen3-vl-8b", "--price", "-1"), "--price '-1' is out of range (0 to 1000000000)"),
        (("qwen3-vl-8b", "--price", "inf"), "--price 'inf' is out of range (0 to 1000000000)"),
        (("qwen3-vl-8b", "--price", "nan"), "--price 'nan' is out of range (0 to 1000000000)"),
        (("qwen3-vl-8b", "--samples", "4"), "--samples scales a data set: name one"),
        (("qwen3-vl-8b", "absent"), "there is no data set 'absent'"),
        (("qwen3-vl-8b", "tiny", "table9"), "plan 'table9' is unknown"),
        (("gpt-5",), "served elsewhere alone"),
        (("demo-qwen3-vl",), "name its folder in GIGAVQA_HOME/checkpoints"),
        (("--paper", "questions", "tiny"), "nothing says which models the paper of questions asks"),
        (("--paper", "ultravr"), "there is no data set 'demo'"),
    ],
    ids=str,
)
def test_what_cannot_be_planned_is_refused(installation: Installation, arguments: tuple[str, ...], said: str) -> None:
    """In one sentence."""
    run = installation.run("plan", *arguments)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert said in run.stderr
