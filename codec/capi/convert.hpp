// Between the structs of zerorun.h and those of C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <system_error>

#include "zerorun/decoder.hpp"
#include "zerorun/transcoder.hpp"
#include "zerorun/zerorun.h"

namespace zerorun::capi {

inline Status wrong_size(const char* name) {
  return Status(Errc::invalid_argument, std::string(name) + ".struct_size is not its sizeof");
}

/// An output struct of the caller has room for all that the library writes.
template <typename T>
Status check_size(const T& out, const char* name) {
  return out.struct_size < sizeof(T) ? wrong_size(name) : Status::ok();
}

/// A struct of a caller who may have been built with another version of the library. Members that
/// the caller does not know are 0; members that the library does not know have to be 0. `least` is
/// the size of the struct in the first version. Null: all members are 0.
template <typename T>
Result<T> read_struct(const T* given, std::size_t least, const char* name) {
  T out{};
  out.struct_size = sizeof(T);
  if (given == nullptr) return out;
  const std::size_t size = given->struct_size;
  if (size < least || size > 65536) return wrong_size(name);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      return Status(Errc::invalid_argument,
                    std::string(name) + " has a member that this version does not know");
  std::memcpy(&out, given, size < sizeof(T) ? size : sizeof(T));
  out.struct_size = sizeof(T);
  return out;
}

/// The inverse: writes as much as the caller has room for, but not struct_size.
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
Result<TranscodeParams> to_params(const zerorun_transcode_params* params);
/// Null: the whole picture.
Region to_region(const zerorun_region* region) noexcept;
/// Checks the struct alone: the library itself checks the view.
Result<FrameView> to_view(const zerorun_frame* frame);
Result<PixelFormat> to_format(std::int32_t format);
zerorun_frame from_view(const FrameView& view) noexcept;
zerorun_decode_report from_report(const DecodeReport& report) noexcept;

/// Runs a call; every exception becomes a Status.
template <typename Call>
Status contained(Call&& call) noexcept {
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

/// contained(), with the error for the caller, who may pass null.
template <typename Call>
zerorun_status reported(zerorun_error* error, Call&& call) noexcept {
  const Status status = contained(call);
  write_struct(make_error(status), error);
  return code_of(status);
}

/// contained() for a call with a handle, which keeps the error.
template <typename Handle, typename Call>
zerorun_status on_handle(Handle* handle, Call&& call) noexcept {
  if (handle == nullptr) return ZERORUN_INVALID_ARGUMENT;
  const Status status = contained(call);
  handle->error = make_error(status);
  return code_of(status);
}

/// A new handle around what create() gave.
template <typename Handle, typename Create>
zerorun_status create_handle(Handle** out, zerorun_error* error, Create&& create) noexcept {
  if (out != nullptr) *out = nullptr;
  return reported(error, [&]() -> Status {
    if (out == nullptr) return Status(Errc::invalid_argument, "the pointer for the handle is null");
    auto object = create();
    if (!object) return object.status();
    *out = new Handle{*std::move(object)};
    return Status::ok();
  });
}

/// create_handle() for a struct that starts with an `Object object`.
template <typename Object, typename Params, typename Handle>
zerorun_status create_with(const Params* params, Handle** out, zerorun_error* error) noexcept {
  return create_handle(out, error, [&]() -> Result<Object> {
    auto wanted = to_params(params);
    if (!wanted) return wanted.status();
    return Object::create(*wanted);
  });
}

template <typename Handle>
std::int32_t backend_of(const Handle* handle) noexcept {
  return handle == nullptr ? ZERORUN_BACKEND_AUTOMATIC
                           : static_cast<std::int32_t>(handle->object.backend());
}

template <typename Handle>
const zerorun_error* error_of(const Handle* handle) noexcept {
  return handle == nullptr ? nullptr : &handle->error;
}

inline Status null_argument(const char* name) {
  return Status(Errc::invalid_argument, std::string(name) + " is null");
}

inline Result<std::span<const std::byte>> to_span(const void* jpeg, std::size_t size) {
  if (jpeg == nullptr && size > 0) return null_argument("jpeg");
  return std::span(static_cast<const std::byte*>(jpeg), size);
}

}  // namespace zerorun::capi
