// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a rank tells Starling's mpiexec with its first words, besides who it is: the parameters by
/// which the ranks of a job meet (params::Alike::job). Ranks that differ there would wait for each other in
/// different places, so mpiexec refuses the second value and names both. Layer: framework.
///
/// Threads:   functions of their arguments. Errors: none.

namespace starling::pmi {

/// The field of PMI-1's init and PMI-2's fullinit: a list as in params/differences.hpp, percent-encoded.
inline constexpr char kSettingsField[] = "settings";
/// The rc of the answer to a rank whose settings differ from those of an earlier one.
inline constexpr int kSettingsDiffer = 2;

}  // namespace starling::pmi
