// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Ranks of a fence as text. Layer: framework interface. See docs/design/pmi.md.
///
/// PMI 1.2 lists them all: `0,1,2,3`. Starling's mpiexec also reads runs, `0-3`, and runs of equal steps,
/// `0-12/4`, so that the length does not grow with the number of members where they follow one another.
///
/// Threads: any. Errors: read_ranks() says only that the text is no list of ranks.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace starling::pmi {

enum class RankForm : std::uint8_t { list, runs };

/// `ranks` are ascending, none twice.
[[nodiscard]] std::string rank_text(std::span<const std::uint32_t> ranks, RankForm form);

/// Returns the ranks, ascending, none twice. Empty: the text is no list of ranks, or has a rank that is not
/// below `size`, or its runs have more than `size` ranks in all.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> read_ranks(std::string_view text, std::uint32_t size);

}  // namespace starling::pmi
