// LD_PRELOAD: lets one `operator new` of zerorun's own code fail. allocations.py runs programs with
// it.
//
// ZERORUN_FAULT_AT       the number of the call that fails, from 1; 0 or absent: none
// ZERORUN_FAULT_LASTING  1: all later ones fail, too
// ZERORUN_FAULT_LOG      a file that gets the number of calls when the program ends
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<long> g_calls{0};
std::atomic<bool> g_started{false};  // main() has begun: before it, nothing can catch an exception

long wanted() {
  static const long number = [] {
    const char* text = std::getenv("ZERORUN_FAULT_AT");
    return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  }();
  return number;
}

bool is_lasting() {
  static const bool lasting = [] {
    const char* text = std::getenv("ZERORUN_FAULT_LASTING");
    return text != nullptr && *text == '1';
  }();
  return lasting;
}

/// Other libraries, and what they do when they are loaded, are not on trial. libstdc++ allocates
/// for zerorun in its program and where run_pipeline has no other element in C++.
bool is_ours(void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  const char* slash = std::strrchr(info.dli_fname, '/');
  const char* name = slash == nullptr ? info.dli_fname : slash + 1;
  return std::strcmp(name, "zerorun") == 0 || std::strncmp(name, "libgstzerorun", 13) == 0 ||
         (std::strncmp(name, "libstdc++", 9) == 0 &&
          (std::strcmp(program_invocation_short_name, "zerorun") == 0 ||
           std::strcmp(program_invocation_short_name, "run_pipeline") == 0));
}

void* obtained(std::size_t bytes, void* caller) {
  if (g_started && is_ours(caller)) {
    const long number = ++g_calls;
    if (number == wanted() || (is_lasting() && wanted() > 0 && number > wanted())) return nullptr;
  }
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* obtained_or_thrown(std::size_t bytes, void* caller) {
  void* memory = obtained(bytes, caller);
  if (memory != nullptr) return memory;
  if (const std::new_handler handler = std::get_new_handler(); handler != nullptr) handler();
  throw std::bad_alloc();
}

struct Log {
  ~Log() {
    const char* path = std::getenv("ZERORUN_FAULT_LOG");
    const int file =
        path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return;
    char text[24];
    const int length = std::snprintf(text, sizeof text, "%ld\n", g_calls.load());
    if (write(file, text, static_cast<std::size_t>(length)) != length) std::abort();
    close(file);
  }
} g_log;

using Main = int (*)(int, char**, char**);
Main g_main;

int started_main(int argc, char** argv, char** environment) {
  g_started = true;
  return g_main(argc, argv, environment);
}

}  // namespace

/// glibc calls the program's main() from here.
extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*linker_fini)(), void* stack_end) {
  g_main = main;
  const auto next =
      reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return next(started_main, argc, argv, init, fini, linker_fini, stack_end);
}

void* operator new(std::size_t bytes) {
  return obtained_or_thrown(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes) {
  return obtained_or_thrown(bytes, __builtin_return_address(0));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return obtained(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return obtained(bytes, __builtin_return_address(0));
}
