# syntax=docker/dockerfile:1
# All images of the service. `make images` builds those that need no GPU with buildah; with Docker:
#
#   docker build --target gateway    -t gigavqa-gateway .
#   docker build --target worker-gpu -t gigavqa-worker-gpu .
#
# | target        | what runs in it                                        | what it installs           |
# |---------------|--------------------------------------------------------|----------------------------|
# | gateway       | the gateway; `gigavqa admin keys`, any client command   | deploy/locks/gateway.txt   |
# | viewer        | the evidence viewer                                    | deploy/locks/pixels.txt    |
# | worker-remote | a worker whose engine is a server elsewhere            | deploy/locks/pixels.txt    |
# | worker-cpu    | a worker with vLLM's CPU build (x86_64, Python 3.11)   | deploy/locks/cpu.txt       |
# | worker-gpu    | a worker with vLLM on NVIDIA GPUs, on vLLM's own image | deploy/locks/gpu-image.txt |
#
# Every package is checked against its hash. Each image runs as user 10001, writes to its volumes and /tmp alone, says by
# HEALTHCHECK how it is, and holds a bill of its Python packages: /opt/gigavqa/share/sbom/gigavqa.cdx.json (Debian's are listed in
# /var/lib/dpkg/status). Bases are named by tag: give BASE=...@sha256:... of what your registry holds.
ARG BASE=docker.io/library/python:3.11-slim-bookworm
ARG GPU_BASE=docker.io/vllm/vllm-openai:v0.32.0

# The wheels of the product and of its plugins, and the tools that nothing else needs.
FROM ${BASE} AS build
WORKDIR /build
COPY deploy/locks/build.txt ./
RUN python3 -m venv /tools \
    && /tools/bin/python -m pip install --no-cache-dir --require-hashes -r build.txt
COPY pyproject.toml README.md LICENSE ./
COPY service service
COPY workers workers
COPY viewer viewer
COPY tiling tiling
COPY gigavqa gigavqa
COPY plugins plugins
RUN /tools/bin/python -m pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels . ./plugins/*
COPY deploy/install /tools/bin/install-gigavqa
COPY deploy/locks /locks

FROM build AS installed-gateway
RUN /tools/bin/install-gigavqa gateway

FROM build AS installed-pixels
RUN /tools/bin/install-gigavqa pixels

FROM build AS installed-cpu
RUN /tools/bin/install-gigavqa cpu

# What all images without a GPU have: the user, his folders, and what is known of the image. A volume that begins empty gets
# its owner from the folder of the image that it covers: compose.yaml's are the user's only because they are here.
FROM ${BASE} AS ours
ARG BASE
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="gigavqa" \
      org.opencontainers.image.description="High-throughput inference for visual question answering over gigapixel images" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE}"
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/gigavqa gigavqa \
    && install -d -o gigavqa -g gigavqa /var/lib/gigavqa /cache /data /results /uploads /weights
ENV PATH=/opt/gigavqa/bin:$PATH GIGAVQA_HOME=/var/lib/gigavqa HOME=/var/lib/gigavqa MPLCONFIGDIR=/tmp/matplotlib \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001
VOLUME /var/lib/gigavqa

# No torch, no libvips: the gateway decodes no pixel.
FROM ours AS gateway
COPY --from=installed-gateway /opt/gigavqa /opt/gigavqa
# Its loopback cannot be reached from outside, so it listens on every address, and therefore asks for keys and does not
# start before there is one: --entrypoint gigavqa ... admin keys create (docs/operating.md, The containers).
ENV GIGAVQA_HOST=0.0.0.0 GIGAVQA_PORT=8470
EXPOSE 8470
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8470/healthz', timeout=2)"]
ENTRYPOINT ["python3", "-P", "-m", "gigavqa.service"]

FROM ours AS viewer
COPY --from=installed-pixels /opt/gigavqa /opt/gigavqa
ENV GIGAVQA_VIEWER_HOST=0.0.0.0 GIGAVQA_VIEWER_PORT=8471
EXPOSE 8471
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8471/healthz', timeout=2)"]
ENTRYPOINT ["python3", "-P", "-m", "gigavqa.viewer"]

# It has no engine: a server elsewhere answers (docs/remote.md).
FROM ours AS worker-remote
COPY --from=installed-pixels /opt/gigavqa /opt/gigavqa
ENV GIGAVQA_WORKER_ENGINE=remote GIGAVQA_WORKER_METRICS_HOST=0.0.0.0 GIGAVQA_WORKER_METRICS_PORT=9470
EXPOSE 9470
HEALTHCHECK --interval=10s --timeout=6s --start-period=20m \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9470/readyz', timeout=5)"]
ENTRYPOINT ["python3", "-P", "-m", "gigavqa.workers"]

# Caches belong on writable volumes: loading fills them. g++ compiles what PyTorch's inductor writes.
FROM ours AS worker-cpu
USER 0
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ libnuma1 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=installed-cpu /opt/gigavqa /opt/gigavqa
ENV HOME=/cache HF_HOME=/cache/huggingface VLLM_CACHE_ROOT=/cache/vllm TRITON_CACHE_DIR=/cache/triton \
    TORCHINDUCTOR_CACHE_DIR=/cache/inductor GIGAVQA_WORKER_METRICS_HOST=0.0.0.0 GIGAVQA_WORKER_METRICS_PORT=9470
USER 10001
VOLUME /cache
EXPOSE 9470
HEALTHCHECK --interval=10s --timeout=6s --start-period=20m \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9470/readyz', timeout=5)"]
ENTRYPOINT ["python3", "-P", "-m", "gigavqa.workers"]

# vLLM, PyTorch and CUDA come with the base, in its own Python, and uv, which installed them.
FROM ${GPU_BASE} AS worker-gpu
ARG GPU_BASE
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="gigavqa-worker-gpu" \
      org.opencontainers.image.description="High-throughput inference for visual question answering over gigapixel images" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${GPU_BASE}"
USER 0
COPY deploy/locks/gpu-image.txt deploy/locks/build.txt /locks/
COPY --from=build /wheels /wheels
RUN uv pip install --system --no-cache --require-hashes --no-deps -r /locks/gpu-image.txt \
    && uv pip install --system --no-cache --no-deps --no-index /wheels/*.whl \
    && python3 -c "import gigavqa.service.app, gigavqa.workers.command, vllm" \
    && uv venv /tools \
    && uv pip install --python /tools/bin/python --no-cache --require-hashes -r /locks/build.txt \
    && install -d /opt/gigavqa/share/sbom \
    && /tools/bin/cyclonedx-py environment --of JSON -o /opt/gigavqa/share/sbom/gigavqa.cdx.json "$(command -v python3)" \
    && rm -rf /tools /wheels /locks \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /cache gigavqa \
    && install -d -o gigavqa -g gigavqa /var/lib/gigavqa /cache /data /results /uploads /weights
ENV HOME=/cache HF_HOME=/cache/huggingface VLLM_CACHE_ROOT=/cache/vllm TRITON_CACHE_DIR=/cache/triton \
    TORCHINDUCTOR_CACHE_DIR=/cache/inductor GIGAVQA_HOME=/var/lib/gigavqa MPLCONFIGDIR=/tmp/matplotlib \
    GIGAVQA_WORKER_METRICS_HOST=0.0.0.0 GIGAVQA_WORKER_METRICS_PORT=9470 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001
VOLUME ["/var/lib/gigavqa", "/cache"]
EXPOSE 9470
HEALTHCHECK --interval=10s --timeout=6s --start-period=20m \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9470/readyz', timeout=5)"]
ENTRYPOINT ["python3", "-P", "-m", "gigavqa.workers"]
