"""Compare officellm with the hand-written floor: `python bench/run.py [--rounds N] [WORKLOAD...]`.

Samples are interleaved, each in a fresh process; the table shows the least CPU of all rounds and the ratio to the floor
on the same transport. Ratios hold on any machine, milliseconds on none but this.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
WORKLOADS = ("tool-loop", "long-loop", "manager", "crowd")
PEERS = ("floor", "officellm")


def sample(peer: str, workload: str, url: str) -> dict[str, float]:
    """One fresh process."""
    command = [sys.executable, str(HERE / "workloads.py"), peer, workload, url]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise SystemExit(f"{peer} {workload} failed:\n{done.stderr}")
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; all without one")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    unknown = set(options.workloads) - set(WORKLOADS)
    if unknown:
        parser.error(f"unknown workload {', '.join(sorted(unknown))}")
    server = subprocess.Popen(
        [sys.executable, str(HERE / "server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    try:
        print(f"{'workload':<12}{'peer':<12}{'CPU ms/call':>12}{'ratio':>8}{'wall ms':>10}")
        for workload in options.workloads or WORKLOADS:
            found: dict[str, list[dict[str, float]]] = {peer: [] for peer in PEERS}
            for _ in range(options.rounds):
                for peer in PEERS:
                    found[peer].append(sample(peer, workload, url))
            floor = min(one["cpu_ms_per_call"] for one in found["floor"])
            for peer in PEERS:
                cpu = min(one["cpu_ms_per_call"] for one in found[peer])
                wall = min(one["wall_ms"] for one in found[peer])
                print(f"{workload:<12}{peer:<12}{cpu:>12.3f}{cpu / floor:>8.2f}{wall:>10.1f}", flush=True)
    finally:
        server.terminate()
        server.communicate()


if __name__ == "__main__":
    main()
