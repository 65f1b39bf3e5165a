// The GStreamer plugin: zerorunenc and zerorundec.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/element.hpp"
#include "zerorun/status.hpp"

namespace {

gboolean register_elements(GstPlugin* plugin) {
  // Below jpegenc and jpegdec: installing the plugin changes no existing pipeline.
  return gst_element_register(plugin, "zerorunenc", GST_RANK_MARGINAL,
                              zerorun::gst::encoder_element_type()) &&
         gst_element_register(plugin, "zerorundec", GST_RANK_MARGINAL,
                              zerorun::gst::decoder_element_type());
}

}  // namespace

#define PACKAGE "zerorun"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, zerorun,
                  "JPEG and Motion JPEG encoder and decoder on the CPU and on NVIDIA GPUs",
                  register_elements, ZERORUN_PLUGIN_VERSION, "MIT/X11", "zerorun",
                  "Unknown package origin")
