// The quantised coefficients of a whole frame, and their coding to a JPEG stream.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/coefficient_coder.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "codec/base/buffer.hpp"
#include "codec/base/marker.hpp"
#include "codec/base/try.hpp"
#include "codec/encode/progressive_scan.hpp"
#include "codec/syntax/header_writer.hpp"

namespace zerorun {
namespace {

constexpr std::array<std::uint8_t, kBlockSize> kZigzagOrder = [] {
  std::array<std::uint8_t, kBlockSize> order{};
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  return order;
}();

constexpr int kMostCategory = 15;  // as libjpeg decodes

using Bytes = std::vector<std::uint8_t>;

void put_frame(const CoefficientFrame& frame, bool is_progressive, Bytes& out) {
  const FrameHeader& header = *frame.frame;
  const std::size_t components = header.components.size();
  // A destination of DQT has the table of the first component that names it.
  std::array<const QuantTable*, 4> sent{};
  std::vector<SofComponent> sof;
  bool is_extended = false;
  for (std::size_t c = 0; c < components; ++c) {
    const auto& component = header.components[c];
    auto to = static_cast<std::size_t>(component.quant_table);
    for (std::size_t tried = 0; sent[to] != nullptr && *sent[to] != frame.quant[c]; ++tried)
      to = tried;
    if (sent[to] == nullptr) {
      put_dqt(static_cast<int>(to), frame.quant[c], out);
      sent[to] = &frame.quant[c];
    }
    is_extended |= *std::max_element(frame.quant[c].begin(), frame.quant[c].end()) > 255;
    sof.push_back({component.id, component.h, component.v, static_cast<int>(to)});
  }
  const std::uint8_t code = is_progressive ? marker::kSof2
                            : is_extended  ? marker::kSof1
                                           : marker::kSof0;
  put_sof(code, header.width, header.height, sof, out);
}

}  // namespace

std::uint8_t table_of(ColorModel color, int component) {
  const bool has_chroma = color == ColorModel::ycbcr || color == ColorModel::ycck;
  return has_chroma && (component == 1 || component == 2) ? 1 : 0;
}

void StoredFrame::clear(const FrameHeader& frame) {
  for (std::size_t c = 0; c < frame.components.size(); ++c) {
    const FrameHeader::Component& component = frame.components[c];
    const std::int64_t count = std::int64_t{component.blocks_wide} * component.blocks_high;
    Memory& memory = memory_[c];
    blocks_[c] = {component.blocks_wide, component.blocks_high, memory.dc.reserve(count),
                  memory.nonzero.reserve(count), memory.ac.reserve(count * kBlockSize)};
    std::fill_n(blocks_[c].dc, count, std::int16_t{0});
    std::fill_n(blocks_[c].nonzero, count, std::uint64_t{0});
    quant_[c] = {};
    has_table_[c] = false;
  }
}

void StoredFrame::take_tables(const ScanHeader& scan) {
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    const int c = scan.components[i];
    if (!std::exchange(has_table_[c], true)) quant_[c] = scan.quant[i];
  }
}

void StoredFrame::copy(std::size_t components, std::vector<ComponentCoefficients>& out) const {
  out.resize(components);
  for (std::size_t c = 0; c < components; ++c) {
    const StoredBlocks& from = blocks_[c];
    const std::int64_t count = std::int64_t{from.blocks_wide} * from.blocks_high;
    out[c].blocks_wide = from.blocks_wide;
    out[c].blocks_high = from.blocks_high;
    out[c].values.resize(static_cast<std::size_t>(count) * kBlockSize);
    for (std::int64_t b = 0; b < count; ++b)
      from.copy_block(b, out[c].values.data() + b * kBlockSize);
  }
}

struct CoefficientCoder::Impl {
  struct Scan {
    ScanCoding coding;
    ScanCounts counts;
    std::array<HuffmanSpec, kEncodeTables> specs;
    Buffer<std::uint8_t> bytes;
    std::uint64_t size = 0;
  };

  const CoefficientFrame* frame = nullptr;
  const CoefficientCoding* coding = nullptr;
  ThreadPool* pool = nullptr;
  BlockPacker packers[kMaxDecodedComponents];
  std::vector<Scan> scans;
  // Of the search: what was counted, and where each scan of its script is.
  std::vector<ScanCounts> counted;
  std::vector<std::size_t> chosen;

  int components() const { return static_cast<int>(frame->frame->components.size()); }

  /// Whether an MCU with all components has the blocks that T.81 B.2.3 allows.
  bool joins() const {
    int blocks = 0;
    for (const auto& component : frame->frame->components) blocks += component.h * component.v;
    return blocks <= kMaxBlocksPerMcu;
  }

  ScanLayout layout_of(const ScanSpec& spec) const {
    ComponentSpec all[kMaxDecodedComponents];
    int wanted[kMaxDecodedComponents];
    for (int c = 0; c < components(); ++c) {
      const auto& component = frame->frame->components[static_cast<std::size_t>(c)];
      const std::uint8_t table = table_of(frame->color, c);
      all[c] = {component.h, component.v, table, table};
    }
    std::copy_n(spec.component, spec.components, wanted);
    ScanLayout layout = make_scan_layout(frame->frame->width, frame->frame->height, all,
                                         components(), wanted, spec.components, 0);
    layout.restart_interval = coding->restart_rows > 0 ? coding->restart_rows * layout.mcus_wide
                                                       : coding->restart_interval;
    return layout;
  }

  ScanCoding coding_of(const ScanSpec& spec) const {
    ScanCoding scan{spec, layout_of(spec), {}};
    if (frame->symbols != nullptr) {
      scan.symbols = frame->symbols->symbols();
      scan.interval_end = frame->symbols->interval_end();
    }
    for (int i = 0; i < spec.components; ++i)
      scan.component[i] = &packers[spec.component[i]].packed();
    return scan;
  }

  /// One scan, or one a component where its MCU would have too many blocks.
  ScanScript sequential() const {
    ScanScript script;
    for (int c = 0; c < components(); ++c) {
      if (c == 0 || !joins()) script.emplace_back().se = kBlockSize - 1;
      ScanSpec& scan = script.back();
      scan.component[scan.components++] = static_cast<std::uint8_t>(c);
    }
    return script;
  }

  ScanScript searched() {
    const std::vector<ScanSpec> specs = candidate_scans(components(), joins());
    // First scans of a component's AC with one Al are counted together.
    const auto is_alike = [&](std::size_t i, std::size_t next) {
      const ScanSpec &a = specs[i], &b = specs[next];
      return !a.is_dc() && !a.is_refinement() && !b.is_refinement() && a.al == b.al &&
             a.component[0] == b.component[0];
    };
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < specs.size(); ++i)
      if (i == 0 || !is_alike(i - 1, i)) begins.push_back(i);
    counted.resize(specs.size());
    std::vector<std::uint64_t> bits(specs.size());
    run_on(pool, std::ssize(begins), [&](std::int64_t group, int) {
      const auto at = static_cast<std::size_t>(group);
      const std::size_t first = begins[at];
      const std::size_t end = at + 1 < begins.size() ? begins[at + 1] : specs.size();
      std::vector<ScanCoding> codings;
      for (std::size_t i = first; i < end; ++i) codings.push_back(coding_of(specs[i]));
      if (codings.size() > 1)
        count_first_scans(codings, &counted[first]);
      else
        count_scan(codings[0], counted[first]);
      for (std::size_t i = first; i < end; ++i) bits[i] = bits_of(codings[i - first], counted[i]);
    });
    const ScanScript script = choose_scans(components(), joins(), specs, bits);
    chosen.clear();
    for (const ScanSpec& spec : script)
      chosen.push_back(
          static_cast<std::size_t>(std::find(specs.begin(), specs.end(), spec) - specs.begin()));
    return script;
  }

  /// Whether the scan has codes of a table, which is counted as in ScanCounts.
  static bool uses(const ScanCoding& scan, int table) {
    if (!(table < 2 ? scan.has_dc_tables() : scan.has_ac_tables())) return false;
    for (int i = 0; i < scan.spec.components; ++i) {
      const ScanLayout::Component& component = scan.layout.component[i];
      if ((table < 2 ? component.dc_table : component.ac_table) == table % 2) return true;
    }
    return false;
  }

  static std::uint64_t bits_of(const ScanCoding& scan, const ScanCounts& counts) {
    std::vector<std::span<const std::uint32_t, 256>> tables;
    for (int t = 0; t < kEncodeTables; ++t)
      if (uses(scan, t)) tables.emplace_back(counts.count[t]);
    return scan_bits(scan.spec, tables, counts.extra_bits);
  }

  Status pack() {
    std::array<bool, kMaxDecodedComponents> fits;
    fits.fill(true);
    run_on(pool, components(), [&](std::int64_t c, int) {
      const auto at = static_cast<std::size_t>(c);
      fits[at] = packers[at].pack(frame->blocks[at],
                                  frame->is_zigzag ? kZigzagOrder.data() : kNaturalOfZigzag.data());
    });
    return std::all_of(fits.begin(), fits.end(), [](bool fit) { return fit; }) ? Status::ok()
                                                                               : too_large();
  }

  static Status too_large() {
    return Status(Errc::invalid_argument, "a coefficient has more than 15 bits");
  }

  /// Makes tables and codes.
  static Status code(Scan& scan) {
    std::uint64_t bits = scan.counts.extra_bits;
    HuffmanEncodeTables tables{};
    for (int t = 0; t < kEncodeTables; ++t) {
      if (!uses(scan.coding, t)) continue;
      const auto& counts = scan.counts.count[t];
      for (int ssss = kMostCategory + 1; t < 2 && ssss < 32; ++ssss)
        if (counts[ssss] != 0) return too_large();
      HuffmanSpec& spec = scan.specs[static_cast<std::size_t>(t)];
      spec = optimal_huffman_spec(counts);
      fill_encode_table(spec, t, tables);
      for (int symbol = 0; symbol < 256; ++symbol)
        bits += std::uint64_t{counts[symbol]} * tables.bits[t][symbol];
    }
    scan.size = code_scan(scan.coding, tables, bits, scan.bytes);
    return Status::ok();
  }

  void put(const Scan& scan, int& restart_interval, Bytes& out) const {
    const ScanCoding& coded = scan.coding;
    std::vector<SosComponent> sos;
    bool sent[kEncodeTables] = {};
    for (int i = 0; i < coded.spec.components; ++i) {
      const ScanLayout::Component& component = coded.layout.component[i];
      const int dc = component.dc_table, ac = component.ac_table;
      for (const auto& [is_used, segment] : {std::pair(coded.has_dc_tables(), DhtSegment{0, dc}),
                                             std::pair(coded.has_ac_tables(), DhtSegment{1, ac})}) {
        const auto table = static_cast<std::size_t>(segment.table());
        if (is_used && !sent[table]) put_dht(segment, scan.specs[table], out);
        sent[table] |= is_used;
      }
      const int id = frame->frame->components[coded.spec.component[i]].id;
      sos.push_back({id, coded.has_dc_tables() ? dc : 0, coded.has_ac_tables() ? ac : 0});
    }
    if (coded.layout.restart_interval != restart_interval) {
      restart_interval = coded.layout.restart_interval;
      put_dri(restart_interval, out);
    }
    put_sos(sos, coded.spec.ss, coded.spec.se, coded.spec.ah, coded.spec.al, out);
    out.insert(out.end(), scan.bytes.data(), scan.bytes.data() + scan.size);
  }

  Status code_scans(Bytes& out) {
    if (frame->symbols == nullptr && frame->recoded == nullptr) ZR_TRY(pack());
    using Kind = CoefficientCoding::Scans;
    const bool is_searched = coding->scans == Kind::searched;
    const ScanScript script = is_searched                    ? searched()
                              : coding->scans == Kind::given ? coding->script
                                                             : sequential();
    if (scans.size() < script.size()) scans.resize(script.size());
    for (std::size_t i = 0; i < script.size(); ++i) scans[i].coding = coding_of(script[i]);
    for (std::size_t i = 0; i < script.size(); ++i)
      if (scans[i].coding.layout.restart_interval > 65535)
        return Status(Errc::invalid_argument,
                      "a scan has more than 65535 MCUs in a restart interval");
    std::vector<Status> statuses(script.size());
    run_on(pool, std::ssize(script), [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      if (frame->recoded != nullptr) {
        scans[at].specs = frame->recoded->specs;
        scans[at].size = 0;
        return;
      }
      if (is_searched)
        scans[at].counts = counted[chosen[at]];
      else
        count_scan(scans[at].coding, scans[at].counts);
      statuses[at] = code(scans[at]);
    });
    int restart_interval = 0;
    for (std::size_t i = 0; i < script.size(); ++i) {
      ZR_TRY(statuses[i]);
      put(scans[i], restart_interval, out);
    }
    return Status::ok();
  }
};

CoefficientCoder::CoefficientCoder() : impl_(std::make_unique<Impl>()) {}
CoefficientCoder::~CoefficientCoder() = default;

Status CoefficientCoder::code_scans(const CoefficientFrame& frame, const CoefficientCoding& coding,
                                    ThreadPool* pool, Bytes& out) {
  impl_->frame = &frame;
  impl_->coding = &coding;
  impl_->pool = pool;
  return impl_->code_scans(out);
}

Status CoefficientCoder::code(const CoefficientFrame& frame, const CoefficientCoding& coding,
                              ThreadPool* pool, Bytes& out) {
  put_frame(frame, coding.scans != CoefficientCoding::Scans::sequential, out);
  ZR_TRY(code_scans(frame, coding, pool, out));
  out.push_back(0xFF);
  out.push_back(marker::kEoi);
  return Status::ok();
}

}  // namespace zerorun
