# widgetd in a container: no root, no capabilities, nothing to write to.
#
#   docker build -t widgetd .
#   docker run --read-only --cap-drop ALL -p 127.0.0.1:8787:8787 -v "$PWD/widgets:/widgets:ro" widgetd

# Any image with Python 3.11 or newer, its venv module and pip.
ARG BASE=python:3.13-slim-trixie

FROM ${BASE} AS build
# A bundle of certificates, where the network has its own authority: mount it and name it.
ARG SSL_CERT_FILE
ENV PIP_CERT=${SSL_CERT_FILE} \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
RUN python3 -m venv --without-pip /opt/widgetd
COPY requirements requirements
# The client of Redis and Valkey is an extra, but replicas need it and an image serves both;
# its version and hashes are those of the tests.
RUN sed -n '/^redis==/,/^    #/p' requirements/dev.txt >requirements/redis.txt \
 && python3 -m pip --python /opt/widgetd/bin/python install --no-deps --require-hashes \
      -r requirements/runtime.txt -r requirements/redis.txt
COPY pyproject.toml README.md LICENSE ./
COPY widgets widgets
COPY widgetd widgetd
# What only builds the wheel stays out of the image.
RUN python3 -m pip install --target /opt/build --no-deps --require-hashes -r requirements/build.txt \
 && PYTHONPATH=/opt/build python3 -m pip --python /opt/widgetd/bin/python install --no-deps --no-build-isolation .

FROM ${BASE} AS runtime
ARG VERSION=0.3.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="widgetd" \
      org.opencontainers.image.description="Serves ChatKit Studio widgets as typed MCP tools, and reloads them as their files change." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.url="https://github.com/widgetd/widgetd" \
      org.opencontainers.image.source="https://github.com/widgetd/widgetd" \
      org.opencontainers.image.documentation="https://github.com/widgetd/widgetd/tree/HEAD/docs" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# A number, because Kubernetes can only prove of a number that it is not root.
RUN install -d -o 10001 -g 10001 -m 0700 /var/lib/widgetd && install -d /widgets
COPY --from=build /opt/widgetd /opt/widgetd
# The user is in no list of users, so nothing else says where its home is.
ENV HOME=/var/lib/widgetd \
    PATH=/opt/widgetd/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    WIDGETD_HOST=0.0.0.0 \
    WIDGETD_STATE_DIR=/var/lib/widgetd \
    WIDGETD_TOKEN=auto
USER 10001:10001
# Where widgetd.toml is looked for.
WORKDIR /etc/widgetd
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 CMD ["widgetd", "status"]
ENTRYPOINT ["widgetd"]
CMD ["serve", "/widgets"]

FROM build AS shots
# What drives the browser is an extra too, and axe; versions and hashes are those of the tests.
RUN sed -n -e '/^playwright==/,/^    #/p' -e '/^greenlet==/,/^    #/p' \
      -e '/^axe-playwright-python==/,/^    #/p' requirements/dev.txt \
      >requirements/shots.txt \
 && python3 -m pip --python /opt/widgetd/bin/python install --no-deps --require-hashes \
      -r requirements/shots.txt

# With a browser, for pictures and sessions: docker build --target preview -t widgetd:preview .
# The face of pictures comes with widgetd; what it has not, Debian's fonts have.
FROM runtime AS preview
USER 0:0
# Without capabilities there is nothing to build a sandbox from, and the container is one;
# the pages are widgetd's own, and reach no network.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends chromium fonts-liberation fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/* \
 && echo 'CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox"' >/etc/chromium.d/container
COPY --from=shots /opt/widgetd /opt/widgetd
USER 10001:10001

FROM runtime
