# SPDX-License-Identifier: BSD-3-Clause
"""An installation of this build in a scratch folder, and commands that know nothing of the build. For tests."""
import os
import subprocess


def run(*command, environment=None, check=True, limit=300):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=limit, env=environment)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} gave {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def clean_environment(scratch, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("STARLING_", "PMI", "DESTDIR"))}
    environment["HOME"] = str(scratch)
    environment.pop("XDG_CONFIG_HOME", None)
    environment.update(settings)
    return environment


def install(build, scratch):
    """Moved after it was installed: nothing may remember the first place."""
    run("cmake", "--install", build, "--prefix", scratch / "first")
    prefix = scratch / "prefix"
    (scratch / "first").rename(prefix)
    return prefix
