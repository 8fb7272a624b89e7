"""Tests of bench/cores/scaling.py with figures that follow Amdahl's law. Run by CTest."""

import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

SCRIPT = os.path.join(os.path.dirname(__file__), "../../bench/cores/scaling.py")
spec = importlib.util.spec_from_file_location("scaling", SCRIPT)
scaling = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scaling)


def speed(n, share):
    return 1000 / (share + (1 - share) / n)


class Fit(unittest.TestCase):
    def test_finds_the_serial_share(self):
        for share in (0.0, 0.01, 0.2, 1.0):
            for threads in ([1, 2], [1, 2, 4, 8, 64], [2, 3, 48]):
                found = scaling.analyse({n: [speed(n, share)] * 3 for n in threads}, draws=10)
                self.assertAlmostEqual(found["serial_share"], share, places=9)
                self.assertAlmostEqual(found["serial_share_interval"][0], share, places=9)
                self.assertLess(found["largest_residual"], 1e-9)
                self.assertEqual(found["exact"], len(threads) == 2)

    def test_speedups_are_relative_to_one_thread(self):
        found = scaling.analyse({n: [speed(n, 0.1)] for n in (1, 4)}, draws=10)
        self.assertAlmostEqual(found["speedup"][4], 1 / (0.1 + 0.9 / 4))
        self.assertAlmostEqual(found["fitted_speedup"][4], found["speedup"][4])

    def test_the_interval_covers_the_share_of_noisy_figures(self):
        covered, widths = 0, []
        for seed in range(40):
            chance = random.Random(seed)
            runs = {n: [speed(n, 0.05) * chance.gauss(1, 0.03) for _ in range(7)] for n in (1, 2, 4, 8, 16)}
            low, high = scaling.analyse(runs, draws=300)["serial_share_interval"]
            covered += low <= 0.05 <= high
            widths.append(high - low)
        self.assertGreater(covered, 25)  # of 40; the interval of seven runs is a little too narrow
        self.assertLess(max(widths), 0.03)
        quiet = {n: [speed(n, 0.05) * f for f in (0.999, 1, 1.001)] for n in (1, 2, 4)}
        low, high = scaling.analyse(quiet, draws=300)["serial_share_interval"]
        self.assertLess(high - low, min(widths))

    def test_what_no_law_explains_shows_in_the_residual(self):
        runs = {1: [100], 2: [200], 4: [110]}  # memory is full from 2 threads on
        self.assertGreater(scaling.analyse(runs, draws=10)["largest_residual"], 0.1)

    def test_faster_than_threads_is_not_clipped(self):
        self.assertLess(scaling.serial_share({1: 1.0, 2: 0.45}), 0)

    def test_one_number_of_threads_is_refused(self):
        with self.assertRaises(ValueError):
            scaling.fit({4: 1.0})
        done = subprocess.run([sys.executable, SCRIPT, "--threads", "4"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("two numbers of threads", done.stderr)


class Script(unittest.TestCase):
    def test_counts(self):
        self.assertEqual(scaling.counts_up_to(1), [1])
        self.assertEqual(scaling.counts_up_to(8), [1, 2, 4, 8])
        self.assertEqual(scaling.counts_up_to(12), [1, 2, 4, 8, 12])

    def test_the_plot_is_a_picture_of_all_points(self):
        speeds = {n: [speed(n, 0.1), speed(n, 0.12)] for n in (1, 2, 8)}
        results = {name: {"speeds": speeds, "fit": scaling.analyse(speeds, draws=10)} for name in ("train", "generate")}
        picture = xml.dom.minidom.parseString(scaling.svg(results, 8))
        self.assertEqual(len(picture.getElementsByTagName("circle")), 6)
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 2)
        self.assertIn("serial 1", scaling.svg(results, 8))

    def test_nothing_lies_outside_the_plot(self):
        for share in (-0.1, -0.5, 1.0, 3.0):  # -0.1: no time is left for 11 threads
            speeds = {n: [max(1.0, speed(n, share))] for n in (1, 2, 8)}
            fit = dict(scaling.analyse(speeds, draws=10), serial_share=share)
            for most in (2, 11, 21, 64):
                drawn = {n: runs for n, runs in speeds.items() if n <= most}
                picture = xml.dom.minidom.parseString(scaling.svg({"generate": {"speeds": drawn, "fit": fit}}, most))
                ys = [float(p.split(",")[1]) for e in picture.getElementsByTagName("polyline")
                      for p in e.getAttribute("points").split()]
                for kind, names in (("circle", ["cy"]), ("line", ["y1", "y2"]), ("text", ["y"])):
                    for e in picture.getElementsByTagName(kind):
                        ys += [float(e.getAttribute(name)) for name in names]
                self.assertGreaterEqual(min(ys), 0, (share, most))
                self.assertLessEqual(max(ys), 420, (share, most))

    def test_a_fit_without_time_has_no_speedup(self):
        self.assertIsNone(scaling.fitted_speedup(-0.1, 11))
        self.assertIsNone(scaling.fitted_speedup(-0.1, 64))
        self.assertAlmostEqual(scaling.fitted_speedup(0.1, 4), 1 / (0.1 + 0.9 / 4))

    # A program in the place of tril, whose speeds are known.
    def test_measures_what_the_program_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            tril = os.path.join(folder, "tril")
            with open(tril, "w", encoding="utf-8") as f:
                f.write(f"#!{sys.executable}\nimport json, sys\na = sys.argv\n"
                        "if a[1] == 'bench':\n n = int(a[a.index('--threads') + 1])\n assert a[a.index('--pin') + 1] == 'compact'\n"
                        " v = 1000 / (0.25 + 0.75 / n)\n"
                        " print(json.dumps({'target_tokens_per_second': v, 'generate_tokens_per_second': v}))\n")
            os.chmod(tril, 0o755)
            out = os.path.join(folder, "result")
            done = subprocess.run([sys.executable, SCRIPT, "--tril", tril, "--out", out, "--threads", "1", "2", "4", "--repeat",
                                   "2", "--pin", "compact"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out + ".json", encoding="utf-8") as f:
                found = json.load(f)
            for name in ("train", "translate", "generate"):
                self.assertAlmostEqual(found["results"][name]["fit"]["serial_share"], 0.25)
                self.assertEqual(len(found["results"][name]["speeds"]["4"]), 2)
            xml.dom.minidom.parse(out + ".svg")


if __name__ == "__main__":
    unittest.main()
