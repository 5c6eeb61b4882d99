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

# uv installs in seconds what takes pip a minute, held to the same hashes; pip does it where uv cannot.
install = $(if $(UV),uv pip install --quiet --python $(1)/bin/python $(2) ||) \
  $(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2)
UV := $(shell uv --version 2>/dev/null)

# Tests and benchmarks start hundreds of processes, each of which would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help serve chat test test-all check house format pictures chat-pictures corpus lock bench limits bench-scale storm chaos soak fuzz stage tested image-test systemd-test view view-check view-browser bench-page bench-view bench-redraw icons face clean
.PHONY: dev release mcpb wheel-test reference start docs
# A target's help names its group in brackets.
help: ## [serve] list the targets
	@awk 'BEGIN { keys = split("serve check bench stress view release", key, " "); \
	    split("Serve and try,Check and test,Benchmarks,Stress,View and pictures,Release and upkeep", title, ",") } \
	  /^[a-z-]+:.*## \[/ { name = text = group = $$0; sub(/:.*/, "", name); sub(/.*## \[/, "", group); \
	    sub(/\].*/, "", group); sub(/.*## \[[a-z]+\] /, "", text); \
	    rows[group] = rows[group] sprintf("  %-27s%s\n", name, text) } \
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

serve: $(VENV)/.runtime ## [serve] serve widgets/ (or DIR=…) on http://127.0.0.1:8787/mcp
	@exec $(BIN)/widgetd serve "$(DIR)"

dev: $(VENV)/.runtime ## [serve] serve widgets/ (or DIR=…) with the gallery on http://127.0.0.1:8787/
	@exec $(BIN)/widgetd dev "$(DIR)"

chat: $(VENV)/.runtime ## [serve] chat with an agent that shows the widgets of DIR
	@exec $(BIN)/widgetd chat "$(DIR)"

test: $(VENV)/.dev ## [check] run every test that needs nothing but Python (about 3 minutes)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS) $(TESTS)
	@echo "left out: tests/field, which needs a browser, Node, Redis and the like; make test-all runs everything"

test-all: test ## [check] run all tests; skip those whose program is missing
	$(BIN)/python -m pytest -n $(FIELD_WORKERS) --dist loadfile $(PYTEST_ARGS) tests/field

check: $(VENV)/.dev ## [check] check format, lint, types and architecture
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

house: $(VENV)/.dev ## [check] print figures about the package's code and language
	$(BIN)/python -m benchmarks.house

format: $(VENV)/.dev ## [check] rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## [bench] print the table of speed ratios
	$(BIN)/python -m benchmarks

limits: $(VENV)/.dev ## [bench] print the cost of the worst files and callers
	$(BIN)/python -m benchmarks.limits

bench-scale: $(VENV)/.dev ## [bench] print the growth with the number of widgets
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.followers

# What it shows needs an older mcp than widgetd does, so it has an environment of its own.
ADAPTERS := .venv-adapters

$(ADAPTERS)/.installed: requirements/adapters.txt $(VENV)/.runtime
	test -x $(ADAPTERS)/bin/python || $(BIN)/python -m venv $(ADAPTERS)
	$(call install,$(ADAPTERS),--no-deps --require-hashes -r requirements/adapters.txt)
	@touch $@

.PHONY: example-langchain-adapters
example-langchain-adapters: $(ADAPTERS)/.installed ## [serve] call a widget with langchain-mcp-adapters
	$(BIN)/python -m examples.served $(ADAPTERS)/bin/python -m examples.langchain_adapters

SEEDS ?= 1-200
.PHONY: simulate simulate-mutants
simulate: $(VENV)/.dev ## [check] judge the daemon in a simulated world (SEEDS=1-10000); SEED=n replays and shrinks one
	$(BIN)/python -m simulation $(or $(SEED),$(SEEDS))

simulate-mutants: $(VENV)/.dev ## [check] put defects into the product, and print the seed that finds each
	$(BIN)/python -m simulation mutants

SCALE ?= 1
storm: $(VENV)/.dev ## [stress] save in every style during calls (SCALE=0.1 for a tenth of it)
	$(BIN)/python -m stress storm --scale $(SCALE)

chaos: $(VENV)/.dev ## [stress] kill, stop and attack a daemon, and count the clients that notice (SCALE=…)
	$(BIN)/python -m stress chaos --scale $(SCALE)

soak: $(VENV)/.dev ## [stress] swap 50,000 times, rest, and measure memory and processor time (SCALE=…)
	$(BIN)/python -m stress soak --scale $(SCALE)

fuzz: $(VENV)/.dev ## [stress] check damaged files for a minute (SCALE=…); keep failures in build/fuzz
	$(BIN)/python -m stress fuzz --scale $(SCALE)

stage: $(VENV)/.dev ## [stress] end, crowd, kill and reload browser sessions; damage what they test (SCALE=…)
	$(BIN)/python -m stress stage --scale $(SCALE)

tested: $(VENV)/.dev ## [check] test the bundled widgets and those of ../shared/corpus in a browser, in both themes
	$(BIN)/python -m benchmarks.widget_tests

EXAMPLES := example-mcp-client example-fastmcp-client example-chatkit-server example-langgraph-agent example-await-action
.PHONY: $(EXAMPLES)
example-mcp-client: $(VENV)/.runtime ## [serve] call a widget with the plain mcp client
example-fastmcp-client: $(VENV)/.runtime ## [serve] add a file and receive the notification, with the fastmcp client
example-chatkit-server: $(VENV)/.runtime ## [serve] stream a widget into a ChatKit thread
example-langgraph-agent: $(VENV)/.dev ## [serve] take a widget from a LangGraph tool artifact
example-await-action: $(VENV)/.runtime ## [serve] wait for the user's actions in a form
$(EXAMPLES):
	$(BIN)/python -m examples.$(subst -,_,$(@:example-%=%))

.PHONY: example-shop
example-shop: $(VENV)/.runtime ## [serve] shop and book in a chat, with a server that fills and does it
	@mkdir -p build
	@PATH="$(abspath $(BIN)):$$PATH" exec $(BIN)/widgetd chat examples/shop/widgets --upstreams examples/shop/upstreams.toml

image-test: ## [check] build the container image and run it (needs buildah and crun)
	@deploy/image-test

systemd-test: ## [check] boot the systemd unit in a container (needs systemd-nspawn)
	@systemd/boot-test

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
	$(BIN)/python view/defaults.py > widgetd/view/defaults.json

view-check: view/node_modules/.installed ## [view] lint and test the view, and compare it with the committed build
	cd view && npm run --silent check && npm run --silent build && npm test --silent
	cmp view/dist/view.html widgetd/view/view.html
	cmp view/dist/NOTICES.txt widgetd/view/NOTICES.txt
	cmp view/dist/icons.txt widgetd/view/icons.txt
	cmp view/dist/emulator.js widgetd/author/browser/emulator.js
	cmp view/dist/markdown.js widgetd/view/markdown.js
	cmp view/dist/editor/editor.js $(EDITOR)/editor.js

LUCIDE := 1.62.0

icons: $(VENV)/.runtime ## [view] update the shapes of Lucide's icons from npm (needs npm)
	mkdir -p build && cd build && npm pack --silent lucide-static@$(LUCIDE)
	$(BIN)/python view/lucide.py build/lucide-static-$(LUCIDE).tgz widgetd/view

INTER := 5.3.0

face: $(VENV)/.runtime ## [view] update the font of pictures from npm (needs npm)
	mkdir -p build && cd build && npm pack --silent @fontsource-variable/inter@$(INTER)
	$(BIN)/python view/inter.py build/fontsource-variable-inter-$(INTER).tgz widgetd/author/browser/inter

bench-redraw: $(VENV)/.dev ## [bench] print the time from a save to the redraw in open browsers
	$(BIN)/python -m benchmarks.redraw

bench-page: $(VENV)/.dev view/node_modules/.installed ## [bench] compare the trees of the page's evaluator with the server's, for every widget
	$(BIN)/python -m benchmarks.page

bench-view: view/node_modules/.installed ## [bench] print the cost of the view: size, first paint, first text of a stream, redraw, picture
	cd view && npm run --silent build && npm run --silent bench

.PHONY: film
film: view/node_modules/.installed ## [view] draw widgets while their arguments stream, as one picture in build/film.png (needs Chromium)
	mkdir -p build
	cd view && npm run --silent build && FILM=$(CURDIR)/build/film.png npm run --silent bench -- bench/stream.bench.ts

view-browser: view/node_modules/.installed ## [view] test the view in Chromium, under a host and its policy
	cd view && npm run --silent build && npm run --silent test:browser

pictures: $(VENV)/.dev ## [view] accept the current look of the bundled widgets (needs Chromium)
	$(BIN)/python -m tests.field.pictures.accept

.PHONY: hosts
hosts: $(VENV)/.dev ## [check] draw every widget in every emulated host (needs Chromium; about 5 minutes)
	ALL_HOSTS=1 $(BIN)/python -m pytest -n $(FIELD_WORKERS) tests/field/hosts

.PHONY: at-most-once
INTERLEAVINGS ?= 10000
at-most-once: $(VENV)/.dev ## [stress] press in INTERLEAVINGS random orders of retries, remounts and replicas
	INTERLEAVINGS=$(INTERLEAVINGS) $(BIN)/python -m pytest tests/system/server/mcp/test_at_most_once.py

.PHONY: laws
laws: SCALE = 20
laws: $(VENV)/.dev ## [stress] try twenty times the examples of each property test (SCALE=…)
	SCALE=$(SCALE) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m hypothesis tests/unit

.PHONY: site-test
site-test: $(VENV)/.dev ## [check] run the gallery's tests on a gallery exported as files (needs Chromium)
	GALLERY=built $(BIN)/python -m pytest -q tests/field/author/gallery/test_gallery_detail.py \
	  tests/field/author/gallery/test_gallery_controls.py tests/field/server/web/test_accessibility.py

READERS := tests/field/readers

$(READERS)/node_modules/.installed: $(READERS)/package-lock.json
	cd $(READERS) && npm ci --ignore-scripts --silent
	@touch $@

.PHONY: readers
readers: $(VENV)/.dev $(READERS)/node_modules/.installed ## [check] read the guide and pictures through MCP Inspector and openai-agents (needs Node)
	$(BIN)/python -m pytest -q $(READERS)

CONFORMANCE := tests/field/conformance

$(CONFORMANCE)/node_modules/.installed: $(CONFORMANCE)/package-lock.json
	cd $(CONFORMANCE) && npm ci --ignore-scripts --silent
	@touch $@

.PHONY: conformance
conformance: $(VENV)/.dev $(CONFORMANCE)/node_modules/.installed ## [check] run the conformance suite of MCP against widgets, in both eras (needs npm)
	$(BIN)/python -m pytest -q $(CONFORMANCE)

WEB := examples/web/react

$(WEB)/node_modules/.installed: $(WEB)/package-lock.json
	cd $(WEB) && npm ci --ignore-scripts --silent
	@touch $@

.PHONY: web-examples
web-examples: $(VENV)/.dev $(WEB)/node_modules/.installed ## [check] drive the examples of web pages in Chromium (needs Node)
	$(BIN)/python -m pytest -q tests/field/server/web/test_examples_web.py

chat-pictures: $(VENV)/.dev ## [view] update the README's picture of the chat (needs Chromium)
	$(BIN)/python -m tests.field.chat.picture

reference: $(VENV)/.dev ## [release] regenerate docs/reference/ from the code
	$(BIN)/python -m docs.generate

start: $(VENV)/.dev ## [release] walk docs/start.md in a fresh clone and record its output (needs Chromium)
	$(BIN)/python -m docs.generate.start

DOCS := .venv-docs

$(DOCS)/.installed: requirements/docs.txt $(VENV)/.runtime
	test -x $(DOCS)/bin/python || $(BIN)/python -m venv $(DOCS)
	$(call install,$(DOCS),--no-deps --require-hashes -r requirements/docs.txt)
	@touch $@

docs: $(DOCS)/.installed ## [release] build the documentation into build/site and check its links
	$(BIN)/python -m docs.generate.components build/components
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict
	$(BIN)/python -m docs.generate.site build/site

CLUSTERS := .venv-clusters

$(CLUSTERS)/.installed: requirements/clusters.txt $(VENV)/.runtime
	test -x $(CLUSTERS)/bin/python || $(BIN)/python -m venv $(CLUSTERS)
	$(call install,$(CLUSTERS),--no-deps --require-hashes -r requirements/clusters.txt)
	@touch $@

.PHONY: clusters
clusters: $(VENV)/.dev $(CLUSTERS)/.installed ## [check] build the overlays and the chart with kubectl and Helm, and check every object
	$(BIN)/python -m pytest -q tests/field/deploy/test_clusters.py tests/field/deploy/test_kubernetes_store.py \
	  tests/field/deploy/test_git_sync.py

RELEASE := .venv-release

$(RELEASE)/.installed: requirements/release.txt $(VENV)/.runtime
	test -x $(RELEASE)/bin/python || $(BIN)/python -m venv $(RELEASE)
	$(call install,$(RELEASE),--no-deps --require-hashes -r requirements/release.txt)
	@touch $@

release: ## [release] build every part of a release into dist/; publish nothing
	@deploy/release

wheel-test: $(VENV)/.dev ## [check] install the wheel into empty environments of every Python here by pip, pipx and uvx, and use it
	PYTHONS=all $(BIN)/python -m pytest tests/field/deploy/test_wheel.py

MCPB := deploy/mcpb

$(MCPB)/node_modules/.installed: $(MCPB)/package-lock.json
	cd $(MCPB) && npm ci --ignore-scripts --silent
	@touch $@

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

corpus: $(VENV)/.dev ## [check] print the outcome of the real files in ../shared/corpus
	$(BIN)/python -m benchmarks.corpus

lock: ## [release] resolve the dependencies again (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --upgrade pyproject.toml -o requirements/runtime.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --upgrade --group build -c requirements/runtime.txt -o requirements/build.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header pyproject.toml --group build --group dev -c requirements/runtime.txt -c requirements/build.txt -o requirements/dev.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --upgrade --group adapters -o requirements/adapters.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --upgrade --group installer -o requirements/uv.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --upgrade --group docs -o requirements/docs.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --upgrade --group release -o requirements/release.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --upgrade --group clusters -o requirements/clusters.txt

clean: ## [release] remove what the other targets made
	rm -rf $(VENV) $(ADAPTERS) $(CLUSTERS) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
