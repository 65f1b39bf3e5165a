// The GStreamer plugin: what zerorunenc and zerorundec share, and their registration.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/element.hpp"

#include <new>

namespace zerorun::gst {
namespace {

gboolean register_elements(GstPlugin* plugin) {
  // Below jpegenc and jpegdec: installing the plugin changes no existing pipeline.
  return gst_element_register(plugin, "zerorunenc", GST_RANK_MARGINAL, encoder_element_type()) &&
         gst_element_register(plugin, "zerorundec", GST_RANK_MARGINAL, decoder_element_type());
}

}  // namespace

void post_error(gpointer element, const Status& status, GQuark domain, gint code) noexcept try {
  const ErrorGroup kind = group(status.code());
  if (kind == ErrorGroup::argument || kind == ErrorGroup::device) {
    domain = GST_LIBRARY_ERROR;
    code = kind == ErrorGroup::device ? GST_LIBRARY_ERROR_INIT : GST_LIBRARY_ERROR_SETTINGS;
  }
  gst_element_message_full(GST_ELEMENT(element), GST_MESSAGE_ERROR, domain, code,
                           g_strdup(status.message().c_str()), nullptr, __FILE__, GST_FUNCTION,
                           __LINE__);
} catch (const std::bad_alloc&) {
  post_no_memory(element);
}

void post_no_memory(gpointer element) noexcept {
  GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("there is not enough memory"), (nullptr));
}

Result<DeviceName> parse_device(const std::string& text) {
  auto device = parse_device_names(text);
  if (!device)
    return Status(Errc::invalid_argument,
                  "the device '" + text +
                      "' is not auto, cpu, cuda or cuda:N, nor a list as cuda:N,M or cuda:all");
  if (Status status = find_all_devices(*device); !status) return status;
  return *std::move(device);
}

void post_loss(gpointer element, const LostDevice& lost) {
  const std::string text = "cuda:" + std::to_string(lost.device) +
                           " failed and is not used any more; the other devices code its frames "
                           "again: " +
                           lost.why.message();
  gst_element_message_full(GST_ELEMENT(element), GST_MESSAGE_WARNING, GST_LIBRARY_ERROR,
                           GST_LIBRARY_ERROR_FAILED, g_strdup(text.c_str()), nullptr, __FILE__,
                           GST_FUNCTION, __LINE__);
}

std::string device_text(const GValue* value) {
  const char* text = g_value_get_string(value);
  return text == nullptr ? "auto" : text;
}

void install_device(GObjectClass* type, guint id, const char* description) {
  g_object_class_install_property(
      type, id, g_param_spec_string("device", "Device", description, "auto", kReadyFlags));
}

void install_statistics(GObjectClass* type, guint id, const char* description) {
  constexpr auto kFlags = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      type, id,
      g_param_spec_boxed("statistics", "Statistics", description, GST_TYPE_STRUCTURE, kFlags));
}

void add_pads(GstElementClass* type, GstCaps* sink_caps, GstCaps* source_caps) {
  const auto add = [type](const char* name, GstPadDirection direction, GstCaps* caps) {
    gst_element_class_add_pad_template(type,
                                       gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  };
  add("sink", GST_PAD_SINK, sink_caps);
  add("src", GST_PAD_SRC, source_caps);
}

}  // namespace zerorun::gst

#define PACKAGE "zerorun"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, zerorun,
                  "JPEG and Motion JPEG encoder and decoder on the CPU and on NVIDIA GPUs",
                  zerorun::gst::register_elements, ZERORUN_PLUGIN_VERSION, "MIT/X11", "zerorun",
                  "Unknown package origin")
