// SPDX-License-Identifier: BSD-3-Clause
// starling-info: what an MPI program would find here. Layer: tools. See the README beside this file.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <utility>

#include "core/standard_descriptors.hpp"
#include "params/excerpt.hpp"
#include "params/nearest.hpp"
#include "tools/starling-info/sections.hpp"

namespace starling::info {
namespace {

constexpr std::uint32_t kMost = 1 << 15;  // nodes times processes fit into 32 bits

struct Wanted {
  bool parsable = false;
  bool params_page = false;
  std::vector<std::string> params;
  std::vector<std::pair<std::string, std::string>> mca;
  PlannedJob planned;
  std::map<std::string_view, bool> sections;

  [[nodiscard]] bool everything() const {
    return params.empty() &&
           std::none_of(sections.begin(), sections.end(), [](const auto& s) { return s.second; });
  }
};

/// Prints the parameters that were asked for by name; false: one does not exist.
bool print_named(const Context& context, const Wanted& wanted, Printer& printer) {
  bool all_known = true;
  for (const std::string& name : wanted.params) {
    const params::Value* const value = context.params.find(name);
    if (value != nullptr) {
      print_parameter(*value, printer);
      continue;
    }
    std::vector<std::string_view> names;
    for (const params::Value* known : context.params.all()) names.push_back(known->decl.name.view());
    const std::string near = params::nearest(name, names);
    std::cerr << "starling-info: there is no parameter '" << name << "'";
    if (!near.empty()) std::cerr << "; did you mean '" << near << "'?";
    std::cerr << "\n";
    all_known = false;
  }
  return all_known;
}

int report(const Error& error) {
  std::cerr << "starling-info: " << error.text() << "\n";
  return 1;
}

/// Puts --mca where look_around() and a runtime read it, as mpiexec does for its ranks.
Result<void> publish(const std::vector<std::pair<std::string, std::string>>& mca) {
  if (mca.empty()) return {};
  std::vector<params::CommandLineSetting> settings;
  for (const auto& [name, value] : mca) settings.push_back({name, value});
  auto text = params::command_line_value(settings);
  if (!text) return fail(std::move(text).error());
  ::setenv(std::string(params::kCommandLineVariable).c_str(), text->c_str(), 1);
  return {};
}

int show(const Wanted& wanted) {
  if (auto done = publish(wanted.mca); !done) return report(done.error());
  auto context = look_around();
  if (!context) return report(context.error());
  context->planned = wanted.planned;
  if (wanted.params_page) {
    write_parameters_page(context->params, std::cout);
    return context->problems.empty() ? 0 : 1;
  }
  Printer printer(std::cout, wanted.parsable);
  const bool all_known = print_named(*context, wanted, printer);
  for (const Section& section : all_sections()) {
    if (wanted.everything() || wanted.sections.at(section.name)) section.print(*context, printer);
  }
  std::cout.flush();
  for (const std::string& warning : context->warnings)
    std::cerr << "starling-info: warning: " << warning << "\n";
  for (const std::string& problem : context->problems)
    std::cerr << "starling-info: error: " << problem << "\n";
  return all_known && context->problems.empty() ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("Shows what an MPI program would find here. Without an option: everything.", "starling-info");
  Wanted wanted;
  app.set_version_flag("--version,-V", "Starling " STARLING_VERSION);
  app.add_flag("--parsable", wanted.parsable, "one fact a line, key=value, for programs");
  app.add_option("--param", wanted.params, "only this parameter (may be repeated)")->type_name("NAME");
  app.add_flag("--params-page", wanted.params_page,
               "all parameters with their defaults, as a page in Markdown");
  for (const Section& section : all_sections()) {
    app.add_flag("--" + std::string(section.name), wanted.sections[section.name],
                 "only: " + std::string(section.about));
  }
  app.add_option("--mca", wanted.mca, "as if set by mpiexec's option of that name (may be repeated)")
      ->type_name("NAME VALUE");
  app.add_option("--nodes", wanted.planned.nodes, "--plan of a job on so many nodes")
      ->type_name("M")
      ->check(CLI::Range(1u, kMost));
  app.add_option("--ppn", wanted.planned.per_node, "--plan of a job with so many processes on each node")
      ->type_name("N")
      ->check(CLI::Range(1u, kMost));
  app.allow_extras();  // CLI11 would name them in reverse order
  CLI11_PARSE(app, argc, argv);
  if (!app.remaining().empty()) {
    return report(Error{Errc::bad_parameter,
                        {},
                        "'" + params::excerpt(app.remaining().front()) +
                            "' is not understood (starling-info --help lists all options)"});
  }
  if (wanted.planned.nodes != 0 || wanted.planned.per_node != 0) wanted.sections["plan"] = true;
  return show(wanted);
}

}  // namespace
}  // namespace starling::info

int main(int argc, char** argv) {
  starling::fill_standard_descriptors(starling::Filling::refuses);
  try {
    return starling::info::run(argc, argv);
  } catch (const std::exception& thrown) {
    std::cerr << "starling-info: " << thrown.what() << "\n";
    return 1;
  }
}
