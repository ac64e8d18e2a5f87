"""real_programs.py: programs people use, each with an output that is checked.

They stand for kinds of load: interpreters, compilers, databases, threads, forks, own pools, JITs,
sandboxes. What differs from run to run (times, addresses) is kept out of the comparison.
Read next: own_programs.py.
SPDX-License-Identifier: MIT
"""
import hashlib
import os
import shutil

from harness import PreloadTest, Settings

PYTHON_WORK = r"""
import collections, gc, hashlib, heapq, json, pickle, random, threading
random.seed(7)
data = [{"name": "row%d" % i, "values": [random.random() for _ in range(i % 50)]} for i in range(6000)]
text = json.dumps(data)
assert json.loads(text) == data
assert pickle.loads(pickle.dumps(data)) == data
table = collections.defaultdict(list)
for i in range(200000): table[i % 997].append(str(i))
heap = [random.random() for _ in range(50000)]
heapq.heapify(heap)
ordered = [heapq.heappop(heap) for _ in range(len(heap))]
assert ordered == sorted(ordered)
sums = []
def work(n): sums.append(sum(len(b"x" * (k % 5000)) for k in range(n)))
threads = [threading.Thread(target=work, args=(8000,)) for _ in range(6)]
[t.start() for t in threads]; [t.join() for t in threads]
assert len(set(sums)) == 1
del table; gc.collect()
print(hashlib.sha256(text.encode()).hexdigest(), sums[0])
"""

PYTHON_POOL = r"""
import multiprocessing
def square(n): return sum(i * i for i in range(n))
if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    with multiprocessing.Pool(4) as pool: print(sum(pool.map(square, range(400))))
"""

PYTHON_SQLITE = r"""
import sqlite3
base = sqlite3.connect(":memory:")
base.execute("create table t(a integer, b text, c real)")
base.executemany("insert into t values(?, ?, ?)", ((i * 7919 % 100003, "row %d" % i, i / 3) for i in range(60000)))
base.execute("create index ta on t(a)")
base.execute("create index tb on t(b)")
print(base.execute("select count(*), sum(a), max(b) from t where a between 500 and 50000").fetchone())
print(base.execute("pragma integrity_check").fetchone())
"""

PERL_WORK = r"""
my %h; my $s = 0;
for my $i (0..120000) { $h{"key" . ($i * 7919 % 50021)} .= chr(65 + $i % 26); }
for my $k (sort keys %h) { $s = ($s * 31 + length($h{$k}) + ord($h{$k})) % 1000000007; }
my @a = map { { n => $_, l => [1 .. $_ % 30] } } 0..20000;
my $t = 0; $t += scalar(@{$_->{l}}) for @a;
print "$s $t\n";
"""

NODE_WORK = r"""
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads');
const zlib = require('zlib'), crypto = require('crypto');
function work(seed) {
  let text = '';
  for (let i = 0; i < 60000; i++) text += ((i * seed) % 977).toString(36);
  const back = zlib.inflateSync(zlib.deflateSync(Buffer.from(text))).toString();
  return crypto.createHash('md5').update(back === text ? back : 'broken').digest('hex');
}
if (isMainThread) {
  const names = [];
  for (const seed of [3, 5, 7, 11]) {
    new Worker(__filename, {workerData: seed}).on('message', (m) => {
      names.push(m); if (names.length === 4) console.log(names.sort().join('\n'));
    });
  }
} else parentPort.postMessage(work(workerData));
"""

JAVA_WORK = r"""
import java.util.stream.*;
import java.util.zip.*;
public class Work {
  public static void main(String[] a) throws Exception {
    long sum = IntStream.range(0, 400).parallel().mapToLong(i -> {
      byte[] data = new byte[20000];
      for (int k = 0; k < data.length; k++) data[k] = (byte) (k * i % 251);
      Deflater d = new Deflater(); d.setInput(data); d.finish();
      byte[] out = new byte[30000]; int n = d.deflate(out); d.end();
      CRC32 c = new CRC32(); c.update(data); return c.getValue() + (n > 0 ? 1 : 0);
    }).sum();
    System.out.println(sum);
  }
}
"""


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Interpreters(PreloadTest):
    def test_python_objects_and_threads(self):
        self.need("python3")
        script = self.folder / "work.py"
        script.write_text(PYTHON_WORK)
        self.assert_same(["python3", script], more={"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"})

    def test_python_fork_pool(self):
        self.need("python3")
        script = self.folder / "pool.py"
        script.write_text(PYTHON_POOL)
        expected = sum(sum(i * i for i in range(n)) for n in range(400))
        self.assertEqual(self.preloaded(["python3", script]).strip(), str(expected))

    def test_sqlite(self):
        self.need("python3")
        script = self.folder / "base.py"
        script.write_text(PYTHON_SQLITE)
        self.assertIn("('ok',)", self.assert_same(["python3", script]))

    def test_perl(self):
        self.need("perl")
        self.assert_same(["perl", "-e", PERL_WORK], more={"PERL_HASH_SEED": "0"})

    def test_awk(self):
        self.need("awk")
        program = ('BEGIN { for (i = 0; i < 200000; i++) a[i % 7001] = a[i % 7001] "x"; '
                   'for (k in a) n += length(a[k]); print n }')
        self.assertEqual(self.preloaded(["awk", program]).strip(), "200000")

    def test_bash_loops(self):
        self.need("bash")
        script = ('s=0; declare -A a; for i in {1..20000}; do a[$((i % 991))]+=x; s=$((s + i)); done; '
                  'for i in 1 2 3 4 5; do (echo $i) | cat; done; echo $s ${#a[@]} ${#a[5]}')
        self.assertEqual(self.preloaded(["bash", "-c", script]).split(),
                         ["1", "2", "3", "4", "5", "200010000", "991", "21"])

    def test_node_workers(self):
        self.need("node")
        script = self.folder / "work.js"
        script.write_text(NODE_WORK)
        self.assert_same(["node", script])

    def test_java(self):
        self.need("javac", "java")
        (self.folder / "Work.java").write_text(JAVA_WORK)
        self.preloaded(["javac", "Work.java"])
        self.assert_same(["java", "-XX:+UseSerialGC", "-Xmx256m", "Work"])


class Compilers(PreloadTest):
    def object_is_identical(self, compiler):
        self.need(compiler)
        source = self.folder / "containers.cpp"
        shutil.copy(os.path.join(os.path.dirname(__file__), "programs", "containers.cpp"), source)
        digests = []
        for run in (self.plain, self.preloaded):
            run([compiler, "-std=c++17", "-O2", "-c", source, "-o", "containers.o"])
            digests.append(digest(self.folder / "containers.o"))
        self.assertEqual(digests[0], digests[1])
        self.preloaded([compiler, "containers.o", "-o", "containers", "-pthread"])
        self.assert_same(["./containers"])

    def test_gcc_writes_the_same_object(self):
        self.object_is_identical("g++")

    def test_clang_writes_the_same_object(self):
        self.object_is_identical("clang++-14")

    def test_gdb_shows_a_backtrace(self):
        self.need("gdb")
        program = self.compile("containers.cpp", "-O0")
        output = self.preloaded(["gdb", "-batch", "-nx", "-ex", "set startup-with-shell off", "-ex",
                                 "break finish_here", "-ex", "run", "-ex", "bt", program])
        if "ptrace" in output and "not permitted" in output:
            self.skipTest("ptrace is not permitted here")
        self.assertRegex(output, r"#1 .* main \(")

    def test_cmake_configures(self):
        self.need("cmake")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\n"
            "foreach(i RANGE 3000)\n  list(APPEND all item${i})\nendforeach()\n"
            "list(LENGTH all n)\nmessage(STATUS \"count ${n}\")\n")
        self.assertIn("count 3001", self.preloaded(["cmake", "-S", ".", "-B", "build"]))
        (self.folder / "a").write_text("x" * 100000)
        self.assert_same(["cmake", "-E", "sha256sum", "a"])


class Tools(PreloadTest):
    def big_file(self, megabytes=6):
        path = self.folder / "big"
        lines = (f"{i * 7919 % 1000003} line {i % 977}\n" for i in range(megabytes * 45000))
        path.write_text("".join(lines))
        return path

    def test_git_keeps_a_repository_whole(self):
        self.need("git")
        more = {"HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        for name in ("AUTHOR", "COMMITTER"):
            more.update({f"GIT_{name}_NAME": "a", f"GIT_{name}_EMAIL": "a@example.org",
                         f"GIT_{name}_DATE": "2020-01-01T00:00:00Z"})
        trees = []
        for index, run in enumerate((self.plain, self.preloaded)):
            folder = self.folder / f"repository{index}"
            folder.mkdir()
            for i in range(200):
                (folder / f"file{i}").write_text(f"line {i}\n" * (i + 1))
            for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"],
                            ["gc", "-q", "--aggressive"], ["fsck", "--full"]):
                run(["git", *command], folder=folder, more=more)
            trees.append(run(["git", "rev-parse", "HEAD"], folder=folder, more=more))
        self.assertEqual(trees[0], trees[1])

    def test_sort_in_parallel(self):
        self.need("sort")
        self.big_file()
        self.plain(["sort", "--parallel=1", "-n", "big", "-o", "expected"])
        self.preloaded(["sort", "--parallel=4", "-S", "1M", "-n", "big", "-o", "sorted"])
        self.assertEqual(digest(self.folder / "expected"), digest(self.folder / "sorted"))

    def round_trip(self, program, *options):
        self.need(program)
        original = digest(self.big_file(4))
        self.preloaded([program, *options, "-k", "big"])
        packed = next(path for path in self.folder.iterdir() if path.name.startswith("big."))
        (self.folder / "big").unlink()
        self.preloaded([program, "-d", packed])
        self.assertEqual(digest(self.folder / "big"), original)

    def test_xz_round_trip(self):
        self.round_trip("xz", "-T2", "-2", "--block-size=1MiB")

    def test_zstd_round_trip(self):
        self.round_trip("zstd", "-q", "-T2", "-6")

    def test_gzip_round_trip(self):
        self.round_trip("gzip")

    def test_tar_round_trip(self):
        self.need("tar", "gzip")
        (self.folder / "in").mkdir()
        for i in range(200):
            (self.folder / "in" / f"f{i}").write_text(f"{i}\n" * 200)
        self.preloaded(["tar", "czf", "all.tar.gz", "in"])
        (self.folder / "out").mkdir()
        self.preloaded(["tar", "xzf", "all.tar.gz", "-C", "out"])
        self.plain(["diff", "-r", "in", "out/in"])

    def test_openssl_signs_and_verifies(self):
        self.need("openssl")
        (self.folder / "text").write_text("sentence\n" * 1000)
        self.preloaded(["openssl", "genrsa", "-out", "key", "2048"])
        self.preloaded(["openssl", "rsa", "-in", "key", "-pubout", "-out", "public"])
        self.preloaded(["openssl", "dgst", "-sha256", "-sign", "key", "-out", "mark", "text"])
        output = self.preloaded(["openssl", "dgst", "-sha256", "-verify", "public", "-signature", "mark", "text"])
        self.assertIn("Verified OK", output)

    def test_vim_edits(self):
        self.need("vim")
        (self.folder / "text").write_text("".join(f"line {i}\n" for i in range(5000)))
        self.preloaded(["vim", "-u", "NONE", "-es", "-c", "%s/line/row/", "-c", "g/7$/d", "-c", "wq", "text"])
        lines = (self.folder / "text").read_text().splitlines()
        self.assertEqual(lines, [f"row {i}" for i in range(5000) if i % 10 != 7])

    def test_jq(self):
        self.need("jq")
        program = "[range(40000) | {a: ., b: (. * 7919 % 10007 | tostring)}] | group_by(.b) | map(length) | add"
        self.assertEqual(self.preloaded(["jq", "-n", program]).strip(), "40000")

    def test_valgrind_sees_an_overflow_through_somalloc(self):
        self.need("valgrind")
        program = self.compile("overflow.c")
        name = os.path.basename(Settings.library)
        done = self.plain(["sh", "-c", f"LD_PRELOAD={Settings.library} valgrind -q "
                           f"--soname-synonyms=somalloc=*{name.split('.')[0]}* {program} || true"])
        self.assertIn("Invalid write of size 1", done)
        self.assertIn("0 bytes after a block of size 100", done)
