// Coding a JPEG stream again without loss.
// SPDX-License-Identifier: MIT
#include "zerorun/transcoder.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "codec/api/device_set.hpp"
#include "codec/base/marker.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/syntax/header_writer.hpp"

namespace zerorun {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// The headers of an image, and where its scans lie.
struct ParsedImage {
  HeaderParser parser;
  std::vector<FrameScan> scans;

  ParsedImage(std::span<const std::byte> jpeg, const StreamLimits& limits) : parser(jpeg, limits) {}

  Status parse(std::span<const std::byte> jpeg) {
    parser.keep_segments();
    ZR_TRY(parser.start());
    for (;;) {
      ZR_LET(more, parser.next_scan());
      if (!more) return scans.empty() ? Status(Errc::missing_image) : Status::ok();
      put_off_scan(jpeg, parser, scans);
    }
  }
  int restart_interval() const { return scans[0].header.layout.restart_interval; }
};

Status validate(const TranscodeParams& params) {
  if (params.restart_interval && (*params.restart_interval < 0 || *params.restart_interval > 65535))
    return Status(Errc::invalid_argument, "a restart interval has 0 to 65535 MCUs");
  const LosslessTransform& transform = params.transform;
  if (params.scans > ScanChoice::progressive || transform.rotate > Rotation::upright ||
      transform.flip > Flip::vertical || transform.edges > Edges::refuse ||
      transform.orientation < 0 || transform.orientation > 8)
    return Status(Errc::invalid_argument, "a choice is not known");
  const Region& crop = transform.crop;
  if (!(crop == Region()) && (crop.x < 0 || crop.y < 0 || crop.width < 1 || crop.height < 1))
    return Status(Errc::invalid_argument, "the crop is no rectangle");
  DecodeParams decode;
  decode.limits = params.limits;
  decode.threads = params.threads;
  decode.instruction_set = params.instruction_set;
  return validate_params(decode);
}

bool starts_with(const MarkerSegment& segment, std::uint8_t marker, std::string_view text) {
  return segment.marker == marker && segment.payload.size() >= text.size() &&
         std::memcmp(segment.payload.data(), text.data(), text.size()) == 0;
}

/// SOI and all segments, which then tell what is true of the new frame.
void put_segments(const FrameHeader& old, const TransformPlan& plan, bool is_upright,
                  std::vector<MarkerSegment> segments, Bytes& out) {
  using std::string_view_literals::operator""sv;
  const bool loses_colors = plan.frame.components.size() < old.components.size();
  put_bytes(std::uint64_t{0xFF00} | marker::kSoi, 2, out);
  for (MarkerSegment& segment : segments) {
    Bytes& payload = segment.payload;
    // Motion JPEG A says where its parts lie.
    if (segment.marker == marker::kApp1 && payload.size() >= 8 &&
        std::memcmp(payload.data() + 4, "mjpg", 4) == 0)
      continue;
    if (starts_with(segment, marker::kApp0, "AVI1"sv) && payload.size() >= 14)
      std::fill_n(payload.begin() + 6, 8, std::uint8_t{0});  // sizes of the field, 0: not known
    if (loses_colors && (starts_with(segment, marker::kApp14, "Adobe"sv) ||
                         starts_with(segment, marker::kApp0 + 2, "ICC_PROFILE\0"sv)))
      continue;
    if (starts_with(segment, marker::kApp1, "Exif\0\0"sv)) {
      if (is_upright) reset_exif_orientation(payload);
      if (plan.frame.width != old.width || plan.frame.height != old.height)
        set_exif_size(payload, plan.frame.width, plan.frame.height);
    }
    if (plan.transposes && starts_with(segment, marker::kApp0, "JFIF\0"sv) && payload.size() >= 14)
      std::swap_ranges(payload.begin() + 8, payload.begin() + 10, payload.begin() + 10);
    put_segment(segment.marker, payload.size(), out);
    out.insert(out.end(), payload.begin(), payload.end());
  }
}

bool are_equal(const StoredBlocks& a, const StoredBlocks& b) {
  if (a.blocks_wide != b.blocks_wide || a.blocks_high != b.blocks_high) return false;
  const std::int64_t count = std::int64_t{a.blocks_wide} * a.blocks_high;
  if (!std::equal(a.dc, a.dc + count, b.dc) || !std::equal(a.nonzero, a.nonzero + count, b.nonzero))
    return false;
  for (std::int64_t i = 0; i < count; ++i)
    if (a.nonzero[i] != 0 &&
        std::memcmp(a.ac + i * kBlockSize, b.ac + i * kBlockSize, kBlockSize * sizeof *a.ac) != 0)
      return false;
  return true;
}

}  // namespace

struct Transcoder::Impl {
  TranscodeParams params;
  std::unique_ptr<DecodePipeline> pipeline;
  std::unique_ptr<DecodePipeline> device = {};  // null, or for streams that get other tables alone
  ThreadPool pool;
  CoefficientCoder coder = {};
  std::unique_ptr<ScanSymbols> symbols = std::make_unique<ScanSymbols>();
  RecodedScan recoded = {};
  StoredFrame decoded = {}, turned = {}, checked = {};
  Bytes stream = {};

  explicit Impl(const TranscodeParams& wanted)
      : params(wanted),
        pipeline(make_chosen_decode_pipeline(wanted.threads, wanted.instruction_set)),
        pool(wanted.threads) {}

  Status open_device() {
    const bool is_of_use = params.optimize && params.scans == ScanChoice::keep &&
                           !params.restart_interval && params.transform == LosslessTransform();
    const bool is_choice = params.backend == Backend::automatic;
    if (is_choice && !is_of_use) return Status::ok();
    ZR_LET(backend, resolve_backend(params.backend, params.device));
    if (backend == Backend::cpu || !is_of_use || test_device_count() > 0) return Status::ok();
    auto made = make_cuda_recode_pipeline(params.device, params.threads);
    if (made) device = *std::move(made);
    return made || is_choice ? Status::ok() : made.status();
  }

  /// On the device. With an automatic choice the CPU takes what the device fails with.
  Result<bool> recode(const ParsedImage& image, ColorModel color) {
    if (device == nullptr) return false;
    auto done = device->recode_scan(image.parser.frame(), image.scans, color, recoded);
    if (!done && params.backend == Backend::automatic && is_of_device(done.status())) return false;
    return done;
  }

  /// All scans of the image. Errors: also the first damage.
  Status decode(const ParsedImage& image, StoredFrame& out) {
    const FrameHeader& frame = image.parser.frame();
    out.clear(frame);
    ZR_TRY(pipeline->begin_coefficients(out));
    DecodeReport report;
    ZR_TRY(decode_put_off(*pipeline, frame, image.scans, report));
    ZR_TRY(pipeline->finish_coefficients());
    if (report.concealed_intervals == 0 && image.parser.unsent_components() == 0)
      return Status::ok();
    const Status& problem = report.first_problem ? image.parser.problem() : report.first_problem;
    return Status(problem ? Errc::truncated : problem.code(),
                  problem.detail() + (problem.detail().empty() ? "" : "; ") +
                      "what is lost could not be the same in another stream")
        .at_byte(problem.byte_offset())
        .in_interval(problem.restart_interval());
  }

  /// The coefficients of the plan's picture.
  Result<const StoredFrame*> coefficients(const ParsedImage& image, const TransformPlan& plan) {
    ZR_TRY(decode(image, decoded));
    if (!plan.moves_blocks) return &decoded;
    transform_blocks(plan, decoded, pool, turned);
    return &turned;
  }

  Status verify(const ParsedImage& image, const TransformPlan& plan,
                std::span<const std::byte> bytes) {
    ParsedImage made(bytes, StreamLimits::any_size());
    ZR_TRY(made.parse(bytes));
    ZR_TRY(decode(made, checked));
    ZR_LET(wanted, coefficients(image, plan));
    const FrameHeader& frame = made.parser.frame();
    bool same = frame.width == plan.frame.width && frame.height == plan.frame.height &&
                frame.components.size() == plan.frame.components.size();
    for (std::size_t c = 0; same && c < frame.components.size(); ++c)
      same =
          wanted->quant(c) == checked.quant(c) && are_equal(wanted->blocks(c), checked.blocks(c));
    return same ? Status::ok()
                : Status(Errc::verify_mismatch, "the coefficients of the new stream");
  }

  Result<TranscodeReport> run(std::span<const std::byte> jpeg, std::vector<std::byte>& out) {
    ParsedImage image(jpeg, params.limits);
    ZR_TRY(image.parse(jpeg));
    const HeaderParser& parser = image.parser;
    if (params.strict && !parser.problem()) return parser.problem();
    const FrameHeader& frame = parser.frame();
    const bool is_upright =
        params.transform.rotate == Rotation::upright && parser.exif_orientation() != 1;
    const int orientation = params.transform.orientation != 0 ? params.transform.orientation
                                                              : parser.exif_orientation();
    ZR_LET(plan, plan_transform(frame, parser.color_model(), params.transform, orientation));
    TranscodeReport report{parser.position(), true, plan.frame.width, plan.frame.height,
                           parser.problem()};
    const bool is_progressive = params.scans == ScanChoice::keep
                                    ? frame.progressive
                                    : params.scans == ScanChoice::progressive;
    const int restart_interval = params.restart_interval.value_or(image.restart_interval());
    const bool has_to_change = is_upright || plan.moves_blocks ||
                               is_progressive != frame.progressive ||
                               plan.frame.components.size() != frame.components.size() ||
                               restart_interval != image.restart_interval();
    stream.clear();
    if (has_to_change || params.optimize) {
      CoefficientCoding coding;
      if (is_progressive) coding.scans = CoefficientCoding::Scans::searched;
      coding.restart_interval = restart_interval;
      put_segments(frame, plan, is_upright, parser.segments(), stream);
      ZR_TRY(code(image, plan, coding, !has_to_change, report.is_of_gpu));
      const std::size_t scan_bytes = report.is_of_gpu ? recoded.bytes.size() : 0;
      report.is_unchanged = !has_to_change && stream.size() + scan_bytes >= report.bytes_consumed;
    }
    if (report.is_unchanged) {
      out.assign(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(report.bytes_consumed));
      return report;
    }
    const auto made = std::as_bytes(std::span(stream));
    out.reserve(made.size() + (report.is_of_gpu ? recoded.bytes.size() : 0));
    out.assign(made.begin(), made.end());
    if (report.is_of_gpu) {
      constexpr std::ptrdiff_t kEoiBytes = 2;
      const auto scan = std::as_bytes(recoded.bytes);
      out.insert(out.end() - kEoiBytes, scan.begin(), scan.end());
    }
    if (params.verify) ZR_TRY(verify(image, plan, out));
    return report;
  }

  /// `tables_alone`: nothing else changes. Sets `is_of_gpu`.
  Status code(const ParsedImage& image, const TransformPlan& plan, const CoefficientCoding& coding,
              bool tables_alone, bool& is_of_gpu) {
    CoefficientFrame coded;
    coded.frame = &plan.frame;
    const std::size_t components = plan.frame.components.size();
    coded.color = components == 1 ? ColorModel::gray : image.parser.color_model();
    if (tables_alone) {
      ZR_LET(done, recode(image, coded.color));
      is_of_gpu = done;
      if (done)
        coded.recoded = &recoded;
      else if (pipeline->read_symbols(image.parser.frame(), image.scans, coded.color, *symbols))
        coded.symbols = symbols.get();
    }
    if (coded.recoded != nullptr || coded.symbols != nullptr) {
      std::copy_n(image.scans[0].header.quant.begin(), components, coded.quant);
    } else {
      ZR_LET(blocks, coefficients(image, plan));
      for (std::size_t c = 0; c < components; ++c) {
        coded.blocks[c] = blocks->blocks(c);
        coded.quant[c] = blocks->quant(c);
      }
    }
    return coder.code(coded, coding, pool.workers() > 1 ? &pool : nullptr, stream);
  }
};

Result<Transcoder> Transcoder::create(const TranscodeParams& params) {
  return guarded([&]() -> Result<Transcoder> {
    ZR_TRY(validate(params));
    auto impl = std::make_unique<Impl>(params);
    ZR_TRY(impl->open_device());
    return Transcoder(std::move(impl));
  });
}

Result<TranscodeReport> Transcoder::transcode(std::span<const std::byte> jpeg,
                                              std::vector<std::byte>& out) {
  return guarded([&] { return impl_->run(jpeg, out); });
}

Transcoder::Transcoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Transcoder::Transcoder(Transcoder&&) noexcept = default;
Transcoder& Transcoder::operator=(Transcoder&&) noexcept = default;
Transcoder::~Transcoder() = default;
const TranscodeParams& Transcoder::params() const noexcept { return impl_->params; }

}  // namespace zerorun
