// What `bench --target-size` makes of the options of `bench`.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include <algorithm>

#include "apps/bench/options.hpp"
#include "apps/common/failure.hpp"

namespace zerorun::app::bench {

void refuse_beside(const char* option, const CLI::App& command,
                   std::initializer_list<const char*> options) {
  for (const char* other : options)
    if (command.count(other) > 0)
      fail(Exit::usage, std::string(other) + " does not go with " + option);
}

void choose_target_size(const CLI::App& command, Options& options) {
  refuse_beside("--target-size", command,
                {"--mixed", "--megapixels", "--contents", "--curves", "--exact-size", "--files",
                 "--primitives", "--compare"});
  if (std::find(options.operations.begin(), options.operations.end(), "encode") ==
      options.operations.end())
    fail(Exit::usage, "--target-size is for --operation encode: decoding makes no streams");
  options.is_decoding_left_out = std::erase(options.operations, "decode") > 0;
}

}  // namespace zerorun::app::bench
