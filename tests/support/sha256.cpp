// SHA-256 as lower-case hexadecimal, by OpenSSL.
// SPDX-License-Identifier: MIT
#include "tests/support/sha256.hpp"

#include <array>
#include <bit>
#include <memory>

#include <openssl/evp.h>

namespace zerorun::test {
namespace {

static_assert(std::endian::native == std::endian::little, "coefficients are hashed as they lie");

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(const void* data, std::size_t bytes) { EVP_DigestUpdate(context_.get(), data, bytes); }
  std::string hex() {
    std::array<unsigned char, 32> sum{};
    EVP_DigestFinal_ex(context_.get(), sum.data(), nullptr);
    std::string text;
    for (const unsigned char byte : sum) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace

std::string sha256(std::span<const std::byte> data) {
  Digest digest;
  digest.add(data.data(), data.size());
  return digest.hex();
}

std::string sha256(const std::vector<ComponentCoefficients>& components) {
  Digest digest;
  for (const ComponentCoefficients& component : components)
    digest.add(component.values.data(), component.values.size() * sizeof(std::int16_t));
  return digest.hex();
}

std::string sha256(const std::vector<ComponentPlane>& components) {
  Digest digest;
  for (const ComponentPlane& component : components)
    digest.add(component.samples.data(), component.samples.size());
  return digest.hex();
}

}  // namespace zerorun::test
