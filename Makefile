.PHONY: check quick format lint types test nightly engines papers site

check: format lint types test

quick:
	python -m tools.quick

format:
	python -m ruff format .

lint:
	python -m ruff check .
	npx --yes eslint@9.39.5 rwn_ui docs tests/js tests/browser

types:
	python -m mypy

test:
	python -m pytest

nightly:
	python -m pytest -m nightly

engines:
	@command -v Rscript >/dev/null || { echo "R is not installed: apt-get install r-base-core"; exit 1; }
	python -m pytest -m engines

papers:
	python -m benchmarks.papers --write

site:
	python -m docs.build
	python -m docs.site
