// SHA-256 as lower-case hexadecimal, by OpenSSL.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "zerorun/decoder.hpp"

namespace zerorun::test {

std::string sha256(std::span<const std::byte> data);

/// Over all components in order: 64 int16, little-endian, a block.
std::string sha256(const std::vector<ComponentCoefficients>& components);

/// Over all components in order: the samples.
std::string sha256(const std::vector<ComponentPlane>& components);

}  // namespace zerorun::test
