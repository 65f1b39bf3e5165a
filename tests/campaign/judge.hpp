// The promise "never ok with wrong samples", for one stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/campaign/numbered_work.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {

enum class Verdict {
  refused,  ///< an error with a sentence
  damaged,  ///< delivered, and the report names what is wrong
  exact,    ///< delivered as good, and libjpeg-turbo gives the same samples
  wrong,    ///< none of these: a finding
};

/// Decodes streams with zerorun's CPU backend and with libjpeg-turbo, and compares.
class Judge {
 public:
  /// Larger images are refused, so that a changed size does not make a campaign slow.
  explicit Judge(std::int64_t max_pixels);

  /// Adds the verdict to `counts`. To call a stream good whose end is missing (`is_cut`) is wrong.
  Verdict judge(std::span<const std::byte> jpeg, Counts& counts, bool is_cut);
  /// Why the last verdict was not `exact`.
  const std::string& reason() const noexcept { return reason_; }
  /// Processor time of zerorun's decoder for the last stream.
  double seconds() const noexcept { return seconds_; }
  /// Whether libjpeg-turbo delivers the stream without a warning.
  bool libjpeg_is_content(std::span<const std::byte> jpeg);
  /// Whether the last judge() and the last libjpeg_is_content() gave the same samples.
  bool same_samples() const;

 private:
  Verdict verdict_of(std::span<const std::byte> jpeg, Counts& counts);
  Verdict compare(std::span<const std::byte> jpeg);
  Verdict because(Verdict verdict, std::string reason);
  Verdict wrong(std::string reason) { return because(Verdict::wrong, std::move(reason)); }

  Decoder decoder_;
  std::vector<ComponentCoefficients> ours_, theirs_;
  std::vector<ComponentPlane> our_planes_, their_planes_;
  std::string reason_;
  double seconds_ = 0;
};

}  // namespace zerorun::test
