// Runs a GStreamer pipeline to its end, as gst-launch-1.0 does. Exit code 0: the end of the stream;
// 1: an error, which it prints; 2: no pipeline.
//
// gst-launch-1.0 1.22 itself waits for ever when an element posts an error before its main loop
// runs: it calls g_main_loop_quit() in the thread of the element, and g_main_loop_run() begins
// anew. Without zerorun: `gst-launch-1.0 fakesrc ! identity error-after=1 ! fakesink` hung in 5 of
// 40 runs on a busy machine.
// SPDX-License-Identifier: MIT
#include <gst/gst.h>

#include <cstdio>

namespace {

/// The message that ends the pipeline. A state change that fails may have posted none.
GstMessage* last_message(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  const bool started =
      gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  GstMessage* message =
      gst_bus_timed_pop_filtered(bus, started ? GST_CLOCK_TIME_NONE : 0,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_object_unref(bus);
  return message;
}

int verdict(GstMessage* message) {
  if (message == nullptr) {
    std::fputs("ERROR: the pipeline does not start\n", stderr);
    return 1;
  }
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) return 0;
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  std::fprintf(stderr, "ERROR: %s: %s\n", GST_MESSAGE_SRC_NAME(message), error->message);
  g_error_free(error);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launchv(const_cast<const gchar**>(argv + 1), &error);
  if (pipeline == nullptr || error != nullptr) {
    std::fprintf(stderr, "ERROR: no pipeline: %s\n", error == nullptr ? "" : error->message);
    return 2;
  }
  GstMessage* message = last_message(pipeline);
  const int code = verdict(message);
  if (message != nullptr) gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return code;
}
