// What zerorunenc and zerorundec share: lock, errors, the `device` property, pads.
// SPDX-License-Identifier: MIT
#pragma once

#include <new>
#include <string>

#include <gst/gst.h>

#include "codec/base/cuda_device.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::gst {

GType encoder_element_type();
GType decoder_element_type();

/// Holds the object lock of an element.
class ObjectLock {
 public:
  explicit ObjectLock(gpointer object) : object_(GST_OBJECT(object)) { GST_OBJECT_LOCK(object_); }
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;
  ~ObjectLock() { GST_OBJECT_UNLOCK(object_); }

 private:
  GstObject* object_;
};

/// Posts an error message: LIBRARY SETTINGS about an argument, LIBRARY INIT about a device, else
/// `domain` and `code`.
void post_error(gpointer element, const Status& status, GQuark domain, gint code) noexcept;

/// parse_device_names() of a `device` property, with all devices found. Errors: invalid_argument,
/// no_device.
Result<DeviceName> parse_device(const std::string& text);
/// Posts that memory ran out; takes none of zerorun's own.
void post_no_memory(gpointer element) noexcept;

/// What GStreamer calls instead of `kFunction`: C code lets no exception through, so memory that
/// ran out is posted as an error, and `kFailed` is returned.
template <auto kFunction, auto kFailed, typename Element, typename... More>
auto safe(Element* element, More... more) -> decltype(kFunction(element, more...)) {
  try {
    return kFunction(element, more...);
  } catch (const std::bad_alloc&) {
    post_no_memory(element);
    return kFailed;
  }
}

/// The state of an element, in GLib's memory: making an element cannot fail.
template <typename State>
State* make_state() {
  return new (g_malloc(sizeof(State))) State;
}
template <typename State>
void free_state(State* state) {
  state->~State();
  g_free(state);
}

/// Posts a warning that a device is not used any more.
void post_loss(gpointer element, const LostDevice& lost);
/// The string of a `device` property; no string is "auto".
std::string device_text(const GValue* value);

/// Flags of properties that can be set in the states NULL and READY.
inline constexpr auto kReadyFlags =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
void install_device(GObjectClass* type, guint id, const char* description);
void install_statistics(GObjectClass* type, guint id, const char* description);

/// Takes the references to the caps.
void add_pads(GstElementClass* type, GstCaps* sink_caps, GstCaps* source_caps);

}  // namespace zerorun::gst
