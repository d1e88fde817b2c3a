// SPDX-License-Identifier: BSD-3-Clause
// Errors: details, handlers, user codes, exceptions, coverage.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <set>
#include <stdexcept>
#include <string>

#include "mpi.h"
#include "mpi/api/entry.hpp"
#include "mpi/coverage.hpp"
#include "mpi/errhandler/codes.hpp"
#include "mpi/errhandler/errhandler.hpp"
#include "mpi/error.hpp"
#include "mpi/world/world.hpp"

namespace starling::mpi {
namespace {

int seen_code = 0;
MPI_Comm seen_comm = MPI_COMM_NULL;
extern "C" void note_error(MPI_Comm* comm, int* code, ...) {
  seen_code = *code;
  seen_comm = *comm;
}

class ErrorTest : public ::testing::Test {
 protected:
  void SetUp() override { registry().initial_errhandler = as_bits(MPI_ERRORS_RETURN); }
  static std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    EXPECT_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    EXPECT_EQ(std::string(text).size(), static_cast<std::size_t>(length));
    return text;
  }
};

TEST_F(ErrorTest, a_call_before_init_says_what_to_do) {
  int rank = 0;
  EXPECT_EQ(MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_ERR_OTHER);
  EXPECT_EQ(last_error_detail(), "MPI is not initialised: call MPI_Init or MPI_Session_init first");
}

TEST_F(ErrorTest, a_call_after_finalize_says_that_mpi_has_ended) {
  world().finalized = true;
  int rank = 0;
  EXPECT_EQ(MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_ERR_OTHER);
  world().finalized = false;
  EXPECT_EQ(last_error_detail(), "MPI has ended: MPI_Finalize was called before, and no session is open");
}

TEST_F(ErrorTest, the_error_string_has_name_meaning_and_what_was_raised_last) {
  int rank = 0;
  EXPECT_EQ(MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_ERR_OTHER);
  EXPECT_THAT(text_of(MPI_ERR_OTHER), ::testing::EndsWith("(MPI_Comm_rank: MPI is not initialised: call "
                                                          "MPI_Init or MPI_Session_init first)"));
  EXPECT_EQ(text_of(MPI_ERR_TAG), "MPI_ERR_TAG: invalid tag");
}

TEST_F(ErrorTest, every_predefined_class_has_a_text) {
  for (int code = MPI_SUCCESS; code <= MPI_ERR_ABI; ++code) EXPECT_FALSE(error_name(code).empty()) << code;
}

TEST_F(ErrorTest, users_classes_and_codes_have_their_own_texts) {
  int error_class = 0, code = 0, found = 0;
  ASSERT_EQ(MPI_Add_error_class(&error_class), MPI_SUCCESS);
  ASSERT_EQ(MPI_Add_error_code(error_class, &code), MPI_SUCCESS);
  EXPECT_GT(error_class, MPI_ERR_LASTCODE);
  EXPECT_EQ(text_of(code), "");
  ASSERT_EQ(MPI_Add_error_string(code, "the solver diverged"), MPI_SUCCESS);
  EXPECT_EQ(text_of(code), "the solver diverged");
  ASSERT_EQ(MPI_Error_class(code, &found), MPI_SUCCESS);
  EXPECT_EQ(found, error_class);
  EXPECT_EQ(last_used_code(), code);
  EXPECT_EQ(MPI_Remove_error_class(error_class), MPI_ERR_OTHER) << "it has a code";
  EXPECT_EQ(MPI_Remove_error_code(code), MPI_ERR_OTHER) << "it has a text";
  EXPECT_EQ(MPI_Remove_error_string(code), MPI_SUCCESS);
  EXPECT_EQ(MPI_Remove_error_code(code), MPI_SUCCESS);
  EXPECT_EQ(MPI_Remove_error_class(error_class), MPI_SUCCESS);
  EXPECT_EQ(MPI_Error_class(code, &found), MPI_ERR_ARG);
}

TEST_F(ErrorTest, predefined_texts_cannot_be_changed) {
  EXPECT_EQ(MPI_Add_error_string(MPI_ERR_RANK, "mine"), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Remove_error_class(MPI_ERR_RANK), MPI_ERR_ARG);
}

TEST_F(ErrorTest, a_users_handler_gets_the_object_and_the_code) {
  const Errhandler handler(&note_error);
  EXPECT_EQ(handler.invoke(Kind::comm, as_bits(MPI_COMM_SELF), MPI_ERR_TAG, "text"), MPI_ERR_TAG);
  EXPECT_EQ(seen_code, MPI_ERR_TAG);
  EXPECT_EQ(seen_comm, MPI_COMM_SELF);
  EXPECT_TRUE(handler.fits(Kind::comm));
  EXPECT_FALSE(handler.fits(Kind::win));
}

TEST_F(ErrorTest, handler_handles_can_be_made_and_freed_before_init) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  ASSERT_EQ(MPI_Comm_create_errhandler(&note_error, &handler), MPI_SUCCESS);
  MPI_Errhandler stale = handler;
  EXPECT_NE(find_errhandler(handler), nullptr);
  EXPECT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);
  EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);
  EXPECT_EQ(MPI_Errhandler_free(&stale), MPI_ERR_ERRHANDLER);
}

TEST_F(ErrorTest, exceptions_end_at_the_entry_point) {
  EXPECT_EQ(Call("MPI_Test", Hold::none).run([]() -> int { throw std::bad_alloc(); }), MPI_ERR_NO_MEM);
  EXPECT_EQ(Call("MPI_Test", Hold::none).run([]() -> int { throw std::runtime_error("lost"); }),
            MPI_ERR_INTERN);
  EXPECT_EQ(last_error_detail(), "unexpected exception: lost");
}

TEST_F(ErrorTest, an_old_detail_is_not_told_again) {
  EXPECT_EQ(error(MPI_ERR_RANK, "first"), MPI_ERR_RANK);
  EXPECT_EQ(take_error().detail, "first");
  EXPECT_EQ(take_error().error_class, MPI_SUCCESS);
}

TEST_F(ErrorTest, null_arguments_are_named) {
  EXPECT_EQ(MPI_Get_version(nullptr, &seen_code), MPI_ERR_ARG);
  EXPECT_EQ(last_error_detail(), "version is NULL, expected an address");
}

TEST(ErrorDeathTest, the_fatal_handler_prints_function_argument_and_value) {
  registry().initial_errhandler = as_bits(MPI_ERRORS_ARE_FATAL);
  EXPECT_DEATH(MPI_Get_version(nullptr, nullptr), "MPI_Get_version: version is NULL");
  registry().initial_errhandler = as_bits(MPI_ERRORS_RETURN);
}

TEST(CoverageTest, lists_each_function_once) {
  std::set<std::string> names;
  int covered = 0;
  for (const Coverage& entry : coverage()) {
    names.insert(entry.name);
    covered += entry.covered ? 1 : 0;
    if (std::string(entry.name) == "MPI_Info_create") {
      EXPECT_TRUE(entry.covered);
    }
    EXPECT_NE(std::string(entry.chapter), "");
  }
  EXPECT_EQ(coverage().size(), 662u);
  EXPECT_EQ(names.size(), 662u);
  EXPECT_GT(covered, 150);
}

TEST(ToolTest, every_parameter_is_a_control_variable) {
  int provided = 0, variables = 0;
  EXPECT_EQ(MPI_T_cvar_get_num(&variables), MPI_T_ERR_NOT_INITIALIZED);
  ASSERT_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  ASSERT_EQ(MPI_T_cvar_get_num(&variables), MPI_SUCCESS);
  ASSERT_GT(variables, 0);
  for (int index = 0; index < variables; ++index) {
    char name[128], text[512];
    int name_room = sizeof name, text_room = sizeof text, found = -1, count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum choices = MPI_T_ENUM_NULL;
    ASSERT_EQ(MPI_T_cvar_get_info(index, name, &name_room, nullptr, &type, &choices, text, &text_room,
                                  nullptr, nullptr),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_T_cvar_get_index(name, &found), MPI_SUCCESS);
    EXPECT_EQ(found, index);
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    ASSERT_EQ(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), MPI_SUCCESS);
    std::string value(static_cast<std::size_t>(count) * 8, '\1');
    EXPECT_EQ(MPI_T_cvar_read(handle, value.data()), MPI_SUCCESS);
    EXPECT_EQ(MPI_T_cvar_write(handle, value.data()), MPI_T_ERR_CVAR_SET_NEVER);
    EXPECT_EQ(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
    int items = 0;
    if (choices != MPI_T_ENUM_NULL) {
      EXPECT_EQ(MPI_T_enum_get_info(choices, &items, nullptr, nullptr), MPI_SUCCESS);
    }
  }
  int none = -1;
  EXPECT_EQ(MPI_T_cvar_get_index("no_such_variable", &none), MPI_T_ERR_INVALID_NAME);
  EXPECT_EQ(MPI_T_pvar_get_num(&none), MPI_SUCCESS);
  EXPECT_GT(none, 0);
  EXPECT_EQ(MPI_T_finalize(), MPI_SUCCESS);
  EXPECT_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
}

}  // namespace
}  // namespace starling::mpi
