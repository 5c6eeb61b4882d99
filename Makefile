# `make serve` and `make test` are all a newcomer needs; each sets up what it uses.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DIR    ?= widgets
VERSION = $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' pyproject.toml)
# Test files that run at once: a third of what they do is wait, so two more than there are cores.
CORES   := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
WORKERS ?= $(shell echo $$(($(CORES) + 2)))
# Tests that drive a browser wait less, so one more.
FIELD_WORKERS ?= $(shell echo $$(($(CORES) + 1)))
TESTS   ?= tests/unit tests/system
# Tests and proofs are small at 1; a larger one tries as many times the cases, clients or restarts.
export SCALE ?= 1

# uv installs in seconds what takes pip a minute, held to the same hashes; pip does it where uv cannot.
install = $(if $(UV),uv pip install --quiet --python $(1)/bin/python $(2) ||) \
  $(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2)
UV := $(shell uv --version 2>/dev/null)

# Tests and benchmarks start hundreds of processes, each of which would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help serve dev chat test test-core coverage check test-all format house simulate simulate-mutants example bench limits chaos
.PHONY: view view-check bench-view pictures environments reference docs release mcpb lock clean
# A target's help names its group in brackets.
help:
	@awk 'BEGIN { keys = split("first check proof view release", key, " "); \
	    split("Every day,Check and try,Proofs and figures,View and pictures,Release and upkeep", title, ",") } \
	  /^[a-z %-]+:.*## \[/ { name = text = group = $$0; sub(/:.*/, "", name); sub(/.*## \[/, "", group); \
	    sub(/\].*/, "", group); sub(/.*## \[[a-z]+\] /, "", text); \
	    rows[group] = rows[group] sprintf("  %-18s%s\n", name, text) } \
	  END { for (i = 1; i <= keys; i++) printf "%s%s:\n%s", (i > 1 ? "\n" : ""), title[i], rows[key[i]] }' $(MAKEFILE_LIST)

# An interpreter is known by running it: a version manager's shim may exist and still not run.
$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "widgetd needs Python 3.11 or newer; name one with PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "installing $$(grep -c == requirements/runtime.txt) packages into $(VENV): seconds by uv, a minute or two by pip"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(call install,$(VENV),--no-deps --require-hashes -r requirements/runtime.txt -r requirements/build.txt)
	$(call install,$(VENV),--no-deps --no-build-isolation -e .)
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@echo "installing $$(grep -c == requirements/dev.txt) packages into $(VENV) for development"
	$(call install,$(VENV),--no-deps --require-hashes -r requirements/dev.txt)
	@touch $@

# Programs that cannot be installed beside widgetd have environments of their own.
ADAPTERS := .venv-adapters
DOCS     := .venv-docs
CLUSTERS := .venv-clusters
RELEASE  := .venv-release

.venv-%/.installed: requirements/%.txt $(VENV)/.runtime
	test -x .venv-$*/bin/python || $(BIN)/python -m venv .venv-$*
	$(call install,.venv-$*,--no-deps --require-hashes -r requirements/$*.txt)
	@touch $@

serve: $(VENV)/.runtime ## [first] serve widgets/ (or DIR=…) on http://127.0.0.1:8787/mcp
	@exec $(BIN)/widgetd serve "$(DIR)"

dev: $(VENV)/.runtime ## [first] serve widgets/ (or DIR=…) with the gallery on http://127.0.0.1:8787/
	@exec $(BIN)/widgetd dev "$(DIR)"

chat: $(VENV)/.runtime ## [first] chat with an agent that shows the widgets of DIR
	@exec $(BIN)/widgetd chat "$(DIR)"

test: $(VENV)/.dev ## [first] run every test that needs nothing but Python (about 3 minutes; TESTS=… for some)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS) $(TESTS)
	@echo "left out: tests/field, which needs a browser, Node, Redis and the like; make test-all runs everything"

# The core: no module of a wing can be imported.
CORE_TESTS ?= $(foreach room,base core server,tests/unit/$(room)) tests/system/server tests/system/daemon
test-core: $(VENV)/.dev ## [check] test a daemon without its optional wings (CORE_TESTS=… for some)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -p tests.support.wingless $(CORE_TESTS)

coverage: $(VENV)/.dev ## [check] print the branch coverage of the core and the catalog by their unit tests; below 97 % it fails
	$(BIN)/coverage run -m pytest -q tests/unit/core tests/unit/server/catalog
	$(BIN)/coverage report --skip-covered --fail-under=97

test-all: test ## [first] run all tests; skip those whose program is missing (make environments)
	$(BIN)/python -m pytest -n $(FIELD_WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS) tests/field

check: $(VENV)/.dev ## [first] check format, lint, types and architecture
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

house: $(VENV)/.dev ## [check] print figures about the package's code and language
	$(BIN)/python -m benchmarks.house

format: $(VENV)/.dev ## [check] rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## [proof] print the table of speed ratios (ROWS="call save" for some of its families)
	$(BIN)/python -m benchmarks $(ROWS)

bench-%: $(VENV)/.dev ## [proof] print other figures: bench-scale, -page, -corpus, -widget_tests
	$(BIN)/python -m benchmarks.$*

bench-page: view/node_modules/.installed

limits: $(VENV)/.dev ## [proof] print the cost of the worst files and callers
	$(BIN)/python -m benchmarks.limits

# langchain-mcp-adapters needs an older mcp than widgetd does, so it is a client from its own environment.
example: $(VENV)/.dev $(if $(filter langchain_adapters,$(NAME)),$(ADAPTERS)/.installed) ## [check] run a program of examples/ (NAME=mcp_client; examples/README.md lists them)
	$(BIN)/python -m examples.$(if $(filter langchain_adapters,$(NAME)),served $(ADAPTERS)/bin/python -m examples.)$(NAME)

SEEDS ?= 1-200
simulate: $(VENV)/.dev ## [proof] judge the daemon in a simulated world (SEEDS=1-10000); SEED=n replays and shrinks one
	$(BIN)/python -m simulation $(or $(SEED),$(SEEDS))

simulate-mutants: $(VENV)/.dev ## [proof] put defects into the product, and print the seed that finds each
	$(BIN)/python -m simulation mutants

chaos: $(VENV)/.dev ## [proof] kill, stop and attack a daemon, and count the clients that notice (SCALE=…)
	$(BIN)/python -m stress chaos --scale $(SCALE)

# The view needs Node; what it builds is committed, so that nothing else does.
VIEW_BUILT := view.html view.json icons.txt NOTICES.txt
EDITOR_BUILT := editor.js editor.txt
EDITOR := widgetd/author/gallery/editor

view/node_modules/.installed: view/package-lock.json view/.npmrc
	cd view && npm ci --ignore-scripts
	@touch $@

view: view/node_modules/.installed ## [view] rebuild the view and the gallery's editor (needs Node)
	cd view && npm run --silent build
	cp $(addprefix view/dist/,$(VIEW_BUILT) markdown.js) widgetd/view/
	cp view/dist/emulator.js view/dist/emulator.txt widgetd/author/browser/
	cp $(addprefix view/dist/editor/,$(EDITOR_BUILT)) $(EDITOR)/
	cp view/palette.json widgetd/view/
	$(BIN)/python view/defaults.py > widgetd/view/defaults.json

view-check: view/node_modules/.installed ## [view] lint and test the view, also in Chromium, and compare it with the committed build
	cd view && npm run --silent check && npm run --silent build && npm test --silent && npm run --silent test:browser
	cmp view/dist/view.html widgetd/view/view.html
	cmp view/dist/NOTICES.txt widgetd/view/NOTICES.txt
	cmp view/dist/icons.txt widgetd/view/icons.txt
	cmp view/dist/emulator.js widgetd/author/browser/emulator.js
	cmp view/dist/markdown.js widgetd/view/markdown.js
	cmp view/dist/editor/editor.js $(EDITOR)/editor.js

bench-view: view/node_modules/.installed ## [view] print the cost of the view: size, first paint, first text of a stream, redraw, picture
	mkdir -p build
	cd view && npm run --silent build && FILM=$(CURDIR)/build/film.png npm run --silent bench

pictures: $(VENV)/.dev ## [view] accept the current look of the bundled widgets, and the README's picture of the chat
	$(BIN)/python -m tests.field.pictures.accept
	$(BIN)/python -m tests.field.chat.picture

# What tests of the field skip without, each in a folder of its own: environments of Python and of Node.
NPM_FOLDERS := tests/field/readers tests/field/conformance examples/web/react deploy/mcpb

$(NPM_FOLDERS:%=%/node_modules/.installed): %/node_modules/.installed: %/package-lock.json
	cd $* && npm ci --ignore-scripts --silent
	@touch $@

environments: $(ADAPTERS)/.installed $(CLUSTERS)/.installed $(NPM_FOLDERS:%=%/node_modules/.installed) ## [check] install what the tests of other programs use (needs Node)

reference: $(VENV)/.dev ## [release] regenerate docs/reference/ from the code
	$(BIN)/python -m docs.generate

docs: $(DOCS)/.installed ## [release] build the documentation into build/site and check its links
	$(BIN)/python -m docs.generate.components build/components
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict
	$(BIN)/python -m docs.generate.site build/site

release: ## [release] build every part of a release into dist/; publish nothing
	@deploy/release

MCPB := deploy/mcpb

mcpb: $(MCPB)/node_modules/.installed ## [release] pack the bundle for Claude Desktop into build/ (needs Node)
	rm -rf build/mcpb && mkdir -p build/mcpb
	git archive HEAD LICENSE README.md pyproject.toml widgetd widgets | tar -x -C build/mcpb
	cp $(MCPB)/manifest.json $(MCPB)/icon.png build/mcpb/
	sed -i.bak '/^\[dependency-groups\]/,/^\[tool/{/^\[tool/!d;}' build/mcpb/pyproject.toml && rm build/mcpb/*.bak # no host needs them
	@test -n "$(UV)" || { echo "the bundle's lock needs uv" >&2; exit 2; }
	printf '\n[tool.uv]\nconstraint-dependencies = [\n' >> build/mcpb/pyproject.toml
	sed -n "s/^\([a-z0-9._-]*==[^ ;]*\).*/    '\1',/p" requirements/runtime.txt >> build/mcpb/pyproject.toml
	echo ']' >> build/mcpb/pyproject.toml
	cd build/mcpb && uv lock --quiet # what uv resolves again on each machine is what is tested here
	$(MCPB)/node_modules/.bin/mcpb validate build/mcpb/manifest.json
	$(MCPB)/node_modules/.bin/mcpb pack build/mcpb build/widgetd-$(VERSION).mcpb
	$(BIN)/python $(MCPB)/stamp.py build/widgetd-$(VERSION).mcpb $$(git log -1 --format=%ct)

COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header

lock: ## [release] resolve the dependencies again (needs uv)
	$(COMPILE) --upgrade pyproject.toml -o requirements/runtime.txt
	$(COMPILE) --upgrade --group build -c requirements/runtime.txt -o requirements/build.txt
	$(COMPILE) pyproject.toml --group build --group dev -c requirements/runtime.txt -c requirements/build.txt -o requirements/dev.txt
	$(COMPILE) --upgrade --group adapters -o requirements/adapters.txt
	$(COMPILE) --upgrade --group installer -o requirements/uv.txt
	$(COMPILE) --upgrade --group docs -o requirements/docs.txt
	$(COMPILE) --upgrade --group release -o requirements/release.txt
	$(COMPILE) --upgrade --group clusters -o requirements/clusters.txt

clean: ## [release] remove what the other targets made
	rm -rf $(VENV) $(ADAPTERS) $(CLUSTERS) $(DOCS) $(RELEASE) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
