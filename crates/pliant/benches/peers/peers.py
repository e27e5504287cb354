"""Compare Pliant with its alternatives: MKL's PARDISO for linear systems, MuJoCo for time stepping, SciPy for modes.

Run by `make bench-peers`. Creates a virtual environment under target/ and installs the peers into it. All times are the
minimum of several alternating runs. On a busy machine, compare processor time and not wall-clock time.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[4]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
ENVIRONMENT = TARGET / "peers-venv"
WORK = TARGET / "peers"
PACKAGES = ["mkl", "numpy", "mujoco", "scipy"]
# Cells across a bar four times as long as thick: about 1, 4, 22 and 47 thousand vertices.
CELLS = [6, 9, 17, 22]


def enter_environment():
    """Create the environment if it is absent, and continue inside it."""
    python = ENVIRONMENT / "bin" / "python"
    if pathlib.Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        return
    installed = ENVIRONMENT / "installed"
    if not installed.exists() or installed.read_text().split() != PACKAGES:
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        installed.write_text(" ".join(PACKAGES))
    # Waiting threads must not take time from the other program.
    os.environ["KMP_BLOCKTIME"] = "0"
    os.environ["MKL_THREADING_LAYER"] = "INTEL"
    os.execv(python, [str(python), *sys.argv])


class Pliant:
    """Process of `cargo bench --bench peers`, which answers one request at a time."""

    def __init__(self, *words):
        command = ["cargo", "bench", "--quiet", "-p", "pliant", "--bench", "peers", "--", *map(str, words)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.info = json.loads(self.process.stdout.readline())
        self.clock = process_clock(self.info["pid"])

    def run(self, precision, threads):
        before = self.clock()
        self.process.stdin.write(f"{precision} {threads}\n")
        self.process.stdin.flush()
        factor, solve = map(float, self.process.stdout.readline().split())
        return {"factor": factor, "solve": solve, "wall": factor + solve, "cpu": self.clock() - before}

    def swing(self, integrator, threads, repeats):
        """Return the time per step, total and in the linear solver [s], and the Newton iterations per step.

        Processor time on one thread, wall-clock time on more.
        """
        best = None
        for _ in range(repeats):
            before = self.clock()
            self.process.stdin.write(f"{integrator} {threads}\n")
            self.process.stdin.flush()
            step, solver, iterations = map(float, self.process.stdout.readline().split())
            part = (self.clock() - before) / (100 * step) if threads == 1 else 1.0
            best = min(filter(None, (best, (part * step, part * solver, iterations))))
        return best

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def process_clock(pid):
    """Return a function that returns the processor time of a process, or wall-clock time where that is unavailable."""
    if not sys.platform.startswith("linux"):
        return time.perf_counter
    # As computed by clock_getcpuclockid(3).
    return lambda: time.clock_gettime((~pid << 3) | 2)


class Pardiso:
    """MKL's direct solver for symmetric positive definite matrices, on a fixed number of threads."""

    def __init__(self, matrix, threads):
        import numpy as np

        self.mkl = ctypes.CDLL(str(next((ENVIRONMENT / "lib").glob("libmkl_rt.*"))))
        self.threads = threads
        self.starts, self.columns, self.numbers = matrix
        self.rows = len(self.starts) - 1
        self.b = np.ones(self.rows)
        self.x = np.zeros(self.rows)
        self.handle = np.zeros(64, dtype=np.int64)
        self.parameters = np.zeros(64, dtype=np.int32)
        self.parameters[0] = 1  # not the defaults
        self.parameters[1] = 2  # nested dissection
        self.parameters[17] = -1  # count the numbers in the factor
        self.parameters[34] = 1  # count from zero
        start = time.perf_counter()
        self.call(11)
        self.analysis = time.perf_counter() - start

    def call(self, phase):
        self.mkl.MKL_Set_Num_Threads(self.threads)
        integer = lambda value: ctypes.byref(ctypes.c_int(value))
        pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
        error = ctypes.c_int(0)
        self.mkl.pardiso(
            pointer(self.handle), integer(1), integer(1), integer(2), integer(phase), integer(self.rows),
            pointer(self.numbers), pointer(self.starts), pointer(self.columns), None, integer(1),
            pointer(self.parameters), integer(0), pointer(self.b), pointer(self.x), ctypes.byref(error),
        )  # fmt: skip
        if error.value:
            raise SystemExit(f"PARDISO: error {error.value} in phase {phase}")

    def run(self):
        cpu, start = time.process_time(), time.perf_counter()
        self.call(22)
        factored = time.perf_counter()
        self.call(33)
        end = time.perf_counter()
        return {"factor": factored - start, "solve": end - factored, "wall": end - start, "cpu": time.process_time() - cpu}

    def memory(self):
        """Return the peak memory it reports [bytes]: of the analysis, or of its permanent data and the factor."""
        peak, kept, factor = (1024 * int(self.parameters[i]) for i in (14, 15, 16))
        return max(peak, kept + factor)

    def close(self):
        self.call(-1)


def read_matrix(path):
    import numpy as np

    with open(path, "rb") as file:
        rows, entries = np.fromfile(file, np.int32, 2)
        starts = np.fromfile(file, np.int32, rows + 1)
        columns = np.fromfile(file, np.int32, entries)
        return starts, columns, np.fromfile(file, np.float64, entries)


def least(runs):
    return {key: min(run[key] for run in runs) for key in runs[0]}


def compare_factorizations(cells_list, repeats):
    print("Sparse Cholesky, refactor + solve of a backward-Euler matrix, ms (minimum of all runs)")
    print("vertices  threads            pliant f64        pliant f32           PARDISO   f64/PARDISO  f32/PARDISO")
    WORK.mkdir(parents=True, exist_ok=True)
    for cells in cells_list:
        path = WORK / f"bar-{cells}.bin"
        pliant = Pliant("matrix", cells, path)
        matrix = read_matrix(path)
        count = repeats or (20 if cells < 10 else 5)
        peers = {}
        for threads in (1, 2):
            pardiso = Pardiso(matrix, threads)
            rounds = [(pliant.run("f64", threads), pliant.run("f32", threads), pardiso.run()) for _ in range(count)]
            double, single, peer = (least(runs) for runs in zip(*rounds))
            for clock in ("cpu", "wall"):
                cell = lambda run: f"{1e3 * run[clock]:9.2f}" + (f" ({1e3 * run['solve']:6.2f})" if clock == "wall" else 9 * " ")
                ratios = [run[clock] / peer[clock] for run in (double, single)]
                print(
                    f"{pliant.info['vertices']:8}  {threads} {clock:>4}  {cell(double)} {cell(single)} {cell(peer)}"
                    f"  {ratios[0]:10.2f}  {ratios[1]:11.2f}",
                    flush=True,
                )
            if threads == 1:
                numbers, fill = pliant.info["numbers"], pliant.info["fill"]
                summary = (
                    f"          analysis {pliant.info['analysis']:.2f} s, PARDISO {pardiso.analysis:.2f} s; memory f64 "
                    f"{8e-6 * numbers:.0f} MB, f32 {4e-6 * numbers:.0f} MB, PARDISO {1e-6 * pardiso.memory():.0f} MB; numbers in "
                    f"the factor {1e-6 * fill:.1f} M, PARDISO {1e-6 * int(pardiso.parameters[17]):.1f} M"
                )
            pardiso.close()
            peers[threads] = peer["cpu" if threads == 1 else "wall"]
        print(summary, "\n          (in parentheses: the solution alone)", sep="")
        pliant.close()
        swinging = Pliant("swing-long", cells)
        for threads in (1, 2):
            _, solver, _ = swinging.swing("linearized", threads, 1 if cells > 10 else 3)
            print(
                f"          the bar swings for 100 steps, {threads} thread(s): the default solver takes {1e3 * solver:.2f} ms per step, "
                f"{solver / peers[threads]:.3f} times PARDISO in every step",
                flush=True,
            )
        swinging.close()


def compare_modes(cells_list):
    """Compare 20 modes of a fixed bar with shift-invert ARPACK, factorization included, minimum of three runs."""
    import numpy as np
    from scipy.sparse import load_npz
    from scipy.sparse.linalg import eigsh

    print("20 modes, factorization included, s")
    print("vertices  pliant 1 thread  pliant 2 threads  scipy eigsh   ratio  maximum relative difference of frequencies")
    for cells in cells_list:
        folder = WORK / f"modes-{cells}"
        folder.mkdir(parents=True, exist_ok=True)
        pliant = Pliant("modes", cells, folder)
        stiffness, mass = (load_npz(folder / f"{name}.npz").tocsc() for name in "KM")

        def ask(threads):
            pliant.process.stdin.write(f"{threads}\n")
            pliant.process.stdin.flush()
            seconds, *frequencies = map(float, pliant.process.stdout.readline().split())
            return seconds, np.array(frequencies)

        def peer():
            start = time.perf_counter()
            squares = eigsh(stiffness, 20, mass, sigma=0.0, return_eigenvectors=True)[0]
            return time.perf_counter() - start, np.sqrt(np.sort(squares)) / (2 * np.pi)

        rounds = [(ask(1), ask(2), peer()) for _ in range(1 if cells > 12 else 3)]
        one, two, other = (min(runs, key=lambda run: run[0]) for runs in zip(*rounds))
        difference = np.max(np.abs(one[1] / other[1] - 1))
        print(
            f"{pliant.info['vertices']:8}  {one[0]:15.2f}  {two[0]:16.2f}  {other[0]:11.2f}  {other[0] / one[0]:5.1f}×  {difference:.1e}",
            flush=True,
        )
        pliant.close()


BAR = """<mujoco>
  <option timestep="0.01" integrator="discrete" iterations="{iterations}" gravity="0 -9.81 0"/>
  <size memory="4G"/>
  <worldbody>
    <flexcomp name="bar" type="direct" dim="3" mass="40" radius="0.001" point="{points}" element="{elements}">
      <pin id="{pinned}"/>
      <elasticity young="1e6" poisson="0.45"/>
      <contact contype="0" conaffinity="0" selfcollide="none"/>
    </flexcomp>
  </worldbody>
</mujoco>"""


def bar_of_five_tetrahedra_a_cube(per_fifth):
    """Return a bar of 1 × 0.2 × 0.2 m. The split alternates with the parity of the cube."""
    n = [5 * per_fifth, per_fifth, per_fifth]
    size = 0.2 / per_fifth
    number = lambda i, j, k: (i * (n[1] + 1) + j) * (n[2] + 1) + k
    points = [(size * i, size * j, size * k) for i in range(n[0] + 1) for j in range(n[1] + 1) for k in range(n[2] + 1)]
    splits = [
        ["000 100 010 001", "110 010 100 111", "101 001 111 100", "011 111 001 010", "100 010 001 111"],
        ["100 000 101 110", "010 000 110 011", "001 000 011 101", "111 110 101 011", "000 110 101 011"],
    ]
    elements = []
    for i in range(n[0]):
        for j in range(n[1]):
            for k in range(n[2]):
                for tetrahedron in splits[(i + j + k) % 2]:
                    corners = [tuple(map(int, corner)) for corner in tetrahedron.split()]
                    elements.append([number(i + a, j + b, k + c) for a, b, c in corners])
    for element in elements:
        a, b, c, d = (points[vertex] for vertex in element)
        u, v, w = ([q - p for p, q in zip(a, other)] for other in (b, c, d))
        cross = (v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0])
        if sum(p * q for p, q in zip(u, cross)) < 0:
            element[2], element[3] = element[3], element[2]
    return points, elements


def time_mujoco(points, elements, iterations, steps, repeats):
    """Return the time per step [ms], the minimum of several runs over the same steps."""
    import mujoco

    text = lambda lists: " ".join(f"{value:g}" for values in lists for value in values)
    pinned = " ".join(str(number) for number, point in enumerate(points) if point[0] == 0)
    bar = BAR.format(points=text(points), elements=text(elements), pinned=pinned, iterations=iterations)
    model = mujoco.MjModel.from_xml_string(bar)
    data = mujoco.MjData(model)
    best = float("inf")
    for _ in range(repeats):
        mujoco.mj_resetData(model, data)
        start = time.process_time()
        for _ in range(steps):
            mujoco.mj_step(model, data)
        best = min(best, (time.process_time() - start) / steps)
    return 1e3 * best


def compare_stepping(repeats):
    print("\nA bar of 1 × 0.2 × 0.2 m swinging, Y = 1e6, ν = 0.45, h = 1/100, ms per step on one thread (processor time, minimum of all runs)")
    print("MuJoCo by default stops after 100 iterations and warns that it has not converged; 'solved' allows 10,000")
    print("Pliant with its default integrator, and with the linearized one, which solves one system per step and may gain energy in contact")
    print("vertices  tetrahedra    MuJoCo    solved   default (2 threads; iterations)  linearized  default/MuJoCo  default/solved")
    # MuJoCo writes its log into the current directory.
    WORK.mkdir(parents=True, exist_ok=True)
    os.chdir(WORK)
    for per_fifth, steps in ((4, 50), (8, 10), (16, 2)):
        points, elements = bar_of_five_tetrahedra_a_cube(per_fifth)
        peer, solved = (time_mujoco(points, elements, most, steps, repeats or 3) for most in (100, 10_000))
        pliant = Pliant("swing", per_fifth)
        runs = [pliant.swing(*run, repeats or 3) for run in (("default", 1), ("default", 2), ("linearized", 1))]
        own, on_two, linearized = (1e3 * step for step, *_ in runs)
        pliant.close()
        print(
            f"{len(points):8}  {len(elements):10} {peer:9.2f} {solved:9.2f} {own:9.2f} ({on_two:9.2f}; {runs[0][2]:10.2f}) {linearized:11.2f}"
            f" {own / peer:15.2f} {own / solved:15.2f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs="*", default=CELLS, help="cells across the bars of the linear systems")
    parser.add_argument("--repeats", type=int, help="number of runs of each")
    parser.add_argument("--only", choices=["factor", "step", "modes"], help="run only one comparison")
    arguments = parser.parse_args()
    enter_environment()
    if arguments.only in (None, "factor"):
        compare_factorizations(arguments.cells, arguments.repeats)
    if arguments.only in (None, "step"):
        compare_stepping(arguments.repeats)
    if arguments.only in (None, "modes"):
        compare_modes([8, 12, 15])


if __name__ == "__main__":
    main()
