// The rate-distortion harness: `zerorun_rd --help` tells its options.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <CLI/CLI.hpp>

#include "tests/rd/curves.hpp"

namespace zerorun::rd {
namespace {

struct Options {
  std::vector<std::string> images, modes{"turbo", "zerorun:tune=photo"};
  std::vector<std::string> samplings{"420", "444"};
  std::vector<int> qualities{50, 65, 75, 85, 90, 95};
  std::vector<std::string> bands{"all"};
  std::string points;
  JudgeOptions judge{"butteraugli_main", ""};
  int threads = 1;
  bool each = false, files = false, report = false;
};

/// One picture, sampling and mode.
struct Job {
  std::size_t image, mode;
  std::string sampling;
  Curve curve;
  bool failed = false;
};

struct Picture {
  std::string name;
  Image image;
  std::unique_ptr<Judge> judge;
};

Subsampling sampling_of(const std::string& text) {
  return text == "444" ? Subsampling::s444 : text == "422" ? Subsampling::s422 : Subsampling::s420;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("images", o.images, "Pictures")->required();
  app.add_option(
      "--modes", o.modes,
      "turbo, zerorun, jpegli or mozjpeg with options, as zerorun:tune=photo,effort=best,"
      "huffman=optimal,tables=tuned, turbo:progressive or jpegli:program=cjpegli,args=-p 0; "
      "recode=COMMAND reads each stream and writes the one that counts; all are compared with the "
      "first, by the bytes of whole files where one is progressive");
  app.add_option("--samplings", o.samplings, "420, 422, 444")->delimiter(',');
  app.add_option("--qualities", o.qualities, "Rising")->delimiter(',');
  app.add_option("--points", o.points, "Write every point to this file (TSV)");
  app.add_option("--bands", o.bands, "Parts of the first mode's curve by SSIMULACRA2, as 50-70")
      ->delimiter(',');
  app.add_option("--butteraugli", o.judge.butteraugli, "The program butteraugli_main");
  app.add_option("--cache", o.judge.cache, "Keep scores in this folder, by content");
  app.add_option("--threads", o.threads, "Pictures at once");
  app.add_flag("--each", o.each, "Also a row for each picture");
  app.add_flag("--files", o.files, "Count the bytes of files, not of scans");
  app.add_flag("--report", o.report,
               "The modes for photos and the peers that are installed, by files and bands");
}

template <typename Work>
void side_by_side(int threads, std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> at_once;
  for (int t = 0; t < threads; ++t)
    at_once.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
  for (std::thread& thread : at_once) thread.join();
}

bool prints(const std::string& command, const std::string& text) {
  return output_of(command + " 2>&1").value_or("").find(text) != std::string::npos;
}

/// Without butteraugli_main, its column stays empty.
void find_programs(Options& o) {
  if (!output_of("command -v '" + o.judge.butteraugli + "'")) o.judge.butteraugli.clear();
  if (!o.report) return;
  o.modes = {"turbo:huffman=optimal", "zerorun:tune=photo,effort=best,huffman=optimal",
             "zerorun:tune=photo,huffman=trained", "zerorun:tune=photo,effort=best,progressive"};
  if (output_of("command -v cjpegli"))
    o.modes.insert(o.modes.end(), {"jpegli", "jpegli:args=-p 0"});
  if (prints("cjpeg -version </dev/null", "mozjpeg")) o.modes.emplace_back("mozjpeg");
  o.qualities = {30, 40, 50, 60, 70, 76, 82, 87, 91, 94, 96, 98, 99};
  o.bands = {"50-92", "50-70", "70-85", "85-92"};
  o.files = true;
}

/// "50-70"; anything else is the whole curve.
Band band_of(const std::string& text) {
  Band band;
  std::sscanf(text.c_str(), "%lf-%lf", &band.low, &band.high);
  return band;
}

std::vector<Picture> load(const Options& o) {
  std::vector<Picture> pictures(o.images.size());
  side_by_side(o.threads, pictures.size(), [&](std::size_t i) {
    auto image = read_image(o.images[i]);
    if (!image) return;
    pictures[i] = {std::filesystem::path(o.images[i]).stem().string(), std::move(*image), nullptr};
    pictures[i].judge = std::make_unique<Judge>(pictures[i].image, o.judge);
  });
  return pictures;
}

void run(const Options& o, const std::vector<Picture>& pictures, const std::vector<Mode>& modes,
         std::vector<Job>& jobs) {
  side_by_side(o.threads, jobs.size(), [&](std::size_t i) {
    Job& job = jobs[i];
    const Picture& picture = pictures[job.image];
    for (const int quality : o.qualities) {
      const auto point = measure(modes[job.mode], sampling_of(job.sampling), quality, picture.image,
                                 *picture.judge);
      job.failed |= !point;
      job.curve.push_back(point.value_or(Point{}));
      if (o.files) job.curve.back().bytes = job.curve.back().file_bytes;
    }
  });
}

/// A metric that is not known has no number.
void print_row(const std::string& sampling, const std::string& mode, const std::string& image,
               const std::string& band, const Scores& saved) {
  std::printf("%s\t%s\t%s\t%s", sampling.c_str(), mode.c_str(), image.c_str(), band.c_str());
  for (const double percent : saved)
    std::isnan(percent) ? std::printf("\t-") : std::printf("\t%.2f", percent);
  std::printf("\n");
}

/// What a mode saves: of each picture and metric, where both curves have scores in the band.
void print_band(const Options& o, const std::vector<Picture>& pictures, const Job* base,
                const Job* jobs, const std::string& band) {
  const std::string& mode = o.modes[jobs->mode];
  Scores mean{}, worst = no_scores(), counts{};
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    Scores saved = no_scores();
    for (std::size_t m = 0; m < kMetrics; ++m) {
      const auto percent =
          saved_percent(base[i].curve, jobs[i].curve, static_cast<Metric>(m), band_of(band));
      if (!percent) continue;
      saved[m] = *percent;
      mean[m] += *percent;
      ++counts[m];
      worst[m] = std::fmin(worst[m], *percent);
    }
    if (o.each) print_row(jobs->sampling, mode, pictures[i].name, band, saved);
  }
  for (std::size_t m = 0; m < kMetrics; ++m) mean[m] /= counts[m];  // NaN where there are none
  print_row(jobs->sampling, mode, "mean", band, mean);
  if (pictures.size() > 1) print_row(jobs->sampling, mode, "worst", band, worst);
}

void print_table(const Options& o, const std::vector<Picture>& pictures,
                 const std::vector<Job>& jobs) {
  std::printf("sampling\tmode\timage\tband");
  for (const auto name : kMetricNames) std::printf("\t%s", std::string(name).c_str());
  std::printf("\n");
  const std::size_t of_mode = pictures.size(), of_sampling = of_mode * o.modes.size();
  for (std::size_t first = 0; first < jobs.size(); first += of_mode)
    for (const std::string& band : o.bands)
      print_band(o, pictures, &jobs[first / of_sampling * of_sampling], &jobs[first], band);
}

void write_points(const Options& o, const std::vector<Picture>& pictures,
                  const std::vector<Job>& jobs) {
  std::ofstream out(o.points);
  out << "image\tsampling\tmode\tq\t" << (o.files ? "file_bytes" : "scan_bytes");
  for (const auto name : kMetricNames) out << '\t' << name;
  out << '\n';
  for (const Job& job : jobs)
    for (std::size_t q = 0; q < o.qualities.size(); ++q) {
      out << pictures[job.image].name << '\t' << job.sampling << '\t' << o.modes[job.mode] << '\t'
          << o.qualities[q] << '\t' << job.curve[q].bytes;
      for (const double score : job.curve[q].scores) out << '\t' << score;
      out << '\n';
    }
}

int main_of(int argc, char** argv) {
  Options o;
  CLI::App app("Bytes that modes save at equal quality, in percent of the scan bytes of the first");
  add_options(app, o);
  CLI11_PARSE(app, argc, argv);
  find_programs(o);
  std::vector<Mode> modes;
  for (const std::string& text : o.modes) {
    std::string error;
    auto mode = parse_mode(text, error);
    if (!mode) return std::fprintf(stderr, "zerorun_rd: %s\n", error.c_str()), 2;
    modes.push_back(*mode);
  }
  // Scans have headers, so the modes that are compared with several count them, too.
  o.files |= std::any_of(modes.begin(), modes.end(),
                         [](const Mode& mode) { return mode.params.progressive; });
  const std::vector<Picture> pictures = load(o);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    if (!pictures[i].judge)
      return std::fprintf(stderr, "zerorun_rd: cannot read %s\n", o.images[i].c_str()), 3;
  std::vector<Job> jobs;
  for (const std::string& sampling : o.samplings)
    for (std::size_t m = 0; m < modes.size(); ++m)
      for (std::size_t i = 0; i < pictures.size(); ++i) jobs.push_back({i, m, sampling, {}, false});
  run(o, pictures, modes, jobs);
  for (const Job& job : jobs)
    if (job.failed)
      return std::fprintf(stderr, "zerorun_rd: %s could not encode %s\n", o.modes[job.mode].c_str(),
                          pictures[job.image].name.c_str()),
             1;
  print_table(o, pictures, jobs);
  if (!o.points.empty()) write_points(o, pictures, jobs);
  return 0;
}

}  // namespace
}  // namespace zerorun::rd

int main(int argc, char** argv) { return zerorun::rd::main_of(argc, argv); }
