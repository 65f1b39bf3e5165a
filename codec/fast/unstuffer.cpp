// byte_unstuff in pieces of the data, for several threads.
// SPDX-License-Identifier: MIT
#include "codec/fast/unstuffer.hpp"

#include <algorithm>
#include <cstring>

#include "codec/syntax/marker.hpp"

namespace zerorun::fast {
namespace {

/// The kernel may store this many bytes after its output.
constexpr std::size_t kSpare = 64;

}  // namespace

void Unstuffer::cut(std::span<const std::uint8_t> data, int jobs) {
  data_ = data;
  count_ = static_cast<std::size_t>(jobs);
  if (pieces_.size() < count_) pieces_.resize(count_);
  clean_.reserve(static_cast<std::int64_t>(data.size() + kReadAhead + kSpare));
  std::uint8_t* const apart =
      count_ == 1 ? nullptr
                  : apart_.reserve(static_cast<std::int64_t>(data.size() + count_ * kSpare));
  std::size_t from = 0;
  for (std::size_t p = 0; p < count_; ++p) {
    std::size_t to = data.size() * (p + 1) / count_;
    // A piece does not begin behind an FF, which may belong to a marker or a stuffed byte.
    to = std::max(to, from);
    while (to > 0 && to < data.size() && data[to - 1] == 0xFF) ++to;
    pieces_[p].begin = data.data() + from;
    pieces_[p].end = data.data() + to;
    pieces_[p].out = p == 0 ? clean_.data() : apart + from + p * kSpare;
    from = to;
  }
  last_ = jobs - 1;
}

void Unstuffer::unstuff(int job) {
  if (job > last_) return;
  Piece& piece = pieces_[static_cast<std::size_t>(job)];
  piece.markers.clear();
  piece.scan_end = nullptr;
  const std::uint8_t* in = piece.begin;
  std::uint8_t* out = piece.out;
  for (;;) {
    out = kernels_.unstuff(in, piece.end, out);
    while (in < piece.end && *in == 0xFF) ++in;  // fill bytes (T.81 B.1.1.2)
    if (in == piece.end) break;
    const std::uint8_t code = *in++;
    if (code == 0) {
      *out++ = 0xFF;
    } else if (marker::is_rst(code)) {
      piece.markers.push_back({static_cast<std::uint64_t>(out - piece.out),
                               static_cast<std::uint64_t>(in - data_.data()), code});
    } else {
      piece.scan_end = in - 2;
      for (int last = last_; job < last && !last_.compare_exchange_weak(last, job);) continue;
      break;
    }
  }
  piece.clean = static_cast<std::uint64_t>(out - piece.out);
}

void Unstuffer::join() {
  std::uint64_t clean = 0;
  segments_.assign(1, {0, 0, 0});
  count_ = static_cast<std::size_t>(last_) + 1;
  for (std::size_t p = 0; p < count_; ++p) {
    Piece& piece = pieces_[p];
    for (const Marker& marker : piece.markers) {
      segments_.back().marker = marker.code;
      segments_.push_back({clean + marker.clean, marker.source, 0});
    }
    piece.place = clean;
    clean += piece.clean;
  }
  const std::uint8_t* const end = pieces_[count_ - 1].scan_end;
  consumed_bytes_ = end == nullptr ? data_.size() : static_cast<std::uint64_t>(end - data_.data());
  segments_.push_back({clean, consumed_bytes_, 0});
  std::memset(clean_.data() + clean, 0, kReadAhead);
}

void Unstuffer::move(int job) {
  if (static_cast<std::size_t>(job) >= count_) return;
  const Piece& piece = pieces_[static_cast<std::size_t>(job)];
  std::memcpy(clean_.data() + piece.place, piece.out, piece.clean);
}

}  // namespace zerorun::fast
