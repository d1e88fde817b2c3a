// SPDX-License-Identifier: BSD-3-Clause
// The one table of MPI error classes, and its words.

#include "mpi/request/fault.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "mpi/error.hpp"

namespace starling::mpi {
namespace {

using ::testing::HasSubstr;

constexpr std::pair<pml::Fault, int> kTable[] = {
    {pml::Fault::none, MPI_SUCCESS},
    {pml::Fault::truncated, MPI_ERR_TRUNCATE},
    {pml::Fault::peer_lost, MPI_ERR_PROC_ABORTED},
    {pml::Fault::peer_left, MPI_ERR_PROC_ABORTED},
    {pml::Fault::unreachable, MPI_ERR_OTHER},
    {pml::Fault::no_memory, MPI_ERR_NO_MEM},
    {pml::Fault::internal, MPI_ERR_INTERN},
};

pml::Request& ended(pml::Request& request, pml::Fault fault) {
  request.receive = true;
  request.rank = Rank{-1};  // of a receive from anybody; the status has the sender
  request.status.source = Rank{3};
  request.status.tag = Tag{7};
  request.status.fault = fault;
  request.buffer.bytes = 40;
  return request;
}

TEST(Fault, each_has_its_class_whatever_the_message_belonged_to) {
  for (const auto& [fault, error_class] : kTable) {
    pml::Request request;
    EXPECT_EQ(fault_class(fault), error_class) << static_cast<int>(fault);
    EXPECT_EQ(fault_error(ended(request, fault), nullptr), error_class) << static_cast<int>(fault);
  }
  EXPECT_EQ(static_cast<std::size_t>(pml::Fault::internal) + 1, std::size(kTable))
      << "a fault without a line here";
}

TEST(Fault, an_error_of_set_up_about_the_same_has_the_same_class) {
  constexpr std::pair<Errc, pml::Fault> kSame[] = {{Errc::peer_lost, pml::Fault::peer_lost},
                                                   {Errc::peer_left, pml::Fault::peer_left},
                                                   {Errc::no_space, pml::Fault::no_memory},
                                                   {Errc::internal, pml::Fault::internal}};
  for (const auto& [code, fault] : kSame) {
    EXPECT_EQ(error_class(code), fault_class(fault)) << static_cast<int>(fault);
    EXPECT_EQ(error(Error{code, "here", "why"}), fault_class(fault)) << static_cast<int>(fault);
  }
}

TEST(Fault, every_error_of_set_up_has_a_class) {
  constexpr int kClasses[] = {
      MPI_ERR_OTHER,        MPI_ERR_OTHER,        MPI_ERR_NAME,  MPI_ERR_UNSUPPORTED_OPERATION,
      MPI_ERR_NO_MEM,       MPI_ERR_OTHER,        MPI_ERR_OTHER, MPI_ERR_PROC_ABORTED,
      MPI_ERR_PROC_ABORTED, MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER, MPI_ERR_INTERN};
  for (std::size_t code = 0; code < std::size(kClasses); ++code)
    EXPECT_EQ(error_class(static_cast<Errc>(code)), kClasses[code]) << code;
  EXPECT_EQ(static_cast<std::size_t>(Errc::internal) + 1, std::size(kClasses))
      << "an Errc without a line here";
}

TEST(Fault, a_table_of_handles_that_is_full_is_a_want_of_memory) {
  EXPECT_EQ(too_many("groups"), fault_class(pml::Fault::no_memory));
  EXPECT_EQ(last_error_detail(), "more than 2^25 groups are alive");
}

TEST(Fault, each_names_the_other_rank) {
  for (const auto& [fault, error_class] : kTable) {
    if (fault == pml::Fault::none) continue;
    EXPECT_THAT(fault_text(fault, nullptr, 3), HasSubstr("rank 3")) << error_class;
    pml::Request request;
    EXPECT_EQ(fault_error(ended(request, fault), nullptr), error_class);
    EXPECT_THAT(std::string(last_error_detail()), HasSubstr("rank 3")) << error_class;
  }
  EXPECT_EQ(fault_text(pml::Fault::none, nullptr, 3), "");
}

TEST(Fault, a_send_names_whom_it_went_to) {
  pml::Request request;
  ended(request, pml::Fault::peer_lost).receive = false;
  request.rank = Rank{5};
  EXPECT_EQ(fault_error(request, nullptr), MPI_ERR_PROC_ABORTED);
  EXPECT_EQ(last_error_detail(), "rank 5 is lost");
}

TEST(Fault, what_was_too_long_or_too_much_is_said_in_bytes) {
  pml::Request request;
  EXPECT_EQ(fault_error(ended(request, pml::Fault::truncated), nullptr), MPI_ERR_TRUNCATE);
  EXPECT_EQ(last_error_detail(),
            "the message from rank 3 with tag 7 is longer than the receive buffer of 40 bytes");
  EXPECT_EQ(fault_error(ended(request, pml::Fault::no_memory), nullptr), MPI_ERR_NO_MEM);
  EXPECT_EQ(last_error_detail(), "no memory for a message to or from rank 3 (40 bytes)");
}

TEST(Fault, nothing_is_noted_where_there_is_none) {
  pml::Request request;
  (void)take_error();
  EXPECT_EQ(fault_error(ended(request, pml::Fault::none), nullptr), MPI_SUCCESS);
  EXPECT_EQ(take_error().error_class, 0);
}

}  // namespace
}  // namespace starling::mpi
