# The figures of tests/campaign.sh, which sources this file: goals, and a function for each. R6 and R14 are in gpu_figures.sh.
# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
figures=(R{1..19} coverage edges load)
declare -A goals=(
  [R1]="valid and tolerated files decode exactly as libjpeg-turbo"
  [R2]="unsupported files are refused by name within 10 ms"
  [R3]="corrupt and hostile files: no crash, hang, report of a sanitizer; 1 s and 256 MiB each"
  [R4]="a folder of any JPEG files: no crash, none clean with other coefficients than libjpeg-turbo's"
  [R5]="fuzzing: 50 M executions, 10 M of them differential, no finding open"
  [R6]="10 M damaged streams: CPU and GPU give the same status and samples"
  [R7]="every byte of 12 streams with every value: none ok with wrong samples"
  [R8]="every prefix of 40 streams: an error or reported"
  [R9]="every call that writes fails once, or the program is killed there: exit code, files and sentence are right"
  [R10]="every allocation and CUDA call fails once: an error, no leak, the next call works"
  [R11]="memory: flat over many calls, limits hold, 48 MiB + 8 B/pixel"
  [R12]="time is bounded and linear in the input"
  [R13]="soak: 2 hours on the CPU, no error, no growth of memory, descriptors, threads"
  [R14]="four tools of compute-sanitizer: no report"
  [R15]="no sample depends on old memory"
  [R16]="one result for all repeats, threads and instruction sets; ThreadSanitizer: no report"
  [R17]="40,960 sizes, samplings and restart intervals: djpeg -strict and FFmpeg take them"
  [R18]="exit codes, files and signals of the program as documented"
  [coverage]="95 % of the lines of codec/syntax, codec/decode, codec/capi and io's parsers are run by the tests"
  [edges]="libFuzzer: no new edge of the code in the last 10 M executions of each target"
  [load]="the whole suite passes 20 times in a row on 2 cores beside stress-ng --cpu 8"
  [R19]="each bug left a test; binaries are hardened; limits are written down"
)

export ZERORUN_TIMED=1  # limits of seconds are those of the figures (tests/support/resources.hpp)
reached() { printf 'reached: %s%s\n' "${ZERORUN_TEST_DEVICES:+the CPU in place of a GPU: }" "$*"; }
cannot_run() { reached "$*"; exit 77; }
need_data() { [ -e "$ZERORUN_TEST_DATA/MANIFEST.tsv" ] || cannot_run "no test data (ZERORUN_TEST_DATA)"; }

# build PRESET [TARGET...]: configures it once and brings the targets up to date.
build() {
  local preset=$1 options=(-DZERORUN_UNITY=ON)
  shift
  command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
  [ "$preset" = release ] && options+=(-DCMAKE_CUDA_ARCHITECTURES=90)
  [ -e "build/$preset/build.ninja" ] || cmake --preset "$preset" "${options[@]}" >/dev/null || exit 1
  cmake --build "build/$preset" ${1:+--target "$@"} -j "$(nproc)" >"$state/build-$preset.log" 2>&1 ||
    { tail -n 20 "$state/build-$preset.log"; exit 1; }
}

# tests PRESET REGEX [CTEST_OPTION...]: runs the tests of these names; the last line has their number.
tests() {
  local preset=$1 names=$2
  shift 2
  ctest --test-dir "build/$preset" --no-tests=error -j "$(nproc)" --output-on-failure -R "$names" "$@" |
    grep -E 'tests passed|\*\*\*|Failed|Error|Not Run' | tee "$state/$figure.tests"
  return "${PIPESTATUS[0]}"
}
passed() { sed -n 's/^.*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\2 tests, \1 failed/p' "$state/$figure.tests"; }

# run COMMAND...: its last line is in last_line() afterwards.
run() {
  "$@" 2>&1 | tee "$state/$figure.last"
  return "${PIPESTATUS[0]}"
}
last_line() { tail -n 1 "$state/$figure.last"; }

# How many files the corpora have of the classes CLASS|CLASS.
count_of_class() {
  awk -F'\t' -v wanted="^($1)\$" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "class") c = i; next }
    $c ~ wanted { ++n } END { print n + 0 }' "$ZERORUN_TEST_DATA/MANIFEST.tsv"
}

R1() {
  need_data
  build release manifest io_test
  tests release 'manifest\.Manifest\.(Valid|Tolerated|Rare)|io\..*(Container|Mjpeg).*' || exit 1
  reached "$(passed) over $(count_of_class 'valid|valid-ljt|tolerated') files and the packets of the containers; CPU"
}

R2() {
  need_data
  build release manifest zerorun_program pan_zoom
  tests release 'manifest\.Manifest\.Unsupported|cli\.errors' || exit 1
  reached "$(passed) over $(count_of_class refuse) files"
}

R3() {
  need_data
  build release campaign_damage
  run build/release/tests/campaign/campaign_damage flips "$state/R3.flips" "$minutes" 100000 || exit 1
  local flips
  flips=$(last_line)
  build asan manifest hostile_tests
  tests asan 'manifest\.Manifest\.(Corrupt|Hostile)|hostile\.Hostile\.|fuzz\..*replay' || exit 1
  local sanitized
  sanitized=$(passed)
  build release manifest hostile_tests
  tests release 'manifest\.Manifest\.(Corrupt|Hostile)|hostile\.Hostile\.' || exit 1
  reached "$sanitized under ASan and UBSan, $(passed) with limits of time and memory, $(count_of_class 'corrupt|hostile') files; bit flips: $flips"
}

R4() {
  local folder=${ZERORUN_SURVEY:-$ZERORUN_TEST_DATA}
  [ -d "$folder" ] || cannot_run "no folder of JPEG files (ZERORUN_SURVEY)"
  build release campaign_damage
  damaged files "$folder"
}

# Executions of a target in this and earlier runs: R5.TARGET has a number a line.
executions() { awk '{ n += $1 } END { print n + 0 }' "$state/R5.$1" 2>/dev/null || echo 0; }

# Random changes of small streams and of files of all kinds; for libFuzzer see tests/fuzz/README.md.
R5() {
  local targets=(differential_fuzz decode_fuzz tables_fuzz recode_fuzz recode_file_fuzz walk_fuzz capi_fuzz container_fuzz manifest_fuzz inspect_fuzz round_trip_fuzz)
  local target code all=0
  build release "${targets[@]}"
  for target in "${targets[@]}"; do
    code=0
    run timeout $((60 * minutes / ${#targets[@]} + 1)) "build/release/tests/fuzz/$target" -mutations=1000000000000 \
      -seed=$(date +%s) -finding="$state/R5.$target.finding" tests/hostile tests/fuzz/seeds || code=$?
    sed -n 's/ executions.*//p' "$state/$figure.last" | tail -n 1 >>"$state/R5.$target"
    ((code == 124)) || { reached "$target has found something: $state/R5.$target.finding"; exit 1; }
  done
  for target in "${targets[@]}"; do all=$((all + $(executions "$target"))); done
  reached "$all executions, $(executions differential_fuzz) of them differential, no finding open"
  ((all >= 50000000 && $(executions differential_fuzz) >= 10000000)) || exit 3
}

# Links in FOLDER to what libFuzzer starts from: the streams of the repository and of the corpora, if they are small.
link_small_streams() {
  local file
  mkdir -p "$1"
  find "$PWD"/tests/{hostile,fuzz/seeds} "$(realpath -m "$ZERORUN_TEST_DATA")"/{valid,valid_derived,corrupt,hostile} \
    -type f -size -4097c 2>/dev/null | while read -r file; do ln -sfn "$file" "$1/${file//\//_}"; done
}

# Edges of another build of a target are others: their count begins again.
forget_other_edges() {
  local program=$edges_built/tests/fuzz/$1 counts=$state/edges.$1
  cmp -s "$program" "$counts.program" && return
  echo "$(cut -d' ' -f1 "$counts" 2>/dev/null || echo 0) 0 0" >"$counts.now" && mv "$counts.now" "$counts"
  cp "$program" "$counts.program"
}

# count_edges TARGET LOG...: adds the logs of processes that ran side by side to edges.TARGET: executions of all runs, those
# since the last new edge, edges. If one of the processes has seen more edges than there were, none of their executions
# counts as later. To read a seed is no execution, and only "cov:" counts: libFuzzer goes on finding other features ("ft:")
# nearly for ever.
count_edges() {
  local counts=$state/edges.$1
  shift
  awk 'NR == 1 { all = $1; since = $2; edges = $3; next }
    FNR == 1 { done += last - before; last = before = inited = 0 }
    /^#[0-9]+\t/ {
      last = substr($1, 2) + 0
      if ($2 == "INITED") inited = 1
      if (!inited || $2 == "INITED") before = last
      for (i = 3; i < NF; ++i) if ($i == "cov:" && $(i + 1) > edges) { edges = $(i + 1); is_new = 1 }
    }
    END { done += last - before; print all + done, is_new ? 0 : since + done, edges }' "$counts" "$@" >"$counts.now" &&
    mv "$counts.now" "$counts"
}

# fuzz_edges TARGET SECONDS: a process for each core, all with one corpus, from which each reads what the others find.
fuzz_edges() {
  local target=$1 worker workers=() logs=() failed=0
  for ((worker = 0; worker < ${ZERORUN_CAMPAIGN_THREADS:-$(nproc)}; ++worker)); do
    logs+=("$state/edges.$target.log-$worker")
    "$edges_built/tests/fuzz/$target" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -dict=tests/fuzz/jpeg.dict -reload=5 \
      -max_total_time="$2" -artifact_prefix="$state/edges.$target.finding-" \
      "$state/edges.$target.corpus" "$state/edges.seeds" >"${logs[worker]}" 2>&1 &
    workers+=($!)
  done
  for worker in "${!workers[@]}"; do
    wait "${workers[worker]}" || { failed=1; tail -n 20 "${logs[worker]}"; }
  done
  ((!failed)) || return 1
  count_edges "$target" "${logs[@]}"
}

# The corpus of a target is edges.TARGET.corpus, so that a run goes on where the one before ended. The fast targets come
# first: the others share the time that those leave. A new edge costs its piece, so pieces are short.
edges() {
  local targets=(inspect_fuzz differential_fuzz decode_fuzz walk_fuzz) target all since edges sentence='' end left code=0
  local last rest=${#targets[@]}
  local edges_built=${ZERORUN_EDGES_BUILT:-build/edges}
  if [ -z "${ZERORUN_EDGES_BUILT:-}" ]; then
    echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
      clang++ -fsanitize=fuzzer -x c++ - -o /dev/null 2>/dev/null ||
      cannot_run "no clang++ with libFuzzer: try apt-get install clang libclang-rt-14-dev"
    build edges "${targets[@]}"
  fi
  link_small_streams "$state/edges.seeds"
  last=$((SECONDS + 60 * minutes))
  for target in "${targets[@]}"; do
    [ -x "$edges_built/tests/fuzz/$target" ] || cannot_run "no $edges_built/tests/fuzz/$target (ZERORUN_EDGES_BUILT)"
    mkdir -p "$state/edges.$target.corpus"
    forget_other_edges "$target"
    end=$((SECONDS + (last - SECONDS) / rest--))
    read -r all since edges <"$state/edges.$target"
    while ((since < 10000000 && SECONDS < end)); do
      left=$((end - SECONDS))
      fuzz_edges "$target" $((left < 100 ? left : 100)) ||
        { reached "$target has found something: $state/edges.$target.finding-*"; exit 1; }
      read -r all since edges <"$state/edges.$target"
      echo "$target: $all executions, $since since the last of $edges edges"
    done
    sentence+="${sentence:+; }$target: $edges edges, $all executions, $since since the last new edge"
    ((since >= 10000000)) || code=3
  done
  reached "$sentence"
  return $code
}

# damaged MODE [ARGUMENT]: a campaign of tests/campaign/damage_main.cpp.
damaged() {
  local code=0
  run build/release/tests/campaign/campaign_damage "$1" "$state/${FUNCNAME[1]}.$1" "$minutes" "${@:2}" || code=$?
  reached "$(last_line)"
  return $code
}

R7() {
  build release campaign_damage
  damaged bytes
}

R8() {
  build release campaign_damage
  damaged cuts
}

R9() {
  build release zerorun_program zerorun_interpose
  local code=0
  run python3 -B tests/faults/faults.py --program build/release/bin/zerorun --minutes "$minutes" \
    --interposer build/release/tests/faults/libzerorun_interpose.so --state "$state/R9.runs" || code=$?
  reached "$(last_line)"
  return $code
}

R10() {
  build release allocation_fault_test cuda_fault_test zerorun_program zerorun_stand_in zerorun_fail_new zerorun_gstreamer run_pipeline
  tests release 'unit\.(AllocationFault|CudaFault)' || exit 1
  local code=0 library
  library=$(passed)
  run python3 -B tests/faults/cuda_program.py --program build/release/tests/faults/zerorun_stand_in || exit 1
  library+="; CUDA calls of the program: $(last_line)"
  run python3 -B tests/faults/allocations.py --program build/release/bin/zerorun --minutes "$minutes" \
    --plugin build/release/gstreamer-1.0 --pipelines build/release/tests/faults/run_pipeline --fail-new build/release/tests/faults/libzerorun_fail_new.so \
    --state "$state/R10.runs" || code=$?
  reached "library and host side of CUDA: $library; program and GStreamer: $(last_line)"
  return $code
}

R11() {
  build release zerorun_tests
  tests release 'endurance\.(flat_memory|huge_image)$|hostile\.Hostile\.(Bombs|ScanFloods|EveryStream)' || exit 1
  reached "$(passed); device memory: needs a GPU"
}

R12() {
  build release hostile_tests manifest
  tests release 'hostile\.Hostile\.(Floods|EveryStream)|manifest\.Manifest\.(Corrupt|Hostile)' || exit 1
  reached "$(passed)"
}

# A piece is 20,000 calls of all kinds with a seed of its own; two hours are the goal. R13.pieces has a line for each:
# its seconds, and what flat_memory says last. Whoever ends the script loses one piece.
R13() {
  build release flat_memory
  local pieces=$state/R13.pieces began=$SECONDS piece
  touch "$pieces"
  while ((SECONDS - began < 60 * minutes && $(soaked) < 7200)); do
    piece=$SECONDS
    run env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
      build/release/tests/endurance/flat_memory 20000 $((1 + $(wc -l <"$pieces"))) || { reached "growth or an error: $(last_line)"; exit 1; }
    printf '%d %s\n' $((SECONDS - piece)) "$(last_line)" >>"$pieces"
  done
  reached "$(soaked) s on the CPU, $(awk '{ n += $2; most($4, 0); most($8, 1); most($11, 2); most($13, 3) }
    function most(value, i) { if (NR == 1 || value > top[i]) top[i] = value }
    END { printf "%d pieces, %d calls, growth of a piece at most: %d KiB left behind, %d KiB resident, %d descriptors, %d threads",
      NR, n, top[0], top[1], top[2], top[3] }' "$pieces")"
  (($(soaked) >= 7200)) || exit 3
}
soaked() { awk '{ n += $1 } END { print n + 0 }' "$state/$figure.pieces"; }

R15() {
  build release hostile_tests manifest codec_thread_tests
  tests release 'hostile\.Hostile\.EveryStream|manifest\.Manifest\.|unit\.Reuse\.' || exit 1
  reached "$(passed), each stream over two fillings"
}

R16() {
  build tsan zerorun_thread_tests
  tests tsan . -L 'unit|api' -E _NOT_BUILT || exit 1
  reached "$(passed) under ThreadSanitizer"
}

# FFmpeg decodes the streams of one width as one file, and may not complain. Of images of 1x1 and the like it
# says that the EOI is missing, also of those that cjpeg makes (FFmpeg 5.1).
R17() {
  build release campaign_sizes
  local code=0 ours file complaints=0
  mkdir -p "$state/R17.streams"
  run build/release/tests/campaign/campaign_sizes "$state/R17.state" "$minutes" "$state/R17.streams" || code=$?
  ours=$(last_line)
  command -v ffmpeg >/dev/null || { reached "$ours; no FFmpeg here"; exit 1; }
  for file in "$state"/R17.streams/*.mjpeg; do
    ffmpeg -v repeat+warning -xerror -err_detect explode -f mjpeg -i "$file" -f null - </dev/null 2>&1 |
      grep -vE 'deprecated pixel format|EOI missing, emulating' && complaints=$((complaints + 1))
  done
  reached "libjpeg-turbo: $ours; FFmpeg complains of $complaints files"
  ((complaints == 0)) || exit 1
  return $code
}

R18() {
  build release
  tests release 'cli\.(errors|manners|signals|decode|pipes|shards)$' || exit 1
  reached "$(passed)"
}

R19() {
  build release hostile_tests zerorun_program
  tests release 'hostile\.Hostile\.|^hardening$' || exit 1
  reached "$(passed), $(find tests/hostile -name '*.jpg' | wc -l) files of known bugs"
}

# Prints the path of gcovr 8 (Debian 12 has 5.2); without one it is installed beside the results.
find_gcovr() {
  local own=$state/gcovr
  if gcovr --version 2>/dev/null | grep -qE '^gcovr ([89]|[1-9][0-9])'; then command -v gcovr; return; fi
  [ -x "$own/bin/gcovr" ] || { python3 -m venv "$own" && "$own/bin/pip" install -q 'gcovr>=8,<9'; } >"$state/gcovr.log" 2>&1 || return 1
  printf '%s\n' "$own/bin/gcovr"
}

# The preset has counters of lines in all objects. `tests/campaign/coverage.py ... --list` names the lines not run.
coverage() {
  local code=0 report=$state/coverage.json gcovr
  gcovr=$(find_gcovr) ||
    cannot_run "gcovr 8 could not be installed: try apt-get install python3-venv, or pip install 'gcovr>=8'; see $state/gcovr.log"
  build coverage
  find build/coverage -name '*.gcda' -delete
  # A test that fails under counters fails elsewhere, too; the lines count all the same.
  tests coverage '^(unit|api|io|hostile|manifest|golden|oracle|fuzz)\.|^cli\.(avi|coding|containers|copy|hostile_content|info|loss|manners|metadata|orientation|samples)$' || true
  "$gcovr" -r . -f codec/ -f io/ --json "$report" --gcov-ignore-parse-errors negative_hits.warn_once_per_file \
    --gcov-ignore-parse-errors suspicious_hits.warn_once_per_file build/coverage/codec build/coverage/io || exit 1
  run python3 -B tests/campaign/coverage.py "$report" tests/campaign/unreachable.txt 95 || code=$?
  reached "$(last_line) ($(passed))"
  return $code
}

# load.passes has the seconds of each run since the last one that failed. Whoever ends the script loses one run. Eight tests
# at a time have half of the cores, and each of them a sixteenth. What the tests compile is mostly in the cache.
load() {
  command -v stress-ng >/dev/null || cannot_run "no stress-ng: .ci/setup.sh installs it"
  build release
  local passes=$state/load.passes began=$SECONDS run two_cores=() stress code
  (($(nproc) == 2)) || two_cores=(taskset -c 0,1)
  ! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  touch "$passes"
  while ((SECONDS - began < 60 * minutes && $(wc -l <"$passes") < 20)); do
    run=$SECONDS code=0
    "${two_cores[@]}" stress-ng --cpu 8 --quiet &
    stress=$!
    "${two_cores[@]}" ctest --test-dir build/release --no-tests=error -j 8 --output-on-failure >"$state/load.tests" 2>&1 || code=$?
    kill "$stress" && wait "$stress"
    if ((code != 0)); then
      grep -E '\*\*\*|\(Failed\)|\(Timeout\)' "$state/load.tests"
      reached "$(wc -l <"$passes") runs passed, then one failed: see $state/load.tests"
      mv "$passes" "$passes.broken"
      exit 1
    fi
    echo $((SECONDS - run)) >>"$passes"
  done
  reached "$(wc -l <"$passes") runs in a row, $(sort -n "$passes" | sed -n '1p;$p' | paste -sd '-') s each"
  (($(wc -l <"$passes") >= 20)) || exit 3
}
