// SPDX-License-Identifier: BSD-3-Clause
// plugins/pmi/pmix against a fake libpmix. Layer: tests.

#include <thread>

#include "tests/unit/pmi/pmix_fake.hpp"

namespace starling::pmi::pmix {
namespace {

TEST(PmixValues, names_are_copied_to_their_end_and_cut_off_where_there_is_no_room) {
  const std::string text(2000, 'n');
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, std::size_t{PMIX_MAX_NSLEN},
                                   std::size_t{PMIX_MAX_NSLEN + 1}, std::size_t{2000}}) {
    const std::string_view name = std::string_view(text).substr(0, length);  // more of the same follows
    const pmix_proc_t proc = proc_of(name, 7);
    EXPECT_EQ(std::strlen(proc.nspace), std::min<std::size_t>(length, PMIX_MAX_NSLEN));
    EXPECT_EQ(proc.rank, 7u);
    const pmix_info_t info = text_info(name, text);
    EXPECT_EQ(std::strlen(info.key), std::min<std::size_t>(length, PMIX_MAX_KEYLEN));
    EXPECT_EQ(info.value.type, PMIX_STRING);
    EXPECT_EQ(info.value.data.string, text.c_str());
  }
}

TEST_F(PmixTest, identity_is_what_the_server_says) {
  server.facts[PMIX_UNIV_SIZE] = number(PMIX_UINT32, 2);  // less than the job, as mpirun says it
  server.facts[PMIX_APPNUM] = number(PMIX_INT, 3);        // as an int, as Slurm says it
  const auto pmi = connect();
  ASSERT_TRUE(pmi) << error_;
  EXPECT_EQ(pmi->identity().rank, 1u);
  EXPECT_EQ(pmi->identity().size, 4u);
  EXPECT_EQ(pmi->identity().universe_size, 4u);
  EXPECT_EQ(pmi->identity().appnum, 3u);
  EXPECT_EQ(pmi->identity().job, "pmix-1417150465");
  EXPECT_EQ(pmi->identity().nodes, NodeMap({{0, 2, 2}}));
  EXPECT_TRUE(pmi->capabilities().get_without_fence);
  EXPECT_FALSE(pmi->capabilities().group_fence);
  EXPECT_NE(pmi->capabilities().server.find("Open MPI"), std::string::npos);
}

TEST_F(PmixTest, process_sets_are_those_of_this_job) {
  server.sets = {
      {"ocean", {2, 0}}, {"atmosphere", {1, 3}}, {"+other", {0, 1}}, {"empty", {}}, {"beyond", {4}}};
  for (const bool as_array : {false, true}) {
    server.sets_as_array = as_array;
    const auto sets = connect()->process_sets();
    ASSERT_EQ(sets.size(), 2u);
    EXPECT_EQ(sets[0].name, "atmosphere");
    EXPECT_EQ(sets[0].ranks, (std::vector<std::uint32_t>{1, 3}));
    EXPECT_EQ(sets[1].name, "ocean");
    EXPECT_EQ(sets[1].ranks, (std::vector<std::uint32_t>{2, 0}));
  }
}

TEST_F(PmixTest, a_server_without_process_sets_has_none) {
  EXPECT_TRUE(connect()->process_sets().empty());
  server.sets = {{"ocean", {2, 0}}};
  server.sets_status = PMIX_ERR_NOT_SUPPORTED;
  EXPECT_TRUE(connect()->process_sets().empty());
}

TEST_F(PmixTest, nodes_are_found_in_every_order) {
  server.nodes = {{"b", {1, 3}}, {"a", {0, 2}}};
  EXPECT_EQ(connect()->identity().nodes, NodeMap({{0, 2, 1}}));
  server.nodes = {{"a", {0, 3}}, {"b", {1, 2}}};
  const NodeMap map = connect()->identity().nodes;
  EXPECT_EQ(map.ranks_on(NodeId{0}, 4), (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(map.ranks_on(NodeId{1}, 4), (std::vector<std::uint32_t>{1, 2}));
}

TEST_F(PmixTest, nodes_that_do_not_add_up_are_unknown) {
  server.nodes = {{"a", {0, 1}}, {"b", {2}}};
  EXPECT_TRUE(connect()->identity().nodes.unknown());
  server.nodes = {{"a", {0, 1, 2}}, {"b", {2, 3}}};
  EXPECT_TRUE(connect()->identity().nodes.unknown());
  server.nodes = {{"a", {0, 1, 2, 9}}};
  EXPECT_TRUE(connect()->identity().nodes.unknown());
  server.nodes.clear();
  EXPECT_TRUE(connect()->identity().nodes.unknown());
}

TEST_F(PmixTest, a_map_that_the_server_has_comes_first) {
  char text[] = "(vector,(0,1,4))";
  server.facts[PMIX_ANL_MAP].type = PMIX_STRING;
  server.facts[PMIX_ANL_MAP].data.string = text;
  EXPECT_EQ(connect()->identity().nodes, NodeMap::one_node(4));
}

TEST_F(PmixTest, a_size_that_makes_no_sense_is_refused) {
  server.facts[PMIX_JOB_SIZE] = number(PMIX_UINT32, 1);
  EXPECT_FALSE(connect());
  EXPECT_NE(error_.find("rank 1 of a job of size 1"), std::string::npos) << error_;
  server.facts.clear();
  EXPECT_FALSE(connect());
  EXPECT_NE(error_.find("unknown"), std::string::npos) << error_;
  EXPECT_EQ(server.finalizes, 2);  // no connection is left open
}

TEST_F(PmixTest, a_server_that_cannot_be_reached_is_an_error_with_its_words) {
  server.init_status = PMIX_ERR_UNREACH;
  EXPECT_FALSE(connect());
  EXPECT_NE(error_.find("SOME-STATUS (-25)"), std::string::npos) << error_;
}

TEST_F(PmixTest, what_was_put_is_committed_at_once) {
  const auto pmi = connect();
  ASSERT_TRUE(pmi->put("card", bytes("x\0y")));
  EXPECT_EQ(server.stored["card"], bytes("x\0y"));
  EXPECT_EQ(server.commits, 1);
  const std::vector<std::byte> large(kMaxValueBytes + 1);
  EXPECT_EQ(pmi->put("large", large).error().code, Errc::no_space);
}

TEST_F(PmixTest, a_get_is_asked_once_and_answered_when_the_peer_has_come) {
  const auto pmi = connect();
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  EXPECT_EQ(server.asked, 1);
  EXPECT_FALSE(readable(*pmi));
  answer(PMIX_SUCCESS, "address");
  EXPECT_TRUE(readable(*pmi));
  const auto found = pmi->get(2, "card");
  EXPECT_EQ(found->found, Found::value);
  EXPECT_EQ(found->value, bytes("address"));
  EXPECT_FALSE(readable(*pmi));
  EXPECT_EQ(pmi->counters().gets, 1u);
}

TEST_F(PmixTest, gets_of_several_ranks_do_not_meet) {
  const auto pmi = connect();
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  EXPECT_EQ(pmi->get(3, "card")->found, Found::not_yet);
  answer(PMIX_SUCCESS, "two");
  EXPECT_EQ(pmi->get(3, "card")->found, Found::not_yet);
  EXPECT_EQ(pmi->get(2, "card")->value, bytes("two"));
  answer(PMIX_SUCCESS, "three");
  EXPECT_EQ(pmi->get(3, "card")->value, bytes("three"));
}

TEST_F(PmixTest, not_there_is_asked_again_after_a_while) {
  const auto pmi = connect();
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  answer(PMIX_ERR_NOT_FOUND);
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  EXPECT_EQ(server.asked, 1);
  for (int i = 0; i < 1000 && server.asked == 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  }
  EXPECT_EQ(server.asked, 2);
  answer(PMIX_SUCCESS, "late");
  EXPECT_EQ(pmi->get(2, "card")->value, bytes("late"));
}

TEST_F(PmixTest, a_rank_that_has_ended_has_none) {
  const auto pmi = connect();
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  answer(PMIX_ERR_LOST_CONNECTION);
  EXPECT_EQ(pmi->get(2, "card")->found, Found::none);
}

TEST_F(PmixTest, other_answers_are_errors_and_leave_other_gets_alone) {
  const auto pmi = connect();
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  EXPECT_EQ(pmi->get(3, "card")->found, Found::not_yet);
  answer(PMIX_ERR_BAD_PARAM);
  EXPECT_FALSE(pmi->get(2, "card"));
  server.ask_status = PMIX_ERR_BAD_PARAM;
  EXPECT_FALSE(pmi->get(0, "card"));
  answer(PMIX_SUCCESS, "three");
  EXPECT_EQ(pmi->get(3, "card")->value, bytes("three"));
  EXPECT_EQ(pmi->get(4, "card").error().code, Errc::not_found);
}

TEST_F(PmixTest, a_fence_is_of_everybody_with_data_and_may_be_watched) {
  const auto pmi = connect();
  const auto entered = pmi->fence_enter({}, {}, Deadline::after_seconds(60));
  ASSERT_TRUE(entered);
  EXPECT_EQ(server.fenced, std::vector<pmix_rank_t>{PMIX_RANK_WILDCARD});
  EXPECT_TRUE(server.collects);
  EXPECT_FALSE(*pmi->fence_left(*entered));
  server.fence(PMIX_SUCCESS);
  EXPECT_TRUE(readable(*pmi));
  EXPECT_TRUE(*pmi->fence_left(*entered));
}

TEST_F(PmixTest, a_fence_that_is_over_at_once_or_fails_says_so) {
  const auto pmi = connect();
  server.fence_status = PMIX_OPERATION_SUCCEEDED;
  EXPECT_TRUE(pmi->fence(Deadline::after_seconds(60)));
  server.fence_status = PMIX_ERR_BAD_PARAM;
  EXPECT_FALSE(pmi->fence(Deadline::after_seconds(60)));
  server.fence_status = PMIX_SUCCESS;
  const auto entered = pmi->fence_enter({}, {}, Deadline::after_seconds(60));
  server.fence(PMIX_ERR_PARTIAL_SUCCESS);
  EXPECT_EQ(pmi->fence_left(*entered).error().code, Errc::peer_lost);
}

TEST_F(PmixTest, who_has_come_back_enters_a_fence_again_that_one_who_leaves_has_ended) {
  const auto pmi = connect();
  pmi->set_active(false);
  pmi->set_active(true);
  const auto entered = pmi->fence_enter({}, {}, Deadline::after_seconds(60));
  ASSERT_TRUE(entered);
  for (const pmix_status_t status : {PMIX_ERR_PARTIAL_SUCCESS, PMIX_ERR_LOST_CONNECTION}) {
    const std::size_t entries = server.fenced.size();
    server.fence(status);
    const auto left = pmi->fence_left(*entered);
    ASSERT_TRUE(left) << left.error().text();
    EXPECT_FALSE(*left);
    EXPECT_EQ(server.fenced.size(), entries + 1);
  }
  server.fence(PMIX_SUCCESS);
  EXPECT_TRUE(*pmi->fence_left(*entered));
}

TEST_F(PmixTest, a_fence_that_is_ended_again_and_again_has_lost_somebody) {
  const auto pmi = connect();
  pmi->set_active(false);
  pmi->set_active(true);
  const auto entered = pmi->fence_enter({}, {}, Deadline::after_seconds(60));
  ASSERT_TRUE(entered);
  for (std::size_t entries = 1; entries <= 2 * (server.size - 1); ++entries) {
    ASSERT_EQ(server.fenced.size(), entries);
    server.fence(PMIX_ERR_PARTIAL_SUCCESS);
    ASSERT_TRUE(pmi->fence_left(*entered));
  }
  server.fence(PMIX_ERR_PARTIAL_SUCCESS);
  EXPECT_EQ(pmi->fence_left(*entered).error().code, Errc::peer_lost);
}

TEST_F(PmixTest, a_fence_that_is_refused_when_it_is_entered_again_has_lost_somebody) {
  const auto pmi = connect();
  pmi->set_active(false);
  pmi->set_active(true);
  const auto entered = pmi->fence_enter({}, {}, Deadline::after_seconds(60));
  server.fence(PMIX_ERR_PARTIAL_SUCCESS);
  ASSERT_TRUE(pmi->fence_left(*entered));
  server.fence(PMIX_ERR_NOT_SUPPORTED);
  EXPECT_EQ(pmi->fence_left(*entered).error().code, Errc::peer_lost);
}

TEST_F(PmixTest, a_fence_that_timed_out_spoils_the_later_ones) {
  const auto pmi = connect();
  EXPECT_EQ(pmi->fence(Deadline::after_ns(1'000'000)).error().code, Errc::timed_out);
  const auto later = pmi->fence_enter({}, {}, Deadline::after_seconds(60));
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().text().find("earlier fence"), std::string::npos);
}

TEST_F(PmixTest, a_question_that_is_open_at_the_end_of_a_fence_is_asked_again) {
  const auto pmi = connect();
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  server.fence_status = PMIX_OPERATION_SUCCEEDED;
  ASSERT_TRUE(pmi->fence(Deadline::after_seconds(60)));
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  EXPECT_EQ(server.asked, 2);
  answer(PMIX_SUCCESS, "too late");
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  answer(PMIX_SUCCESS, "in time");
  EXPECT_EQ(pmi->get(2, "card")->value, bytes("in time"));
}

TEST_F(PmixTest, fences_of_some_are_not_used) {
  const auto pmi = connect();
  const std::uint32_t some[] = {1, 2};
  EXPECT_EQ(pmi->fence(some, "tag", Deadline::after_seconds(60)).error().code, Errc::unsupported);
  EXPECT_TRUE(pmi->fence(std::span(some, 1), "tag", Deadline::after_seconds(60)));
  EXPECT_TRUE(server.fenced.empty());
}

TEST_F(PmixTest, the_end_of_mpi_is_told_and_a_new_begin_puts_everything_again) {
  auto pmi = connect();
  ASSERT_TRUE(pmi->put("card", bytes("x")));
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  pmi->set_active(false);
  EXPECT_EQ(server.finalizes, 1);
  pmi->set_active(false);
  EXPECT_EQ(server.finalizes, 1);
  server.waiting.clear();  // a closed connection answers nothing
  pmi->set_active(true);
  EXPECT_EQ(server.inits, 2);
  EXPECT_EQ(server.stored["card"], bytes("x"));
  EXPECT_EQ(pmi->get(2, "card")->found, Found::not_yet);
  EXPECT_EQ(server.asked, 2);
  answer(PMIX_SUCCESS, "y");
  EXPECT_EQ(pmi->get(2, "card")->value, bytes("y"));
  pmi->set_active(false);
  pmi.reset();
  EXPECT_EQ(server.finalizes, 2);
}

TEST_F(PmixTest, who_comes_back_again_and_again_keeps_the_connection) {
  auto pmi = connect();
  ASSERT_TRUE(pmi->put("card", bytes("x")));
  for (int i = 0; i < 1000; ++i) {
    pmi->set_active(false);
    pmi->set_active(true);
  }
  EXPECT_EQ(server.inits, 3);
  EXPECT_EQ(server.finalizes, 2);
  EXPECT_EQ(server.commits, 3);  // the value is put again with each connection alone
  pmi->set_active(false);
  EXPECT_EQ(server.finalizes, 2);
  pmi.reset();
  EXPECT_EQ(server.finalizes, 3) << "the launcher would take the end for a failure";
}

TEST_F(PmixTest, a_process_that_ends_closes_a_kept_connection) {
  const auto pmi = connect();
  for (int i = 0; i < 3; ++i) {
    pmi->set_active(false);
    pmi->set_active(true);
  }
  pmi->set_active(false);
  EXPECT_EQ(server.finalizes, 2);
  pmi->process_ends();
  EXPECT_EQ(server.finalizes, 3);
}

TEST_F(PmixTest, a_begin_that_fails_is_told_by_the_next_call) {
  const auto pmi = connect();
  pmi->set_active(false);
  server.init_status = PMIX_ERR_UNREACH;
  pmi->set_active(true);
  EXPECT_FALSE(pmi->put("card", bytes("x")));
  EXPECT_FALSE(pmi->get(2, "card"));
  EXPECT_FALSE(pmi->fence(Deadline::after_seconds(60)));
}

/// libpmix tells of a connection that was lost: whose is `lost`.
void lose(const pmix_proc_t* lost) {
  server.on_event(0, PMIX_ERR_LOST_CONNECTION, lost, nullptr, 0, nullptr, 0, nullptr, nullptr);
}

TEST_F(PmixTest, a_server_that_goes_away_is_peer_lost) {
  const pmix_proc_t its_name = proc_of("pmix-server", 7);
  const pmix_proc_t* const names[] = {&its_name, nullptr};
  for (const pmix_proc_t* const name : names) {
    const auto pmi = connect();
    EXPECT_TRUE(pmi->check());
    lose(name);
    EXPECT_TRUE(readable(*pmi));
    EXPECT_EQ(pmi->check().error().code, Errc::peer_lost);
  }
}

TEST_F(PmixTest, a_lost_connection_of_a_rank_is_not_the_servers_end) {
  const auto pmi = connect();
  for (const pmix_rank_t rank : {server.rank, server.rank + 1}) {
    const pmix_proc_t lost = proc_of(server.nspace, rank);
    lose(&lost);
    EXPECT_TRUE(pmi->check()) << rank;
  }
  pmi->set_active(false);
  pmi->set_active(true);
  const pmix_proc_t earlier = proc_of(server.nspace, server.rank);
  lose(&earlier);  // as Open MPI's mpirun tells a process that has come back
  EXPECT_TRUE(pmi->check());
}

TEST_F(PmixTest, names_are_published_found_and_withdrawn) {
  const auto pmi = connect();
  EXPECT_EQ(pmi->lookup("name").error().code, Errc::not_found);
  ASSERT_TRUE(pmi->publish("name", "port"));
  EXPECT_FALSE(pmi->publish("name", "other"));
  EXPECT_EQ(*pmi->lookup("name"), "port");
  EXPECT_TRUE(pmi->unpublish("name"));
  EXPECT_EQ(pmi->unpublish("name").error().code, Errc::not_found);
  EXPECT_FALSE(connect("SLURM_PMIX_MAPPING_SERV")->capabilities().name_service);
}

TEST_F(PmixTest, an_abort_passes_the_code_on) {
  const auto pmi = connect();
  pmi->abort(7, "why");
  EXPECT_EQ(server.aborted, 7);
}

TEST(PmixValues, numbers_are_read_by_the_type_they_have) {
  EXPECT_EQ(number_of(number(PMIX_UINT32, 7)), 7u);
  EXPECT_EQ(number_of(number(PMIX_UINT16, 7)), 7u);
  EXPECT_EQ(number_of(number(PMIX_PROC_RANK, 7)), 7u);
  pmix_value_t negative{};
  negative.type = PMIX_INT;
  negative.data.integer = -1;
  EXPECT_EQ(number_of(negative), std::nullopt);
  pmix_value_t text{};
  text.type = PMIX_STRING;
  EXPECT_EQ(number_of(text), std::nullopt);
  EXPECT_EQ(text_of(text), std::nullopt);  // a null string, as servers send for what they do not know
}

}  // namespace
}  // namespace starling::pmi::pmix
