// The choices of EncodeParams and DecodeParams, and the words for them: what the program, Python,
// GStreamer and the C interface parse and print.
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun {

template <typename Enum>
struct Choice {
  Enum value;
  const char* word;
  const char* meaning;  ///< for a list of choices
};

/// The choices of an enumeration: an array in the order of its values, which count from 0.
template <typename Enum>
inline constexpr int kChoices = 0;
template <>
inline constexpr Choice<Backend> kChoices<Backend>[] = {
    {Backend::automatic, "auto", "CUDA where it can be used, else the CPU"},
    {Backend::cpu, "cpu", "The CPU"},
    {Backend::cuda, "cuda", "CUDA"}};
template <>
inline constexpr Choice<InstructionSet> kChoices<InstructionSet>[] = {
    {InstructionSet::best, "best", "The best that the machine has"},
    {InstructionSet::scalar, "scalar", "The reference stages"},
    {InstructionSet::sse4, "sse4", "SSE4"},
    {InstructionSet::avx2, "avx2", "AVX2"},
    {InstructionSet::avx512, "avx512", "AVX-512"},
    {InstructionSet::neon, "neon", "NEON"}};
template <>
inline constexpr Choice<Subsampling> kChoices<Subsampling>[] = {
    {Subsampling::s444, "444", "4:4:4"}, {Subsampling::s422, "422", "4:2:2"},
    {Subsampling::s420, "420", "4:2:0"}, {Subsampling::s440, "440", "4:4:0"},
    {Subsampling::s411, "411", "4:1:1"}, {Subsampling::gray, "gray", "Luma only"}};
template <>
inline constexpr Choice<HuffmanTables> kChoices<HuffmanTables>[] = {
    {HuffmanTables::standard, "standard", "The tables of T.81 Annex K.3"},
    {HuffmanTables::optimal, "optimal", "Built for each frame; smaller, slower"},
    {HuffmanTables::trained, "trained", "Trained on pictures; smaller"}};
template <>
inline constexpr Choice<Tune> kChoices<Tune>[] = {
    {Tune::exact, "exact", "The bytes of libjpeg-turbo"},
    {Tune::photo, "photo", "Smaller at equal quality to the eye"},
    {Tune::text, "text", "The same for text and drawings"},
    {Tune::psnr, "psnr", "The least squared error"}};
template <>
inline constexpr Choice<Effort> kChoices<Effort>[] = {
    {Effort::fast, "fast", "A dead zone that follows the texture"},
    {Effort::best, "best", "By rate and distortion; smaller, slower"}};
template <>
inline constexpr Choice<QuantTables> kChoices<QuantTables>[] = {
    {QuantTables::automatic, "auto", "As suits the tuning"},
    {QuantTables::annex_k, "annex-k", "T.81 K.1 and K.2"},
    {QuantTables::flat, "flat", "All entries are equal"},
    {QuantTables::ffmpeg, "ffmpeg", "The matrix of FFmpeg's mjpeg"},
    {QuantTables::tuned, "tuned", "Trained on photos"}};
template <>
inline constexpr Choice<ChromaUpsampling> kChoices<ChromaUpsampling>[] = {
    {ChromaUpsampling::fancy, "fancy", "libjpeg's triangle filter"},
    {ChromaUpsampling::nearest, "nearest", "Repetition"}};
template <>
inline constexpr Choice<ScanChoice> kChoices<ScanChoice>[] = {
    {ScanChoice::keep, "keep", "Sequential or progressive as before"},
    {ScanChoice::baseline, "baseline", "One scan"},
    {ScanChoice::progressive, "progressive", "The scans that take the fewest bytes"}};
template <>
inline constexpr Choice<Rotation> kChoices<Rotation>[] = {
    {Rotation::none, "none", "As it is"},
    {Rotation::by_90, "90", "Clockwise"},
    {Rotation::by_180, "180", "Upside down"},
    {Rotation::by_270, "270", "Anticlockwise"},
    {Rotation::upright, "auto", "As EXIF's orientation tells"}};
template <>
inline constexpr Choice<Flip> kChoices<Flip>[] = {{Flip::none, "none", "As it is"},
                                                  {Flip::horizontal, "h", "Left and right"},
                                                  {Flip::vertical, "v", "Top and bottom"}};
template <>
inline constexpr Choice<Edges> kChoices<Edges>[] = {
    {Edges::keep, "keep", "They stay at their edge"},
    {Edges::trim, "trim", "They are left out"},
    {Edges::refuse, "refuse", "The picture is refused"}};

/// "unknown" for a value that is no choice.
template <typename Enum>
constexpr std::string_view word_of(Enum value) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return i < std::size(kChoices<Enum>) ? kChoices<Enum>[i].word : "unknown";
}

template <typename Enum>
constexpr std::optional<Enum> parse_choice(std::string_view word) noexcept {
  for (const Choice<Enum>& choice : kChoices<Enum>)
    if (choice.word == word) return choice.value;
  return std::nullopt;
}

/// auto, none, a number of MCUs from 1 to 65535, or one of rows of MCUs ("1rows").
inline std::optional<RestartPolicy> parse_restart(std::string_view text) {
  if (text == "auto") return RestartPolicy::automatic();
  if (text == "none") return RestartPolicy::none();
  int count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (error != std::errc() || count < 1 || count > 65535 || (!unit.empty() && unit != "rows"))
    return std::nullopt;
  return unit.empty() ? RestartPolicy::mcus(count) : RestartPolicy::mcu_rows(count);
}

/// "exact, photo, text or psnr"
template <typename Enum>
std::string list_choices() {
  std::string list;
  for (const Choice<Enum>& choice : kChoices<Enum>) {
    if (!list.empty()) list += &choice == std::end(kChoices<Enum>) - 1 ? " or " : ", ";
    list += choice.word;
  }
  return list;
}

}  // namespace zerorun
