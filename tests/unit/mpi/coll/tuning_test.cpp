// SPDX-License-Identifier: BSD-3-Clause
/// @file  coll_rules: what can be written, and that a rule reaches every algorithm.
#include "mpi/coll/tuning.hpp"

#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "mpi/coll/builders.hpp"
#include "mpi/coll/hierarchy.hpp"
#include "mpi/coll/params.hpp"
#include "mpi/coll/select.hpp"
#include "params/value.hpp"

namespace starling::mpi::coll {
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

std::string why(std::string_view written) {
  const auto rules = parse_rules(written);
  return rules ? "" : rules.error().text();
}

TEST(CollRules, are_read_with_their_conditions) {
  const auto rules =
      parse_rules(" allreduce:ring:ranks=3-64:bytes=64k-:commutative , bcast : auto:bytes=-4k ");
  ASSERT_TRUE(rules) << rules.error().text();
  const std::vector<Rule> expected{
      {Collective::allreduce, 3, 3, 64, 64 << 10, kNoEnd, Rule::Order::commutative},
      {Collective::bcast, 0, 0, kNoEnd, 0, 4 << 10, Rule::Order::any}};
  EXPECT_EQ(*rules, expected);
}

TEST(CollRules, only_reductions_have_an_order) {
  for (const params::Decl& declared : kCollAlgorithms) {
    std::string name(declared.name.view());
    name = name.substr(5, name.size() - 15);  // between coll_ and _algorithm
    const bool reduces = name == "reduce" || name == "allreduce" || name == "reduce_scatter";
    for (const char* const order : {"commutative", "ordered"}) {
      const auto rules = parse_rules(name + ":auto:" + order);
      EXPECT_EQ(rules.has_value(), reduces) << name << ' ' << order;
      if (!reduces) {
        EXPECT_NE(why(name + ":auto:" + order).find("only reductions"), std::string::npos) << name;
      }
    }
  }
}

TEST(CollRules, none_is_fine) {
  EXPECT_TRUE(parse_rules("")->empty());
  EXPECT_TRUE(parse_rules("  ")->empty());
}

TEST(CollRules, fit_where_all_conditions_hold) {
  const Rule rule = parse_rules("allreduce:ring:ranks=4:bytes=10-20:ordered")->front();
  EXPECT_TRUE(rule.fits(Collective::allreduce, {4, 10, false}));
  EXPECT_TRUE(rule.fits(Collective::allreduce, {4, 20, false}));
  EXPECT_FALSE(rule.fits(Collective::reduce, {4, 10, false}));
  EXPECT_FALSE(rule.fits(Collective::allreduce, {3, 10, false}));
  EXPECT_FALSE(rule.fits(Collective::allreduce, {5, 10, false}));
  EXPECT_FALSE(rule.fits(Collective::allreduce, {4, 9, false}));
  EXPECT_FALSE(rule.fits(Collective::allreduce, {4, 21, false}));
  EXPECT_FALSE(rule.fits(Collective::allreduce, {4, 10, true}));
}

TEST(CollRules, say_what_is_wrong_with_them) {
  EXPECT_NE(why("scan:linear").find("one of bcast|reduce|"), std::string::npos);
  EXPECT_NE(why("bcast").find("one of auto|binomial|"), std::string::npos);
  EXPECT_NE(why("bcast:ring").find("an algorithm of bcast"), std::string::npos);
  EXPECT_NE(why("bcast:chain,").find("expected a collective"), std::string::npos);
  EXPECT_NE(why("bcast:chain:commutative").find("only reductions"), std::string::npos);
  for (const char* const condition : {"", "ranks", "size=3", "ranks=3;bytes=4"}) {
    EXPECT_NE(why(std::string("bcast:chain:") + condition), "") << condition;
  }
  for (const char* const range : {"", "-", "4-3", "3-4-5", "-3-", "x", "3 -4", "0x"}) {
    EXPECT_NE(why(std::string("bcast:chain:ranks=") + range).find("expected a range"), std::string::npos)
        << range;
  }
}

/// What a schedule does, without where its memory is.
using Shape = std::vector<std::tuple<int, int, std::uint64_t, std::uint64_t>>;
Shape shape_of(const Schedule& schedule) {
  Shape shape;
  int round = 0;
  for (const auto& [begin, end, messages] : schedule.rounds()) {
    for (std::uint32_t i = begin; i < end; ++i) {
      const Schedule::Step& step = schedule.steps()[i];
      shape.emplace_back(round * 8 + static_cast<int>(step.what), step.peer, step.from.bytes + step.to.bytes,
                         step.count);
    }
    ++round;
  }
  return shape;
}

/// A call of each collective on rank 3 of 8 with commutative operations and equal blocks; on two nodes all
/// algorithms can do it.
class Call {
 public:
  Shape chosen(Collective which, const Tuning& tuning) {
    Schedule schedule;
    const Bcast bcast_asked{buffer_.data(), kCount, type_, 0};
    const Gather gather_asked{buffer_.data(), kCount, type_, blocks(), 0, false};
    const Scatter scatter_asked{blocks(), buffer_.data(), kCount, type_, 0, false};
    const Alltoall alltoall_asked{blocks(), blocks(), false};
    Reduce reduce_asked{buffer_.data(), other_.data(), kCount, type_, {}, 0, false};
    ReduceScatter parts{buffer_.data(), other_.data(), {}, kCount, type_, {}, false};
    reduce_asked.operation.commutative = parts.operation.commutative = commutative;
    switch (which) {
      case Collective::bcast: bcast(schedule, team_, tuning, bcast_asked); break;
      case Collective::reduce: reduce(schedule, team_, tuning, reduce_asked); break;
      case Collective::allreduce: allreduce(schedule, team_, tuning, reduce_asked); break;
      case Collective::gather: gather(schedule, team_, tuning, gather_asked); break;
      case Collective::scatter: scatter(schedule, team_, tuning, scatter_asked); break;
      case Collective::allgather: allgather(schedule, team_, tuning, gather_asked); break;
      case Collective::alltoall: alltoall(schedule, team_, tuning, alltoall_asked); break;
      case Collective::reduce_scatter: reduce_scatter(schedule, team_, tuning, parts); break;
    }
    return shape_of(schedule);
  }
  void on_two_nodes() { team_.hierarchy = &nodes_; }
  bool commutative = true;

 private:
  static constexpr std::uint64_t kCount = 24;
  Blocks blocks() { return {other_.data(), kCount, type_}; }
  Type type_{nullptr, 4, 4, 0, 4, true, nullptr};
  Hierarchy nodes_{std::array<std::uint32_t, 8>{0, 0, 0, 1, 1, 1, 1, 1}};
  Team team_{3, 8, 0, false};
  std::vector<int> buffer_ = std::vector<int>(8 * kCount), other_ = std::vector<int>(8 * kCount);
};

Tuning with(std::string_view rules) {
  Tuning tuning;
  tuning.rules = *parse_rules(rules);
  return tuning;
}

TEST(CollRules, reach_every_algorithm_of_every_collective) {
  for (std::size_t i = 0; i < kCollectives; ++i) {
    const auto which = static_cast<Collective>(i);
    std::string name(kCollAlgorithms[i].name.view());
    name = name.substr(5, name.size() - 15);  // between coll_ and _algorithm
    Call call;
    call.on_two_nodes();
    std::vector<Shape> seen;
    const auto algorithms = params::choices_of(kCollAlgorithms[i]);
    for (std::size_t k = 1; k < algorithms.size(); ++k) {
      Tuning named;
      named.forced[i] = static_cast<std::uint8_t>(k);
      const std::string rule = name + ":" + std::string(algorithms[k]);
      const Shape shape = call.chosen(which, with(rule + ":ranks=8:bytes=1-4k"));
      EXPECT_EQ(shape, call.chosen(which, named)) << rule;
      EXPECT_EQ(std::count(seen.begin(), seen.end(), shape), 0) << rule << " is like another algorithm";
      EXPECT_EQ(call.chosen(which, with(rule + ":ranks=9-")), call.chosen(which, {})) << rule;
      EXPECT_EQ(call.chosen(which, with(rule + ":bytes=4k-")), call.chosen(which, {})) << rule;
      seen.push_back(shape);
    }
  }
}

TEST(CollRules, the_first_that_fits_counts_and_comes_before_the_named_algorithm) {
  Call call;
  Tuning tuning = with("bcast:chain:ranks=-7, bcast:scatter_ring:ranks=8-, bcast:binomial");
  tuning.forced[static_cast<std::size_t>(Collective::bcast)] = 3;
  EXPECT_EQ(call.chosen(Collective::bcast, tuning),
            call.chosen(Collective::bcast, with("bcast:scatter_ring")));
  tuning.rules = with("bcast:auto").rules;
  EXPECT_EQ(call.chosen(Collective::bcast, tuning), call.chosen(Collective::bcast, {}));
}

TEST(CollRules, an_algorithm_that_cannot_do_a_call_is_passed_over) {
  Call call;
  const Tuning tuning = with("reduce:ring, reduce:auto");
  const Shape commutative = call.chosen(Collective::reduce, tuning);
  call.commutative = false;
  EXPECT_NE(call.chosen(Collective::reduce, tuning), commutative);
  EXPECT_EQ(call.chosen(Collective::reduce, tuning),
            call.chosen(Collective::reduce, with("reduce:binomial")));
  EXPECT_EQ(call.chosen(Collective::reduce, with("reduce:ring, reduce:binomial")),
            call.chosen(Collective::reduce, with("reduce:binomial")));
}

TEST(CollRules, tell_operations_apart_by_their_order) {
  Call call;
  const Tuning tuning = with("allreduce:ring:commutative");
  EXPECT_EQ(call.chosen(Collective::allreduce, tuning),
            call.chosen(Collective::allreduce, with("allreduce:ring")));
  call.commutative = false;
  EXPECT_EQ(call.chosen(Collective::allreduce, tuning),
            call.chosen(Collective::allreduce, with("allreduce:recursive_doubling")));
}

}  // namespace
}  // namespace starling::mpi::coll
