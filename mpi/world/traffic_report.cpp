// SPDX-License-Identifier: BSD-3-Clause
// The report at the end: which transport and protocol carried the messages, and why not another. Layer: mpi.
// What is hard: ranks differ in their transports, so each sends rows that name theirs and rank 0 sorts them;
// and a thousand ranks with the same reason are one line. Nothing of this runs unless it is asked for.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mpi/creation/exchange.hpp"
#include "mpi/handles.hpp"
#include "mpi/onesided/reach.hpp"
#include "mpi/runtime/runtime.hpp"
#include "mpi/runtime/traffic.hpp"
#include "mpi/world/report.hpp"

namespace starling::mpi {
namespace {

constexpr std::size_t kMaxRows = 8;           // transports of one process, times classes it uses them for
constexpr std::size_t kMaxNotesBytes = 4096;  // per rank
constexpr std::size_t kMaxNotes = 12;         // printed

struct Row {
  char transport[16] = {};
  PairClass pairs{};
  std::uint32_t used = 0;
  pml::Traffic sent;
};

struct TrafficRecord {
  std::array<Row, kMaxRows> rows;
  std::uint64_t notes_bytes = 0;
  Sleeps sleeps;
};

/// Everything that did not go as it might have, one line each.
std::string own_notes(Runtime& runtime) {
  std::string text;
  const auto add = [&](std::string_view who, const std::string& note) {
    if (text.size() + who.size() + note.size() + 3 > kMaxNotesBytes) return;
    text += std::string(who) + (who.empty() ? "" : ": ") + note + '\n';
  };
  for (const std::string& reason : runtime.transports().refused()) add("not used", reason);
  for (btl::Component* const transport : runtime.transports().all()) {
    for (const std::string& note : transport->counters().notes) add(transport->name(), note);
  }
  for (const std::string& note : runtime.peers().counters().notes) add("", note);
  for (const std::string& note : runtime.pml().counters().notes) add("", note);
  for (const std::string& line : path_lines()) add("", line);
  return text;
}

TrafficRecord own_record(Runtime& runtime, std::size_t notes_bytes) {
  TrafficRecord record;
  record.notes_bytes = notes_bytes;
  record.sleeps = runtime.polling().sleeper().counts;
  std::size_t next = 0;
  for (const ClassTraffic& traffic : class_traffic(runtime)) {
    if (next == kMaxRows) break;
    Row& row = record.rows[next++];
    std::snprintf(row.transport, sizeof row.transport, "%.*s", static_cast<int>(traffic.transport.size()),
                  traffic.transport.data());
    row.pairs = traffic.pairs;
    row.used = 1;
    row.sent = traffic.sent;
  }
  return record;
}

/// In all, and smallest, mean and largest of the ranks.
struct TrafficSpread {
  std::uint64_t sum = 0, low = ~std::uint64_t{0}, high = 0;
  std::uint64_t ranks = 0;
  void add(std::uint64_t value) {
    sum += value;
    low = std::min(low, value);
    high = std::max(high, value);
    ++ranks;
  }
  [[nodiscard]] std::string text(std::size_t all_ranks) const {
    char line[128];
    std::snprintf(line, sizeof line, "%14llu %12llu %14.1f %12llu", static_cast<unsigned long long>(sum),
                  static_cast<unsigned long long>(ranks < all_ranks ? 0 : low),
                  static_cast<double>(sum) / static_cast<double>(all_ranks),
                  static_cast<unsigned long long>(high));
    return line;
  }
};

struct Protocol {
  const char* name;
  pml::Traffic::Messages pml::Traffic::*messages;
};
constexpr Protocol kProtocols[] = {
    {"eager", &pml::Traffic::eager}, {"ring rendezvous", &pml::Traffic::ring}, {"get", &pml::Traffic::get}};

using Rows = std::map<std::pair<PairClass, std::string>, std::vector<const Row*>>;

std::string table(const std::vector<TrafficRecord>& all) {
  Rows rows;
  for (const TrafficRecord& record : all) {
    for (const Row& row : record.rows) {
      if (row.used != 0) rows[{row.pairs, row.transport}].push_back(&row);
    }
  }
  std::string text =
      "\n  pairs   transport protocol                         in all      rank min           mean     rank "
      "max";
  for (const auto& [key, of_ranks] : rows) {
    for (const Protocol& protocol : kProtocols) {
      TrafficSpread count, bytes;
      for (const Row* const row : of_ranks) {
        count.add((row->sent.*protocol.messages).count);
        bytes.add((row->sent.*protocol.messages).bytes);
      }
      if (count.sum == 0) continue;
      char head[64];
      std::snprintf(head, sizeof head, "\n  %-7s %-9s %-15s",
                    kPairClassNames[static_cast<std::size_t>(key.first)].data(), key.second.c_str(),
                    protocol.name);
      text += std::string(head) + " messages " + count.text(all.size());
      std::snprintf(head, sizeof head, "\n%35s", "");
      text += std::string(head) + " bytes    " + bytes.text(all.size());
    }
  }
  for (std::size_t i = 0; i < kPairClassNames.size(); ++i) {
    const bool used = std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return static_cast<std::size_t>(row.first.first) == i &&
             std::any_of(row.second.begin(), row.second.end(), [](const Row* one) {
               return one->sent.eager.count + one->sent.ring.count + one->sent.get.count != 0;
             });
    });
    if (!used) text += "\n  " + std::string(kPairClassNames[i]) + ": no messages";
  }
  std::uint64_t stalls = 0;
  for (const auto& [key, of_ranks] : rows) {
    for (const Row* const row : of_ranks) stalls += row->sent.stalls;
  }
  if (stalls != 0) {
    text += "\n  " + std::to_string(stalls) +
            " short messages were announced first: their receivers held as many unexpected bytes as they may"
            " (pml_unexpected_max)";
  }
  return text;
}

std::string sleeps_text(const std::vector<TrafficRecord>& all) {
  Sleeps sum;
  for (const TrafficRecord& record : all) {
    sum.all += record.sleeps.all;
    sum.to_limit += record.sleeps.to_limit;
    sum.missed += record.sleeps.missed;
  }
  return "\n  sleeps while waiting: " + std::to_string(sum.all) +
         ", to their limit: " + std::to_string(sum.to_limit) +
         ", of these though something was there: " + std::to_string(sum.missed);
}

/// Notes that differ in numbers only are one: that of the lowest rank, with how many ranks said it.
std::string notes_text(const std::vector<std::string>& of_ranks) {
  struct Said {
    std::string text;
    std::size_t ranks = 0, last_rank = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, Said> said;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    std::string_view rest = of_ranks[rank];
    while (!rest.empty()) {
      const std::string line(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      std::string shape;
      for (const char c : line) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) shape += c;
      }
      Said& known = said[shape];
      if (known.ranks == 0) {
        known.text = line;
        order.push_back(shape);
      }
      if (known.ranks == 0 || known.last_rank != rank) ++known.ranks;
      known.last_rank = rank;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kMaxNotes); ++i) {
    const Said& one = said[order[i]];
    text +=
        "\n  note: " + one.text + " (" + std::to_string(one.ranks) + (one.ranks == 1 ? " rank)" : " ranks)");
  }
  if (order.size() > kMaxNotes)
    text += "\n  ... and " + std::to_string(order.size() - kMaxNotes) + " more notes";
  return text;
}

}  // namespace

void print_traffic_report() {
  Runtime& runtime = *Runtime::get();
  Comm& comm = *tables().comm.find(HandleBits{0x101});
  const std::string notes = own_notes(runtime);
  const TrafficRecord mine = own_record(runtime, notes.size());
  std::vector<TrafficRecord> all(comm.size());
  if (allgather_bytes(comm, std::as_bytes(std::span<const TrafficRecord, 1>(&mine, 1)),
                      std::as_writable_bytes(std::span(all))) != 0) {
    return;
  }
  std::size_t longest = 0;
  for (const TrafficRecord& record : all)
    longest = std::max(longest, static_cast<std::size_t>(record.notes_bytes));
  std::vector<std::string> of_ranks(comm.size());
  if (longest != 0) {
    std::string padded = notes;
    padded.resize(longest);
    std::string together(longest * comm.size(), '\0');
    if (allgather_bytes(comm, std::as_bytes(std::span(padded)),
                        std::as_writable_bytes(std::span(together))) != 0) {
      return;
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      of_ranks[rank] = together.substr(rank * longest, static_cast<std::size_t>(all[rank].notes_bytes));
    }
  }
  if (comm.rank() != 0) return;
  const std::string text = "report: what " + std::to_string(comm.size()) + " processes sent" + table(all) +
                           sleeps_text(all) + notes_text(of_ranks);
  std::fprintf(stderr, "[starling] %s\n", text.c_str());
}

}  // namespace starling::mpi
