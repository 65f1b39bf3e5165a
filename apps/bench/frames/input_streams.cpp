// Loads the streams of a JPEG input as they are, and decodes them on the CPU.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/bench/peers/libjpeg.hpp"
#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/pixel_limit.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {
namespace {

/// The planar format that holds the stream's own samples.
Result<PixelFormat> stored_format(const StreamInfo& info) {
  if (info.color == ColorModel::gray) return PixelFormat::gray8;
  if (info.color == ColorModel::ycbcr && info.subsampling) return planar_format(*info.subsampling);
  return Status(Errc::pixel_format,
                "no planar layout holds its components; --pixels rgb24 or bgr24 takes it");
}

/// Damaged streams are left out: decoders conceal damage in different ways.
Status check_by_libjpeg(std::span<const std::byte> jpeg, const ConstFrameView& like) {
  if (!have_libjpeg() || !is_planar_or_rgb(like.format)) return Status::ok();
  auto picture = PaddedFrame::create(like.format, like.width, like.height);
  if (!picture) return picture.status();
  Status status = make_libjpeg_decoder()->decode(jpeg, picture->view());
  return status ? status : Status(status.code(), "libjpeg-turbo: " + status.message());
}

Result<PaddedFrame> decode(Decoder& decoder, std::span<const std::byte> jpeg,
                           const std::optional<PixelFormat>& wanted) {
  const auto info = inspect(jpeg, decoder.params().limits);
  if (!info) return info.status();
  const auto format = wanted ? Result<PixelFormat>(*wanted) : stored_format(*info);
  if (!format) return format.status();
  auto frame = Frame::create(*format, info->width, info->height);
  if (!frame) return frame.status();
  if (const auto report = decoder.decode(jpeg, frame->view()); !report) return report.status();
  ZR_TRY(check_by_libjpeg(jpeg, frame->view()));
  return PaddedFrame::copy_of(std::as_const(*frame).view());
}

bool same_shape(const ConstFrameView& a, const ConstFrameView& b) noexcept {
  return a.format == b.format && a.width == b.width && a.height == b.height;
}

/// One image of the input, decoded or refused.
struct Taken {
  std::string name;
  std::vector<std::byte> jpeg;
  Result<PaddedFrame> frame = Status(Errc::bad_input);
};

/// Reads images, and decodes those that were read together on all cores.
class StreamLoader {
 public:
  explicit StreamLoader(const FrameRequest& request)
      : request_(request), set_{request.input, {}, {}, request.mixed} {
    auto opened = io::open_packets({request.input, "", {}}, {});
    if (!opened && opened.status().code() == Errc::unknown_format)
      fail(Exit::input, "--streams input: '" + request.input + "' is neither JPEG nor Motion JPEG");
    source_ = value_or_fail(std::move(opened), Exit::input, request.input);
    DecodeParams params;
    params.backend = Backend::cpu;
    params.strict = true;  // peers conceal damage in other ways
    params.threads = 1;
    params.limits = stream_limits(request.max_pixels);
    for (int i = 0; i < pool_.workers(); ++i)
      decoders_.push_back(value_or_fail(Decoder::create(params), Exit::failed, request.input));
  }

  FrameSet load() {
    while (set_.size() < request_.count) {
      std::vector<Taken> images = read(request_.count - set_.size());
      if (images.empty()) break;
      pool_.run(static_cast<std::int64_t>(images.size()), [&](std::int64_t i, int worker) {
        Taken& image = images[static_cast<std::size_t>(i)];
        image.frame =
            decode(decoders_[static_cast<std::size_t>(worker)], image.jpeg, request_.format);
      });
      for (Taken& image : images) take(image);
    }
    tell();
    return std::move(set_);
  }

 private:
  std::vector<Taken> read(std::size_t most) {
    std::vector<Taken> images;
    io::FrameTime time;
    while (images.size() < most) {
      Taken image;
      if (!value_or_fail(source_->read(image.jpeg, time), Exit::input, request_.input)) break;
      image.name = source_->last_name();
      images.push_back(std::move(image));
    }
    return images;
  }

  void take(Taken& image) {
    if (!image.frame) {
      if (refused_++ > 0) return;
      why_ = image.frame.status();
      whose_ = image.name;
    } else if (!request_.mixed && set_.size() > 0 &&
               !same_shape(std::as_const(*image.frame).view(), set_.view(0))) {
      ++others_;
    } else {
      set_.frames.push_back(*std::move(image.frame));
      set_.streams.push_back(std::move(image.jpeg));
    }
  }

  void tell() const {
    if (refused_ > 0 && set_.frames.empty()) fail_input(whose_, why_, true);
    if (refused_ > 0)
      console::note(fmt::format("{} image{} left out; {}: {}{}", refused_,
                                refused_ == 1 ? " is" : "s are", whose_, why_.message(),
                                max_pixels_hint(why_)));
    if (others_ > 0)
      console::note(
          fmt::format("{}: {} image{} of another size or sampling than the first and left "
                      "out; --mixed takes all",
                      request_.input, others_, others_ == 1 ? " is" : "s are"));
    if (set_.frames.empty()) fail(Exit::input, request_.input + ": there are no images");
  }

  const FrameRequest& request_;
  ThreadPool pool_{0};
  std::unique_ptr<io::PacketSource> source_;
  std::vector<Decoder> decoders_;
  FrameSet set_;
  int others_ = 0, refused_ = 0;
  Status why_;
  std::string whose_;
};

}  // namespace

FrameSet load_streams(const FrameRequest& request) { return StreamLoader(request).load(); }

}  // namespace zerorun::app::bench
