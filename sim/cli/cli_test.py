#!/usr/bin/python3
"""The program as a person runs it: exit statuses, messages, files. Usage: cli_test.py PROGRAM [--golden].

With --golden it writes experiments/smoke/golden/*.json again from the program instead of testing: the
summary of each smoke run and the checksums of its other files. Look at the difference before committing.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMOKE = ROOT / "experiments" / "smoke"
GOLDEN = SMOKE / "golden"
GOLDEN_RUNS = ("azure_conv", "mooncake_conv")
PROGRAM = ""


def call(*arguments, cwd=ROOT, stdin=""):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, input=stdin,
                          capture_output=True, text=True, timeout=300, check=False)


def checksums(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(pathlib.Path(folder).iterdir()) if file.is_file()}


def golden_of(name, folder):
    done = call("run", SMOKE / f"{name}.cfg", f"--output.dir={folder}")
    assert done.returncode == 0, done.stderr
    files = checksums(folder)
    # The manifest names the revision, and the summary is there in full.
    del files["manifest.json"], files["summary.json"]
    return {"summary": json.loads((folder / "summary.json").read_text()), "files": files}


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.tmp = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def refuses(self, status, words, *arguments, **more):
        done = call(*arguments, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done

    def write(self, name, text):
        path = self.tmp / name
        path.write_text(text)
        return path

    def test_golden_runs(self):
        for name in GOLDEN_RUNS:
            with self.subTest(name):
                want = json.loads((GOLDEN / f"{name}.json").read_text())
                self.assertEqual(golden_of(name, self.tmp / name), want)

    def test_two_runs_give_the_same_bytes(self):
        for place in ("a", "b"):
            done = call("run", SMOKE / "azure_conv.cfg", f"--output.dir={self.tmp / place}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr, "")  # no progress line in a pipe
        self.assertEqual(checksums(self.tmp / "a"), checksums(self.tmp / "b"))
        self.assertEqual(set(checksums(self.tmp / "a")),
                         {"manifest.json", "summary.json", "requests.csv", "steps.csv",
                          "timeline.json"})

    def test_manifest_and_summary_hold_what_is_promised(self):
        out = self.tmp / "out"
        call("run", SMOKE / "mooncake_conv.cfg", f"--output.dir={out}")
        manifest = json.loads((out / "manifest.json").read_text())
        self.assertTrue(manifest["complete"])
        origin = {row["key"]: row["origin"] for row in manifest["settings"]}
        self.assertEqual(origin["serving.max_running"], "default")
        self.assertTrue(origin["moe.placement"].endswith("mooncake_conv.cfg:22"), origin)
        trace = ROOT / "data/workloads/sample_mooncake.jsonl"
        self.assertEqual(manifest["inputs"][0]["sha256"],
                         hashlib.sha256(trace.read_bytes()).hexdigest())
        summary = json.loads((out / "summary.json").read_text())
        requests = summary["requests"]
        self.assertEqual(requests["submitted"], requests["finished"] + requests["rejected"]
                         + requests["unservable"] + requests["in_flight"])
        self.assertAlmostEqual(sum(summary["attribution"].values()), 1, places=12)
        self.assertGreater(summary["kv"]["retractions"], 0)
        for name in ("ttft_ms", "tpot_ms", "step_ms"):
            self.assertLessEqual({"mean", "p50", "p90", "p99"}, set(summary[name]))

    def test_usage_errors_are_status_2_and_leave_nothing(self):
        out = self.tmp / "out"
        bad = self.write("bad.cfg", "[moe]\nplacment = tp-sliced\n")
        self.refuses(2, ["bad.cfg:2", "moe.placment", "did you mean 'moe.placement'"], "run", bad,
                     f"--output.dir={out}")
        good = self.write("good.cfg", "")
        self.refuses(2, ["workload.batch", "found '-1'", "1 .. 1000000"], "run", good,
                     "--workload.batch=-1")
        self.refuses(2, ["--workload.bach=1", "did you mean '--workload.batch'"], "run", good,
                     "--workload.bach=1")
        self.refuses(2, ["workload.batch", "repeated"], "run", good, "--workload.batch=1",
                     "--workload.batch=2")
        self.refuses(2, ["unknown command 'walk'", "run|sweep"], "walk")
        self.refuses(2, ["found 0 arguments"], "run")
        self.refuses(2, ["unknown option '-x'"], "run", good, "-x")
        self.refuses(2, ["cannot be opened"], "run", self.tmp)
        ranks = self.write("ranks.cfg", "[hardware]\nranks = 3\n")
        self.refuses(2, ["ranks.cfg:2", "hardware.ranks", "64 attention heads"], "run", ranks)
        self.refuses(2, ["ranks.cfg:2", "hardware.ranks"], "explain", ranks)
        ranks.unlink()
        self.refuses(2, ["cannot be opened"], "run", self.tmp / "none.cfg")
        self.refuses(2, ["[sweep]", "shiftpoint sweep"], "run", SMOKE / "bottleneck_shift.cfg")
        self.refuses(2, ["--shard", "found '2/2'", "0 <= i < n"], "sweep",
                     SMOKE / "bottleneck_shift.cfg", "--shard=2/2")
        self.assertFalse(out.exists())
        self.assertEqual(sorted(p.name for p in self.tmp.iterdir()), ["bad.cfg", "good.cfg"])

    def test_run_errors_are_status_1_and_leave_nothing(self):
        out = self.tmp / "out"
        trace = self.write("t.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                           "2023-11-16 18:00:00.0000000,12,x\n")
        self.refuses(1, ["t.csv:2", "GeneratedTokens", "'x'"], "run", SMOKE / "azure_conv.cfg",
                     f"--workload.trace={trace}", f"--output.dir={out}")
        self.refuses(2, ["workload.trace"], "run", ROOT / "experiments/azure_conv.cfg",
                     f"--output.dir={out}")
        self.refuses(2, ["kvcache.slots", "weights"], "run", SMOKE / "azure_conv.cfg",
                     "--hardware.memory_bytes=1e9", f"--output.dir={out}")
        self.refuses(1, ["cannot be opened"], "run", SMOKE / "azure_conv.cfg",
                     f"--workload.trace={self.tmp}", f"--output.dir={out}")
        self.assertFalse(out.exists())
        precious = self.tmp / "precious"
        precious.mkdir()
        (precious / "file").write_text("x")
        self.refuses(2, ["output.dir", "is no result folder"], "run", SMOKE / "azure_conv.cfg",
                     f"--output.dir={precious}")
        self.assertEqual((precious / "file").read_text(), "x")
        self.assertEqual(sorted(p.name for p in self.tmp.iterdir()), ["precious", "t.csv"])

    def test_explain_says_where_every_value_came_from(self):
        done = call("explain", SMOKE / "azure_conv.cfg", "--workload.batch=7")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {line.split()[0]: line for line in done.stdout.splitlines()}
        self.assertIn("command line", rows["workload.batch"])
        self.assertRegex(rows["hardware.sms"], r"188 .*rtx-pro-6000-server.cfg:\d+  \(cited: ")
        self.assertIn("default", rows["serving.max_running"])
        self.assertRegex(rows["speculation.draft_tokens"], r"azure_conv.cfg:\d+")

    def test_trace_inspect(self):
        sample = ROOT / "data/workloads/sample_azure.csv"
        done = call("trace", "inspect", sample)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("format   azure-csv", done.stdout)
        self.assertIn("120 read, 120 accepted, 0 rejected", done.stdout)
        text = sample.read_text().replace(",177\n", ",-1\n", 1)
        done = call("trace", "inspect", "-", stdin=text)
        self.assertIn("120 read, 119 accepted, 1 rejected", done.stdout)
        self.assertRegex(done.stdout, r"standard input:2: 'GeneratedTokens'")
        self.refuses(2, ["moe.placement", "does nothing here"], "trace", "inspect", sample,
                     "--moe.placement=tp-sliced")

    def test_sweep_shards_merge_to_the_same_bytes(self):
        whole, parts = self.tmp / "whole", self.tmp / "parts"
        config = SMOKE / "bottleneck_shift.cfg"
        done = call("sweep", config, f"--output.dir={whole}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 of 4 points run", done.stdout)
        self.assertEqual(call("sweep", config, f"--output.dir={parts}", "--shard=1/3").returncode, 0)
        self.refuses(1, ["3 of 4 points are missing", "numbers 0, 2, 3"], "merge", config,
                     f"--output.dir={parts}")
        self.assertFalse((parts / "points.csv").exists())
        for shard in ("2/3", "0/3"):
            call("sweep", config, f"--output.dir={parts}", f"--shard={shard}")
        done = call("merge", config, f"--output.dir={parts}")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("points.csv", "manifest.json"):
            self.assertEqual((whole / name).read_bytes(), (parts / name).read_bytes())
        header = (whole / "points.csv").read_text().splitlines()[0].split(",")
        self.assertEqual(len(header), len(set(header)))

    def test_sweeps_refuse_points_that_are_the_same_experiment(self):
        config = self.write("same.cfg", "[sweep]\nworkload.rate_per_s = 1, 2\n")  # closed loop
        self.refuses(2, ["workload.rate_per_s does nothing with workload.kind = closed-loop"], "sweep",
                     config, f"--output.dir={self.tmp / 'out'}")
        traces = []
        for name in ("a.csv", "b.csv"):
            sample = (ROOT / "data/workloads/sample_azure.csv").read_text()
            traces.append(str(self.write(name, sample)))
        config = self.write("twins.cfg", "[workload]\nkind = trace\nlimit = 2\n[sweep]\n"
                            f"workload.trace = {','.join(traces)}\n")
        self.refuses(1, ["points 0 and 1 are the same experiment", "workload.trace"], "sweep",
                     config, f"--output.dir={self.tmp / 'out'}")

    def test_notes_say_what_the_numbers_rest_on(self):
        out = f"--output.dir={self.tmp / 'out'}"
        done = call("run", SMOKE / "azure_conv.cfg", out, "--kvcache.slots=300000",
                    "--workload.batch=3", "--workload.time_scale=0.001")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"note: kvcache.slots = 300000 is more than the \d+ that memory")
        self.assertIn("note: workload.batch does nothing with workload.kind = trace", done.stdout)
        self.assertRegex(done.stdout, r"note: overloaded: requests arrived over \d+ s")
        self.assertRegex(done.stdout, r"time +\d+\.\d % verify steps, \d+\.\d % prefill")

    def test_a_full_disk_behind_standard_output_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PROGRAM, "explain", SMOKE / "azure_conv.cfg"], cwd=ROOT,
                                  stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output cannot be written", done.stderr)

    def test_audit_writes_verdicts(self):
        out = self.tmp / "audit"
        done = call("audit", f"--results={self.tmp}", f"--output.dir={out}")
        self.assertEqual(done.returncode, 0, done.stderr)
        claims = json.loads((out / "claims.json").read_text())
        verdicts = {claim["id"]: claim["verdict"] for claim in claims}
        # 62 / 39 = 1.59 and 12.2 / 6.8 = 1.79 are not parity; 116.5 / 39 = 2.99 rounds to 3.0.
        self.assertEqual(verdicts["C06b"], "contradicted")
        self.assertEqual(verdicts["C03a"], "supported")
        self.assertIn("| C03a |", (out / "claims.md").read_text())

    def test_help_and_version(self):
        self.assertRegex(call("--version").stdout, r"^shiftpoint \d+\.\d+\.\d+ \(revision ")
        self.assertIn("shiftpoint run FILE", call("--help").stdout)
        self.assertEqual(call().returncode, 2)
        for command in ("run", "sweep", "merge", "explain", "trace", "audit"):
            done = call(command, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"shiftpoint {command}", done.stdout)
        self.assertIn("--moe.placement=tp-sliced", call("run", "--help").stdout)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    if "--golden" in sys.argv:
        for run in GOLDEN_RUNS:
            with tempfile.TemporaryDirectory() as scratch:
                made = golden_of(run, pathlib.Path(scratch) / run)
            GOLDEN.mkdir(exist_ok=True)
            (GOLDEN / f"{run}.json").write_text(json.dumps(made, indent=1) + "\n")
            print("wrote", f"experiments/smoke/golden/{run}.json")
    else:
        unittest.main(argv=sys.argv[:1])
