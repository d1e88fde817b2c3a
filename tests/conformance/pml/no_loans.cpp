// SPDX-License-Identifier: BSD-3-Clause
// The suite's btl does not lend: a pml must do without.
#include "tests/conformance/pml/pair.hpp"

namespace starling::pml::test {

std::shared_ptr<btl::Loans> make_pair_loans() { return nullptr; }

}  // namespace starling::pml::test
