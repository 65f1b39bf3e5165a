// Sizes that were measured on the user's own GPU, instead of those of cuda/*/tuning.hpp.
// SPDX-License-Identifier: MIT
//
// `zerorun bench --tune` measures them and keeps them in a file for each kind of GPU, in the folder
// zerorun of $XDG_CACHE_HOME or ~/.cache. ZERORUN_TUNING names another folder, or, as "off", none.
// Sizes change the speed, never the bytes or the samples, and a file is not trusted: what is
// unknown or outside its range makes the whole file count as missing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zerorun/backend.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// The sizes that a policy may set.
enum class Tunable : std::uint8_t {
  lanes,                  ///< of AsyncEncoder and AsyncDecoder, on each device
  launch_blocks,          ///< kLaunchBlocks of cuda/encode/tuning.hpp
  roomy_chunks,           ///< these four of cuda/decode/tuning.hpp: kRoomyChunks,
  usual_block_bits,       ///< kUsualBlockBits,
  followed_subsequences,  ///< kFollowedSubsequences,
  room_words,             ///< and kMostRoomWords
};
inline constexpr std::size_t kTunableCount = 6;

struct TunableRange {
  const char* name;  ///< in files
  std::int64_t least, most;
};

/// Outside this range memory would overflow or counters would.
const TunableRange& range_of(Tunable tunable) noexcept;

/// For one kind of device. What it does not set is as tuning.hpp has it.
class TuningPolicy {
 public:
  /// `value` is in the range.
  void set(Tunable tunable, std::int64_t value) { values_[index(tunable)] = value; }
  void reset(Tunable tunable) { values_[index(tunable)].reset(); }
  std::optional<std::int64_t> find(Tunable tunable) const { return values_[index(tunable)]; }
  template <typename T>
  T get(Tunable tunable, T otherwise) const {
    const auto& value = values_[index(tunable)];
    return value ? static_cast<T>(*value) : otherwise;
  }
  bool operator==(const TuningPolicy&) const = default;

 private:
  static std::size_t index(Tunable tunable) { return static_cast<std::size_t>(tunable); }
  std::array<std::optional<std::int64_t>, kTunableCount> values_;
};

/// "NVIDIA H200, 9.0": devices of one kind are tuned alike.
std::string device_kind(const std::string& name, int compute_major, int compute_minor);
inline std::string device_kind(const DeviceInfo& device) {
  return device_kind(device.name, device.compute_major, device.compute_minor);
}

/// A line for each size that is set, "room_words 10240", below one with the kind of device.
std::string policy_text(const std::string& device, const TuningPolicy& policy);
/// Errors: bad_input, with the line.
Result<TuningPolicy> parse_policy(const std::string& device, std::string_view text);

/// Where the policy of a kind of device ("NVIDIA H200, 9.0") is kept; empty: nowhere.
std::string policy_file(const std::string& device);

/// What is kept; nothing where there is no such file, or one that is not understood.
TuningPolicy kept_policy(const std::string& device);
/// Writes the file and makes its folder. Errors: write_failed, unsupported_output (kept nowhere).
Status keep_policy(const std::string& device, const TuningPolicy& policy);

/// What coders that are made from now on use: what use_policy() set, else what is kept, which is
/// read once in a process. Thread-safe.
TuningPolicy current_policy(const std::string& device);
void use_policy(const std::string& device, const TuningPolicy& policy);

}  // namespace zerorun
