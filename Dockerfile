# syntax=docker/dockerfile:1
# Two images from one file:
#
#   docker build --target gateway -t gigavqa-gateway .
#   docker build --target worker  -t gigavqa-worker --build-arg WORKER_BASE=vllm/vllm-openai:v0.32.0@sha256:... .
#
# Both are linted only (hadolint), not built by the tests: the worker's base is some 10 GB and wants a GPU to be tried.
# buildah drops HEALTHCHECK unless it is told `--format docker`.
ARG BASE=python:3.12-slim
ARG WORKER_BASE=vllm/vllm-openai:v0.32.0

FROM ${BASE} AS wheel
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY service service
COPY workers workers
COPY viewer viewer
COPY benchmarks benchmarks
COPY evaluation evaluation
COPY jobs jobs
COPY tiling tiling
COPY catalogue catalogue
COPY cli cli
COPY demo demo
COPY gigavqa gigavqa
RUN python3 -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

# No torch, no libvips: the gateway decodes no pixel.
FROM ${BASE} AS gateway
COPY --from=wheel /wheels /wheels
RUN python3 -m venv /opt/gigavqa \
    && wheel="$(echo /wheels/gigavqa-*.whl)" \
    && /opt/gigavqa/bin/pip install --no-cache-dir "${wheel}[gateway]" \
    && useradd --uid 10001 --create-home gigavqa \
    && install -d -o gigavqa -g gigavqa /var/lib/gigavqa
ENV PATH=/opt/gigavqa/bin:$PATH GIGAVQA_HOME=/var/lib/gigavqa PYTHONUNBUFFERED=1
USER 10001
VOLUME /var/lib/gigavqa
EXPOSE 8470
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8470/healthz', timeout=2)"]
# Its loopback cannot be reached from outside, so it listens on every address, and therefore asks for keys and does not
# start before there is one: --entrypoint gigavqa ... keys create (docs/operating.md, The container); or, where a network
# policy or -p 127.0.0.1:8470:8470 decides who connects, -e GIGAVQA_ALLOW_UNAUTHENTICATED=1.
ENTRYPOINT ["python3", "-P", "-m", "service"]
CMD ["--host", "0.0.0.0", "--port", "8470"]

# vLLM, torch and CUDA come with the base; caches belong on writable volumes, because loading fills them.
FROM ${WORKER_BASE} AS worker
COPY --from=wheel /wheels /wheels
# hadolint ignore=DL3013
RUN wheel="$(echo /wheels/gigavqa-*.whl)" \
    && python3 -m pip install --no-cache-dir "${wheel}[gateway,pixels]" \
    && useradd --uid 10001 --create-home gigavqa \
    && install -d -o gigavqa -g gigavqa /var/lib/gigavqa /cache
ENV HOME=/cache HF_HOME=/cache/huggingface VLLM_CACHE_ROOT=/cache/vllm TRITON_CACHE_DIR=/cache/triton \
    TORCHINDUCTOR_CACHE_DIR=/cache/inductor GIGAVQA_HOME=/var/lib/gigavqa PYTHONUNBUFFERED=1
USER 10001
VOLUME ["/var/lib/gigavqa", "/cache"]
EXPOSE 9470
HEALTHCHECK --interval=10s --timeout=3s --start-period=20m \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9470/metrics', timeout=2)"]
ENTRYPOINT ["python3", "-P", "-m", "workers", "--metrics-port", "9470"]
CMD ["--model", "qwen3-vl-8b"]
