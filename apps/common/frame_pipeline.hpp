// Reader thread -> N workers -> writer in order, with a bounded number of frames between them.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "apps/common/signals.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app {

/// How a run ended.
struct PipelineEnd {
  enum class Step { none, read, work, write };
  Status status;             ///< of the first failure in frame order
  Step step = Step::none;    ///< where it happened
  std::string name;          ///< of the frame it happened to
  std::int64_t frames = 0;   ///< written
  bool interrupted = false;  ///< a signal ended the input early; what was read is written
};

/// Job holds one frame and everything about it, with a std::string `name` for messages; jobs are
/// reused, so that their memory is too.
/// A failure at frame k is reported after the frames before it were written.
template <typename Job>
class FramePipeline {
 public:
  /// `read` runs on its own thread and may outlive run() when it hangs in a pipe: it must own
  /// what it uses. `work` gets the worker's number. `write` runs on the caller's thread, in order.
  struct Steps {
    std::function<Result<bool>(Job&)> read;
    std::function<Status(Job&, int worker)> work;
    std::function<Status(Job&)> write;
  };

  static PipelineEnd run(int workers, Steps steps) {
    auto state = std::make_shared<State>(workers, std::move(steps));
    std::thread reader(read_all, state);
    std::vector<std::thread> threads;
    const Shutdown shutdown{*state, reader, threads};  // also when `write` throws
    try {
      for (int i = 0; i < workers; ++i) threads.emplace_back(work_all, state, i);
    } catch (const std::system_error&) {
      if (threads.empty()) throw;  // else fewer threads do the same work
    }
    return write_all(*state);
  }

 private:
  using Step = PipelineEnd::Step;

  struct Slot {
    Job job;
    Status status;
    Step failed = Step::none;
    bool done = false;  // the worker is through with it, or reading failed
  };

  struct State {
    State(int workers, Steps s)
        : steps(std::move(s)), slots(static_cast<std::size_t>(workers) + 2) {}

    Slot& slot(std::int64_t index) { return slots[static_cast<std::size_t>(index) % slots.size()]; }

    void stop() {
      const std::lock_guard lock(mutex);
      stopping = ended = true;
      changed.notify_all();
    }

    /// A read from a file returns soon; one from a pipe that nobody fills may never.
    bool wait_for_reader() {
      std::unique_lock lock(mutex);
      return changed.wait_for(lock, std::chrono::milliseconds(300), [this] { return reader_done; });
    }

    Steps steps;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Slot> slots;   // frame i is in slot i modulo their number; workers + 2 of them
    std::int64_t read = 0;     // frames handed to the workers
    std::int64_t taken = 0;    // frames that a worker has begun
    std::int64_t written = 0;  // frames that left the pipeline
    bool ended = false;        // nothing more will be read
    bool stopping = false;     // drop what is under way
    bool reader_done = false;
  };

  /// Ends all threads; a reader that hangs is left behind.
  struct Shutdown {
    State& state;
    std::thread& reader;
    std::vector<std::thread>& workers;

    ~Shutdown() {
      state.stop();
      for (std::thread& worker : workers) worker.join();
      if (state.wait_for_reader()) {
        reader.join();
      } else {
        reader.detach();
        signals::set_thread_left_behind();
      }
    }
  };

  static void read_all(std::shared_ptr<State> state) {
    State& s = *state;
    std::unique_lock lock(s.mutex);
    for (;;) {
      s.changed.wait(lock, [&s] {
        return s.ended || s.read - s.written < static_cast<std::int64_t>(s.slots.size());
      });
      if (s.ended) break;
      Slot& slot = s.slot(s.read);
      lock.unlock();
      Result<bool> more = guarded<Result<bool>>([&] { return s.steps.read(slot.job); });
      lock.lock();
      if (s.ended) break;  // interrupted meanwhile: this frame came too late
      slot.status = more.status();
      slot.failed = more ? Step::none : Step::read;
      slot.done = !more;
      if (!more || !*more) s.ended = true;
      if (!more || *more) ++s.read;
      s.changed.notify_all();
      if (s.ended) break;
    }
    s.reader_done = true;
    s.changed.notify_all();
  }

  static void work_all(std::shared_ptr<State> state, int worker) {
    State& s = *state;
    std::unique_lock lock(s.mutex);
    for (;;) {
      s.changed.wait(lock, [&s] { return s.stopping || s.ended || s.taken < s.read; });
      if (s.stopping || s.taken == s.read) return;
      Slot& slot = s.slot(s.taken++);
      if (slot.done) continue;  // reading failed here
      lock.unlock();
      Status status = guarded<Status>([&] { return s.steps.work(slot.job, worker); });
      lock.lock();
      slot.failed = status ? Step::none : Step::work;
      slot.status = std::move(status);
      slot.done = true;
      s.changed.notify_all();
    }
  }

  static PipelineEnd write_all(State& s) {
    PipelineEnd end;
    std::unique_lock lock(s.mutex);
    for (;;) {
      const auto ready = [&s] { return s.written < s.read ? s.slot(s.written).done : s.ended; };
      // The wait is short because signals are seen here and nowhere else.
      const bool is_ready = s.changed.wait_for(lock, std::chrono::milliseconds(20), ready);
      end.interrupted = end.interrupted || (signals::received() != 0 && !s.ended);
      if (end.interrupted && !s.ended) {
        s.ended = true;
        s.changed.notify_all();
      }
      if (signals::must_stop_now()) return end;
      if (!is_ready) continue;
      if (s.written == s.read) return end;
      Slot& slot = s.slot(s.written);
      if (slot.failed != Step::none) {
        end.status = slot.status;
        end.step = slot.failed;
        end.name = slot.job.name;
        return end;
      }
      lock.unlock();
      Status status = guarded<Status>([&] { return s.steps.write(slot.job); });
      lock.lock();
      if (!status) {
        end.status = std::move(status);
        end.step = Step::write;
        end.name = slot.job.name;
        return end;
      }
      ++end.frames;
      ++s.written;
      slot.done = false;
      s.changed.notify_all();
    }
  }

  template <typename R, typename F>
  static R guarded(F&& step) {
    try {
      return step();
    } catch (const std::bad_alloc&) {
      return Status(Errc::out_of_memory);
    }
  }
};

}  // namespace zerorun::app
