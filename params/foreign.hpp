// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Names of other MPI libraries that users write here, and what stands for them. Layer: params.
///
/// Threads: pure functions. Ownership: the texts are constant.

#include <string_view>

namespace starling::params {

/// What to write instead of a parameter of another library, for a sentence that ends "...; use TEXT": empty
/// where nothing is known. Longer names are found by how they begin.
[[nodiscard]] std::string_view instead_of_parameter(std::string_view name) noexcept;
/// The same of a component of that framework, in the value of `framework`.
[[nodiscard]] std::string_view instead_of_component(std::string_view framework,
                                                    std::string_view name) noexcept;

}  // namespace starling::params
