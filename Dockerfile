# The app in a container, for a server that a proxy with a login stands before: docs/how-to/deploy.md
FROM python:3.12-slim

COPY . /source
RUN pip install --no-cache-dir /source "Authlib>=1.3.2" \
    && rm -rf /source \
    && useradd --create-home --uid 10001 steward

USER steward
WORKDIR /home/steward
# compiled kernels and the app's own copy lie in a temporary folder, so that the rest is read-only
ENV NUMBA_CACHE_DIR=/tmp/numba \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
ENTRYPOINT ["rwn", "app", "--no-browser", "--port", "8501"]
