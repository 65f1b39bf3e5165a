#!/usr/bin/env bash
# Writes a C++ file with a jump for each function of LIBRARIES that OBJECTS call, and what opens the
# libraries. usage: load_at_run_time.sh NAME ON|OFF FILE 'LIBRARY;...' 'OBJECT;...'
# OFF: the libraries are linked, and zerorun_load_NAME() does nothing.
# SPDX-License-Identifier: MIT
set -euo pipefail
export LC_ALL=C
name=$1 jumps=$2 file=$3
IFS=';' read -ra libraries <<<"$4"
IFS=';' read -ra objects <<<"$5"

fail() {
  echo "load_at_run_time.sh: $1" >&2
  exit 1
}

{
  echo "// Opens the libraries of $name when they are needed. Made by load_at_run_time.sh."
  if [ "$jumps" = OFF ]; then
    echo "extern \"C\" __attribute__((visibility(\"hidden\"), weak)) const char* zerorun_load_$name() { return nullptr; }"
    exit
  fi
  wanted=$("$NM" -u "${objects[@]}" | awk '$1 == "U" { print $2 }' | sort -u)
  sonames=() functions=() places=()
  for at in "${!libraries[@]}"; do
    soname=$("$READELF" -d "${libraries[at]}" | sed -nE 's/.*\(SONAME\).*\[(.*)\]/\1/p')
    [ -n "$soname" ] || fail "${libraries[at]} has no SONAME"
    sonames+=("$soname")
    symbols=$("$NM" -D --defined-only "${libraries[at]}" | sed -E 's/@.*//' | awk '{ print $3, $2 }' | sort -u)
    # Weak ones are templates and inline functions, which the objects have themselves.
    while read -r symbol kind; do
      [[ " ${functions[*]} " != *" $symbol "* ]] || continue
      [[ $kind == [TW] ]] || fail "$symbol of $soname is data, which cannot be loaded later"
      functions+=("$symbol")
      places+=("$at")
    done < <(join <(echo "$wanted") <(echo "$symbols"))
  done
  [ "${#functions[@]}" -gt 0 ] || fail "the objects call no function of these libraries"

  cat <<TOP
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {
struct Function {
  const char* symbol;
  std::size_t library;
};
constexpr std::array kLibraries{$(printf '"%s", ' "${sonames[@]}")};
constexpr std::array kFunctions{
TOP
  for i in "${!functions[@]}"; do echo "    Function{\"${functions[i]}\", ${places[i]}},"; done
  cat <<MIDDLE
};
}  // namespace

// Where the jumps go: at first to a piece of code that calls zerorun_find_$name().
extern "C" __attribute__((visibility("hidden"))) void* zerorun_slots_$name[kFunctions.size()];

namespace {

/// Empty if all went well. The libraries stay open.
std::string open_libraries() {
  std::array<void*, kLibraries.size()> handles{};
  for (std::size_t i = 0; i < handles.size(); ++i) {
    handles[i] = dlopen(kLibraries[i], RTLD_LAZY | RTLD_LOCAL);
    if (handles[i] == nullptr) return dlerror();
  }
  std::array<void*, kFunctions.size()> found{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = dlsym(handles[kFunctions[i].library], kFunctions[i].symbol);
    if (found[i] == nullptr) return dlerror();
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    __atomic_store_n(&zerorun_slots_$name[i], found[i], __ATOMIC_RELEASE);
  return {};
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), weak)) const char* zerorun_load_$name() {
  static const std::string error = open_libraries();
  return error.empty() ? nullptr : error.c_str();
}

/// The address of a function that is called for the first time. Callers ask zerorun_load_$name()
/// before, which says what is wrong; this is the end of those that do not.
extern "C" __attribute__((visibility("hidden"), used)) void* zerorun_find_$name(std::size_t function) {
  if (const char* error = zerorun_load_$name()) {
    std::fprintf(stderr, "%s\n", error);
    std::abort();
  }
  return __atomic_load_n(&zerorun_slots_$name[function], __ATOMIC_ACQUIRE);
}

MIDDLE
  # The piece of code keeps all registers in which arguments may lie.
  cat <<COMMON
#if defined(__x86_64__)
asm(R"(
.text
zerorun_first_$name:
  pushq %rdi; pushq %rsi; pushq %rdx; pushq %rcx; pushq %r8; pushq %r9; pushq %rax
  subq \$136, %rsp
  movups %xmm0, (%rsp); movups %xmm1, 16(%rsp); movups %xmm2, 32(%rsp); movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp); movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)
  movq 192(%rsp), %rdi
  call zerorun_find_$name
  movq %rax, %r11
  movups (%rsp), %xmm0; movups 16(%rsp), %xmm1; movups 32(%rsp), %xmm2; movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5; movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7
  addq \$136, %rsp
  popq %rax; popq %r9; popq %r8; popq %rcx; popq %rdx; popq %rsi; popq %rdi
  addq \$8, %rsp
  jmp *%r11
)");
#elif defined(__aarch64__)
asm(R"(
.text
zerorun_first_$name:
  stp x29, x30, [sp, #-224]!
  stp x0, x1, [sp, #16]; stp x2, x3, [sp, #32]; stp x4, x5, [sp, #48]; stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]; stp q2, q3, [sp, #128]; stp q4, q5, [sp, #160]; stp q6, q7, [sp, #192]
  mov x0, x17
  bl zerorun_find_$name
  mov x16, x0
  ldp q0, q1, [sp, #96]; ldp q2, q3, [sp, #128]; ldp q4, q5, [sp, #160]; ldp q6, q7, [sp, #192]
  ldr x8, [sp, #80]
  ldp x0, x1, [sp, #16]; ldp x2, x3, [sp, #32]; ldp x4, x5, [sp, #48]; ldp x6, x7, [sp, #64]
  ldp x29, x30, [sp], #224
  br x16
)");
#endif
COMMON
  # Weak, because two parts of a program may call the same function.
  echo '#if defined(__x86_64__)'
  echo 'asm(R"('
  for i in "${!functions[@]}"; do
    f=${functions[i]}
    printf '.weak %s; .hidden %s; .type %s, @function\n%s: jmp *zerorun_slots_%s+%d(%%rip)\n' \
      "$f" "$f" "$f" "$f" "$name" $((8 * i))
    printf '.Lfirst_%s_%d: pushq $%d; jmp zerorun_first_%s\n' "$name" "$i" "$i" "$name"
  done
  echo ')");'
  echo '#elif defined(__aarch64__)'
  echo 'asm(R"('
  for i in "${!functions[@]}"; do
    f=${functions[i]} slot="zerorun_slots_$name+$((8 * i))"
    printf '.weak %s; .hidden %s; .type %s, %%function\n%s: adrp x16, %s; ldr x16, [x16, #:lo12:%s]; br x16\n' \
      "$f" "$f" "$f" "$f" "$slot" "$slot"
    printf '.Lfirst_%s_%d: mov x17, #%d; b zerorun_first_%s\n' "$name" "$i" "$i" "$name"
  done
  echo ')");'
  echo '#endif'
  echo "asm(R\"("
  echo ".section .data.rel.local, \"aw\"; .balign 8; .globl zerorun_slots_$name; .hidden zerorun_slots_$name"
  echo "zerorun_slots_$name:"
  for i in "${!functions[@]}"; do echo "  .quad .Lfirst_${name}_$i"; done
  echo ".text"
  echo ')");'
} >"$file.new"
mv "$file.new" "$file"
