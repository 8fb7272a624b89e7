# Two commands do everything on a fresh Debian or Ubuntu: `make demo` and `make test`. The rest is for those who work on it.
BUILD ?= build
JOBS ?= $(shell nproc)
TEST_JOBS ?= $(shell expr $(JOBS) + 1)  # many tests of the program wait for what they have started
DIR ?= tests/golden
SECONDS_EACH ?= 600
RUNS_EACH ?=
PYTHON ?= python3
# A build folder that is new is compiled once: all sources of a folder together, which is fastest from nothing. Who changes sources
# and builds again is better served by the preset `release` (CONTRIBUTING.md).
NEW_BUILD = $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DTRIL_BATCH=0)
check course golden soak bench cost docs: NEW_BUILD =

.PHONY: help deps configure build archives wheel sdist deb tarball image-root release demo programs test course check golden soak arm64 bench cost format check-format layers includes tidy tidy-changed docs figures site clean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

deps: ## install what is missing, by apt, and say what it does
	@scripts/deps.sh

configure: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(NEW_BUILD) $(CMAKE_FLAGS) > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }; rm -f $(BUILD).configure.log

build: configure ## the program, at build/tril
	@cmake --build $(BUILD) -j $(JOBS) --target tril
	@echo "built $(BUILD)/tril"

archives: deps  # the static libraries that the wheel and the archive are linked with
	@scripts/deps.sh dpkg-dev icu-devtools
	@scripts/archives/make.sh build-archives

wheel: archives ## the Python package of this machine, in build-wheel/dist: make wheel PYTHON="python3.11 python3.12"
	@scripts/deps.sh $(if $(filter python3,$(PYTHON)),python3-dev python3-venv)
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) scripts/make_wheel.sh build-archives/libraries build-wheel/dist $(PYTHON)

sdist: ## the Python package as source, in build-wheel/dist: pip install FILE compiles it
	@scripts/make_sdist.sh build-wheel/dist

deb: deps ## the Debian packages of this machine's release, in build-deb/dist
	@scripts/deps.sh build-essential debhelper dh-python fakeroot lintian python3-dev python3-pip
	@scripts/packages/make_deb.sh build-deb/dist

tarball: archives ## the program with all its libraries, for every Linux of this processor family, in build-portable/dist
	@cmake -S . -B build-portable -G Ninja -DCMAKE_BUILD_TYPE=Release -DTRIL_MPI=OFF -DTRIL_BATCH=0 -DTRIL_TESTS=OFF -DTRIL_BENCH=OFF \
	  -DTRIL_ARCHIVES=$(CURDIR)/build-archives/libraries $(CMAKE_FLAGS) > build-portable.configure.log 2>&1 || { cat build-portable.configure.log; exit 1; }
	@cmake --build build-portable -j $(JOBS) --target tril
	@scripts/packages/make_tarball.sh build-portable/tril build-archives/libraries/licenses build-portable/dist

image-root: tarball ## the files of the container image, in build-image; docs/Dockerfile says how to go on
	@scripts/deps.sh busybox-static ca-certificates
	@scripts/packages/make_image.sh build-portable/dist/tril-*.tar.xz build-image

release: wheel tarball deb ## all files of a release, in build-release: packages, archives, checksums, bill of materials
	@scripts/packages/gather_release.sh build-release

demo: build ## train a small model on text made on the spot, and translate with it (two minutes after the build)
	@$(BUILD)/tril demo

programs: configure ## everything: the program, its tests, benchmarks and examples
	@cmake --build $(BUILD) -j $(JOBS)

test: programs ## build everything and run the tests
	@scripts/deps.sh browser qemu-user
	@cd $(BUILD) && ctest --output-on-failure -j $(TEST_JOBS) -C Parts -LE alone

course: configure ## run every command of the course in docs/learn, and compare what it prints (a minute after the build)
	@cmake --build $(BUILD) -j $(JOBS) --target tril test_learn course_examples
	@cd $(BUILD) && TRIL_COURSE=1 ctest --output-on-failure -R '^learn[.]'

check: check-format layers includes programs ## before a commit: format, layers, includes, build, and the fast tests (three minutes, where little has changed)
	@scripts/deps.sh browser qemu-user
	@cd $(BUILD) && ctest --output-on-failure -j $(TEST_JOBS) -C Parts -L fast

golden: configure ## run the golden tests over another directory of cases: make golden DIR=...
	@cmake --build $(BUILD) -j $(JOBS) --target test_model test_model_io test_train test_search test_decode
	@cd $(BUILD) && TRIL_GOLDEN_DIR="$(abspath $(DIR))" ctest --output-on-failure -R '[Gg]olden'

soak: configure ## the long forms of the fuzz, kill and soak tests (SECONDS_EACH=600 for each fuzzer, or RUNS_EACH=100000)
	@scripts/deps.sh sanitizers
	@cmake --build $(BUILD) -j $(JOBS)
	@cd $(BUILD) && TRIL_ROUNDS=100000 TRIL_KILLS=50 TRIL_SOAK_WORK=100000000 TRIL_SOAK_UPDATES=10000 TRIL_SOAK_SENTENCES=200000 TRIL_SOAK_LINES=1000000 TRIL_SOAK_CALLS=10000 TRIL_SOAK_BUILDS=1 ctest --output-on-failure -R '[Ff]uzz|[Kk]ill|Soak'
	@scripts/check_abi.sh
	@scripts/sanitize.sh --all
	@TRIL_SOAK_SECONDS=1800 TRIL_SLOW_CLIENTS=256 $(BUILD)/tests/test_serve --gtest_filter='*Soak*'
	@TRIL_SOAK_RANK_SECONDS=1200 $(BUILD)/tests/test_cli --gtest_filter='RankSoak.*'
	@scripts/deps.sh mkdocs-material doxygen && scripts/make_site.sh
	@scripts/check_arm64.sh --all
	@scripts/deps.sh debootstrap
	@tests/packages/soak.sh
	@tests/fuzz/run.sh $(if $(RUNS_EACH),--runs $(RUNS_EACH),$(SECONDS_EACH))

arm64: ## cross-compile the kernels for ARM64, and run their quantisation and NaN tests under QEMU
	@scripts/check_arm64.sh

bench: configure ## time every kernel and op beside the machine's roof
	@cmake --build $(BUILD) -j $(JOBS) --target bench_kern bench_ops
	@$(BUILD)/bench/bench_kern && $(BUILD)/bench/bench_ops

cost: configure ## measure what training costs against sizes, and draw docs/cost.svg (five minutes)
	@cmake --build $(BUILD) -j $(JOBS) --target bench_cost
	@$(BUILD)/bench/bench_cost docs/cost.svg

format: ## write every source in the project's format
	@scripts/deps.sh clang-format
	@git ls-files '*.cpp' '*.h' | xargs clang-format -i

check-format: ## fail where a source is in another format
	@scripts/deps.sh clang-format
	@git ls-files '*.cpp' '*.h' | xargs clang-format --dry-run --Werror

layers: ## fail where a folder includes one that stands below it
	@scripts/check_layers.sh

includes: ## fail where a file that has changed since BASE, by default the commit before, does not compile by itself
	@scripts/check_includes.sh $(BASE)

tidy: ## clang-tidy over the sources
	@scripts/tidy.sh all

tidy-changed: ## clang-tidy over the files that have changed since BASE, by default the commit before
	@scripts/tidy.sh since $(BASE)

docs: build ## write what is generated in docs/ anew: the option reference, the drawing of the house, what loads
	@$(BUILD)/tril help --markdown > docs/options.md
	@scripts/draw_house.sh $(BUILD)/rooms.txt docs/architecture.md
	@$(BUILD)/tril families --markdown families | scripts/put_between.sh "the families" docs/families.md
	@$(BUILD)/tril families --markdown formats | scripts/put_between.sh "the formats" docs/model-directory.md

figures: ## draw the tables of docs/benchmarks.md anew, as bars in docs/figures (a second)
	@scripts/draw_figures.py docs/benchmarks.md

site: ## the documentation as a web site with search and references, in build-site/html
	@scripts/deps.sh mkdocs-material doxygen
	@scripts/make_site.sh

clean: ## remove what was built
	@rm -rf $(BUILD)
