// The threads of batches, which are kept for the next one, and the files that they read.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "apps/python/binding/batch.hpp"
#include "codec/base/interruptions.hpp"

namespace zerorun::python {
namespace {

/// A thread that does one task after another. Starting 16 threads takes as long as decoding 20
/// small pictures on a GPU.
class Worker {
 public:
  /// Errors: std::system_error.
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    start({});
    thread_.join();
  }

  /// The task before has ended, or is about to return. An empty task ends the thread.
  void start(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
    has_task_ = true;
    changed_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return has_task_; });
      has_task_ = false;
      const std::function<void()> task = std::move(task_);
      lock.unlock();
      if (!task) return;
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool has_task_ = false;
  std::thread thread_;
};

/// The GIL protects them.
struct IdleWorkers {
  std::vector<std::unique_ptr<Worker>> all;
  int generation = fork_generation();
};
IdleWorkers& idle_workers() {
  static auto& idle = *new IdleWorkers;
  if (idle.generation != fork_generation()) {  // the threads are the parent's
    for (auto& worker : idle.all) (void)worker.release();
    idle.all.clear();
    idle.generation = fork_generation();
  }
  return idle;
}

/// Fewer than `count` where the system gives no more threads.
std::vector<std::unique_ptr<Worker>> take_workers(int count) {
  std::vector<std::unique_ptr<Worker>>& idle = idle_workers().all;
  std::vector<std::unique_ptr<Worker>> taken;
  try {
    for (int i = 0; i < count; ++i) {
      if (idle.empty()) {
        taken.push_back(std::make_unique<Worker>());
      } else {
        taken.push_back(std::move(idle.back()));
        idle.pop_back();
      }
    }
  } catch (const std::system_error&) {
  }
  return taken;
}

void give_back(std::vector<std::unique_ptr<Worker>> workers) {
  constexpr std::size_t kMostIdle = 64;
  std::vector<std::unique_ptr<Worker>>& idle = idle_workers().all;
  for (auto& worker : workers)
    if (idle.size() < kMostIdle) idle.push_back(std::move(worker));
}

/// The items of one call, and how many workers are busy with them.
class Run {
 public:
  Run(std::size_t count, int workers, const std::function<void(std::size_t, int)>& job)
      : count_(count), job_(job), next_(static_cast<std::size_t>(workers)), busy_(workers) {}

  /// Every worker begins with the item of its own number, as run_jobs() promises.
  void work(int worker) {
    if (const auto first = static_cast<std::size_t>(worker); first < count_ && !stopped_)
      job_(first, worker);
    for (std::size_t item; (item = next_.fetch_add(1)) < count_;) job_(item, worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_all();
  }

  /// False after a while without an end.
  bool wait() {
    constexpr std::chrono::milliseconds kLookForSignals{50};
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, kLookForSignals, [this] { return busy_ == 0; });
  }

  void stop() {
    stopped_ = true;
    next_ = count_;
  }

 private:
  const std::size_t count_;
  const std::function<void(std::size_t, int)>& job_;
  std::atomic<std::size_t> next_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable done_;
  int busy_;
};

/// The bytes of a name, as os.fsencode() makes them.
std::string encoded_path(nb::handle object) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(object.ptr(), &encoded) == 0) throw nb::python_error();
  const auto path = nb::steal<nb::bytes>(encoded);
  return {path.c_str(), path.size()};
}

Status file_problem(Errc code, const std::string& path, int error) {
  return Status(code, path + ": " + std::generic_category().message(error));
}

struct OpenFile {
  /// A pipe without a writer would block for ever.
  explicit OpenFile(const std::string& path)
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor >= 0) (void)close(descriptor);
  }
  const int descriptor;
};

Result<std::span<const std::byte>> read_file(const std::string& path, HostBuffer& room) {
  const OpenFile file(path);
  if (file.descriptor < 0) return file_problem(Errc::open_failed, path, errno);
  struct stat about {};
  if (fstat(file.descriptor, &about) != 0) return file_problem(Errc::read_failed, path, errno);
  if (!S_ISREG(about.st_mode))
    return Status(Errc::open_failed, path + ": it is not a regular file");
  // The size of a sparse file may be anything.
  if (about.st_size > off_t{1} << 31)
    return Status(Errc::out_of_memory, path + ": it has more than 2 GiB, which no picture needs");
  if (Status status = room.resize(static_cast<std::size_t>(about.st_size)); !status) return status;
  const std::ptrdiff_t count = read_fully(file.descriptor, 0, {room.data(), room.size()});
  if (count < 0) return file_problem(Errc::read_failed, path, errno);
  return room.bytes().first(static_cast<std::size_t>(count));
}

}  // namespace

int worker_count(int wanted, bool is_cuda, std::size_t items) {
  if (wanted < 0 || wanted > 256) fail_argument("workers must be from 0 (automatic) to 256");
  // As AsyncEncoder: four lanes hide each other's copies.
  const int automatic = is_cuda ? 4 : usable_processors();
  const int workers = wanted > 0 ? wanted : automatic;
  return static_cast<int>(
      std::min(static_cast<std::size_t>(workers), std::max<std::size_t>(items, 1)));
}

void run_jobs(std::size_t count, int workers, const std::function<void(std::size_t, int)>& job,
              const std::function<void()>& stop) {
  // The workers keep it, because the last one leaves it after the call may have returned.
  const auto run = std::make_shared<Run>(count, workers, job);
  auto threads = take_workers(workers);
  bool interrupted = false;
  {
    WithoutGil no_gil;
    for (int worker = 0; worker < workers; ++worker) {
      const auto at = static_cast<std::size_t>(worker);
      if (at < threads.size())
        threads[at]->start([run, worker] { run->work(worker); });
      else
        run->work(worker);  // fewer threads than asked for do the same work
    }
    while (!run->wait()) {
      if (interrupted || no_gil.call_with_gil(PyErr_CheckSignals) == 0) continue;
      interrupted = true;
      run->stop();
      stop();
    }
  }
  give_back(std::move(threads));
  if (interrupted) throw nb::python_error();
}

void release_workers() { idle_workers().all.clear(); }

BatchInput::BatchInput(nb::handle object) {
  // All other questions together take a quarter of a microsecond, while the GPU has nothing to do.
  if (PyBytes_CheckExact(object.ptr())) {
    bytes_object_ = nb::borrow(object);
    stream_ = {reinterpret_cast<const std::byte*>(PyBytes_AsString(object.ptr())),
               static_cast<std::size_t>(PyBytes_Size(object.ptr()))};
    return;
  }
  if (nb::isinstance<nb::str>(object) || nb::hasattr(object, "__fspath__")) {
    path_ = encoded_path(object);
    is_file_ = true;
    return;
  }
  data_ = std::make_unique<JpegData>(object);
  if (data_->device() != kHost) fail_argument("a batch takes streams in host memory");
  stream_ = data_->bytes();
}

std::size_t BatchInput::likely_bytes() const {
  if (!is_file_) return stream_.size();
  struct stat about {};
  return stat(path_.c_str(), &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
}

Result<std::span<const std::byte>> BatchInput::bytes(HostBuffer& room) const {
  if (!is_file_) return stream_;
  return read_file(path_, room);
}

}  // namespace zerorun::python
