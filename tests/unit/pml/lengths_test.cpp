// SPDX-License-Identifier: BSD-3-Clause
// Every length that is read from a message: a header that is cut short is dropped and told of, whatever its
// kind, and so is a payload that is shorter than its header says. Who does not check reads behind the
// message.
#include "tests/unit/pml/heard.hpp"
#include "tests/unit/pml/job.hpp"

namespace starling::pml::test {
namespace {

using wire::Kind;

/// What process 1 says of a message that process 0 never sent.
std::string told_of(const std::vector<std::byte>& message, bool port = false) {
  PairOptions options;
  options.get = GetMode::done;
  options.writes = true;
  Config config;
  config.loans = 1;
  Job job(2, options, Large::ring, config);
  Heard heard(job.at(1));
  if (port) {
    EXPECT_TRUE(job.at(1).add(heard, kOtherKinds));
  }
  auto hello = job.isend(0, 1, 1, filled(8, 1));
  auto receive = job.irecv(1, 0, 1, 8);
  job.settle();
  EXPECT_TRUE(receive->complete());
  job.network.inject(0, 1, message);
  job.settle();
  EXPECT_TRUE(heard.messages.empty());
  EXPECT_EQ(job[1].counters().unexpected, 0u) << "it counts as a message";
  std::string all;
  for (const std::string& note : job.notes(1)) all += note;
  return all;
}

template <class Header>
std::vector<std::byte> cut(Kind kind, std::size_t missing = 1) {
  Header header{};
  std::vector<std::byte> message(sizeof header - missing);
  message.front() = static_cast<std::byte>(kind);
  return message;
}

/// `more` bytes behind the header, which says that there are `more` + 1.
template <class Header>
std::vector<std::byte> lies(Kind kind, std::size_t more) {
  std::vector<std::byte> message(sizeof(Header) + more);
  const wire::Prefix prefix{kind, 0, 0, static_cast<std::uint32_t>(more + 1)};
  std::memcpy(message.data(), &prefix, sizeof prefix);
  return message;
}

struct Cut {
  std::vector<std::byte> message;
  const char* told;
};

TEST(Lengths, a_header_that_is_cut_short_is_dropped) {
  const Cut all[] = {
      {{std::byte{200}}, "shorter than any header"},
      {cut<wire::Envelope>(Kind::eager), "it is shorter than its header"},
      {cut<wire::SyncEnvelope>(Kind::eager_sync), "a synchronous message is shorter"},
      {cut<wire::Rts>(Kind::rts), "an RTS is shorter"},
      {cut<wire::Cts>(Kind::cts), "a CTS is shorter"},
      {cut<wire::Data>(Kind::data), "a data fragment is shorter"},
      {cut<wire::DataAt>(Kind::data_at), "a data fragment is shorter"},
      {cut<wire::Answer>(Kind::fin), "an answer is shorter"},
      {cut<wire::Answer>(Kind::sync_ack), "an answer is shorter"},
      {cut<wire::Answer>(Kind::cancel_answer), "an answer is shorter"},
      {cut<wire::Answer>(Kind::got), "an answer is shorter"},
      {cut<wire::SyncEnvelope>(Kind::cancel), "a cancel is shorter"},
      {cut<wire::Envelope>(Kind::held), "what is held back is shorter"},
      {cut<wire::Envelope>(Kind::go_on), "what is held back is shorter"},
      {cut<wire::Lender>(Kind::lender), "an offer of pages"},
      {cut<wire::Cts>(Kind::borrow), "it wants to borrow"},
      {cut<wire::Data>(Kind::lent), "an announcement of pages is too short"},
      {cut<wire::Answer>(Kind::taken), "it has taken more"},
      {cut<wire::Grant>(Kind::grant), "a grant is shorter"},
      {cut<wire::Grant>(Kind::returned), "a grant is shorter"},
      {cut<wire::Pushed>(Kind::pushed), "was not granted"},
      {cut<wire::Invite>(Kind::invite), "an invitation is shorter"},
      {cut<wire::Early>(Kind::early), "an early message is shorter"},
      {cut<wire::Parted>(Kind::parted), "the first part of a message is not what it says"},
      {cut<wire::Prefix>(Kind::part), "shorter than any header"},
      {cut<peer::wire::Numbered>(Kind{12}), "a number without a message"},
      {cut<peer::wire::Numbered>(Kind{12}, 0), "a number without a message"},
      {cut<peer::wire::Numbered>(Kind{14}), "that were not numbered"},
  };
  for (const Cut& one : all) {
    const std::string told = told_of(one.message);
    EXPECT_NE(told.find(one.told), std::string::npos)
        << "kind " << int(one.message.front()) << ": " << told << ", expected " << one.told;
  }
}

TEST(Lengths, a_payload_that_is_shorter_than_its_header_says_is_dropped) {
  for (const std::size_t more : {0u, 1u, 40u}) {
    const Cut all[] = {
        {lies<wire::Envelope>(Kind::eager, more), "shorter"},
        {lies<wire::SyncEnvelope>(Kind::eager_sync, more), "shorter than it says"},
        {lies<wire::Data>(Kind::data, more), "a data fragment is shorter"},
        {lies<wire::DataAt>(Kind::data_at, more), "a data fragment is shorter"},
        {lies<wire::Parted>(Kind::parted, more), "is not what it says"},
        {lies<wire::Prefix>(Kind::part, more), "a part belongs to no message"},
    };
    for (const Cut& one : all) {
      const std::string told = told_of(one.message);
      EXPECT_NE(told.find(one.told), std::string::npos)
          << "kind " << int(one.message.front()) << ", " << more << " bytes: " << told;
    }
    const std::string told = told_of(lies<wire::Prefix>(Kind{kOther}, more), true);
    EXPECT_NE(told.find("shorter than it says"), std::string::npos) << more << " bytes: " << told;
  }
}

/// A message in parts is open, and its next part is longer than what it brings, or than what is missing.
TEST(Lengths, a_part_longer_than_it_says_or_than_what_is_missing_is_dropped) {
  for (const auto& [says, brings] : std::vector<std::pair<std::uint32_t, std::size_t>>{{8, 7}, {93, 93}}) {
    Job job(2);
    auto receive = job.irecv(1, 0, 1, 100);
    auto hello = job.irecv(1, 0, 2, 8);
    auto sent = job.isend(0, 1, 2, filled(8, 1));
    job.settle();
    wire::Parted first;
    first.envelope = {{Kind::parted, 0, 0, 8}, kWorld.bits, 1, 0};
    first.length = 100;
    std::vector<std::byte> message(sizeof first + 8);
    std::memcpy(message.data(), &first, sizeof first);
    job.network.inject(0, 1, message);
    const wire::Prefix next{Kind::part, 0, 0, says};
    message.assign(sizeof next + brings, std::byte{1});
    std::memcpy(message.data(), &next, sizeof next);
    job.network.inject(0, 1, message);
    job.settle();
    EXPECT_FALSE(receive->complete());
    ASSERT_EQ(job.notes(1).size(), 1u);
    EXPECT_NE(job.notes(1)[0].find("a part belongs to no message"), std::string::npos);
    EXPECT_EQ(receive->data[8], std::byte{0xcc});
    job[1].cancel(receive->request);
  }
}

}  // namespace
}  // namespace starling::pml::test
