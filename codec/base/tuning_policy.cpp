// Sizes that were measured on the user's own GPU: their file, and what coders use.
// SPDX-License-Identifier: MIT
#include "codec/base/tuning_policy.hpp"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun {
namespace {

constexpr std::array<TunableRange, kTunableCount> kRanges = {{
    {"lanes", 1, 32},
    {"launch_blocks", 1 << 12, 1 << 18},
    {"roomy_chunks", 0, 1024},
    {"usual_block_bits", 0, 1024},
    {"followed_subsequences", 0, 64},
    {"room_words", 512, 10240},
}};
constexpr std::string_view kHead = "zerorun tuning 1 of ";
constexpr std::size_t kMostBytes = 4096;  // of a file

Status bad_line(std::string_view line) {
  std::string text = "no line of a tuning file: ";
  return Status(Errc::bad_input, std::move(text.append(line)));
}

Status parse_line(std::string_view line, TuningPolicy& policy) {
  const std::size_t space = line.find(' ');
  if (space == line.npos) return bad_line(line);
  for (std::size_t i = 0; i < kTunableCount; ++i) {
    if (line.substr(0, space) != kRanges[i].name) continue;
    std::int64_t value = 0;
    const char* const end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + space + 1, end, value);
    const bool is_right = error == std::errc() && stop == end;
    if (!is_right || value < kRanges[i].least || value > kRanges[i].most) return bad_line(line);
    policy.set(static_cast<Tunable>(i), value);
    return Status::ok();
  }
  return bad_line(line);
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Empty: none.
std::string folder() {
  if (const std::string named = environment("ZERORUN_TUNING"); !named.empty())
    return named == "off" ? "" : named;
  if (const std::string cache = environment("XDG_CACHE_HOME"); cache.starts_with('/'))
    return cache + "/zerorun";
  const std::string home = environment("HOME");
  return home.starts_with('/') ? home + "/.cache/zerorun" : "";
}

struct Policies {
  std::mutex mutex;
  std::map<std::string, TuningPolicy> of_device;
};

Policies& policies() {
  static auto* const all = new Policies;  // never destroyed: threads may outlive static objects
  return *all;
}

}  // namespace

const TunableRange& range_of(Tunable tunable) noexcept {
  return kRanges[static_cast<std::size_t>(tunable)];
}

std::string device_kind(const std::string& name, int compute_major, int compute_minor) {
  return name + ", " + std::to_string(compute_major) + "." + std::to_string(compute_minor);
}

std::string policy_text(const std::string& device, const TuningPolicy& policy) {
  std::string text = std::string(kHead) + device + "\n";
  for (std::size_t i = 0; i < kTunableCount; ++i)
    if (const auto value = policy.find(static_cast<Tunable>(i)))
      text += std::string(kRanges[i].name) + " " + std::to_string(*value) + "\n";
  return text;
}

Result<TuningPolicy> parse_policy(const std::string& device, std::string_view text) {
  TuningPolicy policy;
  for (bool is_head = true; !text.empty(); is_head = false) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (is_head && line != std::string(kHead) + device) return bad_line(line);
    if (!is_head) ZR_TRY(parse_line(line, policy));
  }
  return policy;
}

std::string policy_file(const std::string& device) {
  const std::string where = folder();
  if (where.empty()) return "";
  std::string name = device;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '-';
  return where + "/tuning-" + name + ".txt";
}

TuningPolicy kept_policy(const std::string& device) {
  const std::string name = policy_file(device);
  if (name.empty()) return {};
  std::ifstream file(name, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto bytes = static_cast<std::size_t>(file.gcount());
  if (bytes > kMostBytes) return {};
  text.resize(bytes);
  const auto policy = parse_policy(device, text);
  return policy ? *policy : TuningPolicy{};
}

Status keep_policy(const std::string& device, const TuningPolicy& policy) {
  const std::string name = policy_file(device);
  if (name.empty())
    return Status(Errc::unsupported_output,
                  "there is no cache folder: HOME is not set, or "
                  "ZERORUN_TUNING is off");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(name).parent_path(), error);
  // Another process may read the file now: it sees the old one or the new one.
  const std::string part = name + ".part";
  std::ofstream file(part, std::ios::binary);
  file << policy_text(device, policy);
  file.close();
  if (file) std::filesystem::rename(part, name, error);
  if (!file || error) return Status(Errc::write_failed, name + " cannot be written");
  return Status::ok();
}

TuningPolicy current_policy(const std::string& device) {
  Policies& all = policies();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of_device.find(device);
  if (found != all.of_device.end()) return found->second;
  return all.of_device[device] = kept_policy(device);
}

void use_policy(const std::string& device, const TuningPolicy& policy) {
  Policies& all = policies();
  const std::lock_guard lock(all.mutex);
  all.of_device[device] = policy;
}

}  // namespace zerorun
