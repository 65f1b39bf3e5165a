// A connection to the X server beside SDL's, by libX11, which SDL has loaded.
// SPDX-License-Identifier: MIT
#include "apps/play/x_server.hpp"

#include <SDL.h>

#include <string_view>

namespace zerorun::app {
namespace {

class XConnection {
 public:
  XConnection() {
    const char* driver = SDL_GetCurrentVideoDriver();
    if (driver == nullptr || std::string_view(driver) != "x11") return;
    library_ = SDL_LoadObject("libX11.so.6");
    const auto open = function<void* (*)(const char*)>("XOpenDisplay");
    if (open != nullptr) display_ = open(nullptr);
  }
  ~XConnection() {
    const auto close = function<int (*)(void*)>("XCloseDisplay");
    if (display_ != nullptr && close != nullptr) close(display_);
    if (library_ != nullptr) SDL_UnloadObject(library_);
  }
  XConnection(const XConnection&) = delete;
  XConnection& operator=(const XConnection&) = delete;

  /// Null if there is no such resource.
  const char* resource(const char* program, const char* name) const {
    const auto read = function<char* (*)(void*, const char*, const char*)>("XGetDefault");
    return display_ != nullptr && read != nullptr ? read(display_, program, name) : nullptr;
  }

 private:
  template <typename Function>
  Function function(const char* name) const {
    return library_ == nullptr ? nullptr
                               : reinterpret_cast<Function>(SDL_LoadFunction(library_, name));
  }

  void* library_ = nullptr;
  void* display_ = nullptr;
};

}  // namespace

std::string x_resource(const char* program, const char* name) {
  const XConnection connection;
  const char* const text = connection.resource(program, name);
  return text == nullptr ? "" : text;
}

void wait_for_x_server() {
  // The server reads all connections in turn, and a new one needs several of its answers.
  const XConnection connection;
}

}  // namespace zerorun::app
