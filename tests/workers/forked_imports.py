"""What the fork server of `forked_engines` imports before it forks: vLLM, with what most engines of the tests need."""

from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions

repair_torch_companions()

import gc  # noqa: E402
import threading  # noqa: E402
from importlib import import_module  # noqa: E402

import setproctitle  # noqa: E402

from tests.workers.forked_engines import inspect_models_here, serve_forks  # noqa: E402

_MODULES = (
    "vllm.v1.engine.async_llm",
    "vllm.v1.engine.core",
    "vllm.v1.executor.uniproc_executor",
    "vllm.v1.worker.cpu_worker",
    "vllm.v1.worker.cpu_model_runner",
    "vllm.model_executor.models.qwen3_vl",
    "transformers.tokenization_mistral_common",
    "transformers.models.auto.modeling_auto",
    "transformers.models.qwen3_vl.processing_qwen3_vl",
)
for _module in _MODULES:
    import_module(_module)
setproctitle.getproctitle()  # finds the title's place by an environment that nobody has changed yet
assert threading.active_count() == 1, "a fork would lack the threads that run here"
inspect_models_here()
serve_forks()
gc.freeze()
