// SPDX-License-Identifier: BSD-3-Clause
// What scripts for other MPIs write and mpiexec does not do. Layer: tools.

#include "tools/mpiexec/other_options.hpp"

namespace starling::mpiexec {
namespace {

constexpr bool kNoEffect = false;
constexpr bool kRefused = true;

constexpr std::string_view kAllVariables = "all variables are handed on";
constexpr std::string_view kAnyNumber = "more ranks than slots or cores are always allowed";
constexpr std::string_view kItself = "what it is about does not exist here";
constexpr std::string_view kDaemons =
    "there are no daemons of its own; options of a launcher go by its variables";
constexpr std::string_view kRestart = "a rank that has died is not started again; write -enable-recovery";
constexpr std::string_view kDebugger =
    "attach the debugger to mpiexec, or write mpiexec -n N DEBUGGER PROGRAM";
constexpr std::string_view kShared = "programs and files have to be visible on all hosts; copy them before";
constexpr std::string_view kNoPublisher = "MPI_Publish_name and MPI_Comm_connect are not there";
constexpr std::string_view kMap = "write --display-map, which says which rank runs where";

constexpr OtherOption kOthers[] = {
    {"oversubscribe nooversubscribe", "", kNoEffect, kAnyNumber},
    {"allow-run-as-root", "", kNoEffect, "root may start jobs"},
    {"q quiet", "", kNoEffect, "nothing is printed besides errors"},
    {"envall genvall envnone genvnone", "", kNoEffect, kAllVariables},
    {"envlist genvlist", "LIST", kNoEffect, kAllVariables},
    {"enable-x disable-x", "", kNoEffect, "DISPLAY is handed on like any variable"},
    {"rmk", "WHAT", kNoEffect, "batch systems are recognised by their variables"},
    {"topolib", "WHAT", kNoEffect, "the machine is read from /sys"},
    {"demux", "WHAT", kNoEffect, kItself},
    {"disable-hostname-propagation", "", kNoEffect, "ranks find the host's name themselves"},
    {"pmi-port", "", kNoEffect, "the launcher decides how ranks reach it"},
    {"localhost", "NAME", kNoEffect, "the host's own name is asked for"},
    {"noprefix", "", kNoEffect, "libraries are found from the program's own path"},
    {"prefix", "DIR", kNoEffect, "libraries are found from the program's own path"},
    {"personality", "WHAT", kNoEffect, "there is one kind of program"},
    {"novm do-not-resolve leave-session-attached use-regexp enable-instant-on-support fwd-mpirun-port", "",
     kNoEffect, "there are no daemons of its own"},
    {"show-progress", "", kNoEffect, "a start is too short for it; -verbose says what is started"},
    {"report-state-on-timeout get-stack-traces", "", kNoEffect, "--timeout prints what every rank waits for"},
    {"report-child-jobs-separately", "", kNoEffect, "jobs have no children"},
    {"output-proctable", "", kNoEffect, "-verbose prints the processes"},

    {"rankfile rf", "FILE", kRefused,
     "write the hosts in the order of ranks into a host file (-f), and cores as -bind-to and -map-by say "
     "them"},
    {"cpu-set cpu-list", "LIST", kRefused, "write taskset -c LIST mpiexec ..., whose processors are kept"},
    {"membind", "POLICY", kRefused, "write numactl --membind=NODES or --interleave=NODES before the program"},
    {"gpus-per-proc", "N", kRefused,
     "set CUDA_VISIBLE_DEVICES by MPI_LOCALRANKID in a script before the program"},
    {"order-nodes", "WHAT", kRefused, "write the hosts in that order"},
    {"skip-launch-node nolocal", "", kRefused, "name the other hosts alone: -hosts, -f"},
    {"cartofile cf", "FILE", kRefused, "write -bind-to and -map-by"},
    {"path gpath", "DIRS", kRefused, "write the program with its folder, or PATH=DIRS:$PATH mpiexec ..."},
    {"am", "FILE", kRefused, "write --params FILE, a file of Starling's parameters"},
    {"prtemca pmixmca omca", "NAME VALUE", kRefused,
     "set the variable PRTE_MCA_NAME, PMIX_MCA_NAME or OMPI_MCA_NAME"},
    {"nameserver ompi-server", "WHERE", kRefused, kNoPublisher},
    {"profile", "", kRefused, "write --mca startup_report 1, which shows what a start takes"},
    {"do-not-launch", "", kRefused, kMap},
    {"display-devel-map display-diffable-map display-allocation display-devel-allocation display-topo", "",
     kRefused, kMap},
    {"debug-devel d debug-daemons debug-daemons-file", "", kRefused,
     "write -verbose, or --mca log_level debug"},
    {"debug tv gdb", "", kRefused, kDebugger},
    {"debugger", "PROGRAMS", kRefused, kDebugger},
    {"xterm", "RANKS", kRefused, "write mpiexec -n N xterm -e PROGRAM"},
    {"dvm continuous", "", kRefused, "each mpiexec starts one job; Slurm keeps an allocation"},
    {"hnp report-events launch-agent", "WHAT", kRefused, kDaemons},
    {"report-pid report-uri", "WHERE", kRefused, "the shell knows it: mpiexec ... & echo $!"},
    {"max-restarts", "N", kRefused, kRestart},
    {"max-vm-size", "N", kRefused, "name the hosts that are to be used: -hosts, -f"},
    {"index-argv-by-rank", "", kRefused, "a script can do it: exec -a \"NAME-$PMI_RANK\" PROGRAM"},
    {"preload-binary", "", kRefused, kShared},
    {"preload-files", "LIST", kRefused, kShared},
    {"set-cwd-to-session-dir", "", kRefused, "write -wdir DIR"},
    {"xml", "", kRefused, "write -l, and make it in a filter"},
    {"xml-file", "FILE", kRefused, "write -l, and make it in a filter"},
};

}  // namespace

std::span<const OtherOption> other_options() noexcept { return kOthers; }

}  // namespace starling::mpiexec
