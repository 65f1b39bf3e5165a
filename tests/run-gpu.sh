#!/bin/bash
# Builds the tests for a GPU machine (no OpenCV, no FFmpeg) and runs what needs the GPU.
# SPDX-License-Identifier: MIT
set -u -o pipefail

usage() {
  cat <<TEXT
usage: tests/run-gpu.sh [--tests] [--sanitize] [--bench] [--filter GLOB] [--only REGEX] [--jobs N]
                        LOG_DIRECTORY

  --tests      all tests with the label "gpu": parity of both backends, the C interface, the program
               and the samples, memory over many frames; a missing GPU is a failure
  --sanitize   compute-sanitizer memcheck, racecheck, initcheck and synccheck on small tests
  --bench      \`zerorun bench\` with the entropy primitives and with 4K and 1080p frames
  --filter     GoogleTest filter of the sanitizer runs (default: small inputs)
  --only       the sanitizers run only test programs whose name matches, for example 'capi|stage'
  --jobs       parallel compilations (default: all processors)

Without --tests, --sanitize and --bench the first two are run. All output also goes to
LOG_DIRECTORY. The exit status is the number of parts that failed.
TEXT
}

tests=0 sanitize=0 bench=0 logs="" only_names=. jobs=$(nproc)
filter='*Parity.*:*Parity/*:-*Large*:*EverySizeAndEntropy*:*EverySizeAndRunLength*:*RandomCounts*:*ManyTies*:*Corrupt*'
filter+=':*Corpus*:*Photos*:PipelineParity.Every*:PipelineParity.LongIntervals'
filter+=':DecodeParity.Every*:DecodePathParity.OurStreams*'
filter+=':BatchParity.FramesOfOneShape:HostBatchParity.ManyGroupsOfMixedShapes:HostBatchParity.TheCaller*'
filter+=':*MediumChunks*:*MorePairs*'
filter+=':*OneProcessorIsEnough*'  # the tools run one kernel after the other
# racecheck is a hundred times slower. It runs the stages, the primitives, the encoder and the decoder
# with smaller inputs, and leaves out tests with many whole frames and of the C interface.
slow_races=':HostBatchParity.*:*EveryDamageAndLayout*:*LongCursors*:*RowCounts*:*ManyShortCursors*'
while (($#)); do
  case $1 in
    --tests) tests=1 ;;
    --sanitize) sanitize=1 ;;
    --bench) bench=1 ;;
    --filter) filter=${2:?--filter needs a value}; shift ;;
    --only) only_names=${2:?--only needs a value}; shift ;;
    --jobs) jobs=${2:?--jobs needs a value}; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "run-gpu.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
    *) logs=$1 ;;
  esac
  shift
done
if [[ -z $logs ]]; then usage >&2; exit 2; fi
((tests + sanitize + bench)) || { tests=1; sanitize=1; }
mkdir -p "$logs"
logs=$(cd "$logs" && pwd)
cd "$(dirname "$0")/.."

summary=() failures=0
# part NAME LOG COMMAND...: runs a command and keeps its output, its exit status and its seconds
part() {
  local name=$1 log=$logs/$2 begin=$SECONDS status=0
  shift 2
  echo "== $name"
  "$@" >"$log" 2>&1 || status=$?
  if ((status)); then
    tail -n 40 "$log"
    failures=$((failures + 1))
    summary+=("FAILED  $name (exit $status, $((SECONDS - begin)) s): $log")
  else
    summary+=("passed  $name ($((SECONDS - begin)) s)")
  fi
  return $status
}
finish() {
  echo "== summary" | tee "$logs/summary.txt"
  printf '%s\n' "${summary[@]}" | tee -a "$logs/summary.txt"
  exit $failures
}

part "GPU found" device.log nvidia-smi || finish
part "configure" configure.log cmake --preset gpu || finish
part "build" build.log cmake --build --preset gpu --parallel "$jobs" || finish

if ((tests)); then
  part "GPU tests" tests.log env ZERORUN_REQUIRE_GPU=1 \
    ctest --preset gpu --label-regex gpu --no-tests=error --output-on-failure
  grep -E 'tests passed|tests failed|\(Failed\)|\*\*\*' "$logs/tests.log"
fi

# The test programs that the sanitizers run.
parity_programs() {
  find build/gpu/tests/cuda -type f -executable -name '*_parity' | while read -r binary; do
    [[ $(basename "$binary") =~ $only_names ]] && echo "$binary"
  done | sort
}

if ((sanitize)); then
  mapfile -t programs < <(parity_programs)
  ((${#programs[@]})) || part "test programs that match '$only_names'" sanitize.log false
  for binary in "${programs[@]}"; do
    name=$(basename "$binary")
    for tool in memcheck racecheck initcheck synccheck; do
      only=$filter
      if [[ $tool == racecheck ]]; then
        [[ $name =~ ^(mutation|capi)_parity$ ]] && continue
        only+=$slow_races
        [[ $name == pipeline_parity ]] &&
          only='PipelineParity.DeviceFramesAndStreams:PipelineParity.LongAndDenseTiles'
        [[ $name == decode_parity ]] &&
          only='DecodePathParity.Coefficients*:DecodePathParity.Damaged*:DecodePathParity.Tables*:*OneColourThat*:*WideLevels*:*Codewords*'
      fi
      part "$tool $name" "$tool-$name.log" env ZERORUN_REQUIRE_GPU=1 ZERORUN_MUTATIONS=200 \
        compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 20 \
        "$binary" --gtest_filter="$only"
      grep -hE '^\[  (PASSED|FAILED)|ERROR SUMMARY|RACECHECK SUMMARY' "$logs/$tool-$name.log"
    done
  done
fi

if ((bench)); then
  program=build/gpu/bin/zerorun
  part "benchmark of the entropy primitives" primitives.log \
    $program bench --primitives --device cuda --json "$logs/primitives.json" -y
  cat "$logs/primitives.log"
  part "benchmark of frames" bench.log \
    $program bench synthetic:3840x2160:photo synthetic:1920x1080:photo --huffman standard,optimal \
    --restart auto,none --json "$logs/bench.json" --html "$logs/bench.html" -y
  cat "$logs/bench.log"
fi
finish
