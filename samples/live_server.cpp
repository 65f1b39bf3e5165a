// A live picture for web browsers, as multipart/x-mixed-replace: live_server PORT [FRAMES].
// Listens on 127.0.0.1 only (port 0: any free port; prints its URL), one viewer at a time.
// SPDX-License-Identifier: MIT
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <zerorun/encoder.hpp>

static void draw(zerorun::Frame& frame, int number) {
  const auto& view = frame.view();
  for (int y = 0; y < view.height; ++y)
    for (int x = 0; x < view.width; ++x) {
      auto* const pixel = view.data[0] + y * view.stride_bytes[0] + 3 * x;
      const bool bar = (x + 8 * number) % 160 < 40;
      pixel[0] = static_cast<std::uint8_t>(bar ? 240 : x * 255 / view.width);
      pixel[1] = static_cast<std::uint8_t>(bar ? 240 : y * 255 / view.height);
      pixel[2] = static_cast<std::uint8_t>(bar ? 40 : 128);
    }
}

static bool send_all(int client, const void* data, std::size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t sent = send(client, at, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;  // the viewer has left
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

static void serve(int client, zerorun::Encoder& encoder, zerorun::Frame& frame, int frames) {
  char request[4096];
  if (recv(client, request, sizeof request, 0) <= 0) return;
  const std::string head =
      "HTTP/1.0 200 OK\r\nCache-Control: no-store\r\n"
      "Content-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n";
  if (!send_all(client, head.data(), head.size())) return;
  std::vector<std::byte> jpeg;
  for (int number = 0; frames < 0 || number < frames; ++number) {
    draw(frame, number);
    if (const auto report = encoder.encode(frame.view(), jpeg); !report) return;
    const std::string part =
        "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: " + std::to_string(jpeg.size()) +
        "\r\n\r\n";
    if (!send_all(client, part.data(), part.size()) ||
        !send_all(client, jpeg.data(), jpeg.size()) || !send_all(client, "\r\n", 2))
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: live_server PORT [FRAMES]\n"), 2;
  auto encoder = zerorun::Encoder::create({});
  auto frame = zerorun::Frame::create(zerorun::PixelFormat::rgb24, 640, 360);
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  socklen_t length = sizeof address;
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (!encoder || !frame || bind(server, any, length) != 0 || listen(server, 4) != 0)
    return std::perror("live_server"), 1;
  getsockname(server, any, &length);
  std::printf("http://127.0.0.1:%d/\n", ntohs(address.sin_port));
  std::fflush(stdout);
  for (int client; (client = accept(server, nullptr, nullptr)) >= 0; close(client))
    serve(client, *encoder, *frame, argc > 2 ? std::atoi(argv[2]) : -1);
}
