"""engines.py: programs that keep large heaps of their own making: databases, interpreters, solvers,
renderers; and man, which allocates inside a sandbox of system calls.

Servers run under the library and are asked by a client that does not. Read next: harness.py.
SPDX-License-Identifier: MIT
"""
import glob
import hashlib
import os
import shutil
import subprocess
import time

from harness import PreloadTest, Settings

LUA_WORK = r"""
local words, total = {}, 0
for i = 1, 200000 do
  local key = "key" .. (i * 7919 % 5003)
  words[key] = (words[key] or "") .. string.char(97 + i % 26)
  if #words[key] > 300 then words[key] = nil end
end
for _, text in pairs(words) do total = total + #text end
local makers = {}
for i = 1, 2000 do makers[i] = coroutine.wrap(function() for k = 1, 20 do coroutine.yield({k, i}) end end) end
for round = 1, 20 do for i = 1, 2000 do total = total + makers[i]()[1] end end
collectgarbage()
print(total, #string.rep("x", 3000000))
"""

SMT_WORK = """(set-logic QF_BV)
(declare-const a (_ BitVec 32))
(declare-const b (_ BitVec 32))
(assert (= (bvmul a b) #x075bcd15))
(assert (bvugt a #x00000001))
(assert (bvugt b #x00000001))
(assert (bvult a #x00010000))
(assert (bvult b #x00010000))
(check-sat)
(push)
(assert (not (= (bvadd a b) (bvadd b a))))
(check-sat)
(pop)
"""

POSTSCRIPT = """%!PS
<< /PageSize [300 300] >> setpagedevice
0 1 40 { /i exch def i 40 div 0.2 0.7 setrgbcolor
  150 150 moveto i 3 mul 20 add 0 i 9 mul i 9 mul 40 add 150 150 5 2 roll pop pop 150 150 60 i 9 mul
  i 9 mul 30 add arc closepath fill } for
/Helvetica findfont 20 scalefont setfont 10 10 moveto 0 setgray (drey) show
/a 5000 array def 0 1 4999 { a exch dup 7919 mul 5003 mod put } for
showpage
"""

MANUAL = ".TH DREY-TEST 1\n.SH NAME\ndrey-test \\- a page\n.SH DESCRIPTION\n" + "".join(
    f".PP\n.B word{i}\nstands for a paragraph of some length, number {i}, that has to be filled and adjusted.\n"
    for i in range(400))

SQL = ("create table t(a integer, b text); "
       "insert into t select i * 7919 % 100003, 'row ' || i from generate_series(1, 50000) i; "
       "create index ta on t(a); "
       "select 'answer=' || count(*) || '/' || sum(a) || '/' || max(length(b)) from t where a between 500 and 50000;")


def expected_answer():
    rows = [(i * 7919 % 100003, f"row {i}") for i in range(1, 50001)]
    wanted = [(a, b) for a, b in rows if 500 <= a <= 50000]
    return f"answer={len(wanted)}/{sum(a for a, _ in wanted)}/{max(len(b) for _, b in wanted)}"


class Engines(PreloadTest):
    def test_lua(self):
        program = next((name for name in ("lua5.4", "lua5.3", "lua") if shutil.which(name)), None)
        if program is None:
            self.skipTest("lua is not installed")
        script = self.folder / "work.lua"
        script.write_text(LUA_WORK)
        self.assert_same([program, script])

    def test_z3(self):
        self.need("z3")
        self.assertEqual(self.preloaded(["z3", "-in"], text_input=SMT_WORK).split(), ["sat", "unsat"])

    def test_ghostscript_renders_the_same_page(self):
        self.need("gs")
        (self.folder / "page.ps").write_text(POSTSCRIPT)
        digests = []
        for run in (self.plain, self.preloaded):
            run(["gs", "-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=ppmraw", "-r150", "-sOutputFile=page.ppm", "page.ps"])
            digests.append(hashlib.sha256((self.folder / "page.ppm").read_bytes()).hexdigest())
        self.assertEqual(digests[0], digests[1])

    def test_man_within_its_sandbox(self):
        self.need("man", "groff")
        (self.folder / "drey-test.1").write_text(MANUAL)
        more = {"MANPAGER": "cat", "MANWIDTH": "72"}
        text = self.assert_same(["man", "-l", "drey-test.1"], more=more)
        self.assertIn("number 399", " ".join(text.split()))


class Databases(PreloadTest):
    def start_redis(self):
        """The server under the library, with its socket in the test's folder."""
        self.need("redis-cli")
        # One program under two names; the package of the first would start a service.
        program = shutil.which("redis-server") or shutil.which("redis-check-rdb")
        if program is None:
            self.skipTest("redis-server is not installed")
        os.symlink(program, self.folder / "redis-server")
        log = open(self.folder / "log", "w")
        self.addCleanup(log.close)
        server = subprocess.Popen(
            ["./redis-server", "--port", "0", "--unixsocket", "socket", "--save", "", "--dir", str(self.folder)],
            cwd=self.folder, stdout=log, stderr=log, env=self.environment(Settings.library))
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        deadline = time.monotonic() + 60
        while not (self.folder / "socket").exists():
            self.assertIsNone(server.poll(), (self.folder / "log").read_text())
            self.assertLess(time.monotonic(), deadline, "redis-server does not open its socket")
            time.sleep(0.05)
        return server

    def ask_redis(self, *words, text_input=None):
        return self.plain(["redis-cli", "-s", "socket", *words], text_input=text_input).strip()

    def save_in_a_forked_child(self):
        self.ask_redis("BGSAVE")
        deadline = time.monotonic() + 60
        while "rdb_bgsave_in_progress:0" not in self.ask_redis("INFO", "persistence"):
            self.assertLess(time.monotonic(), deadline, "the child of BGSAVE does not end")
            time.sleep(0.05)
        self.assertIn("rdb_last_bgsave_status:ok", self.ask_redis("INFO", "persistence"))
        self.assertTrue((self.folder / "dump.rdb").exists())

    def test_redis(self):
        server = self.start_redis()
        commands = "".join(f"SET key{i} {'v' * (i % 400 + 1)}\nRPUSH list{i % 50} {i}\nHSET hash{i % 20} f{i} {i}\n"
                           for i in range(4000))
        self.ask_redis(text_input=commands)
        self.assertEqual(self.ask_redis("DBSIZE"), "4070")
        self.assertEqual(self.ask_redis("LLEN", "list7"), "80")
        self.assertEqual(self.ask_redis("GET", "key398"), "v" * 399)
        script = "local n = 0 for i = 0, 3999 do n = n + #redis.call('GET', 'key' .. i) end return n"
        self.assertEqual(self.ask_redis("EVAL", script, "0"), str(sum(i % 400 + 1 for i in range(4000))))
        self.save_in_a_forked_child()
        self.ask_redis("FLUSHALL")
        self.assertEqual(self.ask_redis("DBSIZE"), "0")
        self.plain(["sh", "-c", "redis-cli -s socket SHUTDOWN NOSAVE || true"])
        self.assertEqual(server.wait(timeout=60), 0)

    def test_postgres_in_one_process(self):
        places = [os.environ.get("PATH", ""), *glob.glob("/usr/lib/postgresql/*/bin")]
        path = os.pathsep.join(places)
        programs = {name: shutil.which(name, path=path) for name in ("initdb", "postgres")}
        if None in programs.values():
            self.skipTest("postgres is not installed")
        become = []
        if os.geteuid() == 0:  # postgres refuses to run as root
            self.need("setpriv")
            become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            os.chown(self.folder, 65534, 65534)
        more = {"HOME": str(self.folder)}
        data = self.folder / "data"
        self.preloaded([*become, programs["initdb"], "-D", data, "-U", "drey", "--no-sync", "-A", "trust"], more=more)
        output = self.preloaded([*become, programs["postgres"], "--single", "-D", data, "postgres"],
                                text_input=SQL.replace("; ", ";\n") + "\n", more=more)
        self.assertIn(expected_answer(), output)
