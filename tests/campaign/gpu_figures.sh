# The GPU's part of the figures, for `tests/campaign.sh --gpu`: function gpu_R7 is the row R7-gpu of the table.
# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
gpu_figures=(R1 R3 R4 R6 R7 R8 R10 R13 R14 R17)
goals+=(
  [R1-gpu]="valid and tolerated files: CUDA gives status, report, samples and coefficients of the CPU"
  [R3-gpu]="corrupt and hostile files: CUDA gives status, report, samples and coefficients of the CPU"
  [R4-gpu]="a folder of any JPEG files: CUDA gives status, report, samples and coefficients of the CPU"
  [R6-gpu]=${goals[R6]}
  [R7-gpu]="every byte of 12 streams with every value: CUDA gives status, report and samples of the CPU"
  [R8-gpu]="every prefix of 40 streams: CUDA gives status, report and samples of the CPU"
  [R10-gpu]="every CUDA call fails once on a GPU, or its memory is exhausted: an error, no leak, the next call works"
  [R13-gpu]="soak: 20 minutes on GPUs, no error, no growth of memory or of CUDA's objects"
  [R14-gpu]=${goals[R14]}
  [R17-gpu]="40,960 sizes, samplings and restart intervals: CUDA's bytes are the CPU's"
)

# Where the CPU pretends to be a GPU the figures run, too, so that they can be tried.
need_gpu() {
  [ -n "${ZERORUN_TEST_DEVICES:-}" ] || nvidia-smi -L >/dev/null 2>&1 || cannot_run "needs a GPU"
}
gpu_cores=${ZERORUN_CAMPAIGN_THREADS:-$(nproc)}
gpu_tests=${ZERORUN_GPU_BUILT:-build/gpu}/tests
campaign_device=$gpu_tests/campaign/campaign_device
# Once for all figures: two builds of one folder must not run side by side.
gpu_is_built=${ZERORUN_GPU_BUILT:+1}
build_gpu() {
  need_gpu
  export ZERORUN_REQUIRE_GPU=1
  [ -n "$gpu_is_built" ] || build gpu campaign_device cuda_fault_parity device_memory_parity flat_device_memory
  gpu_is_built=1
}

# Long figures share the GPUs, or those of CUDA_VISIBLE_DEVICES, among their processes: on_gpu NUMBER COMMAND... runs one on
# GPU NUMBER, counted round.
IFS=, read -ra gpu_ids <<<"${CUDA_VISIBLE_DEVICES:-$(nvidia-smi -L 2>/dev/null | sed 's/^GPU \([0-9]*\):.*/\1/' | paste -sd ,)}"
((${#gpu_ids[@]})) || gpu_ids=(0)
gpus=${#gpu_ids[@]}
on_gpu() { CUDA_VISIBLE_DEVICES=${gpu_ids[$1 % gpus]} "${@:2}"; }

# device MODE [ARGUMENT...]: a campaign of tests/campaign/device_main.cpp.
device() {
  local code=0
  build_gpu
  run "$campaign_device" "$1" "$state/$figure.$1" "$minutes" "${@:2}" || code=$?
  reached "$(last_line)"
  return $code
}

gpu_R1() {
  need_data
  device files "$ZERORUN_TEST_DATA/valid" "$ZERORUN_TEST_DATA/valid_derived"
}
gpu_R3() {
  need_data
  device files tests/hostile "$ZERORUN_TEST_DATA/corrupt" "$ZERORUN_TEST_DATA/hostile"
}
gpu_R4() {
  local folder=${ZERORUN_SURVEY:-$ZERORUN_TEST_DATA}
  [ -d "$folder" ] || cannot_run "no folder of JPEG files (ZERORUN_SURVEY)"
  device files "$folder"
}
gpu_R7() { device bytes; }
gpu_R8() { device cuts; }
gpu_R17() { device sizes; }

# R6 has 16 pieces, each with a state of its own, so that several processes can share them: threads of one process wait for
# each other in the driver. state: steps, refused, damaged, exact, different, concealed, on_cpu.
readonly piece_streams=625000
mutated() { cat "$state/$figure".piece-[0-9][0-9] 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }
mutated_text() {
  cat "$state/$figure".piece-[0-9][0-9] | awk '{ for (i = 1; i <= 7; ++i) n[i] += $i } END {
    printf "%d streams: %d refused, %d damaged (%d concealed), %d exact; %d by the CPU; %d differences\n",
      n[1], n[2], n[3], n[6], n[4], n[7], n[5] }'
}

# mutate_pieces FIRST STEP END: every STEPth piece from FIRST on, until $SECONDS is END. FIRST chooses the GPU.
mutate_pieces() {
  local piece code path
  for ((piece = $1; piece < 16 && SECONDS < $3; piece += $2)); do
    path=$state/$figure.piece-$(printf %02d "$piece") code=0
    on_gpu "$1" "$campaign_device" mutations "$path" "$(awk "BEGIN { print ($3 - $SECONDS) / 60 }")" $piece_streams \
      $((piece * piece_streams)) >"$path.log" 2>&1 || code=$?
    ((code == 0 || code == 3)) || return 1
  done
}

# mutate PROCESSES SECONDS: says how many streams a second that were; they are in $rate.
mutate() {
  local processes=$1 began=$SECONDS end=$((SECONDS + $2)) before worker failed=0 pids=()
  before=$(mutated)
  export ZERORUN_CAMPAIGN_THREADS=$(((gpu_cores + processes - 1) / processes))
  for ((worker = 0; worker < processes; ++worker)); do
    mutate_pieces "$worker" "$processes" "$end" &
    pids+=($!)
  done
  for worker in "${pids[@]}"; do wait "$worker" || failed=1; done
  rate=$((($(mutated) - before) / (SECONDS > began ? SECONDS - began : 1)))
  printf '%d processes of %d threads: %d streams a second\n' "$processes" "$ZERORUN_CAMPAIGN_THREADS" "$rate"
  return $failed
}

# Tries 1, 2, 4 and 8 processes a GPU for some seconds each, and goes on with the fastest.
gpu_R6() {
  local best=0 fastest=1 processes rate=0 began failed=0
  build_gpu
  began=$SECONDS
  for ((processes = gpus; processes <= 8 * gpus && processes <= gpu_cores; processes *= 2)); do
    mutate "$processes" 8 || { failed=1; break; }
    if ((rate > best)); then best=$rate fastest=$processes; fi
  done
  while ((!failed && SECONDS - began < 60 * minutes && $(mutated) < 16 * piece_streams)); do
    mutate "$fastest" $((60 * minutes - (SECONDS - began))) || failed=1
    ((rate <= best)) || best=$rate
  done
  grep -h '^different\|hangs$' "$state/$figure".piece-*.log | head -n 20
  reached "$(mutated_text), up to $best streams a second"
  ((!failed)) || exit 1
  (($(mutated) >= 16 * piece_streams)) || exit 3
}

# No other program may use the GPU while its memory is exhausted: campaign.sh runs R10 before R13 starts.
gpu_R10() {
  local calls
  build_gpu
  run "$gpu_tests/faults/cuda_fault_parity" || exit 1
  calls=$(sed -n 's/^.*: \([0-9]*\) calls fail, .*/\1/p' "$state/$figure.last" | awk '{ n += $1 } END { print n + 0 }')
  run "$gpu_tests/cuda/device_memory_parity" --gtest_filter='*WhereItIsExhausted' || exit 1
  reached "$calls runs, in each of which one call of CUDA failed, 0 wrong; with 0 to 512 MiB left $(grep 'found enough memory' "$state/$figure.last")"
}

# small_files FOLDER: 120 small files of all kinds, in eight folders there.
small_files() {
  local number=0 file folders=(tests/hostile) folder
  for folder in valid valid_derived corrupt hostile; do
    [ -d "$ZERORUN_TEST_DATA/$folder" ] && folders+=("$ZERORUN_TEST_DATA/$folder")
  done
  rm -rf "$1"
  while read -r file; do
    mkdir -p "$1/$((number % 8))"
    cp "$file" "$1/$((number % 8))/$number.jpg"
    number=$((number + 1))
  done < <(for folder in "${folders[@]}"; do
    find "$folder" -type f -size -9 -name '*.jpg' | sort |
      awk -v wanted=$((120 / ${#folders[@]})) '{ file[NR] = $0 } END { for (i = 0; i < wanted; ++i) print file[1 + int(i * NR / wanted)] }'
  done)
}

# sanitized TOOL NAME MODE MINUTES ARGUMENT...: a campaign under a tool; says in NAME.log whether anything was reported.
sanitized() {
  local tool=$1 name=$2 mode=$3
  shift 3
  on_gpu "${name##*-}" env ZERORUN_CAMPAIGN_THREADS=1 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
    "$campaign_device" "$mode" "$sanitizer_logs/$tool-$name" "$@" >"$sanitizer_logs/$tool-$name.log" 2>&1 || touch "$sanitizer_logs/$tool-$name.failed"
}

# Eight processes for each tool and each of files and shapes, as many at a time as there are cores.
gpu_R14() {
  local tool part sanitizer_logs=$state/$figure.logs shapes=16 reports streams
  build_gpu
  command -v compute-sanitizer >/dev/null || cannot_run "needs compute-sanitizer"
  rm -rf "$sanitizer_logs" && mkdir -p "$sanitizer_logs"
  small_files "$sanitizer_logs/files"
  for tool in racecheck memcheck initcheck synccheck; do
    for ((part = 0; part < 8; ++part)); do
      while (($(jobs -rp | wc -l) >= gpu_cores)); do wait -n || true; done
      sanitized "$tool" "files-$part" files 0 "$sanitizer_logs/files/$part" &
      sanitized "$tool" "shapes-$part" shapes 0 $shapes $((part * shapes)) &
    done
  done
  wait
  reports=$(find "$sanitizer_logs" -name '*.failed' | sed 's/.*\///; s/\.failed$//' | sort | paste -sd ' ')
  streams=$(sed -n 's/^.*steps, \([0-9]*\) streams: .*/\1/p' "$sanitizer_logs"/*.log | awk '{ n += $1 } END { print n + 0 }')
  [ -z "$reports" ] || { reached "reports or differences of $reports; see $sanitizer_logs"; exit 1; }
  reached "memcheck, racecheck, initcheck, synccheck: 0 reports over $(find "$sanitizer_logs/files" -type f | wc -l) files in four outputs and $((8 * shapes)) sizes and formats coded in every way; $streams comparisons with the CPU, 0 differences"
}

# A piece is 500 frames of all kinds with a seed of its own. Its memory is counted at the CUDA calls, so other programs may
# use the GPU; beside other figures it goes on until they end.
soak_gpu() {
  local gpu=$1 pieces=$2 seed=$3 end=$4 piece log=$state/$figure.gpu-$1
  while (($(soaked) < 1200)) && { ((SECONDS < end)) || [ -e "$state/beside" ]; }; do
    piece=$SECONDS
    on_gpu "$gpu" env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "$gpu_tests/endurance/flat_device_memory" 100 "$seed" beside \
      >"$log" 2>&1 || { tail -n 3 "$log"; return 1; }
    printf '%d %s\n' $((SECONDS - piece)) "$(tail -n 1 "$log")" >>"$pieces"
    seed=$((seed + gpus))
  done
}

gpu_R13() {
  local pieces=$state/$figure.pieces gpu failed=0 soaks=() soak
  build_gpu
  touch "$pieces"
  local first=$((1 + $(wc -l <"$pieces")))
  for ((gpu = 0; gpu < gpus; ++gpu)); do
    soak_gpu "$gpu" "$pieces" $((first + gpu)) $((SECONDS + 60 * minutes)) &
    soaks+=($!)
  done
  for soak in "${soaks[@]}"; do wait "$soak" || failed=1; done
  ((!failed)) || { reached "growth or an error: $(tail -qn 1 "$state/$figure".gpu-*)"; exit 1; }
  reached "$(soaked) s, $(awk '{ n += $2; most($5, 0); most($10, 1); most($14, 2); most($18, 3); most($21, 4) }
    function most(value, i) { if (NR == 1 || value > top[i]) top[i] = value }
    END { printf "%d pieces, %d frames, growth of a piece at most: %d KiB of the device, %d KiB pinned, %d objects of CUDA, %d KiB of the heap, %d KiB resident",
      NR, n, top[0], top[1], top[2], top[3], top[4] }' "$pieces")"
  (($(soaked) >= 1200)) || exit 3
}
