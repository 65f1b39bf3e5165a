// The rate-distortion harness: `zerorun_rd --help` tells its options.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <CLI/CLI.hpp>

#include "tests/rd/curves.hpp"

namespace zerorun::rd {
namespace {

struct Options {
  std::vector<std::string> images, modes{"turbo", "zerorun:tune=photo"};
  std::vector<std::string> samplings{"420", "444"};
  std::vector<int> qualities{50, 65, 75, 85, 90, 95};
  std::string points;
  int threads = 1;
  bool each = false;
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
  std::unique_ptr<Meter> meter;
};

Subsampling sampling_of(const std::string& text) {
  return text == "444" ? Subsampling::s444 : text == "422" ? Subsampling::s422 : Subsampling::s420;
}

void add_options(CLI::App& app, Options& o) {
  app.add_option("images", o.images, "Pictures")->required();
  app.add_option("--modes", o.modes,
                 "turbo or zerorun with options, as zerorun:tune=photo,effort=best,"
                 "huffman=optimal,tables=tuned or turbo:progressive; all are compared with the "
                 "first, by the bytes of whole files where one is progressive");
  app.add_option("--samplings", o.samplings, "420, 422, 444")->delimiter(',');
  app.add_option("--qualities", o.qualities, "Rising")->delimiter(',');
  app.add_option("--points", o.points, "Write every point to this file (TSV)");
  app.add_option("--threads", o.threads, "Pictures at once");
  app.add_flag("--each", o.each, "Also a row for each picture");
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

std::vector<Picture> load(const Options& o) {
  std::vector<Picture> pictures(o.images.size());
  side_by_side(o.threads, pictures.size(), [&](std::size_t i) {
    auto image = read_image(o.images[i]);
    if (!image) return;
    pictures[i] = {std::filesystem::path(o.images[i]).stem().string(), std::move(*image), nullptr};
    pictures[i].meter = std::make_unique<Meter>(pictures[i].image);
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
                                 *picture.meter);
      job.failed |= !point;
      job.curve.push_back(point.value_or(Point{}));
    }
  });
}

void print_row(const std::string& sampling, const std::string& mode, const std::string& image,
               const Scores& saved) {
  std::printf("%s\t%s\t%s", sampling.c_str(), mode.c_str(), image.c_str());
  for (const double percent : saved) std::printf("\t%.2f", percent);
  std::printf("\n");
}

void print_table(const Options& o, const std::vector<Picture>& pictures,
                 const std::vector<Job>& jobs) {
  std::printf("sampling\tmode\timage");
  for (const auto name : kMetricNames) std::printf("\t%s", std::string(name).c_str());
  std::printf("\n");
  const std::size_t of_mode = pictures.size();
  for (std::size_t first = 0; first < jobs.size(); first += of_mode) {
    const std::size_t base = first / (of_mode * o.modes.size()) * of_mode * o.modes.size();
    Scores mean{};
    for (std::size_t i = 0; i < of_mode; ++i) {
      Scores saved{};
      for (std::size_t m = 0; m < kMetrics; ++m) {
        saved[m] =
            saved_percent(jobs[base + i].curve, jobs[first + i].curve, static_cast<Metric>(m))
                .value_or(0);
        mean[m] += saved[m] / static_cast<double>(of_mode);
      }
      if (o.each)
        print_row(jobs[first].sampling, o.modes[jobs[first].mode], pictures[i].name, saved);
    }
    print_row(jobs[first].sampling, o.modes[jobs[first].mode], "mean", mean);
  }
}

void write_points(const Options& o, const std::vector<Picture>& pictures,
                  const std::vector<Job>& jobs) {
  std::ofstream out(o.points);
  out << "image\tsampling\tmode\tq\tscan_bytes";
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
  std::vector<Mode> modes;
  for (const std::string& text : o.modes) {
    std::string error;
    auto mode = parse_mode(text, error);
    if (!mode) return std::fprintf(stderr, "zerorun_rd: %s\n", error.c_str()), 2;
    modes.push_back(*mode);
  }
  // Scans have headers, so the modes that are compared with several count them, too.
  const bool counts_files =
      std::any_of(modes.begin(), modes.end(), [](const Mode& mode) { return mode.counts_files; });
  for (Mode& mode : modes) mode.counts_files = counts_files;
  const std::vector<Picture> pictures = load(o);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    if (!pictures[i].meter)
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
