// SPDX-License-Identifier: BSD-3-Clause
// Attribute sets: when which callback is called with what, and what its answer does.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "mpi/attribute/attributes.hpp"
#include "mpi/handles.hpp"

namespace starling::mpi {
namespace {

struct Event {
  std::string what;
  HandleBits object;
  int keyval;
  void* value;
};
std::vector<Event> events;
int answer = MPI_SUCCESS;
int keep = 1;

extern "C" int note_copy(MPI_Comm comm, int keyval, void* extra, void* value, void* out, int* flag) {
  events.push_back({"copy", as_bits(comm), keyval, value});
  *static_cast<void**>(out) = extra;
  *flag = keep;
  return answer;
}
extern "C" int note_delete(MPI_Comm comm, int keyval, void* value, void*) {
  events.push_back({"delete", as_bits(comm), keyval, value});
  return answer;
}

int first = 1, second = 2, extra = 3;

class AttributesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    events.clear();
    answer = MPI_SUCCESS;
    keep = 1;
  }
  KeyvalPtr make(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* erase) {
    return all_.find(all_.add(std::make_unique<Keyval>(copy, erase, &extra)));
  }
  Keyvals all_;
  AttributeSet set_;
};

TEST_F(AttributesTest, numbers_come_again_but_not_soon) {
  const int kept = make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN)->id();
  int highest = 0, before = 0;
  for (int i = 0; i < 1000; ++i) {
    const KeyvalPtr keyval = make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
    const int id = keyval->id();
    ASSERT_NE(id, kept);
    ASSERT_EQ(all_.find_alive(id), keyval.get());
    ASSERT_EQ(all_.find_alive(before), nullptr) << "an old number must not name a keyval that follows it";
    all_.release(id);
    EXPECT_EQ(all_.find(id), nullptr);
    highest = std::max(highest, id);
    before = id;
  }
  EXPECT_LT(highest, kept + 100);
  EXPECT_NE(all_.find(kept), nullptr);
}

TEST_F(AttributesTest, a_number_does_not_come_again_while_an_attribute_has_it) {
  const KeyvalPtr keyval = make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
  static_cast<void>(set_.set(1, keyval, &first));
  all_.release(keyval->id());
  for (int i = 0; i < 500; ++i) {
    const int id = make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN)->id();
    ASSERT_NE(id, keyval->id());
    all_.release(id);
  }
  EXPECT_EQ(all_.find_alive(keyval->id()), keyval.get());
}

TEST_F(AttributesTest, a_value_is_found_after_it_was_set) {
  const KeyvalPtr keyval = make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
  EXPECT_FALSE(set_.get(keyval->id()));
  EXPECT_EQ(set_.set(1, keyval, &first), MPI_SUCCESS);
  EXPECT_EQ(set_.get(keyval->id()), &first);
}

TEST_F(AttributesTest, replacing_deletes_the_old_value_first) {
  const KeyvalPtr keyval = make(MPI_COMM_NULL_COPY_FN, note_delete);
  static_cast<void>(set_.set(0x77, keyval, &first));
  EXPECT_EQ(set_.set(0x77, keyval, &second), MPI_SUCCESS);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].value, &first);
  EXPECT_EQ(events[0].object, 0x77u);
  EXPECT_EQ(events[0].keyval, keyval->id());
  EXPECT_EQ(set_.size(), 1u);
}

TEST_F(AttributesTest, a_refused_delete_keeps_the_old_value_and_passes_the_code_on) {
  const KeyvalPtr keyval = make(MPI_COMM_NULL_COPY_FN, note_delete);
  static_cast<void>(set_.set(1, keyval, &first));
  answer = MPI_ERR_OTHER;
  EXPECT_EQ(set_.set(1, keyval, &second), MPI_ERR_OTHER);
  EXPECT_EQ(set_.erase(1, keyval->id()), MPI_ERR_OTHER);
  EXPECT_EQ(set_.clear(1), MPI_ERR_OTHER);
  EXPECT_EQ(set_.get(keyval->id()), &first);
  answer = MPI_SUCCESS;
}

TEST_F(AttributesTest, the_null_copy_function_copies_nothing_and_the_dup_function_the_value) {
  const KeyvalPtr null = make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
  const KeyvalPtr dup = make(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN);
  static_cast<void>(set_.set(1, null, &first));
  static_cast<void>(set_.set(1, dup, &second));
  AttributeSet copy;
  EXPECT_EQ(copy.copy_from(1, set_), MPI_SUCCESS);
  EXPECT_FALSE(copy.get(null->id()));
  EXPECT_EQ(copy.get(dup->id()), &second);
}

TEST_F(AttributesTest, a_copy_callback_gives_the_new_value_or_declines) {
  const KeyvalPtr keyval = make(note_copy, MPI_COMM_NULL_DELETE_FN);
  static_cast<void>(set_.set(0x55, keyval, &first));
  AttributeSet copy, declined;
  EXPECT_EQ(copy.copy_from(0x55, set_), MPI_SUCCESS);
  EXPECT_EQ(copy.get(keyval->id()), &extra);
  EXPECT_EQ(events[0].object, 0x55u) << "the old object's handle";
  keep = 0;
  EXPECT_EQ(declined.copy_from(0x55, set_), MPI_SUCCESS);
  EXPECT_TRUE(declined.empty());
}

TEST_F(AttributesTest, a_failing_copy_callback_fails_the_copy) {
  const KeyvalPtr keyval = make(note_copy, MPI_COMM_NULL_DELETE_FN);
  static_cast<void>(set_.set(1, keyval, &first));
  answer = MPI_ERR_NO_MEM;
  AttributeSet copy;
  EXPECT_EQ(copy.copy_from(1, set_), MPI_ERR_NO_MEM);
}

TEST_F(AttributesTest, clear_deletes_the_newest_first) {
  const KeyvalPtr a = make(MPI_COMM_NULL_COPY_FN, note_delete);
  const KeyvalPtr b = make(MPI_COMM_NULL_COPY_FN, note_delete);
  static_cast<void>(set_.set(1, b, &first));
  static_cast<void>(set_.set(1, a, &second));
  EXPECT_EQ(set_.clear(1), MPI_SUCCESS);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].keyval, a->id());
  EXPECT_EQ(events[1].keyval, b->id());
  EXPECT_TRUE(set_.empty());
}

TEST_F(AttributesTest, a_released_keyval_is_not_found_but_its_attribute_still_is) {
  const KeyvalPtr keyval = make(MPI_COMM_NULL_COPY_FN, note_delete);
  static_cast<void>(set_.set(1, keyval, &first));
  all_.release(keyval->id());
  EXPECT_EQ(all_.find(keyval->id()), nullptr);
  EXPECT_EQ(set_.get(keyval->id()), &first);
  EXPECT_EQ(set_.erase(1, keyval->id()), MPI_SUCCESS);
  EXPECT_EQ(events.size(), 1u);
}

TEST_F(AttributesTest, a_released_keyval_is_alive_until_its_last_attribute_has_gone) {
  const int id = all_.add(std::make_unique<Keyval>(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, nullptr));
  AttributeSet copy;
  EXPECT_EQ(set_.set(1, all_.find(id), &first), MPI_SUCCESS);
  EXPECT_EQ(copy.copy_from(1, set_), MPI_SUCCESS);
  all_.release(id);
  EXPECT_EQ(set_.erase(1, id), MPI_SUCCESS);
  EXPECT_NE(all_.find_alive(id), nullptr);
  all_.release(id);
  EXPECT_NE(all_.find_alive(id), nullptr) << "releasing again changes nothing";
  EXPECT_EQ(copy.clear(2), MPI_SUCCESS);
  EXPECT_EQ(all_.find_alive(id), nullptr);
  all_.release(id);
  EXPECT_EQ(all_.find_alive(id), nullptr);
}

TEST_F(AttributesTest, a_released_keyval_without_attributes_is_gone) {
  const int id = all_.add(std::make_unique<Keyval>(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, nullptr));
  EXPECT_NE(all_.find_alive(id), nullptr);
  all_.release(id);
  EXPECT_EQ(all_.find_alive(id), nullptr);
  EXPECT_EQ(all_.find_alive(MPI_KEYVAL_INVALID), nullptr);
}

TEST_F(AttributesTest, deleting_what_is_not_there_changes_nothing) {
  EXPECT_EQ(set_.set(1, make(nullptr, nullptr), &first), MPI_SUCCESS);
  EXPECT_EQ(set_.erase(1, 12345), MPI_SUCCESS);
  EXPECT_EQ(set_.size(), 1u);
}

TEST_F(AttributesTest, a_number_comes_again_after_64_others_have_ended) {
  std::vector<KeyvalPtr> keyvals;
  for (int i = 0; i < 65; ++i) keyvals.push_back(make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN));
  std::vector<int> ids;
  for (KeyvalPtr& keyval : keyvals) {
    ids.push_back(keyval->id());
    all_.release(ids.back());
    if (ids.size() < keyvals.size()) keyval.reset();
  }
  const int fresh = make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN)->id();
  EXPECT_EQ(std::count(ids.begin(), ids.end(), fresh), 0) << "63 others have ended after the first";
  keyvals.back().reset();
  EXPECT_EQ(make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN)->id(), ids.front());
}

TEST_F(AttributesTest, numbers_are_not_used_again) {
  const int id = make(nullptr, nullptr)->id();
  all_.release(id);
  EXPECT_NE(make(nullptr, nullptr)->id(), id);
  EXPECT_NE(id, MPI_KEYVAL_INVALID);
}

}  // namespace
}  // namespace starling::mpi
