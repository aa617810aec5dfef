"""Examples that the OpenAPI document shows; a test checks each against its model."""

from typing import Any

JOB_ID = "job_01jd5m8q2v"
MODEL = "qwen3-vl-8b"

SPEC: dict[str, Any] = {
    "dataset": "ultravr",
    "models": [MODEL],
    "plan": "table1",
    "repeats": 1,
    "seed": 7,
    "sampling": {"temperature": 0.7, "max_tokens": 8192},
    "metadata": {"owner": "evaluation"},
}
SPEC_OF_CELLS: dict[str, Any] = {
    "dataset": "ultravr",
    "models": [MODEL],
    "cells": [{"protocol": "S0", "condition": "V3"}],
    "samples": ["cctv-0007", "rs-0012"],
    "priority": "interactive",
}
JOB: dict[str, Any] = {
    "id": JOB_ID,
    "spec": SPEC,
    "status": "in_progress",
    "request_counts": {"total": 48, "completed": 17, "failed": 1},
    "dataset_digest": "5f2c9a",
    "created_at": "2026-11-21T09:30:00Z",
    "in_progress_at": "2026-11-21T09:30:01Z",
    "finished_at": None,
    "errors": [],
}
CANCELLED_JOB: dict[str, Any] = {**JOB, "status": "cancelled", "finished_at": "2026-11-21T09:31:00Z"}
_SUMMARY: dict[str, Any] = {
    **{name: JOB[name] for name in ("id", "status", "request_counts", "created_at", "in_progress_at", "finished_at")},
    "spec": {name: value for name, value in SPEC.items() if name != "sampling"},
}
JOBS: dict[str, Any] = {"object": "list", "data": [_SUMMARY], "has_more": False, "last_id": JOB_ID}
DELETION: dict[str, Any] = {"id": JOB_ID, "object": "job", "deleted": True}
RESPONSE: dict[str, Any] = {
    "version": 2,
    "request_id": f"cctv-0007:S0-V2:{MODEL}:0",
    "job_id": JOB_ID,
    "sample_id": "cctv-0007",
    "model": MODEL,
    "protocol": "S0",
    "condition": "V2",
    "turns": [
        {
            "text": "Final answer: B",
            "finish_reason": "stop",
            "usage": {"prompt_tokens": 16452, "completion_tokens": 5, "cached_tokens": 16400},
        }
    ],
    "sampling": {"temperature": 0.7, "max_tokens": 8192, "seed": 1186412},
    "worker": "worker-0",
    "created_at": "2026-11-21T09:30:12Z",
    "cursor": "1795253412000-0",
}
EVENTS = (
    "id: 1795253412000-0\r\nevent: progress\r\n"
    'data: {"status":"in_progress","request_counts":{"total":48,"completed":17,"failed":1}}\r\n\r\n'
)
WEBHOOK: dict[str, Any] = {"job_id": JOB_ID, "url": "https://example.org/hooks/gigavqa"}
PHASE: dict[str, Any] = {"name": "reading weights", "done_bytes": 8589934592, "total_bytes": 17179869184}
WORKERS: dict[str, Any] = {
    "object": "list",
    "data": [
        {
            "worker": "node-1-4711",
            "models": [MODEL],
            "loaded": MODEL,
            "state": "ready",
            "running": 48,
            "waiting": 61,
            "device": "NVIDIA H200",
            "metrics_url": "http://127.0.0.1:40123/metrics",
            "since": "2026-11-21T08:00:00Z",
        },
        {
            "worker": "node-1-4712",
            "models": [MODEL],
            "state": "starting",
            "phase": PHASE,
            "since": "2026-11-21T09:30:00Z",
        },
    ],
}
MODEL_CARD: dict[str, Any] = {
    "id": MODEL,
    "object": "model",
    "title": "Qwen3-VL-8B-Instruct",
    "family": "qwen3-vl",
    "weights": "Qwen/Qwen3-VL-8B-Instruct",
    "licence": "Apache-2.0",
    "max_model_len": 131072,
    "max_visual_tokens": 16384,
    "effective_resolution": 4096,
    "random_weights": False,
    "billions": 8.8,
    "gpus": {"number": 1, "memory_gib": 80},
    "papers": ["ultravr"],
    "decoding": {"temperature": 0.7, "top_p": 0.95, "top_k": 20, "repetition_penalty": 1.0, "max_tokens": 32768},
    "workers": 2,
    "loaded": 1,
    "starting": [PHASE],
    "queue": {"waiting": 31, "leased": 2},
}
MODELS: dict[str, Any] = {"object": "list", "data": [MODEL_CARD]}
DATASET_SUMMARY: dict[str, Any] = {
    "name": "ultravr",
    "benchmark": "ultravr",
    "title": "UltraVR",
    "description": "Four domains of ultra-high-resolution images",
    "pictures": ["images/plaza.tif"],
}
DATASETS: dict[str, Any] = {"object": "list", "data": [DATASET_SUMMARY]}
DATASET: dict[str, Any] = {
    **DATASET_SUMMARY,
    "digest": "5f2c9a",
    "num_samples": 24,
    "num_images": 8,
    "groups": {"cctv": {"comparison": 4, "logical_verification": 4}, "ad": {"logical_anomaly": 16}},
}
SAMPLE_CARD: dict[str, Any] = {
    "id": "cctv-0007",
    "images": ["images/plaza.tif"],
    "question": "Which quadrant holds more people?",
    "options": {"A": "upper left", "B": "upper right", "C": "lower left", "D": "lower right"},
    "truth": "B",
    "groups": {"domain": "cctv", "category": "comparison"},
}
DATASET_IMPORT: dict[str, Any] = {
    "name": "street",
    "made": True,
    "benchmark": "questions",
    "num_samples": 1,
    "num_images": 1,
    "kinds": {"choice": 1},
    "samples": [{name: SAMPLE_CARD[name] for name in ("id", "images", "question", "options", "truth")}],
    "left_out": [],
    "notes": ["questions.csv: not read: photographer (1 record)"],
    "warnings": [],
}
DATASET_CHECK: dict[str, Any] = {**DATASET_IMPORT, "made": False}
DATASET_STAKES: dict[str, Any] = {
    "name": "street",
    "files": 14,
    "bytes": 734015488,
    "ended_jobs": 2,
    "open_jobs": 0,
}
DATASET_DELETION: dict[str, Any] = {**DATASET_STAKES, "object": "dataset", "deleted": True}
SAMPLES: dict[str, Any] = {"object": "list", "data": [SAMPLE_CARD], "has_more": True, "last_id": "cctv-0007"}
SAMPLE: dict[str, Any] = {
    **SAMPLE_CARD,
    "record": {"id": "cctv-0007", "image": "images/plaza.tif", "question": SAMPLE_CARD["question"], "answer": "B"},
}
IMAGES: dict[str, Any] = {
    "object": "list",
    "data": [
        {
            "name": "images/plaza.tif",
            "width": 40000,
            "height": 30000,
            "format": "tiff",
            "num_bytes": 734003200,
            "num_samples": 3,
            "error": None,
        }
    ],
    "has_more": False,
    "last_id": "images/plaza.tif",
}
LABELS: dict[str, Any] = {
    "object": "list",
    "kinds": [
        {"name": "failure", "title": "Why did it fail?", "choices": {"anchor": "wrong anchor"}, "together": True},
    ],
    "data": [{"kind": "failure", "choice": "anchor", "request": "hop-0001:direct-V2:qwen3-vl-8b:0"}],
}
_SEEN: dict[str, Any] = {"sample": "cctv-0007", "digest": "0f" * 16}
REVIEW: dict[str, Any] = {
    "id": "4f1c09d2-7a",
    **_SEEN,
    "verdict": "drop",
    "reason": "several-answers",
    "note": "both quadrants hold 12",
    "answer": "B",
    "seconds": 14.2,
    "at": "2026-11-21T09:30:00Z",
}
_SHARE: dict[str, Any] = {"value": 0.9, "count": 40, "low": 0.77, "high": 0.96}
REVIEWS: dict[str, Any] = {
    "samples": 48,
    "states": {"unreviewed": 8, "keep": 35, "mend": 1, "drop": 2, "conflict": 2},
    "reviewers": [{"reviewer": "ada", "keep": 37, "mend": 1, "drop": 2, "accuracy": _SHARE, "seconds": 11.5}],
    "agreement": [
        {
            "reviewers": ["ada", "bob"],
            "verdicts": _SHARE,
            "kappa": {"value": 0.61, "count": 40, "low": 0.4, "high": 0.82},
            "answers": _SHARE,
        }
    ],
    "object": "list",
    "data": [{"sample": "cctv-0007", "state": "drop", "reviews": {"ada": REVIEW}}],
    "has_more": False,
    "last_id": "cctv-0007",
}
_BLIND_SAMPLE: dict[str, Any] = {
    "id": "cctv-0007",
    "digest": "0f" * 16,
    "position": 8,
    "images": [{"name": "images/plaza.tif", "width": 40000, "height": 30000}],
    "question": SAMPLE_CARD["question"],
    "options": SAMPLE_CARD["options"],
    "kind": "choice",
    "groups": {"domain": "cctv"},
    "mine": None,
}
BLIND_SAMPLES: dict[str, Any] = {
    "object": "list",
    "data": [_BLIND_SAMPLE],
    "reviewer": "ada",
    "samples": 48,
    "reviewed": 40,
    "may_settle": False,
}
REVEALED_SAMPLE: dict[str, Any] = {
    **_BLIND_SAMPLE,
    "truth": "B",
    "evidence": [{"image": 0, "box": [20000, 0, 40000, 15000]}],
    "told": [],
    "reviews": {},
}
MANIFEST: dict[str, Any] = {
    "@context": "http://iiif.io/api/presentation/3/context.json",
    "id": "http://127.0.0.1:8470/v1/datasets/plazas/manifest",
    "type": "Manifest",
    "label": {"none": ["Plazas"]},
    "summary": {"en": ["1 picture of 1"]},
    "items": [
        {
            "id": "http://127.0.0.1:8470/v1/datasets/plazas/manifest/images%2Fplaza.tif",
            "type": "Canvas",
            "label": {"none": ["images/plaza.tif"]},
            "width": 26753,
            "height": 15052,
            "items": [],
        }
    ],
}
PLANS: dict[str, Any] = {
    "object": "list",
    "data": [
        {
            "benchmark": "ultravr",
            "name": "table1",
            "cells": [{"protocol": "S0", "condition": "V2"}, {"protocol": "S0", "condition": "V0"}],
        }
    ],
}
VERSION: dict[str, Any] = {
    "name": "gigavqa",
    "version": "0.1.0",
    "api": "v1",
    "form": 2,
    "benchmarks": {"ultravr": "UltraVR"},
}
READINESS: dict[str, Any] = {
    "ready": True,
    "checks": {"gateway": "ok", "server": "ok", "data_root": "ok", "results": "ok"},
    "workers": {MODEL: {"ready": 2}},
    "loaded": {MODEL: 1},
}
UNREADINESS: dict[str, Any] = {
    "ready": False,
    "checks": {"gateway": "ok", "server": "no answer within 2 s", "data_root": "ok", "results": "ok"},
    "workers": {},
    "loaded": {},
}
INDEX: dict[str, Any] = {
    "name": "gigavqa",
    "version": "0.1.0",
    "documentation": "/docs",
    "description": "/openapi.json",
    "jobs": "/v1/jobs",
    "models": "/v1/models",
    "datasets": "/v1/datasets",
    "workers": "/v1/workers",
    "plans": "/v1/plans",
    "readiness": "/readyz",
    "metrics": "/metrics",
    "watch": "/watch",
}
HEALTH: dict[str, Any] = {"status": "ok"}
TARGETS: list[dict[str, Any]] = [
    {
        "targets": ["10.0.3.7:9401"],
        "labels": {
            "worker": "node-3-4711",
            "device": "NVIDIA H100 80GB HBM3",
            "models": "qwen3-vl-8b",
            "__scheme__": "http",
            "__metrics_path__": "/metrics",
        },
    }
]
WATCHED: dict[str, Any] = {
    "well": False,
    "idle": True,
    "concerns": [
        {
            "severity": "page",
            "says": "31 bundles wait for qwen3-vl-8b, and no worker serves it.",
            "alert": "GigavqaNoWorker",
        }
    ],
    "server": {"answers": True, "takes_writes": True, "used_bytes": 73400320, "limit_bytes": 8589934592},
    "jobs": {"in_progress": 1, "completed": 12},
    "models": [
        {
            "model": MODEL,
            "waiting": 31,
            "leased": 0,
            "oldest_seconds": 402.5,
            "workers": 0,
            "completed": 1890,
            "failed": 4,
        }
    ],
    "workers": [],
    "disks": [{"place": "results", "free_bytes": 412316860416, "total_bytes": 1099511627776}],
    "unsunk": 48,
    "points": {"time": [1795253412.0], "waiting": [31.0], "oldest": [402.5], "busy": [None]},
}
METRICS = (
    "# HELP gigavqa_jobs Jobs that are kept, by status.\n# TYPE gigavqa_jobs gauge\n"
    'gigavqa_jobs{status="in_progress"} 1.0\n'
)
_ESTIMATE: dict[str, Any] = {"value": 0.487, "count": 48, "low": 0.35, "high": 0.62}
_TEXT_ONLY: dict[str, Any] = {"value": 0.261, "count": 48, "low": 0.16, "high": 0.39}
_MACRO: dict[str, Any] = {"key": "macro", "title": "macro", "keys": {"metric": "macro_accuracy"}, "strong": True}
_TEXT_ONLY_COLUMN: dict[str, Any] = {"key": "text_only", "title": "text only", "keys": {"metric": "text_only_accuracy"}}
REPORT: dict[str, Any] = {
    "benchmark": "ultravr",
    "title": "UltraVR",
    "dataset": "ultravr",
    "dataset_digest": "5f2c9a",
    "samples": 48,
    "awaiting_expert": [],
    "versions": {"answers": "answers/14"},
    "tables": [
        {
            "name": "table1",
            "title": "Table 1: end to end",
            "groups": [{"title": "All domains", "columns": [_MACRO, _TEXT_ONLY_COLUMN]}],
            "rows": [{"title": "Qwen3-VL-8B-Instruct", "keys": {"model": MODEL}, "values": [_ESTIMATE, _TEXT_ONLY]}],
        }
    ],
    "cells": [],
    "caveats": [{"scope": "cell", "text": f"{MODEL} S0 V2: the macro average leaves out rs, wsi, ad"}],
    "provenance": [],
}
REPORT_MARKDOWN = (
    "| Model | Macro | Text-only acc. | Visual gap |\n| --- | --- | --- | --- |\n"
    "| Qwen3-VL-8B-Instruct | 48.7 [35.0, 62.0] n=48 | 26.1 [16.0, 39.0] n=48 | +22.6 [7.0, 38.0] n=48 |\n"
)
REPORT_CSV = (
    "table,model,protocol,condition,domain,category,metric,value,low,high,count\n"
    "table1,qwen3-vl-8b,S0,V2,,,macro_accuracy,0.487000,0.350000,0.620000,48\n"
)
REPORT_LATEX = (
    "% table1\n\\begin{table}\n\\caption{Table 1: end to end.}\n\\begin{tabular}{lrr}\n\\toprule\n"
    "Qwen3-VL-8B-Instruct & 48.7 & 26.1 \\\\\n"
)
REPORT_PAGE = '<!doctype html>\n<html lang="en">\n'
VERDICT: dict[str, Any] = {
    "job_id": JOB_ID,
    "request_id": f"cctv-0007:S0-V2:{MODEL}:0",
    "sample_id": "cctv-0007",
    "model": MODEL,
    "protocol": "S0",
    "condition": "V2",
    "max_rounds": None,
    "repeat": 0,
    "group_domain": "cctv",
    "group_category": "comparison",
    "group_subcategory": "count",
    "question": "Which quadrant holds more people?",
    "options": {"A": "upper left", "B": "upper right"},
    "truth": "B",
    "value": "B",
    "status": "final",
    "outcome": "right",
    "score": 1.0,
    "correct": True,
    "failure": None,
    "cut_off": False,
    "overflowed": False,
    "filtered": False,
    "empty": False,
    "closing": None,
    "closing_value": None,
    "closing_outcome": None,
    "closing_agrees": None,
    "tags": {},
    "parts": [],
    "rule": "announced",
    "job": JOB_ID,
    "sample": "cctv-0007",
    "detail_steps": [],
    "detail_unjudged": [],
}
VERDICTS_CSV = (
    '"job_id","request_id","sample_id","model","protocol","condition","max_rounds","repeat","group_domain", ...\n'
    f'"{JOB_ID}","cctv-0007:S0-V2:{MODEL}:0","cctv-0007","{MODEL}","S0","V2",,0,"cctv", ...\n'
)
