// The properties of zerorunenc.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/encoder_settings.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <variant>

#include "codec/base/choices.hpp"
#include "codec/base/try.hpp"
#include "io/gstreamer/element.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::gst {
namespace {

constexpr int kMaxDepth = 64;

/// The enumeration of GObject for a choice; `automatic`, with the value -1, comes first if it is
/// there.
template <typename Enum>
GType type_of_choice(const char* type_name, const char* automatic = nullptr) {
  // Without memory of its own: GObject has no way to hear that there is none.
  static const auto values = [automatic] {
    std::array<GEnumValue, std::size(kChoices<Enum>) + 2> all{};
    std::size_t count = 0;
    if (automatic != nullptr) all[count++] = {-1, automatic, "auto"};
    for (const auto& choice : kChoices<Enum>)
      all[count++] = {static_cast<int>(choice.value), choice.meaning, choice.word};
    return all;
  }();
  static const GType type = g_enum_register_static(type_name, values.data());
  return type;
}

RestartPolicy restart_policy(int interval) {
  if (interval < 0) return RestartPolicy::automatic();
  return interval == 0 ? RestartPolicy::none() : RestartPolicy::mcus(interval);
}

using Settings = EncoderSettings;
/// The settings by the ids of their properties, which count from 1.
constexpr std::variant<int Settings::*, HuffmanTables Settings::*, std::string Settings::*,
                       Tune Settings::*, Effort Settings::*, QuantTables Settings::*,
                       double Settings::*, bool Settings::*>
    kMembers[] = {&Settings::quality,     &Settings::restart_interval, &Settings::huffman,
                  &Settings::subsampling, &Settings::device,           &Settings::depth,
                  &Settings::tune,        &Settings::effort,           &Settings::tables,
                  &Settings::bitrate,     &Settings::max_frame_size,   &Settings::target_psnr,
                  &Settings::target_ssim, &Settings::progressive};
static_assert(std::size(kMembers) == kSettingCount);

/// Calls visit(setting) with the setting of a property.
void visit_setting(auto& settings, guint id, const auto& visit) {
  std::visit([&](auto member) { visit(settings.*member); }, kMembers[id - 1]);
}

/// Between a property's value and its setting; an int may be an enumeration for GObject.
void get(const GValue* value, int& setting) {
  setting = G_VALUE_HOLDS_ENUM(value) ? g_value_get_enum(value) : g_value_get_int(value);
}
template <typename Enum>
requires std::is_enum_v<Enum>
void get(const GValue* value, Enum& setting) {
  setting = static_cast<Enum>(g_value_get_enum(value));
}
void get(const GValue* value, bool& setting) { setting = g_value_get_boolean(value) != FALSE; }
void get(const GValue* value, double& setting) { setting = g_value_get_double(value); }
void get(const GValue* value, std::string& setting) { setting = device_text(value); }

void set(GValue* value, int setting) {
  G_VALUE_HOLDS_ENUM(value) ? g_value_set_enum(value, setting) : g_value_set_int(value, setting);
}
template <typename Enum>
requires std::is_enum_v<Enum>
void set(GValue* value, Enum setting) { g_value_set_enum(value, static_cast<int>(setting)); }
void set(GValue* value, bool setting) { g_value_set_boolean(value, setting ? TRUE : FALSE); }
void set(GValue* value, double setting) { g_value_set_double(value, setting); }
void set(GValue* value, const std::string& setting) { g_value_set_string(value, setting.c_str()); }

}  // namespace

/// Installs the properties in the order of kMembers.
void install_settings(GObjectClass* type) {
  constexpr auto kPlaying =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE |
                               GST_PARAM_MUTABLE_PLAYING);
  const EncoderSettings initial;
  guint last_id = 0;
  const auto install = [type, &last_id](GParamSpec* spec) {
    g_object_class_install_property(type, ++last_id, spec);
  };
  install(g_param_spec_int("quality", "Quality", "libjpeg's scale; applies from the next frame on",
                           1, 100, initial.quality, kPlaying));
  install(g_param_spec_int("restart-interval", "Restart interval",
                           "MCUs between restart markers; 0 none, -1 as many as help parallel "
                           "decoding for at most 1.5 % of the bytes",
                           -1, 65535, initial.restart_interval, kReadyFlags));
  install(g_param_spec_enum("huffman", "Huffman tables", "Which code tables are sent",
                            type_of_choice<HuffmanTables>("ZerorunHuffman"),
                            static_cast<int>(initial.huffman), kReadyFlags));
  install(g_param_spec_enum(
      "subsampling", "Subsampling", "Chroma sampling of the stream",
      type_of_choice<Subsampling>("ZerorunSubsampling", "As in the input; 4:2:0 for RGB"),
      initial.subsampling, kReadyFlags));
  install_device(
      type, ++last_id,
      "auto, cpu, cuda, cuda:N, or several GPUs: cuda:N,M or cuda:all, with a depth of 4 for "
      "each; all write the same bytes");
  install(g_param_spec_int("depth", "Depth",
                           "Frames in flight; 1 has the least latency, more give a higher "
                           "rate",
                           1, kMaxDepth, initial.depth, kReadyFlags));
  install(g_param_spec_enum("tune", "Tune", "What the coefficients are decided for",
                            type_of_choice<Tune>("ZerorunTune"), static_cast<int>(initial.tune),
                            kReadyFlags));
  install(g_param_spec_enum("effort", "Effort", "How they are decided where tune is not exact",
                            type_of_choice<Effort>("ZerorunEffort"),
                            static_cast<int>(initial.effort), kReadyFlags));
  install(g_param_spec_enum("tables", "Tables", "Quantisation tables, scaled by quality",
                            type_of_choice<QuantTables>("ZerorunTables"),
                            static_cast<int>(initial.tables), kReadyFlags));
  install(
      g_param_spec_int("bitrate", "Bitrate",
                       "Bits a second, kept by a leaky bucket of one second; the quality of each "
                       "frame follows. 0: quality decides. Applies from the next frame on",
                       0, G_MAXINT, initial.bitrate, kPlaying));
  install(g_param_spec_int("max-frame-size", "Largest frame",
                           "Bytes that no frame exceeds: its quality is lowered where it would. 0: "
                           "none. Applies from the next frame on",
                           0, G_MAXINT, initial.max_frame_size, kPlaying));
  install(g_param_spec_double("target-psnr", "PSNR",
                              "dB that the decoded samples of each frame have at least, by the "
                              "lowest quality that does it; without bitrate and max-frame-size. 0: "
                              "none. Applies from the next frame on",
                              0, 200, initial.target_psnr, kPlaying));
  install(g_param_spec_double("target-ssim", "SSIM",
                              "The same for the SSIM of luma, and without target-psnr. 0: none", 0,
                              1, initial.target_ssim, kPlaying));
  install(g_param_spec_boolean("progressive", "Progressive",
                               "Several scans, chosen for size, with optimal code tables; for "
                               "stills, as some players of Motion JPEG do not show them",
                               initial.progressive ? TRUE : FALSE, kReadyFlags));
}

void set_setting(EncoderSettings& settings, guint id, const GValue* value) {
  visit_setting(settings, id, [value](auto& setting) { get(value, setting); });
}

void get_setting(const EncoderSettings& settings, guint id, GValue* value) {
  visit_setting(settings, id, [value](const auto& setting) { set(value, setting); });
}

Result<AsyncEncodeParams> encode_params(const EncoderSettings& settings) {
  ZR_LET(device, parse_device(settings.device));
  ZR_LET(backend, resolve_backend(device.backend, device.index));
  AsyncEncodeParams params;
  params.encode.quality = settings.quality;
  params.encode.restart = restart_policy(settings.restart_interval);
  params.encode.huffman = settings.huffman;
  params.encode.tune = settings.tune;
  params.encode.effort = settings.effort;
  params.encode.tables = settings.tables;
  params.encode.progressive = settings.progressive;
  if (settings.subsampling >= 0)
    params.encode.subsampling = static_cast<Subsampling>(settings.subsampling);
  params.encode.backend = backend;
  params.encode.device = device.index;
  params.devices = device.list;
  params.depth = settings.depth;
  params.lanes = settings.depth;
  if (backend == Backend::cpu) {
    const int cores = usable_processors();
    params.lanes = std::min(settings.depth, cores);
    params.encode.threads = cores / params.lanes;
  }
  return params;
}

}  // namespace zerorun::gst
