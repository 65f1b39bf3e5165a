// Between the structs of zerorun.h and those of C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"
#include "zerorun/zerorun.h"

namespace zerorun::capi {

/// A struct of the caller, who may have been built with another version of the library: members
/// that the caller does not know are 0, members that the library does not know have to be 0.
/// `least` is the size of the struct in the first version. Null: all members are 0.
template <typename T>
Result<T> read_struct(const T* given, std::size_t least, const char* name) {
  T out{};
  out.struct_size = sizeof(T);
  if (given == nullptr) return out;
  const std::size_t size = given->struct_size;
  if (size < least || size > 65536)
    return Status(Errc::invalid_argument, std::string(name) + ".struct_size is not its sizeof");
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      return Status(Errc::invalid_argument,
                    std::string(name) + " has a member that this version does not know");
  std::memcpy(&out, given, size < sizeof(T) ? size : sizeof(T));
  out.struct_size = sizeof(T);
  return out;
}

/// The way back: as much as the caller has room for, and never its struct_size.
template <typename T>
void write_struct(const T& from, T* to) {
  if (to == nullptr || to->struct_size <= sizeof to->struct_size) return;
  const std::size_t size = to->struct_size < sizeof(T) ? to->struct_size : sizeof(T);
  constexpr std::size_t kSkip = sizeof from.struct_size;
  std::memcpy(reinterpret_cast<unsigned char*>(to) + kSkip,
              reinterpret_cast<const unsigned char*>(&from) + kSkip, size - kSkip);
}

zerorun_error make_error(const Status& status) noexcept;

Result<EncodeParams> to_params(const zerorun_encode_params* params);
Result<DecodeParams> to_params(const zerorun_decode_params* params);
/// The view may be anything that the library checks itself; only its struct is checked here.
Result<FrameView> to_view(const zerorun_frame* frame);
Result<PixelFormat> to_format(std::int32_t format);
zerorun_frame from_view(const FrameView& view) noexcept;
zerorun_decode_report from_report(const DecodeReport& report) noexcept;
std::int32_t from_subsampling(std::optional<Subsampling> sampling) noexcept;

/// Runs a call and keeps every exception from the caller.
template <typename Call>
Status guarded(Call&& call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Status(Errc::out_of_memory);
  } catch (const std::system_error&) {  // threads, mutexes
    return Status(Errc::out_of_memory);
  } catch (...) {
    return Status(Errc::device_failure);
  }
}

inline zerorun_status code_of(const Status& status) noexcept {
  return static_cast<zerorun_status>(status.code());
}

/// guarded(), with the sentence for the caller.
template <typename Call>
zerorun_status reported(zerorun_error* error, Call&& call) noexcept {
  const Status status = guarded(call);
  write_struct(make_error(status), error);
  return code_of(status);
}

/// guarded() for a member of a handle, which keeps the error.
template <typename Handle, typename Call>
zerorun_status on_handle(Handle* handle, Call&& call) noexcept {
  if (handle == nullptr) return ZERORUN_INVALID_ARGUMENT;
  const Status status = guarded(call);
  handle->error = make_error(status);
  return code_of(status);
}

/// A new handle around what create() gave.
template <typename Handle, typename Create>
zerorun_status create_handle(Handle** out, zerorun_error* error, Create&& create) noexcept {
  if (out != nullptr) *out = nullptr;
  return reported(error, [&]() -> Status {
    if (out == nullptr) return Status(Errc::invalid_argument, "there is no place for the handle");
    auto object = create();
    if (!object) return object.status();
    *out = new Handle{*std::move(object)};
    return Status::ok();
  });
}

inline Status null_argument(const char* name) {
  return Status(Errc::invalid_argument, std::string(name) + " is null");
}

inline Result<std::span<const std::byte>> to_span(const void* jpeg, std::size_t size) {
  if (jpeg == nullptr && size > 0) return null_argument("jpeg");
  return std::span(static_cast<const std::byte*>(jpeg), size);
}

}  // namespace zerorun::capi
