// OpenCV: imencode and imdecode as applications call them, on BGR pictures.
// SPDX-License-Identifier: MIT
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include <exception>
#include <string>

#include "apps/bench/measure/measure.hpp"

extern "C" const char* zerorun_load_peer_opencv();  // .cmake/load_at_run_time.cmake

namespace zerorun::app::bench {
namespace {

/// Turns OpenCV's exceptions into a Status: runners do not throw.
template <typename Call>
Status guarded(const Call& call) {
  try {
    return call() ? Status::ok() : Status(Errc::bad_input, "OpenCV refused the picture");
  } catch (const std::exception& error) {  // cv::Exception is one
    return Status(Errc::bad_input, error.what());
  }
}

class OpencvEncodeRunner final : public Runner {
 public:
  explicit OpencvEncodeRunner(const Setting* of) {
    const Setting& setting = *of;
    for (std::size_t i = 0; i < setting.frames.size(); ++i) {
      const ConstFrameView view = setting.frames.view(i);
      pictures_.emplace_back(view.height, view.width, CV_8UC3,
                             const_cast<std::uint8_t*>(view.data[0]),
                             static_cast<std::size_t>(view.stride_bytes[0]));
    }
    options_ = {cv::IMWRITE_JPEG_QUALITY, setting.what.quality, cv::IMWRITE_JPEG_OPTIMIZE,
                setting.what.huffman == HuffmanTables::optimal ? 1 : 0};
  }

  Status start(std::size_t index) override {
    return guarded([&] { return cv::imencode(".jpg", pictures_[index], stream_, options_); });
  }
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

class OpencvDecodeRunner final : public Runner {
 public:
  explicit OpencvDecodeRunner(const Setting* setting) : streams_(setting->reference.streams) {}

  Status start(std::size_t index) override {
    const auto& jpeg = streams_[index];
    return guarded([&] {
      const cv::Mat bytes(1, static_cast<int>(jpeg.size()), CV_8UC1,
                          const_cast<std::byte*>(jpeg.data()));
      return !cv::imdecode(bytes, cv::IMREAD_COLOR, &picture_).empty();
    });
  }
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

Status add_opencv(const Setting& setting, Coders& coders) {
  if (const char* error = zerorun_load_peer_opencv())
    return leave_out(setting, std::string("OpenCV: ") + error);
  if (setting.what.encodes() && setting.what.sampling != Subsampling::s420)
    return leave_out(setting, "OpenCV: it encodes only 4:2:0");
  Coder& coder = coders.emplace_back();
  coder.name = "OpenCV " CV_VERSION;
  coder.at_once = setting.selection.threads;
  coder.open = setting.what.encodes() ? runner_of<OpencvEncodeRunner>(&setting)
                                      : runner_of<OpencvDecodeRunner>(&setting);
  return Status::ok();
}

}  // namespace zerorun::app::bench
