#!/usr/bin/env bash
# Every CUDA call of the library is in cuda_calls.def, so that it can fail: wrapped_calls.sh NM LIBRARY LIST
# SPDX-License-Identifier: MIT
set -euo pipefail
export LC_ALL=C
nm=$1 library=$2 list=$3
# What launches and registers kernels by its side, and two that cannot fail.
free='__cuda(GetKernel|PopCallConfiguration|PushCallConfiguration|Register.*|UnregisterFatBinary)'
free+='|cudaGetErrorString|cudaThreadExchangeStreamCaptureMode'
called=$("$nm" -u "$library" | sed -n 's/^ *U \(_*cuda[A-Z][A-Za-z0-9_]*\)$/\1/p' | sort -u | grep -vxE "$free")
[ "$(wc -l <<<"$called")" -ge 30 ] || { echo "only these CUDA calls were found: $called" >&2; exit 1; }
missing=$(comm -23 <(printf '%s\n' "$called") <(sed -n 's/^ZR_[A-Z]*(\([A-Za-z0-9_]*\).*/\1/p' "$list" | sort))
[ -z "$missing" ] || { printf 'not in %s:\n%s\n' "$list" "$missing" >&2; exit 1; }
