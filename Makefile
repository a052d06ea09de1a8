.PHONY: check format lint types test replay

check: format lint types test

format:
	python -m ruff format .

lint:
	python -m ruff check .

types:
	python -m mypy

test:
	python -m rwn_core.scale.warm_up
	python -m pytest -n 3

replay:
	python -m docs.reproduced
