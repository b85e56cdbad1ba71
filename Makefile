# Two commands for a newcomer: `make demo` and `make test`. Each makes the virtual environment it needs.
# ONLINECLS_DEBUG=1 make test: the same with bounds checks compiled in. make fuzz, make sanitize, make nightly: what looks for
# inputs that break a promise (SECURITY.md).

PYTHON ?= python3
VENV := .venv$(if $(filter 1,$(ONLINECLS_DEBUG)),-debug)$(if $(ONLINECLS_SANITIZE),-sanitize-$(ONLINECLS_SANITIZE))$(if $(filter 1,$(ONLINECLS_PORTABLE)),-portable)
BIN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(shell find src \( -name "*.p*" -o -name "*.h" \) -not -name "*.pyc") $(wildcard src/onlinecls/datasets/*)

.PHONY: demo reproduce test test-oldest mutants fuzz sanitize sanitized sanitize-threads sanitized-threads portable libraries nightly lint types docs dist bench-smoke bench-compare clean

demo: $(VENV)/.package $(VENV)/.demo
	$(BIN)/python examples/demo.py

# The papers' experiments and theorems, in half an hour or so on two cores, and docs/reproduction.md; SMOKE=1: as little of each as
# shows that it runs; FULL=1: the papers' repetitions and folds.
reproduce: $(VENV)/.package $(VENV)/.demo
	$(BIN)/python examples/reproduce $(if $(SMOKE),--smoke,--write $(if $(FULL),--full))

test: $(VENV)/.package $(VENV)/.test $(VENV)/.river
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 $(PYTEST)

# The oldest versions that are supported, each in the wheels there are for Python 3.11, around the package as compiled above.
test-oldest: $(VENV)/.package
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl
	.venv-oldest/bin/python -m pip install --quiet "onlinecls[test]" "numpy==1.25.*" "scipy==1.11.*" "scikit-learn==1.6.*" "pandas==2.1.*"
	OPENBLAS_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n 2 $(PYTEST)

# Small mistakes put into the code, one after the other, which the tests should notice (an hour on one core); WORDS: only in files
# with one of these words in their path.
mutants: $(VENV)/.package $(VENV)/.test
	$(BIN)/python -m pip install --quiet "Cython>=3.1"
	$(BIN)/python tests/mutate.py $(WORDS)

# Random cases for a minute each; FUZZ: targets, --seconds, --first, or --seed N for one case again (python -m fuzz --help).
fuzz: $(VENV)/.package $(VENV)/.test
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -m fuzz $(FUZZ)

# The same, and the tests of hostile input, in a build that stops at the first byte read or written outside of memory of its own
# and at the first operation that C leaves undefined (gcc's sanitizers).
HOSTILE ?= tests/*/test_hostile*.py tests/*/test_fuzz.py
SANITIZED = OPENBLAS_NUM_THREADS=1 PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1 LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)"
sanitize:
	ONLINECLS_SANITIZE=1 $(MAKE) sanitized

sanitized: $(VENV)/.package $(VENV)/.test
	$(SANITIZED) $(BIN)/python -m pytest -q -n 2 -p no:faulthandler $(HOSTILE)
	$(SANITIZED) PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

# The tests of threads in a build that sees two of them at the same number (gcc's ThreadSanitizer).
sanitize-threads:
	ONLINECLS_SANITIZE=thread $(MAKE) sanitized-threads

sanitized-threads: $(VENV)/.package $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 TSAN_OPTIONS="suppressions=$(CURDIR)/tests/fuzz/threads.supp log_path=$(CURDIR)/build/threads" \
		LD_PRELOAD="$$(gcc -print-file-name=libtsan.so)" $(BIN)/python -m pytest -q -p no:faulthandler -k "thread and not fork" \
		tests/*/test_contracts.py tests/*/test_hostile_models.py tests/*/test_serving.py tests/*/test_streams.py tests/*/test_text.py

# The plain C that machines without SSE2 run: its models, and what reads bytes.
portable:
	ONLINECLS_PORTABLE=1 $(MAKE) test PYTEST="tests/*/test_kernels.py tests/*/test_reference.py tests/*/test_contracts.py \
		tests/*/test_multiplicative.py tests/*/test_p_norm.py tests/*/test_streams.py tests/*/test_text.py tests/*/test_rows.py"

# The code of docs/libraries.md.
# These libraries bring hundreds of MB, in an environment of their own; TORCH=torch, some GB more: PyTorch, with its CUDA.
LIBRARIES = fastapi httpx mlflow-skinny skops
libraries: $(VENV)/.package
	$(PYTHON) -m venv .venv-libraries
	.venv-libraries/bin/python -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl
	.venv-libraries/bin/python -m pip install --quiet "onlinecls[test,dask]" $(LIBRARIES) $(TORCH)
	.venv-libraries/bin/python -m pytest -q tests/project/test_pages.py -k another_library
	.venv-libraries/bin/python -m pytest -q tests/streams/test_parallel.py

# What takes an hour or two: what is random, with other seeds in each run (the properties of the contracts, the machines above),
# what needs other libraries, the build of plain C, the site with its gallery, mutants, fuzzers and sanitizers.
nightly: $(VENV)/.package $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --hypothesis-profile=nightly tests/*/test_properties.py tests/*/test_hostile.py \
		tests/*/test_streams.py tests/*/test_text.py tests/*/test_bounds.py tests/*/test_multiplicative.py
	$(MAKE) libraries
	OPENBLAS_NUM_THREADS=1 ONLINECLS_ROUNDS=20 $(BIN)/python -m pytest tests/*/test_serving.py tests/*/test_one_model.py
	$(MAKE) types
	$(MAKE) portable
	$(MAKE) docs && $(BIN)/python -m pytest -q tests/project/test_site.py
	$(MAKE) mutants
	$(BIN)/python tests/recipe.py
	$(MAKE) fuzz FUZZ="--seconds 300 --first $$(date +%s)"
	$(MAKE) sanitize FUZZ="--seconds 300 --first $$(date +%s)"
	$(MAKE) sanitize-threads

lint: $(VENV)/.package $(VENV)/.lint
	$(BIN)/ruff check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint $$(find src -name "*.pyx" -o -name "*.pxd")
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports silent tests/promises/test_typical_code.py
	$(BIN)/codespell src tests benchmarks examples docs *.md
	$(BIN)/python tests/docstrings.py

# Types as pyright sees them: those of all public names are known, and code as users write it has no faults.
types: $(VENV)/.package
	$(BIN)/python -m pip install --quiet pyright
	$(BIN)/pyright --pythonpath $(BIN)/python tests/promises/test_typical_code.py
	cd / && $(CURDIR)/$(BIN)/pyright --pythonpath $(CURDIR)/$(BIN)/python --verifytypes onlinecls --ignoreexternal

# The site, in docs/_build/html, with its gallery; nothing is read from the network. Serve it: python -m http.server -d docs/_build/html
docs: $(VENV)/.package $(VENV)/.docs
	$(BIN)/python -m sphinx -b html -W -n --keep-going -q docs docs/_build/html

# What goes out, in dist/: the sdist, and this machine's wheel with the tag of the oldest Linux that can load it; both checked.
# The sdist is unpacked in build/unpacked: what is built and tested there (make -C build/unpacked test) has no file but its own.
dist: $(VENV)/.package $(VENV)/.dist
	rm -rf dist build/unpacked && mkdir -p build/unpacked
	$(BIN)/python -m build --sdist --outdir dist . > build/sdist.log || { cat build/sdist.log; exit 1; }
	tar -xzf dist/*.tar.gz -C build/unpacked --strip-components=1
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/dist.py $(VENV)/wheel dist
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/python -m twine check --strict dist/*

# Every benchmark once, on little data; nothing is measured.
bench-smoke: $(VENV)/.package $(VENV)/.bench
	$(BIN)/python benchmarks/smoke.py

# This commit beside its parent (BASE) on this machine, in turns; ONLY: the benchmarks that this regular expression finds.
bench-compare: $(VENV)/bin/python $(VENV)/.bench
	$(BIN)/python -m asv machine --yes --config benchmarks/asv.conf.json
	$(BIN)/python -m asv continuous --config benchmarks/asv.conf.json --interleave-rounds --factor 1.1 $(if $(ONLY),--bench "$(ONLY)") $(or $(BASE),HEAD^) HEAD

$(VENV)/bin/python:
	@echo "Making a virtual environment in $(VENV)."
	@$(PYTHON) -m venv $(VENV) || { echo "make: $(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv python3-dev"; exit 1; }

# The package is compiled once for each environment; an extra adds what it needs.
$(VENV)/.package: $(VENV)/bin/python $(SOURCES)
	@echo "Compiling the package: a minute or two on two cores."
	@rm -rf $(VENV)/wheel && $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel .
	@$(BIN)/python -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl && $(BIN)/python -m pip install --quiet onlinecls
	touch $@

EXTRA = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["$*"], sep="\n")
$(VENV)/.%: $(VENV)/bin/python pyproject.toml
	@echo "Installing what '$*' needs: about a minute."
	@$(BIN)/python -c '$(EXTRA)' > $@.txt && $(BIN)/python -m pip install --quiet -r $@.txt
	touch $@

clean:
	rm -rf docs/_build docs/api.rst docs/generated docs/auto_examples .venv .venv-debug .venv-sanitize-* .venv-portable .venv-oldest .venv-libraries build dist src/*.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache
	find src -name "*.c" -delete -o -name "*.so" -delete
