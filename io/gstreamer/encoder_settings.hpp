// The properties of zerorunenc.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <gst/gst.h>

#include "zerorun/async.hpp"
#include "zerorun/status.hpp"

namespace zerorun::gst {

struct EncoderSettings {
  int quality = 90;
  int restart_interval = -1;  ///< MCUs; -1 automatic, 0 none
  HuffmanTables huffman = HuffmanTables::standard;
  int subsampling = -1;  ///< a Subsampling; -1 as in the input
  std::string device = "auto";
  int depth = 4;
  Tune tune = Tune::exact;
  Effort effort = Effort::fast;
  QuantTables tables = QuantTables::automatic;
  int bitrate = 0;         ///< bits a second; 0: quality decides
  int max_frame_size = 0;  ///< bytes; 0: none
  double target_psnr = 0;  ///< dB; 0: none
  double target_ssim = 0;  ///< 0: none
  bool progressive = false;
};

/// The properties have the ids 1 to `kSettingCount`.
inline constexpr guint kSettingCount = 14;

void install_settings(GObjectClass* type);
void set_setting(EncoderSettings& settings, guint id, const GValue* value);
void get_setting(const EncoderSettings& settings, guint id, GValue* value);

/// Chooses lanes and threads so that `depth` frames use all cores. Errors: invalid_argument
/// (device), those of resolve_backend().
Result<AsyncEncodeParams> encode_params(const EncoderSettings& settings);

}  // namespace zerorun::gst
