// Writes a stream of every kind of picture that `zerorun bench` can make, at several qualities and
// samplings, with both kinds of tables and several restart markers: FOLDER/KIND-qN-S-TABLES-R.jpg.
// contents.py measures them; `contents_bench --help` tells the options.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/bench/frames.hpp"
#include "apps/common/failure.hpp"
#include "codec/base/try.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::app::bench {
namespace {

using Words = std::vector<std::string>;

struct ContentOptions {
  std::string folder, size = "1920x1080";
  Words kinds = synthetic_kinds(), samplings{"420"}, tables{"standard", "optimal"};
  Words restarts{"none", "auto", "1rows"};
  std::vector<int> qualities{90, 97, 100, 75, 50};
};

void add_options(CLI::App& app, ContentOptions& o) {
  app.add_option("FOLDER", o.folder, "Where the streams go")->required();
  app.add_option("--size", o.size, "WIDTHxHEIGHT of each picture");
  const auto list = [&app](const char* name, auto& target, const char* help) {
    app.add_option(name, target, help)->delimiter(',');
  };
  list("--kinds", o.kinds, "photo, grain, ...; all without it");
  list("--qualities", o.qualities, "1 to 100");
  list("--samplings", o.samplings, "420, 422, 444, 440, 411, gray");
  list("--tables", o.tables, "standard, optimal");
  list("--restarts", o.restarts, "none, auto, N (MCUs), Nrows");
}

Subsampling sampling_of(const std::string& word) {
  for (const Subsampling sampling : {Subsampling::s420, Subsampling::s422, Subsampling::s444,
                                     Subsampling::s440, Subsampling::s411, Subsampling::gray})
    if (name(sampling) == word) return sampling;
  fail(Exit::usage, "--samplings: '" + word + "' is not 420, 422, 444, 440, 411 or gray");
}

RestartPolicy restart_of(const std::string& word) {
  if (word == "none") return RestartPolicy::none();
  if (word == "auto") return RestartPolicy::automatic();
  const bool rows = word.ends_with("rows");
  const int count = std::atoi(word.c_str());
  if (count < 1) fail(Exit::usage, "--restarts: '" + word + "' is not none, auto, N or Nrows");
  return rows ? RestartPolicy::mcu_rows(count) : RestartPolicy::mcus(count);
}

Status write_streams(const ContentOptions& o, const std::string& kind,
                     const std::string& sampling) {
  const Subsampling subsampling = sampling_of(sampling);
  EncodeParams params;
  params.backend = Backend::cpu;
  params.subsampling = subsampling;
  ZR_LET(frame, make_synthetic("synthetic:" + o.size + ":" + kind, planar_format(subsampling), 0));
  for (const int quality : o.qualities)
    for (const std::string& tables : o.tables)
      for (const std::string& restart : o.restarts) {
        params.quality = quality;
        params.huffman = tables == "optimal" ? HuffmanTables::optimal : HuffmanTables::standard;
        params.restart = restart_of(restart);
        ZR_LET(encoder, Encoder::create(params));
        std::vector<std::byte> jpeg;
        ZR_TRY(encoder.encode(frame.view(), jpeg).status());
        const std::string path = o.folder + "/" + kind + "-q" + std::to_string(quality) + "-" +
                                 sampling + "-" + tables + "-" + restart + ".jpg";
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(jpeg.data()),
                   static_cast<std::streamsize>(jpeg.size()));
        if (!file.flush()) return Status(Errc::write_failed, path);
      }
  return Status::ok();
}

int run(int argc, char** argv) {
  ContentOptions o;
  CLI::App app("Writes a JPEG stream of every kind of content");
  add_options(app, o);
  CLI11_PARSE(app, argc, argv);
  try {
    std::filesystem::create_directories(o.folder);
    for (const std::string& kind : o.kinds)
      for (const std::string& sampling : o.samplings)
        if (const Status status = write_streams(o, kind, sampling); !status)
          fail(Exit::failed, status.message());
  } catch (const Failure& failure) {
    std::fprintf(stderr, "contents_bench: %s\n", failure.what());
    return static_cast<int>(failure.code());
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "contents_bench: %s\n", error.what());
    return static_cast<int>(Exit::output);
  }
  return 0;
}

}  // namespace
}  // namespace zerorun::app::bench

int main(int argc, char** argv) { return zerorun::app::bench::run(argc, argv); }
