// The peer OpenCV: imencode and imdecode as applications call them, on BGR pictures.
// SPDX-License-Identifier: MIT
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include <utility>

#include "apps/bench/measure/contenders.hpp"

namespace zerorun::app::bench {
namespace {

/// OpenCV throws; lanes do not.
template <typename Call>
Status guarded(const Call& call) {
  try {
    return call() ? Status::ok() : Status(Errc::bad_input, "OpenCV refused the picture");
  } catch (const cv::Exception& error) {
    return Status(Errc::bad_input, error.what());
  }
}

class OpencvEncodeLane final : public EncodeLane {
 public:
  explicit OpencvEncodeLane(const Setting& setting) {
    for (std::size_t i = 0; i < setting.frames.size(); ++i) {
      const ConstFrameView view = setting.frames.view(i);
      pictures_.emplace_back(view.height, view.width, CV_8UC3,
                             const_cast<std::uint8_t*>(view.data[0]),
                             static_cast<std::size_t>(view.stride_bytes[0]));
    }
    const bool optimal = setting.what.huffman == HuffmanTables::optimal;
    options_ = {cv::IMWRITE_JPEG_QUALITY, setting.what.quality, cv::IMWRITE_JPEG_OPTIMIZE,
                optimal ? 1 : 0};
  }

  Status start(std::size_t index) override {
    return guarded([&] { return cv::imencode(".jpg", pictures_[index], stream_, options_); });
  }
  Status finish() override { return Status::ok(); }
  Status stream(std::vector<std::byte>& out) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(stream_.data());
    out.assign(bytes, bytes + stream_.size());
    return Status::ok();
  }

 private:
  std::vector<cv::Mat> pictures_;
  std::vector<int> options_;
  std::vector<unsigned char> stream_;
};

class OpencvDecodeLane final : public DecodeLane {
 public:
  explicit OpencvDecodeLane(const Setting& setting) : streams_(setting.reference.streams) {}

  Status start(std::size_t index) override {
    const auto& jpeg = streams_[index];
    return guarded([&] {
      const cv::Mat bytes(1, static_cast<int>(jpeg.size()), CV_8UC1,
                          const_cast<std::byte*>(jpeg.data()));
      return !cv::imdecode(bytes, cv::IMREAD_COLOR, &picture_).empty();
    });
  }
  Status finish() override { return Status::ok(); }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    ConstFrameView view{PixelFormat::bgr24, picture_.cols, picture_.rows, {}, {}};
    view.data[0] = picture_.data;
    view.stride_bytes[0] = static_cast<std::ptrdiff_t>(picture_.step[0]);
    if (view.width != out.width || view.height != out.height)
      return Status(Errc::invalid_frame, "OpenCV's picture has another size");
    copy_samples(view, out);
    return Status::ok();
  }

 private:
  const std::vector<std::vector<std::byte>>& streams_;
  cv::Mat picture_;
};

}  // namespace

void add_opencv(const Setting& setting, Contenders& out) {
  if (!setting.selection.peers) return;
  const bool encode = setting.what.operation == Operation::encode;
  if (setting.what.pixels != PixelFormat::bgr24) return;  // as --help says
  if (encode && setting.what.sampling != Subsampling::s420) {
    setting.notes.push_back("OpenCV: it encodes 4:2:0 alone");
    return;
  }
  Contender c;
  c.coder = "OpenCV " CV_VERSION;
  c.device = "cpu";
  c.path = "host>host";
  c.parallel = setting.selection.threads;
  c.open = [&setting, encode](int) -> Result<std::unique_ptr<Lane>> {
    if (encode) return std::unique_ptr<Lane>(std::make_unique<OpencvEncodeLane>(setting));
    return std::unique_ptr<Lane>(std::make_unique<OpencvDecodeLane>(setting));
  };
  out.push_back(std::move(c));
}

}  // namespace zerorun::app::bench
