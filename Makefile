# Two commands for a newcomer: `make demo` and `make test`. Each target makes the virtual environment it needs.

PYTHON ?= python3
DEBUG ?= $(ONLINECLS_DEBUG)
export ONLINECLS_DEBUG := $(DEBUG)
VENV := .venv$(if $(filter 1,$(DEBUG)),-debug)$(if $(ONLINECLS_SANITIZE),-sanitize-$(ONLINECLS_SANITIZE))
BIN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(shell find src \( -name "*.p*" -o -name "*.h" \) -not -name "*.pyc") $(wildcard src/onlinecls/datasets/*)
# gcc's sanitizers must be loaded before Python's own library.
SANITIZED_1 = PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" PYTEST_ADDOPTS="-p no:faulthandler"
SANITIZED_thread = TSAN_OPTIONS="suppressions=$(CURDIR)/tests/fuzz/threads.supp log_path=$(CURDIR)/build/threads" \
	LD_PRELOAD="$$(gcc -print-file-name=libtsan.so)" PYTEST_ADDOPTS="-p no:faulthandler"
RUN = OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests $(SANITIZED_$(ONLINECLS_SANITIZE)) $(BIN)/python

.PHONY: demo test reproduce lint docs dist bench fuzz sanitize mutants nightly clean

demo: $(VENV)/.package $(VENV)/.plot
	$(BIN)/python examples/demo.py

# DEBUG=1: with bounds checks compiled in. ONLY: files, or other arguments of pytest.
test: $(VENV)/.package $(VENV)/.test
	$(RUN) -m pytest -n 2 $(ONLY)

# The papers' experiments and theorems, in some three minutes on two cores, and docs/reproduction.md; SMOKE=1: as little of each as
# shows that it runs; FULL=1: the papers' repetitions and folds.
reproduce: $(VENV)/.package $(VENV)/.plot
	$(BIN)/python examples/reproduce $(if $(SMOKE),--smoke,--write $(if $(FULL),--full))

lint: $(VENV)/.package $(VENV)/.lint
	$(BIN)/ruff check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint $$(find src -name "*.pyx" -o -name "*.pxd")
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports silent tests/promises/test_typical_code.py
	$(BIN)/codespell src tests benchmarks examples docs *.md
	$(BIN)/python tests/docstrings.py

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

# The asv suite once on this checkout, in three minutes; BASE=main: this commit beside that one, in turns; ONLY: the benchmarks that
# a regular expression finds.
bench: $(VENV)/.package $(VENV)/.bench
	@$(BIN)/python -m asv machine --yes > /dev/null
	$(BIN)/python -m asv $(if $(BASE),continuous --interleave-rounds --factor 1.1 $(BASE) HEAD,run --quick --python=same --show-stderr) $(if $(ONLY),--bench "$(ONLY)")

# Random cases for a minute each; FUZZ: targets, --seconds, --first, or --seed N for one case again (python -m fuzz --help).
fuzz: $(VENV)/.package $(VENV)/.test
	$(RUN) -m fuzz $(FUZZ)

# Fuzzers and tests of hostile input in a build that stops at the first byte read or written outside of memory of its own, and at
# the first operation that C leaves undefined; the tests of threads in one that sees two of them at the same number.
sanitize:
	ONLINECLS_SANITIZE=1 $(MAKE) test ONLY="-q tests/*/test_hostile*.py tests/*/test_fuzz.py"
	ONLINECLS_SANITIZE=1 $(MAKE) fuzz
	ONLINECLS_SANITIZE=thread $(MAKE) test ONLY="-q -n 0 -k 'thread and not fork' tests/*/test_contracts.py tests/*/test_hostile_models.py \
		tests/*/test_serving.py tests/*/test_streams.py tests/*/test_text.py"

# Small mistakes put into the code, one after the other, which the tests should notice; ONLY: only in files with one of these words
# in their path.
mutants: $(VENV)/.package $(VENV)/.test
	$(BIN)/python tests/mutate.py $(ONLY)

# What takes about an hour on two cores: properties and fuzzers with new seeds in each run, sanitizers, the recipe of a new geometry,
# the site; and beside them the mutants.
nightly: $(VENV)/.package $(VENV)/.test
	mkdir -p build; $(MAKE) mutants > build/mutants.log 2>&1 & mutants=$$!; { \
	$(MAKE) test ONLY="--hypothesis-profile=nightly tests/*/test_properties.py tests/*/test_hostile.py tests/*/test_streams.py \
		tests/*/test_text.py tests/*/test_bounds.py tests/*/test_multiplicative.py" \
	&& $(MAKE) fuzz FUZZ="--seconds 60 --first $$(date +%s)" \
	&& $(MAKE) sanitize FUZZ="--seconds 60 --first $$(date +%s)" \
	&& $(BIN)/python tests/recipe.py \
	&& $(MAKE) docs; } || { kill $$mutants; exit 1; }; \
	wait $$mutants; result=$$?; tail -n 20 build/mutants.log; exit $$result

clean:
	rm -rf docs/_build docs/api.rst docs/generated docs/auto_examples .venv .venv-* build dist src/*.egg-info .asv .pytest_cache \
		.hypothesis .ruff_cache .mypy_cache
	find src -name "*.c" -delete -o -name "*.so" -delete

$(BIN)/python:
	@echo "Making a virtual environment in $(VENV)."
	@$(PYTHON) -m venv $(VENV) || { echo "make: $(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv python3-dev"; exit 1; }

# The package is compiled once for each environment; an extra adds what it needs.
$(VENV)/.package: $(BIN)/python $(SOURCES)
	@echo "Compiling the package: a minute or two on two cores."
	@rm -rf $(VENV)/wheel && $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel .
	@$(BIN)/python -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl && $(BIN)/python -m pip install --quiet onlinecls
	touch $@

$(VENV)/.%: $(VENV)/.package
	@echo "Installing what '$*' needs: about a minute."
	@$(BIN)/python -m pip install --quiet "onlinecls[$*]"
	touch $@
