// Values out of JSON that a stranger may have written: each has its type and its range, or there is
// an error that names it.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "zerorun/status.hpp"

namespace zerorun::app {

/// Inside checked_json() alone.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `read` and makes what it throws a bad_input.
template <typename Read>
auto checked_json(const Read& read) -> Result<decltype(read())> {
  try {
    return read();
  } catch (const JsonError& error) {
    return Status(Errc::bad_input, error.what());
  } catch (const nlohmann::json::exception&) {
    return Status(Errc::bad_input, "it is not JSON, or it is cut short");
  }
}

inline const nlohmann::ordered_json& member(const nlohmann::ordered_json& json, const char* key) {
  if (!json.is_object() || !json.contains(key))
    throw JsonError(fmt::format("\"{}\" is missing", key));
  return json.at(key);
}

/// A whole number from `least` to `most`.
inline std::int64_t whole(const nlohmann::ordered_json& value, const char* what, std::int64_t least,
                          std::int64_t most) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX));
  const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
  if (!fits || number < least || number > most)
    throw JsonError(fmt::format("\"{}\" has a number that is impossible", what));
  return number;
}

inline std::string text(const nlohmann::ordered_json& json, const char* key) {
  const auto& value = member(json, key);
  if (!value.is_string()) throw JsonError(fmt::format("\"{}\" is not a string", key));
  return value.get<std::string>();
}

inline bool flag(const nlohmann::ordered_json& json, const char* key) {
  const auto& value = member(json, key);
  if (!value.is_boolean()) throw JsonError(fmt::format("\"{}\" is not true or false", key));
  return value.get<bool>();
}

inline nlohmann::ordered_json object(const nlohmann::ordered_json& json, const char* key) {
  const auto& value = member(json, key);
  if (!value.is_object()) throw JsonError(fmt::format("\"{}\" is not an object", key));
  return value;
}

}  // namespace zerorun::app
