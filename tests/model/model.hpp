// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Relacy's atomics in the shape of core/atomics.hpp, and the main of a model. Layer: tests.
///
/// A model is a small program of two to four threads over a shared structure, run under many thousand
/// interleavings and reorderings. Payload bytes are rl::var: an access that nothing orders is reported as a
/// data race. Threads that wait call wait_a_little(), which tells the scheduler to run others.

#include <atomic>

#include <relacy/relacy.hpp>

// Relacy replaces these names by its own; the checked code uses the standard's.
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

#include <cstdlib>
#include <iostream>
#include <sstream>

namespace starling::model {

inline rl::memory_order to_rl(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed: return rl::mo_relaxed;
    case std::memory_order_acquire: return rl::mo_acquire;
    case std::memory_order_release: return rl::mo_release;
    case std::memory_order_acq_rel: return rl::mo_acq_rel;
    default: return rl::mo_seq_cst;
  }
}

/// What may come between two steps of a thread, and hears when it runs (membarrier.hpp).
class Interrupts {
 public:
  virtual void look() = 0;
  virtual void runs() = 0;
  virtual void rests() = 0;

 protected:
  ~Interrupts() = default;
};
inline Interrupts* interrupts = nullptr;  ///< of the running model, if it has any

inline void step() {
  if (interrupts != nullptr) interrupts->look();
}

template <class T>
class ModelAtomic {
 public:
  ModelAtomic() : ModelAtomic(T{}) {}
  explicit ModelAtomic(T value) : value_(value) {}
  T load(std::memory_order order) const {
    step();
    return value_.load(to_rl(order), $);
  }
  void store(T value, std::memory_order order) {
    step();
    value_.store(value, to_rl(order), $);
  }
  T exchange(T value, std::memory_order order) {
    step();
    return value_.exchange(value, to_rl(order), $);
  }
  T fetch_add(T value, std::memory_order order) {
    step();
    return value_.fetch_add(value, to_rl(order), $);
  }
  T fetch_sub(T value, std::memory_order order) {
    step();
    return value_.fetch_sub(value, to_rl(order), $);
  }
  T fetch_or(T value, std::memory_order order) {
    step();
    return value_.fetch_or(value, to_rl(order), $);
  }
  T fetch_and(T value, std::memory_order order) {
    step();
    return value_.fetch_and(value, to_rl(order), $);
  }
  bool compare_exchange_weak(T& seen, T wanted, std::memory_order order, std::memory_order failed) {
    step();
    return value_.compare_exchange_weak(seen, wanted, to_rl(order), $, to_rl(failed), $);
  }
  bool compare_exchange_strong(T& seen, T wanted, std::memory_order order, std::memory_order failed) {
    step();
    return value_.compare_exchange_strong(seen, wanted, to_rl(order), $, to_rl(failed), $);
  }

 private:
  rl::atomic<T> value_;
};

struct ModelAtomics {
  template <class T>
  using Atomic = ModelAtomic<T>;
  static void fence(std::memory_order order) {
    if (order != std::memory_order_relaxed) rl::atomic_thread_fence(to_rl(order), $);
  }
  /// Orders nothing between threads: the other side's fence for all does (membarrier.hpp).
  static void compiler_fence() {}
};

inline void wait_a_little() { rl::yield(1, $); }
inline void check(bool condition) { RL_ASSERT(condition); }

/// Runs the suite under a random scheduler; true if no iteration failed. The failing history goes to stderr.
template <class Suite>
bool survives_random(unsigned long iterations) {
  rl::test_params params;
  std::ostringstream quiet;
  params.iteration_count = iterations;
  params.search_type = rl::random_scheduler_type;
  params.execution_depth_limit = 10000;
  params.output_stream = &quiet;
  params.progress_stream = &quiet;
  const bool fine = rl::simulate<Suite>(params);
  if (!fine) std::cerr << quiet.str();
  return fine;
}

/// The same, every interleaving with at most `switches` forced context switches.
template <class Suite>
bool survives_bounded(unsigned switches) {
  rl::test_params params;
  std::ostringstream quiet;
  params.search_type = rl::fair_context_bound_scheduler_type;
  params.context_bound = switches;
  params.execution_depth_limit = 10000;
  params.output_stream = &quiet;
  params.progress_stream = &quiet;
  const bool fine = rl::simulate<Suite>(params);
  if (!fine) std::cerr << quiet.str();
  return fine;
}

/// Iterations of the random scheduler: the first argument, or `usual`.
inline unsigned long iterations_of(int argc, char** argv, unsigned long usual) {
  return argc > 1 ? std::strtoul(argv[1], nullptr, 10) : usual;
}

}  // namespace starling::model
