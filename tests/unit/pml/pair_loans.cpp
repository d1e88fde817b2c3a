// SPDX-License-Identifier: BSD-3-Clause
// The test btl lends as btl/shm does.
#include "plugins/btl/shm/loans.hpp"
#include "tests/conformance/pml/pair.hpp"

namespace starling::pml::test {

std::shared_ptr<btl::Loans> make_pair_loans() { return std::make_shared<btl::PipeLoans>(); }

}  // namespace starling::pml::test
