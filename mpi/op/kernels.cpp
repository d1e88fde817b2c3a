// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the predefined operations, one loop per (operation, element). Hard part: the loops must
// vectorise and integer overflow must wrap (users do overflow checksums), so integers are combined as
// unsigned numbers.
#if defined(__x86_64__) && !defined(__clang__) && __has_include(<sys/platform/x86.h>)
#define STARLING_ASKS_DYNAMIC_LINKER 1  // clang's C++ does not know the _Bool of this header
#include <sys/platform/x86.h>
#endif

#include <array>
#include <complex>
#include <cstring>
#include <type_traits>

#include "mpi/op/half.hpp"
#include "mpi/op/op.hpp"

namespace starling::mpi {
namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;
__extension__ typedef __float128 Float128;

/// An unsigned type at least as wide as int: its arithmetic wraps and is not promoted to int.
template <class T>
struct Wrapping {
  using type = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
};
template <>
struct Wrapping<Int128> {
  using type = UInt128;
};
template <class T>
inline constexpr bool kInteger = std::is_integral_v<T> || std::is_same_v<T, Int128>;

struct Sum {
  template <class T>
  static T combine(T a, T b) noexcept {
    if constexpr (kInteger<T>) {
      using U = typename Wrapping<T>::type;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return a + b;
    }
  }
};
struct Prod {
  template <class T>
  static T combine(T a, T b) noexcept {
    if constexpr (kInteger<T>) {
      using U = typename Wrapping<T>::type;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    } else {
      return a * b;
    }
  }
};
struct Min {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a > b ? a : b;
  }
};
struct And {
  template <class T>
  static T combine(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T combine(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T combine(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};
struct LogicalAnd {
  template <class T>
  static T combine(T a, T b) noexcept {
    return T((a != 0) & (b != 0));
  }
};
struct LogicalOr {
  template <class T>
  static T combine(T a, T b) noexcept {
    return T((a != 0) | (b != 0));
  }
};
struct LogicalXor {
  template <class T>
  static T combine(T a, T b) noexcept {
    return T((a != 0) ^ (b != 0));
  }
};

/// A complex number without the not-a-number recovery of std::complex, which keeps loops from vectorising.
template <class T>
struct Complex {
  T re, im;
  friend Complex operator+(Complex a, Complex b) noexcept { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator*(Complex a, Complex b) noexcept {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// Turns of a loop do not depend on each other, although its result may lie where an operand does.
#if defined(__clang__)
#define STARLING_INDEPENDENT_TURNS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define STARLING_INDEPENDENT_TURNS _Pragma("GCC ivdep")
#else
#define STARLING_INDEPENDENT_TURNS
#endif

/// `in` was often written by another core just now, and arrives sooner if it is asked for early; never behind
/// the end, where that core may be writing.
template <class Operation, class T>
[[gnu::always_inline]] inline void combine_all(const T* in, const T* right, T* out,
                                               std::uint64_t count) noexcept {
  constexpr std::uint64_t kBlock = 1024 / sizeof(T), kAhead = 2048 / sizeof(T), kLine = 64 / sizeof(T);
  std::uint64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    if (i + kBlock + kAhead <= count) {
      for (std::uint64_t j = 0; j < kBlock; j += kLine) __builtin_prefetch(in + i + kAhead + j);
    }
    STARLING_INDEPENDENT_TURNS
    for (std::uint64_t j = 0; j < kBlock; ++j) out[i + j] = Operation::combine(in[i + j], right[i + j]);
  }
  STARLING_INDEPENDENT_TURNS
  for (; i < count; ++i) out[i] = Operation::combine(in[i], right[i]);
}

template <class Operation, class T>
void run(const void* in, const void* right, void* out, std::uint64_t count) noexcept {
  combine_all<Operation>(static_cast<const T*>(in), static_cast<const T*>(right), static_cast<T*>(out),
                         count);
}

#if defined(__x86_64__)
/// As run(), for processors with AVX2, in vectors of twice the width. Without FMA, so results do not differ.
template <class Operation, class T>
[[gnu::target("avx2")]] void run_wide(const void* in, const void* right, void* out,
                                      std::uint64_t count) noexcept {
  combine_all<Operation>(static_cast<const T*>(in), static_cast<const T*>(right), static_cast<T*>(out),
                         count);
}
#endif

#if defined(__x86_64__)
/// What the dynamic linker knows already, where it tells. The compiler's own way asks the processor in a
/// constructor of this library, in every process: 0.05 ms in a virtual machine.
bool has_avx2() noexcept {
#if defined(STARLING_ASKS_DYNAMIC_LINKER)
  return CPU_FEATURE_ACTIVE(AVX2);
#else
  return __builtin_cpu_supports("avx2");
#endif
}
#endif

/// The loop that suits this processor.
template <class Operation, class T>
OpKernel loop() noexcept {
#if defined(__x86_64__)
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8) {
    if (has_avx2()) return run_wide<Operation, T>;
  }
#endif
  return run<Operation, T>;
}

template <class Operation>
void run_half(const void* in_buffer, const void* right_buffer, void* out_buffer,
              std::uint64_t count) noexcept {
  const auto* in = static_cast<const std::uint16_t*>(in_buffer);
  const auto* right = static_cast<const std::uint16_t*>(right_buffer);
  auto* out = static_cast<std::uint16_t*>(out_buffer);
  for (std::uint64_t i = 0; i < count; ++i) {
    out[i] = float_to_half(Operation::combine(half_to_float(in[i]), half_to_float(right[i])));
  }
}

template <class Operation>
void run_complex_half(const void* in_buffer, const void* right_buffer, void* out_buffer,
                      std::uint64_t count) noexcept {
  const auto* in = static_cast<const std::uint16_t*>(in_buffer);
  const auto* right = static_cast<const std::uint16_t*>(right_buffer);
  auto* out = static_cast<std::uint16_t*>(out_buffer);
  for (std::uint64_t i = 0; i < 2 * count; i += 2) {
    const Complex<float> a{half_to_float(in[i]), half_to_float(in[i + 1])};
    const Complex<float> b{half_to_float(right[i]), half_to_float(right[i + 1])};
    const Complex<float> c = Operation::combine(a, b);
    out[i] = float_to_half(c.re);
    out[i + 1] = float_to_half(c.im);
  }
}

/// MINLOC and MAXLOC; of equal values the lower index wins (MPI 5.0 section 6.9.4).
template <class Value, class Index, bool kMin>
void run_located(const void* in_buffer, const void* right_buffer, void* out_buffer,
                 std::uint64_t count) noexcept {
  struct Pair {
    Value value;
    Index index;
  };
  const Pair* in = static_cast<const Pair*>(in_buffer);
  const Pair* right = static_cast<const Pair*>(right_buffer);
  Pair* out = static_cast<Pair*>(out_buffer);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Pair a = in[i], b = right[i];
    const bool better = kMin ? a.value < b.value : a.value > b.value;
    const bool left = better || (a.value == b.value && a.index < b.index);
    out[i].value = better ? a.value : b.value;
    out[i].index = left ? a.index : b.index;
  }
}

template <std::size_t kBytes>
void run_replace(const void* in, const void*, void* out, std::uint64_t count) noexcept {
  std::memcpy(out, in, count * kBytes);
}
template <std::size_t kBytes>
void run_nothing(const void*, const void* right, void* out, std::uint64_t count) noexcept {
  if (out != right) std::memcpy(out, right, count * kBytes);
}

using Row = std::array<OpKernel, kOpCodes>;
using Table = std::array<Row, kBasics>;

OpKernel& slot(Row& row, OpCode code) { return row[static_cast<std::size_t>(code)]; }

template <class T>
void add_order(Row& row) {
  slot(row, OpCode::sum) = loop<Sum, T>();
  slot(row, OpCode::prod) = loop<Prod, T>();
  slot(row, OpCode::min) = loop<Min, T>();
  slot(row, OpCode::max) = loop<Max, T>();
}

template <class T>
void add_logical(Row& row) {
  slot(row, OpCode::land) = run<LogicalAnd, T>;
  slot(row, OpCode::lor) = run<LogicalOr, T>;
  slot(row, OpCode::lxor) = run<LogicalXor, T>;
}

template <class T>
void add_bits(Row& row) {
  slot(row, OpCode::band) = loop<And, T>();
  slot(row, OpCode::bor) = loop<Or, T>();
  slot(row, OpCode::bxor) = loop<Xor, T>();
}

template <class T>
void add_integer(Row& row) {
  add_order<T>(row);
  add_bits<T>(row);
  add_logical<T>(row);
}

template <class T>
void add_complex(Row& row) {
  slot(row, OpCode::sum) = run<Sum, Complex<T>>;
  slot(row, OpCode::prod) = run<Prod, Complex<T>>;
}

template <class Value, class Index>
void add_located(Row& row) {
  slot(row, OpCode::minloc) = run_located<Value, Index, true>;
  slot(row, OpCode::maxloc) = run_located<Value, Index, false>;
}

void add_integers(Table& table) {
  const auto row = [&table](Basic basic) -> Row& { return table[to_index(basic)]; };
  add_integer<std::int8_t>(row(Basic::int8));
  add_integer<std::uint8_t>(row(Basic::uint8));
  add_integer<std::int16_t>(row(Basic::int16));
  add_integer<std::uint16_t>(row(Basic::uint16));
  add_integer<std::int32_t>(row(Basic::int32));
  add_integer<std::uint32_t>(row(Basic::uint32));
  add_integer<std::int64_t>(row(Basic::int64));
  add_integer<std::uint64_t>(row(Basic::uint64));
  add_integer<Int128>(row(Basic::int128));
  add_integer<long>(row(Basic::c_long));
  add_integer<unsigned long>(row(Basic::c_unsigned_long));
  add_bits<std::uint8_t>(row(Basic::byte));
  add_logical<std::uint8_t>(row(Basic::boolean));
  add_logical<std::int8_t>(row(Basic::logical8));
  add_logical<std::int16_t>(row(Basic::logical16));
  add_logical<std::int32_t>(row(Basic::logical32));
  add_logical<std::int64_t>(row(Basic::logical64));
  add_logical<Int128>(row(Basic::logical128));
}

void add_floats(Table& table) {
  const auto row = [&table](Basic basic) -> Row& { return table[to_index(basic)]; };
  Row& half = row(Basic::float16);
  slot(half, OpCode::sum) = run_half<Sum>;
  slot(half, OpCode::prod) = run_half<Prod>;
  slot(half, OpCode::min) = run_half<Min>;
  slot(half, OpCode::max) = run_half<Max>;
  add_order<float>(row(Basic::float32));
  add_order<double>(row(Basic::float64));
  add_order<long double>(row(Basic::long_double));
  add_order<Float128>(row(Basic::float128));
  slot(row(Basic::complex16), OpCode::sum) = run_complex_half<Sum>;
  slot(row(Basic::complex16), OpCode::prod) = run_complex_half<Prod>;
  add_complex<float>(row(Basic::complex32));
  add_complex<double>(row(Basic::complex64));
  add_complex<long double>(row(Basic::complex_long_double));
  add_complex<Float128>(row(Basic::complex128));
}

void add_pairs(Table& table) {
  const auto row = [&table](Basic basic) -> Row& { return table[to_index(basic)]; };
  add_located<float, int>(row(Basic::float32_int));
  add_located<double, int>(row(Basic::float64_int));
  add_located<long, int>(row(Basic::long_int));
  add_located<short, int>(row(Basic::short_int));
  add_located<long double, int>(row(Basic::long_double_int));
  add_located<int, int>(row(Basic::int32_pair));
  add_located<float, float>(row(Basic::float32_pair));
  add_located<double, double>(row(Basic::float64_pair));
}

template <std::size_t kBytes>
void add_copies(Row& row) {
  slot(row, OpCode::replace) = run_replace<kBytes>;
  slot(row, OpCode::no_op) = run_nothing<kBytes>;
}

void add_copies_of(std::uint32_t extent, Row& row) {
  switch (extent) {
    case 1: return add_copies<1>(row);
    case 2: return add_copies<2>(row);
    case 4: return add_copies<4>(row);
    case 8: return add_copies<8>(row);
    case 16: return add_copies<16>(row);
    case 32: return add_copies<32>(row);
    default: return;
  }
}

Table make_table() {
  Table table{};
  add_integers(table);
  add_floats(table);
  add_pairs(table);
  for (std::size_t i = 1; i < kBasics; ++i) {
    add_copies_of(info_of(static_cast<Basic>(i)).extent, table[i]);
  }
  return table;
}

}  // namespace

OpKernel find_kernel(OpCode code, Basic basic) noexcept {
  static const Table table = make_table();
  return code == OpCode::user ? nullptr : table[to_index(basic)][static_cast<std::size_t>(code)];
}

}  // namespace starling::mpi
