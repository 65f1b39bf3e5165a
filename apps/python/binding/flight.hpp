// What the classes AsyncEncoder and AsyncDecoder have in common: frames in flight, each with the
// memory that has to live until it is received.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/forks.hpp"
#include "apps/python/binding/gil.hpp"
#include "apps/python/binding/locked.hpp"

namespace zerorun::python {

/// Lets other threads work for a moment. Errors: what a signal's handler raises.
inline void wait_a_moment() {
  {
    const WithoutGil no_gil;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// `Coder` is AsyncEncoder or AsyncDecoder, `Output` what it gives, `Entry` what stays alive.
template <typename Coder, typename Output, typename Entry>
class Flight {
 public:
  explicit Flight(Coder coder) : made_(std::make_shared<Made>(std::move(coder))) {}
  ~Flight() {
    // The coder lets go of the entries' memory first; its threads need no GIL.
    if (!made_.is_foreign()) {
      const WithoutGil no_gil;
      made_ = {};
    }
  }

  Coder& coder() { return made()->coder; }

  /// `enqueue(coder)` submits without waiting. `wait`: until a frame is received elsewhere.
  template <typename Enqueue>
  void submit(Entry entry, bool wait, const Enqueue& enqueue) {
    const std::shared_ptr<Made> made = this->made();
    for (;; wait_a_moment()) {
      check_open();
      if (made->discarding) continue;
      Status status = enqueue(made->coder);  // and no other thread of Python runs until push_back
      if (status) break;
      if (status.code() != Errc::queue_full || !wait) fail(std::move(status));
    }
    entries_.push_back(std::move(entry));
  }

  /// Calls `take(output, entry)` for the oldest frame; false if there is none (yet). `wait`: until
  /// it is finished. `also_for_submit`: and until another thread submits one, if none is in flight.
  template <typename Take>
  bool receive(bool wait, bool also_for_submit, const Take& take) {
    const std::shared_ptr<Made> made = this->made();
    for (;;) {
      check_open();
      {
        const Locked lock(made->mutex);
        if (made->coder.in_flight() > 0) {
          if (receive_one(*made, wait, take)) return true;
        } else if (made->finished || !also_for_submit) {
          return false;
        }
      }
      if (!wait) return false;
      wait_a_moment();
    }
  }

  void finish() {
    const std::shared_ptr<Made> made = this->made();
    made->coder.finish();
    made->finished = true;
  }

  void discard() { discard(this->made()); }

  void close() {
    closed_ = true;
    if (const std::shared_ptr<Made> made = made_.get()) discard(made);
    made_ = {};
  }

 private:
  struct Made {
    explicit Made(Coder made) : coder(std::move(made)) {}
    Coder coder;
    std::mutex mutex;  ///< of receivers
    Output output;
    bool finished = false;
    int discarding = 0;  ///< calls of discard() at work: nothing is submitted; the GIL protects it
  };

  /// Frames that are submitted later have entries of their own: none may go with the old ones.
  void discard(const std::shared_ptr<Made>& made) {
    std::deque<Entry> gone;  // released last: that may run code of Python
    ++made->discarding;
    {
      const Locked lock(made->mutex);
      {
        const WithoutGil no_gil;
        made->coder.discard();
      }
      made->finished = false;
      gone.swap(entries_);
    }
    --made->discarding;
  }

  /// A frame in flight is finished soon, so waiting for it needs no look at signals.
  template <typename Take>
  bool receive_one(Made& made, bool wait, const Take& take) {
    Received received;
    {
      const WithoutGil no_gil;
      received = made.coder.receive(made.output, wait);
    }
    if (received != Received::frame) return false;
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    take(made.output, entry);
    return true;
  }

  void check_open() const {
    if (closed_) fail(Errc::already_finished, "it is closed");
  }

  std::shared_ptr<Made> made() {
    check_open();
    if (made_.is_foreign())
      fail(Errc::already_finished,
           "it was made before this process was forked, and its threads are not here; make "
           "another one");
    return made_.get();
  }

  ForkBound<Made> made_;
  std::deque<Entry> entries_;  ///< in flight, oldest first; the GIL protects it
  bool closed_ = false;
};

}  // namespace zerorun::python
