// The elements of the plugin.
// SPDX-License-Identifier: MIT
#pragma once

#include <gst/gst.h>

namespace zerorun::gst {

GType encoder_element_type();
GType decoder_element_type();

}  // namespace zerorun::gst
