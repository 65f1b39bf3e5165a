// Coders that are kept for the next call with the same options: making one takes longer than a
// small picture, and its memory and threads can be used again.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/forks.hpp"
#include "apps/python/binding/options.hpp"

namespace zerorun::python {

/// Call all members with the GIL held.
template <typename Coder, typename Params>
class CoderPool {
 public:
  using Make = std::unique_ptr<Coder> (*)(const Params&);
  explicit CoderPool(Make make, std::size_t most_idle = kMostIdle)
      : make_(make), most_idle_(most_idle) {}

  /// A coder for these parameters; nobody else has it until it comes back.
  struct Lent {
    std::string key;
    std::unique_ptr<Coder> coder;
  };

  Lent take(const Params& params) {
    forget_parent();
    std::string key = key_of(params);
    for (std::size_t i = idle_.size(); i-- > 0;) {
      if (idle_[i].key != key) continue;
      Lent found = std::move(idle_[i]);
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
    return {std::move(key), make_(params)};
  }

  void give_back(Lent lent) {
    forget_parent();
    idle_.push_back(std::move(lent));
    if (idle_.size() > most_idle_) idle_.erase(idle_.begin());
  }

  void clear() {
    forget_parent();
    idle_.clear();
  }

 private:
  /// The parent's coders wait for threads that this process does not have.
  void forget_parent() {
    if (generation_ == fork_generation()) return;
    generation_ = fork_generation();
    for (Lent& lent : idle_) (void)lent.coder.release();
    idle_.clear();
  }

  /// A coder keeps the memory of the largest picture it saw: about 40 MB for 4K.
  static constexpr std::size_t kMostIdle = 16;
  Make make_;
  std::size_t most_idle_;
  std::vector<Lent> idle_;
  int generation_ = fork_generation();
};

/// Makes a coder of the library. Errors: those of Coder::create(), and CUDA after a fork.
template <typename Coder, typename Params>
std::unique_ptr<Coder> make_coder(const Params& params) {
  Params usable = params;
  usable.backend = usable_choice({params.backend, params.device}).backend;
  return std::make_unique<Coder>(value_of(Coder::create(usable)));
}

}  // namespace zerorun::python
