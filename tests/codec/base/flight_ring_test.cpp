// The engine for frames in flight: the reader, order, bounds, dropped jobs, discard(), hanging
// reads.
// SPDX-License-Identifier: MIT
#include "codec/base/flight_ring.hpp"

#include <atomic>
#include <latch>
#include <vector>

#include <gtest/gtest.h>

namespace zerorun::test {
namespace {

struct Job {
  int value = -1;
  bool worked = false;
};
using Ring = FlightRing<Job>;

/// A read step that makes the jobs 0, 1, ... `count` - 1.
auto counting(int count) {
  return [next = 0, count](Job& job, int) mutable {
    job = {next, false};
    return next++ < count ? JobRead::queued : JobRead::none;
  };
}

bool work_on(Job& job, int) {
  job.worked = true;
  return true;
}

/// The values of all jobs up to the end.
std::vector<int> receive_all(Ring& ring) {
  std::vector<int> values;
  while (ring.receive(true, [&](Job& job) { values.push_back(job.value); }) == Received::frame) {
  }
  return values;
}

std::vector<int> numbers(int count, int step = 1) {
  std::vector<int> out;
  for (int n = 0; n < count; n += step) out.push_back(n);
  return out;
}

TEST(FlightRing, WorksOnlyOnWhatIsQueued) {
  int next = 0;
  const auto read = [&next](Job& job, int) {
    job = {next++, false};
    if (next == 12) return JobRead::last;
    return next % 3 == 0 ? JobRead::done : JobRead::queued;
  };
  Ring ring(4, {.work = work_on, .read = read});
  ring.start(2);
  for (int n = 0; n < 12; ++n) {
    Job job;
    ASSERT_EQ(ring.receive(true, [&](Job& got) { job = got; }), Received::frame);
    EXPECT_EQ(job.value, n);
    EXPECT_EQ(job.worked, n % 3 != 2) << n;
  }
  EXPECT_EQ(ring.receive(true, [](Job&) {}), Received::end);
}

/// Jobs that need no lane are finished behind others that wait for one: they are not among those
/// that lanes may begin at a time.
TEST(FlightRing, GoesOnBehindManyJobsThatNeedNoLane) {
  for (const int max_begun : {1, 3}) {
    int next = 0;
    const auto read = [&next](Job& job, int) {
      job = {next++, false};
      if (next > 60) return JobRead::none;
      return next % 20 > 5 ? JobRead::done : JobRead::queued;
    };
    Ring ring(12, {.work = work_on, .read = read}, max_begun);
    ring.start(2);
    EXPECT_EQ(receive_all(ring), numbers(60)) << max_begun;
  }
}

TEST(FlightRing, SkipsDroppedJobs) {
  std::atomic<int> dropped = 0;
  Ring ring(3, {.work = [](Job& job, int) { return job.value % 2 == 0; },
                .read = counting(100),
                .drop = [&dropped](Job& job) { dropped += job.value % 2; }});
  ring.start(3);
  EXPECT_EQ(receive_all(ring), numbers(100, 2));
  EXPECT_EQ(dropped, 50);
  EXPECT_EQ(ring.flight().jobs, 0);
}

TEST(FlightRing, BeginsNoMoreThanItMay) {
  std::atomic<int> begun = 0, received = 0, wrong = 0;
  const auto work = [&](Job&, int) {
    if (++begun - received > 2) ++wrong;
    return true;
  };
  Ring ring(8, {.work = work, .read = counting(100)}, 2);
  ring.start(4);
  while (ring.flight().finished < 2) std::this_thread::yield();
  EXPECT_EQ(begun, 2);
  while (ring.receive(true, [&](Job&) { ++received; }) == Received::frame) {
  }
  EXPECT_EQ(received, 100);
  EXPECT_EQ(wrong, 0);
}

TEST(FlightRing, ReadsNoMoreThanItMay) {
  std::atomic<int> read = 0, left = 0, wrong = 0;
  const auto count = [&](Job& job, int) {
    if (read - left > 2) ++wrong;
    job.value = read;
    return ++read <= 50 ? JobRead::done : JobRead::none;
  };
  Ring ring(8, {.work = work_on, .read = count, .may_read = [&] { return read - left < 3; }});
  ring.start(0);
  for (int n = 0; n < 50; ++n) {
    ASSERT_EQ(ring.receive(true, [&](Job&) { ++left; }), Received::frame);
  }
  EXPECT_EQ(ring.receive(true, [](Job&) {}), Received::end);
  EXPECT_EQ(wrong, 0);
}

TEST(FlightRing, UsesTheLanesThatItMay) {
  std::atomic<int> wrong = 0;
  const auto work = [&wrong](Job&, int lane) {
    if (lane != 0) ++wrong;
    return true;
  };
  Ring ring(4, {.work = work, .read = counting(200)});
  ring.use_lanes(1);
  ring.start(3);
  EXPECT_EQ(receive_all(ring), numbers(200));
  EXPECT_EQ(wrong, 0);
}

TEST(FlightRing, FinishDropsTheJobThatIsBeingRead) {
  std::latch reading(1), go_on(1);
  std::atomic<int> dropped = 0;
  const auto read = [&](Job& job, int) {
    reading.count_down();
    go_on.wait();
    job.value = 7;
    return JobRead::queued;
  };
  Ring ring(4, {.work = work_on, .read = read, .drop = [&](Job& job) { dropped += job.value; }});
  ring.start(1);
  reading.wait();
  EXPECT_TRUE(ring.finish());
  EXPECT_FALSE(ring.finish());
  EXPECT_EQ(ring.receive(true, [](Job&) {}), Received::end);
  go_on.count_down();
  while (dropped == 0) std::this_thread::yield();
  EXPECT_EQ(dropped, 7);
  EXPECT_EQ(ring.receive(true, [](Job&) {}), Received::end);
}

TEST(FlightRing, DiscardDropsTheJobThatIsBeingReadAndGoesOn) {
  std::latch reading(1), go_on(1);
  int next = 0;
  const auto read = [&](Job& job, int generation) {
    job.value = 100 * generation + next++;
    if (next == 3) {
      reading.count_down();
      go_on.wait();
    }
    return generation == 1 && next > 6 ? JobRead::last : JobRead::done;
  };
  Ring ring(8, {.work = work_on, .read = read});
  ring.start(0);
  reading.wait();
  EXPECT_EQ(ring.oldest(true)->value, 0);
  ring.discard(false);
  EXPECT_EQ(ring.oldest(false), nullptr);
  go_on.count_down();
  EXPECT_EQ(receive_all(ring), (std::vector{103, 104, 105, 106}));
  ring.discard(false);  // also after the end
  ASSERT_EQ(ring.receive(true, [](Job& job) { EXPECT_EQ(job.value, 207); }), Received::frame);
}

TEST(FlightRing, DiscardNeedNotWaitForALane) {
  std::latch working(1), go_on(1);
  std::atomic<int> dropped = 0;
  const auto work = [&](Job& job, int) {
    if (job.value != 0) return true;
    working.count_down();
    go_on.wait();
    return true;
  };
  Ring ring(3, {.work = work, .drop = [&](Job& job) { dropped += 10 + job.value; }});
  ring.start(2);
  const auto submit = [&](int value) {
    ASSERT_TRUE(ring.submit(true, [&](Job& job, std::int64_t) { job.value = value; }).is_ok());
  };
  submit(0);
  working.wait();
  ring.discard(false);
  EXPECT_EQ(ring.flight().jobs, 0);
  EXPECT_EQ(dropped, 0);
  for (int value = 1; value <= 20; ++value) {
    submit(value);
    ASSERT_EQ(ring.receive(true, [&](Job& job) { EXPECT_EQ(job.value, value); }), Received::frame);
  }
  go_on.count_down();
  ring.discard(true);
  EXPECT_EQ(dropped, 10);
}

TEST(FlightRing, LeavesAReaderThatHangsBehind) {
  struct Pipe {
    std::latch filled{1};
  };
  auto pipe = std::make_shared<Pipe>();
  const std::weak_ptr<Pipe> owned_by_reader = pipe;
  std::latch reading{1};
  bool left_behind = false;
  {
    const auto read = [pipe, &reading](Job&, int) {
      reading.count_down();
      pipe->filled.wait();
      return JobRead::none;
    };
    Ring ring(2, {.work = work_on, .read = read, .left_behind = [&] { left_behind = true; }});
    ring.start(1);
    reading.wait();
  }
  EXPECT_TRUE(left_behind);
  pipe->filled.count_down();
  pipe.reset();
  while (!owned_by_reader.expired()) std::this_thread::yield();  // the thread ends after all
}

}  // namespace
}  // namespace zerorun::test
