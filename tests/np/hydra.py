# SPDX-License-Identifier: BSD-3-Clause
"""A way in which MPICH's Hydra ends that says nothing about the job. Standard library only."""
import signal


def broke(code, *command):
    """Whether a Hydra somewhere in a command died of itself: it hands standard input to the ranks, and now and
    then it dies of SIGPIPE where these have just ended. Such a job is run again."""
    return code in (-signal.SIGPIPE, 128 + signal.SIGPIPE) and "hydra" in " ".join(map(str, command))
