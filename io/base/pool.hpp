// Things that threads borrow and give back: decoders, converters and their memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace zerorun::io {

/// It holds as many things as were borrowed at the same time. Thread-safe.
template <typename T>
class Pool {
 public:
  /// A thing that nobody else has, made by `make()` if all are borrowed. It goes back when the last
  /// copy of the pointer is gone, which may be after the end of the pool.
  template <typename Make>
  std::shared_ptr<T> borrow(const Make& make) {
    std::unique_ptr<T> thing;
    {
      const std::lock_guard lock(shelf_->mutex);
      if (!shelf_->things.empty()) {
        thing = std::move(shelf_->things.back());
        shelf_->things.pop_back();
      }
    }
    if (!thing) thing = std::make_unique<T>(make());
    return std::shared_ptr<T>(thing.release(), [shelf = shelf_](T* back) {
      std::unique_ptr<T> owned(back);
      const std::lock_guard lock(shelf->mutex);
      shelf->things.push_back(std::move(owned));
    });
  }

  std::shared_ptr<T> borrow() {
    return borrow([] { return T(); });
  }

 private:
  struct Shelf {
    std::mutex mutex;
    std::vector<std::unique_ptr<T>> things;
  };
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace zerorun::io
