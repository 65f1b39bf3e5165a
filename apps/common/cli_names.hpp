// Names of CLI11, for headers that only pass them on: its own header takes seconds to compile.
// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
