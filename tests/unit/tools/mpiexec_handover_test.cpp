// SPDX-License-Identifier: BSD-3-Clause
// tools/mpiexec/handover: when a job leaves this machine, who takes it, and the words that each engine gets.
// Layer: tests.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include "tools/mpiexec/handover/command.hpp"
#include "tools/mpiexec/handover/engine_environment.hpp"
#include "tools/mpiexec/handover/handover.hpp"
#include "tools/mpiexec/handover/shell_words.hpp"
#include "tools/mpiexec/handover/slurm_mpi.hpp"
#include "tools/mpiexec/handover/spread.hpp"

namespace starling::mpiexec {
namespace {

using Words = std::vector<std::string>;
using Places = std::vector<std::uint32_t>;
using Kind = LauncherChoice::Kind;

Options read(const Words& words) {
  auto options = parse_options(words);
  EXPECT_TRUE(options) << options.error().text();
  return options ? std::move(*options) : Options{};
}

pmi::Getenv environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

/// A folder with programs of these names.
class Folder {
 public:
  explicit Folder(const Words& programs) {
    std::string pattern = ::testing::TempDir() + "starling-handover-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    for (const std::string& name : programs) {
      std::ofstream(path_ + "/" + name) << "#!/bin/sh\n";
      std::filesystem::permissions(path_ + "/" + name, std::filesystem::perms::owner_all);
    }
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// --- Where

bool runs_here(const Words& words, const std::map<std::string, std::string>& variables = {}) {
  const auto where = whereabouts(read(words), environment_of(variables));
  EXPECT_TRUE(where) << where.error().text();
  return where && where->here;
}

TEST(MpiexecWhereabouts, hosts_decide) {
  EXPECT_TRUE(runs_here({"-n", "2", "a"}));
  EXPECT_TRUE(runs_here({"-host", "localhost:4,127.0.0.1", "-n", "2", "a"}));
  EXPECT_FALSE(runs_here({"-H", "localhost:4,no-such-host.invalid:4", "a"}));
  EXPECT_TRUE(runs_here({"-launcher", "local", "-n", "2", "a"}));
  EXPECT_TRUE(runs_here({"-launcher", "fork", "-n", "2", "a"}));
  EXPECT_FALSE(runs_here({"-launcher", "hydra", "-n", "2", "a"}));
  EXPECT_FALSE(runs_here({"-launcher", "ssh", "-host", "localhost", "a"}));
  for (const char* host : {"a:0", "a:x", "a:", ":3", "a:2000000"})
    EXPECT_FALSE(whereabouts(read({"-H", host, "a"}), environment_of({}))) << host;
  const auto unknown = whereabouts(read({"-launcher", "moon", "a"}), environment_of({}));
  EXPECT_NE(unknown.error().detail.find("\"moon\" is none of auto, local, slurm, prrte, openmpi, hydra"),
            std::string::npos);
}

TEST(MpiexecWhereabouts, an_allocation_of_several_nodes_leads_away) {
  const std::map<std::string, std::string> two{{"SLURM_JOB_NUM_NODES", "2"},
                                               {"SLURM_JOB_NODELIST", "n[0-1]"}};
  EXPECT_FALSE(runs_here({"-n", "2", "a"}, two));
  EXPECT_FALSE(runs_here({"a"}, two)) << "as many ranks as the allocation has tasks";
  EXPECT_TRUE(runs_here({"-n", "1", "a"}, two)) << "one rank runs on one node anyway";
  EXPECT_TRUE(runs_here({"-host", "localhost", "-n", "2", "a"}, two));
  EXPECT_TRUE(runs_here({"-launcher", "local", "-n", "2", "a"}, two));
  EXPECT_TRUE(runs_here({"--virtual-nodes", "2", "-n", "2", "a"}, two));
  EXPECT_TRUE(runs_here({"-n", "2", "a"}, {{"SLURM_JOB_NUM_NODES", "1"}}));
}

TEST(MpiexecWhereabouts, a_rank_of_another_job_stays_and_says_so) {
  for (const char* variable : {"PMI_RANK", "PMI_ID", "PMIX_RANK", "STARLING_RANK_MARK"}) {
    const auto get = environment_of({{"SLURM_JOB_NUM_NODES", "2"}, {variable, "1"}});
    const auto where = whereabouts(read({"-n", "2", "a"}), get);
    EXPECT_TRUE(where->here);
    EXPECT_NE(where->note.find(std::string(variable) + " is set"), std::string::npos);
    EXPECT_FALSE(whereabouts(read({"-launcher", "slurm", "-n", "2", "a"}), get)->here) << "by hand it may";
  }
}

TEST(MpiexecWhereabouts, inside_a_step_of_slurm_the_step_counts) {
  std::map<std::string, std::string> step{{"SLURM_JOB_NUM_NODES", "2"},
                                          {"SLURM_STEP_ID", "0"},
                                          {"SLURM_STEP_NUM_NODES", "1"},
                                          {"SLURM_STEP_NUM_TASKS", "1"}};
  EXPECT_TRUE(runs_here({"-n", "2", "a"}, step));
  step["SLURM_STEP_NUM_NODES"] = "2";
  EXPECT_FALSE(runs_here({"-n", "2", "a"}, step));
  step["SLURM_STEP_NUM_TASKS"] = "2";  // a farm of mpiexecs
  EXPECT_TRUE(runs_here({"-n", "2", "a"}, step));
  step["SLURM_STEP_NUM_NODES"] = "1";
  step["SLURM_STEP_ID"] = "4294967290";  // the shell of an interactive allocation
  EXPECT_FALSE(runs_here({"-n", "2", "a"}, step));
}

// --- Allocations

TEST(MpiexecAllocation, what_batch_systems_say) {
  Folder files({});
  std::ofstream(files.path() + "/hosts") << "n0\nn0\nn1\nn1\n";
  std::ofstream(files.path() + "/grid") << "n0 3 all.q UNDEFINED\nn1 1 all.q UNDEFINED\n";
  const std::string hosts = files.path() + "/hosts";
  struct Case {
    std::map<std::string, std::string> variables;
    std::string system;
    std::vector<std::uint32_t> slots;
  };
  for (const Case& given :
       std::vector<Case>{{{{"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_JOB_NODELIST", "n0,n1"}}, "Slurm", {0, 0}},
                         {{{"SLURM_NNODES", "2"}, {"SLURM_JOB_NODELIST", "n[0-1]"}}, "Slurm", {0, 0}},
                         {{{"PBS_NODEFILE", hosts}}, "PBS", {2, 2}},
                         {{{"LSB_HOSTS", "n0 n0 n1"}}, "LSF", {2, 1}},
                         {{{"LSB_MCPU_HOSTS", "n0 4 n1 2"}}, "LSF", {4, 2}},
                         {{{"PE_HOSTFILE", files.path() + "/grid"}}, "Grid Engine", {3, 1}},
                         {{{"OAR_NODEFILE", hosts}}, "OAR", {2, 2}},
                         {{{"COBALT_NODEFILE", hosts}}, "Cobalt", {2, 2}}}) {
    const auto found = allocation_of_several_nodes(environment_of(given.variables));
    ASSERT_TRUE(found) << given.system;
    EXPECT_EQ(found->system, given.system);
    ASSERT_EQ(found->hosts.size(), 2u) << given.system;
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(found->hosts[i].name, "n" + std::to_string(i));
      EXPECT_EQ(found->hosts[i].slots, given.slots[i]);
    }
  }
  for (const std::map<std::string, std::string>& one : std::vector<std::map<std::string, std::string>>{
           {{"PBS_NODEFILE", "/no/such"}},
           {{"LSB_MCPU_HOSTS", "n0 8"}},
           {{"SLURM_NNODES", "many"}},
           {{"SLURM_JOB_NUM_NODES", ""}},
           {{"SLURM_JOB_NUM_NODES", "1"}, {"PBS_NODEFILE", hosts}}})
    EXPECT_FALSE(allocation_of_several_nodes(environment_of(one))) << one.begin()->first;
}

TEST(MpiexecAllocation, lists_of_nodes_as_slurm_writes_them) {
  EXPECT_EQ(expand_node_list("n[0-2,07],m,x[1-2]y[3-4]"),
            (Words{"n0", "n1", "n2", "n07", "m", "x1y3", "x1y4", "x2y3", "x2y4"}));
  EXPECT_EQ(expand_node_list("n[008-011]"), (Words{"n008", "n009", "n010", "n011"}));
  EXPECT_EQ(expand_node_list(""), Words{});
  for (const char* bad : {"n[0-", "n[a-b]", "n[0-9999999]"}) EXPECT_EQ(expand_node_list(bad), Words{}) << bad;
}

TEST(MpiexecAllocation, processors_and_tasks) {
  const auto found = allocation_of_several_nodes(environment_of(
      {{"SLURM_JOB_NUM_NODES", "3"}, {"SLURM_NTASKS", "12"}, {"SLURM_JOB_CPUS_PER_NODE", "32(x2),16"}}));
  EXPECT_EQ(found->processors_per_node, 16u);
  EXPECT_EQ(found->ranks, 12u);
  EXPECT_EQ(found->hosts.size(), 3u) << "their number is known, their names are not";
}

// --- Engines

TEST(MpiexecEngine, the_first_that_is_there) {
  const auto found_in = [](const Words& programs, bool slurm_job, bool pmix) {
    const Folder bin(programs);
    std::map<std::string, std::string> variables{{"PATH", bin.path()}};
    if (slurm_job) variables["SLURM_JOB_ID"] = "7";
    const auto found = find_engine({}, {environment_of(variables), pmix});
    return found ? std::string(name_of(found->engine)) : "none";
  };
  const Words all{"srun", "prterun", "mpirun.openmpi", "mpiexec.hydra"};
  EXPECT_EQ(found_in(all, true, true), "Slurm");
  EXPECT_EQ(found_in(all, false, true), "PRRTE") << "outside an allocation srun would wait for one";
  EXPECT_EQ(found_in(all, false, false), "Hydra") << "the others serve PMIx alone";
  EXPECT_EQ(found_in({"mpirun.openmpi", "mpiexec.hydra"}, false, true), "Open MPI's mpirun");
  EXPECT_EQ(found_in({"orterun"}, false, true), "Open MPI's mpirun");
  EXPECT_EQ(found_in({"mpirun", "mpiexec"}, false, true), "none") << "these may be our own";
}

TEST(MpiexecEngine, nothing_there_names_the_packages) {
  const Folder bin({"srun"});
  const Surroundings surroundings{environment_of({{"PATH", bin.path()}}), true};
  const auto none = find_engine({}, surroundings);
  EXPECT_EQ(none.error().code, Errc::not_found);
  for (const char* part : {"srun (not inside an allocation (salloc, sbatch))", "package openmpi-bin)",
                           "package prrte,", "mpiexec.hydra (not in PATH; package mpich)", "-host localhost"})
    EXPECT_NE(none.error().detail.find(part), std::string::npos) << part << "\n" << none.error().detail;
  EXPECT_EQ(find_engine(*read_launcher("slurm"), surroundings)->path, bin.path() + "/srun") << "by hand";
  EXPECT_NE(find_engine(*read_launcher("mpirun"), surroundings)
                .error()
                .detail.find("mpirun.openmpi or orterun is not in PATH (package openmpi-bin)"),
            std::string::npos);
}

TEST(MpiexecEngine, words_of_launcher) {
  EXPECT_EQ(read_launcher("auto")->kind, Kind::any);
  EXPECT_EQ(read_launcher("local")->kind, Kind::here);
  EXPECT_EQ(read_launcher("srun")->engine, Engine::slurm);
  EXPECT_EQ(read_launcher("prterun")->engine, Engine::prrte);
  EXPECT_EQ(read_launcher("orterun")->engine, Engine::openmpi);
  EXPECT_EQ(read_launcher("mpiexec.hydra")->engine, Engine::hydra);
  EXPECT_EQ(read_launcher("hydra")->hydra_launcher, "");
  EXPECT_EQ(read_launcher("rsh")->hydra_launcher, "rsh");
}

TEST(MpiexecEngine, the_list_of_srun) {
  constexpr char kList[] =
      "MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\nspecific pmix plugin versions: pmix_v4\n";
  EXPECT_TRUE(lists(kList, "pmix"));
  EXPECT_TRUE(lists(kList, "pmi2"));
  EXPECT_FALSE(lists("none\n\tpmi2\n\tpmix_v4x", "pmix"));
  EXPECT_FALSE(lists("", "pmix"));
}

// --- Ranks over hosts

Places placed(const Words& words) {
  const Options options = read(words);
  const auto hosts = read_hosts(options.hosts);
  std::uint32_t slots = 0;
  for (const Host& host : *hosts) slots += std::max(host.slots, 1u);
  const auto ranks = ranks_of_programs(options, slots);
  auto result = spread(options, *hosts, std::accumulate(ranks.begin(), ranks.end(), 0u));
  return result ? std::move(*result) : Places{};
}

TEST(MpiexecSpread, blocks_slots_and_turns) {
  EXPECT_EQ(placed({"-hosts", "x,y", "-n", "5", "a"}), (Places{0, 0, 0, 1, 1}));
  EXPECT_EQ(placed({"-hosts", "x,y", "a"}), (Places{0, 1})) << "one slot each where none is said";
  EXPECT_EQ(placed({"-H", "x:3,y:1", "-n", "4", "a"}), (Places{0, 0, 0, 1}));
  EXPECT_EQ(placed({"-H", "x:3,y:1", "-n", "2", "a"}), (Places{0, 0}));
  EXPECT_EQ(placed({"-H", "x:2,y:1", "-n", "6", "a"}), (Places{0, 0, 0, 0, 1, 1})) << "full: once more";
  EXPECT_EQ(placed({"-H", "x:2,y", "a"}), (Places{0, 0, 1}));
  EXPECT_EQ(placed({"-H", "x,x,y", "a"}), (Places{0, 0, 1})) << "named twice: two slots";
  EXPECT_EQ(placed({"-hosts", "x,y", "-ppn", "2", "-n", "3", "a"}), (Places{0, 0, 1}));
  EXPECT_EQ(placed({"-hosts", "x,y", "-map-by", "node", "-n", "5", "a"}), (Places{0, 1, 0, 1, 0}));
  EXPECT_EQ(placed({"-H", "x:3,y:1", "-map-by", "node", "a"}), (Places{0, 1, 0, 0}));
  EXPECT_EQ(placed({"-hosts", "x,y", "-n", "1", "a", ":", "-n", "2", "b"}), (Places{0, 0, 1}));
}

TEST(MpiexecSpread, more_than_ppn_allows_is_refused) {
  const auto refused = spread(read({"-ppn", "2", "a"}), {{"x", 0}, {"y", 0}}, 5);
  EXPECT_EQ(refused.error().detail, "5 ranks do not fit: 2 hosts with 2 ranks on each (-ppn)");
}

// --- Command lines

Request request_of(const Words& words, Engine engine = Engine::hydra) {
  Request request;
  request.options = read(words);
  request.choice = *read_launcher(request.options.launcher);
  request.hosts = *read_hosts(request.options.hosts);
  request.hosts_named = !request.hosts.empty();
  request.ranks = ranks_of_programs(request.options, static_cast<std::uint32_t>(request.hosts.size()));
  request.directory = "/here";
  request.job = "job-1";
  request.slurm_mpi = engine == Engine::slurm ? "pmix" : "";
  request.variables = {"A"};
  if (!request.hosts.empty())
    request.host_of = *spread(request.options, request.hosts,
                              std::accumulate(request.ranks.begin(), request.ranks.end(), 0u));
  return request;
}

std::string line_of(Engine engine, const Words& words) {
  auto line = words_for(engine, request_of(words, engine));
  return line ? joined(*line) : "refused: " + line.error().detail;
}

TEST(MpiexecCommand, plain) {
  const Words job{"-H", "x:2,y:1", "-n", "3", "./a", "one", "two words"};
  EXPECT_EQ(
      line_of(Engine::slurm, job),
      "--mpi=pmix --ntasks=3 --nodes=2 --distribution=arbitrary --nodelist=x,x,y --export=ALL --input=0 "
      "--quit-on-interrupt --kill-on-bad-exit=1 --chdir=/here ./a one 'two words'");
  EXPECT_EQ(
      line_of(Engine::openmpi, job),
      "--map-by seq:OVERSUBSCRIBE --bind-to none -x A --wdir /here --host x,x,y -np 3 ./a one 'two words'");
  EXPECT_EQ(line_of(Engine::prrte, job), line_of(Engine::openmpi, job));
  EXPECT_EQ(line_of(Engine::hydra, job), "-hosts x:2,y:1 -genvall -n 3 -wdir /here ./a one 'two words'");
}

TEST(MpiexecCommand, several_programs) {
  const Words job{"-hosts", "x,y",   "-env", "B",  "it's", "-n", "1", "./a",
                  ":",      "-wdir", "sub",  "-n", "2",    "b",  "c"};
  EXPECT_EQ(line_of(Engine::hydra, job),
            "-hosts x:2,y:1 -genvall -n 1 -wdir /here -env B 'it'\\''s' ./a : -n 2 -wdir /here/sub b c");
  EXPECT_EQ(
      line_of(Engine::openmpi, job),
      "--map-by seq:OVERSUBSCRIBE --bind-to none -x A --wdir /here --host x -np 1 env 'B=it'\\''s' ./a : "
      "-x A --wdir /here/sub --host x,y -np 2 b c");
  const auto srun = words_for(Engine::slurm, request_of(job, Engine::slurm));
  EXPECT_EQ(srun->back(),
            "if [ \"$SLURM_PROCID\" -lt 1 ]; then cd /here && exec env 'B=it'\\''s' ./a; "
            "else cd /here/sub && exec b c; fi");
}

TEST(MpiexecCommand, srun_is_told_the_host_of_each_rank_in_an_allocation_too) {
  Request request = request_of({"-n", "4", "a"}, Engine::slurm);
  const auto line = [&request] { return joined(*words_for(Engine::slurm, request)); };
  request.hosts = {{"x", 0}, {"y", 0}};
  request.host_of = {0, 0, 1, 1};
  EXPECT_NE(line().find("--ntasks=4 --nodes=2 --distribution=arbitrary --nodelist=x,x,y,y --export"),
            std::string::npos)
      << "by itself it would place by the processors that each node has given";
  request.processors_per_node = 1;
  request.inside_step = true;
  EXPECT_NE(line().find("--nodelist=x,x,y,y --overcommit --overlap "), std::string::npos);
}

TEST(MpiexecCommand, placement_is_left_to_slurm_where_hosts_cannot_be_listed) {
  Request request = request_of({"-n", "4", "a"}, Engine::slurm);
  const auto line = [&request] { return joined(*words_for(Engine::slurm, request)); };
  request.hosts = {{"", 0}, {"", 0}};
  request.host_of = {0, 0, 1, 1};
  EXPECT_NE(line().find("--ntasks=4 --nodes=2 --ntasks-per-node=2 --distribution=block --export"),
            std::string::npos);
  request.options.place.nodes_in_turn = true;
  EXPECT_NE(line().find("--ntasks-per-node=2 --distribution=cyclic --export"), std::string::npos);
  request.hosts = {{std::string(60'000, 'x'), 0}, {"y", 0}};
  EXPECT_NE(line().find("--ntasks-per-node=2 --distribution=cyclic --export"), std::string::npos)
      << "a list of that length is no word of a command line";
}

TEST(MpiexecCommand, turns) {
  const Words job{"-hosts", "x,y", "-map-by", "node", "-n", "4", "a"};
  EXPECT_NE(line_of(Engine::slurm, job).find("--nodelist=x,y,x,y"), std::string::npos);
  EXPECT_NE(line_of(Engine::openmpi, job).find("--host x,y,x,y"), std::string::npos);
  EXPECT_NE(line_of(Engine::hydra, job).find("-hosts x,y -ppn 1"), std::string::npos);
  EXPECT_NE(line_of(Engine::hydra, {"-H", "x:3,y:1", "-map-by", "node", "a", ":", "-n", "3", "b"})
                .find("refused: option -map-by node with hosts of different numbers of slots"),
            std::string::npos);
}

/// What each option becomes, for Slurm, PRRTE, Open MPI's mpirun and Hydra; "": nothing is added.
struct Translation {
  Words option;
  const char* words[4];
};
const Translation kTranslations[] = {
    {{"-bind-to", "core"}, {" --cpu-bind=cores ", " --bind-to core ", " --bind-to core ", " -bind-to core "}},
    {{"-bind-to", "hwthread"},
     {" --cpu-bind=threads ", " --bind-to hwthread ", " --bind-to hwthread ", " -bind-to hwthread "}},
    {{"-bind-to", "numa"}, {" --cpu-bind=ldoms ", " --bind-to numa ", " --bind-to numa ", " -bind-to numa "}},
    {{"-bind-to", "socket"},
     {" --cpu-bind=sockets ", " --bind-to package ", " --bind-to socket ", " -bind-to socket "}},
    {{"-bind-to", "core:2"},
     {"refused: option -bind-to core:2 cannot be told to Slurm",
      "refused: option -bind-to core:2 cannot be told",
      "refused: option -bind-to core:2 cannot be told to Open MPI's mpirun; -launcher hydra takes",
      " -bind-to core:2 "}},
    {{"-map-by", "socket:PE=2"},
     {"refused: option -bind-to core:2 with -map-by socket", "refused: option -bind-to core:2 with",
      "refused: option -bind-to core:2 with", " -bind-to core:2 -map-by socket "}},
    {{"-bind-to", "l3cache"},
     {"refused: option -bind-to l3cache", " --bind-to l3cache ", " --bind-to l3cache ",
      " -bind-to l3cache "}},
    {{"-bind-to", "core:overload-allowed"},
     {" --cpu-bind=cores ", " --bind-to core:overload-allowed ", " --bind-to core:overload-allowed ",
      " -bind-to core "}},
    {{"-map-by", "socket"}, {"", "", "", ""}},  // hosts are filled first, and nobody is bound
    {{"-map-by", ":OVERSUBSCRIBE"}, {"", "", "", ""}},
    {{"-map-by", "ppr:2:socket"},
     {"refused: option -map-by ppr:2:socket: how many of these the other hosts have",
      "refused: option -map-by ppr", "refused: option -map-by ppr", "refused: option -map-by ppr"}},
    {{"-map-by", "socket:SPAN"},
     {"refused: option -map-by: SPAN", "refused: option -map-by: SPAN", "refused: option -map-by: SPAN",
      "refused: option -map-by: SPAN"}},
    {{"-bind-to", "none"}, {" --cpu-bind=none ", " --bind-to none ", " --bind-to none ", ""}},
    {{"-l"}, {" --label ", " --output tag ", " --tag-output ", " -prepend-rank "}},
    {{"-outfile-pattern", "o%r.%h.%p%"},
     {" --output=/here/o%t.%N.job-1%% ",
      " /bin/sh -c 'exec \"$@\" >/here/o\"$PMIX_RANK\".\"$(uname -n)\".job-1%' sh ",
      " /bin/sh -c 'exec \"$@\" >/here/o\"$PMIX_RANK\".\"$(uname -n)\".job-1%' sh ",
      " -outfile-pattern /here/o%r.%h.job-1% "}},
    {{"-errfile-pattern", "/e"},
     {" --error=/e ", " /bin/sh -c 'exec \"$@\" 2>>/e' sh ", " /bin/sh -c 'exec \"$@\" 2>>/e' sh ",
      " -errfile-pattern /e "}},
    {{"-enable-recovery"},
     {" --kill-on-bad-exit=0 ", " --runtime-options recoverable ", " --enable-recovery ",
      " -disable-auto-cleanup "}},
    {{"-wdir", "w"}, {" --chdir=/here/w ", " --wdir /here/w ", " --wdir /here/w ", " -wdir /here/w "}},
    {{"-gwdir", "/w"}, {" --chdir=/w ", " --wdir /w ", " --wdir /w ", " -wdir /w "}},
    {{"-env", "E", "1"}, {" env E=1 a", " env E=1 a", " env E=1 a", " -env E 1 "}},
    {{"-x", "E=1"}, {" env E=1 a", " env E=1 a", " env E=1 a", " -env E 1 "}},
    {{"-launcher-exec", "agent"},
     {"refused: option -launcher-exec", " --prtemca plm_ssh_agent agent ", " --mca plm_rsh_agent agent ",
      " -launcher-exec agent "}},
    {{"-iface", "eth1"},
     {"", " --prtemca prte_if_include eth1 ", " --mca oob_tcp_if_include eth1 ", " -iface eth1 "}},
    {{"-virtual-nodes", "2"},
     {"refused: option -virtual-nodes", "refused: option -virtual-nodes", "refused: option -virtual-nodes",
      "refused: option -virtual-nodes"}},
    {{"-ppn", "2"}, {" --nodelist=x,x,y,y ", " --host x,x,y,y ", " --host x,x,y,y ", " -hosts x:2,y:2 "}},
    {{"-map-by", "ppr:2:node"},
     {" --nodelist=x,x,y,y ", " --host x,x,y,y ", " --host x,x,y,y ", " -hosts x:2,y:2 "}},
    {{"-timestamp-output"},
     {"refused: option -timestamp-output cannot be told to Slurm; with several hosts -launcher prrte and",
      " --output timestamp ", " --timestamp-output ", "refused: option -timestamp-output"}},
    {{"-merge-stderr-to-stdout"},
     {"refused: option -merge", " --output merge ", " --merge-stderr-to-stdout ", "refused: option -merge"}},
    {{"-prepend-pattern", "%r:"},
     {"refused: option -prepend", "refused: option -prepend", "refused: option -prepend",
      " -prepend-pattern %r: "}},
    {{"-print-all-exitcodes"},
     {"refused: option -print", "refused: option -print", "refused: option -print",
      " -print-all-exitcodes "}},
    {{"-usize", "7"},
     {"refused: option -usize", "refused: option -usize", "refused: option -usize", " -usize 7 "}},
    {{"-stdin", "2"},
     {" --input=2 ", " --stdin 2 ", " --stdin 2 ", "refused: option -stdin cannot be told to Hydra"}},
    {{"-s", "all"}, {" --input=all ", " --stdin all ", " --stdin all ", "refused: option -stdin"}},
    {{"-stdin", "none"}, {" --input=none ", " --stdin none ", " --stdin none ", "refused: option -stdin"}},
    {{"-stdin", "0"}, {"", "", "", ""}},
    {{"-with-ft", "ulfm"},
     {" --kill-on-bad-exit=0 ", " --runtime-options recoverable ", " --enable-recovery ",
      " -disable-auto-cleanup "}},
    {{"-bynode"}, {" --nodelist=x,y,x,y ", " --host x,y,x,y ", " --host x,y,x,y ", " -hosts x,y -ppn 1 "}},
    {{"-display-map"}, {"", "", "", ""}},                                  // mpiexec prints it
    {{"-pmi", "pmix"}, {"", "", "", "refused: option -pmi pmix: Hydra"}},  // the others serve it
    {{"-pmi", "pmi"}, {"", "", "", ""}},
    // mpiexec sees to these itself, by the environment or by its own clock.
    {{"-timeout", "5"}, {"", "", "", ""}},
    {{"-allow-stop"}, {"", "", "", ""}},  // no engine ends a job for a stopped rank
    {{"-genv", "E", "1"}, {"", "", "", ""}},
    {{"-x", "E"}, {"", "", "", ""}},
    {{"-mca", "btl", "self"}, {"", "", "", ""}},
    {{"-params", "file"}, {"", "", "", ""}},
    {{"-v"}, {"", "", "", ""}},
};

TEST(MpiexecCommand, every_option_is_translated_or_refused) {
  const Words job{"-hosts", "x,y", "-n", "4", "a"};
  for (const Translation& each : kTranslations) {
    Words words = each.option;
    words.insert(words.end(), job.begin(), job.end());
    for (const Engine engine : kEngines) {
      const std::string expected = each.words[static_cast<std::size_t>(engine)];
      const std::string line = " " + line_of(engine, words) + " ";
      SCOPED_TRACE(joined(words) + " by " + std::string(name_of(engine)));
      if (expected.empty()) {
        EXPECT_EQ(line, " " + line_of(engine, job) + " ");
      } else {
        EXPECT_NE(line.find(expected), std::string::npos) << line;
      }
    }
  }
}

/// Options that mpiexec answers itself, or that the tests above hold.
TEST(MpiexecCommand, no_option_of_the_help_is_forgotten) {
  const std::string known =
      " n np c host hosts H f hostfile machinefile launcher virtual-nodes version V help h configfile ppn N "
      "npernode "
      "perhost x env genv wdir wd gwdir launcher-exec iface bind-to map-by rank-by l prepend-rank tag-output "
      "pernode npersocket ppr bynode byslot bycore bind-to-core bind-to-socket cpus-per-proc cpus-per-rank "
      "use-hwthread-cpus prepend-pattern timestamp-output merge-stderr-to-stdout output stdin s display-map "
      "report-bindings display print-all-exitcodes disable-recovery with-ft usize default-hostfile app info "
      "outfile-pattern output-filename errfile-pattern timeout allow-stop disable-auto-cleanup "
      "enable-recovery mca "
      "gmca params tune pmi v verbose ";
  const std::string help = help_text();
  std::size_t count = 0;
  for (std::size_t at = help.find("\n  -"); at != std::string::npos; at = help.find("\n  -", at + 1)) {
    const std::string name = help.substr(at + 4, help.find_first_of(" \n", at + 4) - at - 4);
    EXPECT_NE(known.find(" " + name + " "), std::string::npos)
        << "-" << name << ": what does each engine get?";
    ++count;
  }
  EXPECT_GT(count, 20u);
}

TEST(MpiexecCommand, ways_of_hydra_and_of_root) {
  EXPECT_EQ(line_of(Engine::hydra, {"-launcher", "rsh", "-hosts", "x,y", "a"}),
            "-launcher rsh -hosts x:1,y:1 -genvall -n 2 -wdir /here a");
  Request request = request_of({"-n", "2", "a"});
  request.root = true;
  EXPECT_EQ(joined(*words_for(Engine::openmpi, request)),
            "--allow-run-as-root --map-by slot:OVERSUBSCRIBE --bind-to none -x A --wdir /here -np 2 a");
  EXPECT_EQ(joined(*words_for(Engine::hydra, request)), "-genvall -n 2 -wdir /here a");
}

TEST(MpiexecCommand, too_long_a_list_is_refused) {
  const std::string line =
      line_of(Engine::openmpi, {"-hosts", "a-long-name-of-a-host,y", "-n", "40000", "a"});
  EXPECT_NE(line.find("refused: the list of hosts for 40000 ranks is"), std::string::npos);
  EXPECT_EQ(line_of(Engine::hydra, {"-hosts", "x,y", "-n", "40000", "a"}),
            "-hosts x:20000,y:20000 -genvall -n 40000 -wdir /here a");
}

TEST(MpiexecCommand, quoting) {
  EXPECT_EQ(joined({"plain-1_2/=:,.@", "", "a b", "$HOME", "it's"}),
            "plain-1_2/=:,.@ '' 'a b' '$HOME' 'it'\\''s'");
}

// --- Environment

TEST(MpiexecEngineEnvironment, an_outer_job_is_forgotten) {
  char rank[] = "PMIX_RANK=3", space[] = "PMIX_NAMESPACE=outer", uri[] = "OMPI_MCA_orte_hnp_uri=x",
       limit[] = "MPIEXEC_TIMEOUT=5", mca[] = "OMPI_MCA_pml=x", user[] = "USER_S=1", here[] = "PWD=/",
       odd[] = "BASH_FUNC_f%%=() { :; }", task[] = "SLURM_NTASKS_PER_NODE=1", job[] = "SLURM_JOB_ID=1";
  char* const inherited[] = {rank, space, uri, limit, mca, user, here, odd, task, job, nullptr};
  const auto seen = [&](Engine engine, bool placed) {
    EngineEnvironment environment(inherited, {{"G", "1"}}, engine, placed);
    Words found;
    for (char* const* at = environment.block(); *at != nullptr; ++at) found.emplace_back(*at);
    return std::pair(found, environment.names_to_hand_on());
  };
  EXPECT_EQ(seen(Engine::slurm, true).first, (Words{mca, user, here, odd, job, "G=1"}));
  EXPECT_EQ(seen(Engine::slurm, false).first, (Words{mca, user, here, odd, task, job, "G=1"}));
  EXPECT_EQ(seen(Engine::openmpi, true).second, (Words{"G", "USER_S"}));
}

}  // namespace
}  // namespace starling::mpiexec
