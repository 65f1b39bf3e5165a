// An item of a batch to decode: a stream in memory, or the name of a file that holds one.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/batch_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "apps/python/binding/failure.hpp"
#include "codec/base/interruptions.hpp"

namespace zerorun::python {
namespace {

/// More than any picture that the decoders take needs. The size of a sparse file may be anything.
constexpr off_t kMostBytes = off_t{1} << 31;

/// The bytes of a name, as os.fsencode() makes them.
std::string encoded_path(nb::handle object) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(object.ptr(), &encoded) == 0) throw nb::python_error();
  const auto path = nb::steal<nb::bytes>(encoded);
  return {path.c_str(), path.size()};
}

Status file_problem(Errc code, const std::string& path, int error) {
  return Status(code, path + ": " + std::generic_category().message(error));
}

class OpenFile {
 public:
  /// A pipe without a writer would block for ever.
  explicit OpenFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) (void)close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// As many bytes as the file has now, which may be fewer than when it was opened; -1: see errno.
ssize_t read_all(int file, std::byte* to, std::size_t size) {
  std::size_t at = 0;
  Interruptions interruptions;
  while (at < size) {
    const ssize_t count = read(file, to + at, size - at);
    if (count < 0 && interruptions.again()) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    at += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(at);
}

Result<std::span<const std::byte>> read_file(const std::string& path, HostBuffer& room) {
  const OpenFile file(path);
  if (file.get() < 0) return file_problem(Errc::open_failed, path, errno);
  struct stat about {};
  if (fstat(file.get(), &about) != 0) return file_problem(Errc::read_failed, path, errno);
  if (!S_ISREG(about.st_mode))
    return Status(Errc::open_failed, path + ": it is not a regular file");
  if (about.st_size > kMostBytes)
    return Status(Errc::out_of_memory, path + ": it has more than 2 GiB, which no picture needs");
  if (Status status = room.resize(static_cast<std::size_t>(about.st_size)); !status) return status;
  const ssize_t count = read_all(file.get(), room.data(), room.size());
  if (count < 0) return file_problem(Errc::read_failed, path, errno);
  return room.bytes().first(static_cast<std::size_t>(count));
}

}  // namespace

BatchInput::BatchInput(nb::handle object) {
  // All other questions together take a quarter of a microsecond, while the GPU has nothing to do.
  if (PyBytes_CheckExact(object.ptr())) {
    bytes_object_ = nb::borrow(object);
    stream_ = {reinterpret_cast<const std::byte*>(PyBytes_AsString(object.ptr())),
               static_cast<std::size_t>(PyBytes_Size(object.ptr()))};
    return;
  }
  if (nb::isinstance<nb::str>(object) || nb::hasattr(object, "__fspath__")) {
    path_ = encoded_path(object);
    is_file_ = true;
    return;
  }
  data_ = std::make_unique<JpegData>(object);
  if (data_->device() != kHost)
    fail(Errc::invalid_argument, "a batch takes streams in host memory");
  stream_ = data_->bytes();
}

std::size_t BatchInput::likely_bytes() const {
  if (!is_file_) return stream_.size();
  struct stat about {};
  return stat(path_.c_str(), &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
}

Result<std::span<const std::byte>> BatchInput::bytes(HostBuffer& room) const {
  if (!is_file_) return stream_;
  return read_file(path_, room);
}

}  // namespace zerorun::python
