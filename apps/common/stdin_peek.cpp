// Looking at the first bytes of stdin without consuming them.
// SPDX-License-Identifier: MIT
#include "apps/common/stdin_peek.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace zerorun::app {
namespace {

using TwoBytes = std::array<unsigned char, 2>;

/// tee(2) copies the content of a pipe into another pipe without consuming it. It returns as soon
/// as there is one byte, so the second may need another call.
bool peek_pipe(TwoBytes& bytes) {
  for (int single_looks = 0;;) {
    int copy[2];
    if (pipe(copy) != 0) return false;
    ssize_t count = 0;
    do {
      count = tee(STDIN_FILENO, copy[1], bytes.size(), 0);
    } while (count < 0 && errno == EINTR);
    const bool whole = count == 2 && read(copy[0], bytes.data(), 2) == 2;
    close(copy[0]);
    close(copy[1]);
    if (whole || count <= 0) return whole;
    if (count == 1 && ++single_looks == 1000) return false;  // a pipe that ended after one byte
    usleep(1000);
  }
}

}  // namespace

bool stdin_begins_with_jpeg() {
  struct stat info {};
  if (fstat(STDIN_FILENO, &info) != 0) return false;
  TwoBytes bytes{};
  bool seen = false;
  if (S_ISFIFO(info.st_mode)) {
    seen = peek_pipe(bytes);
  } else if (S_ISSOCK(info.st_mode)) {
    seen = recv(STDIN_FILENO, bytes.data(), bytes.size(), MSG_PEEK | MSG_WAITALL) == 2;
  } else if (S_ISREG(info.st_mode)) {
    seen = pread(STDIN_FILENO, bytes.data(), bytes.size(), lseek(STDIN_FILENO, 0, SEEK_CUR)) == 2;
  }
  return seen && bytes[0] == 0xFF && bytes[1] == 0xD8;
}

}  // namespace zerorun::app
