"""Oracle: what the LLVM text says, evaluated by hand; process state read from the outside."""

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading

import pytest
from llvmlite import binding as llvm
from llvmlite.binding import ffi

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.target import CROSS_TARGETS
from runmat_jit.core.loading import LLVM, LOADER
from runmat_jit.core.locks import llvm_lock
from runmat_jit.core.uninterrupted import with_llvm

# Where nothing may be raised, Python can but tell of an interrupt or of too deep a recursion.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def adder(constant: int, name: str = "add") -> str:
    return f"""
define i64 @{name}(i64 %x) {{
  %y = add i64 %x, {constant}
  ret i64 %y
}}
"""


def callable_at(address: int):
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)


@pytest.fixture(scope="module")
def jit():
    return Jit()


@pytest.mark.parametrize("codegen_level", [0, 1, 2, 3])
def test_text_becomes_a_function(jit, codegen_level):
    code = jit.compile_object(adder(41), codegen_level=codegen_level)
    assert callable_at(jit.load(code, ["add"])["add"])(1) == 42


def test_two_libraries_may_define_the_same_name(jit):
    first, second = (jit.load(jit.compile_object(adder(k)), ["add"])["add"] for k in (1, 2))
    assert (callable_at(first)(0), callable_at(second)(0)) == (1, 2)


def test_symbols_of_the_process_are_found(jit):
    text = """
declare i64 @labs(i64)
define i64 @f(i64 %x) {
  %y = call i64 @labs(i64 %x)
  ret i64 %y
}
"""
    assert callable_at(jit.load(jit.compile_object(text), ["f"])["f"])(-7) == 7


def test_declared_functions_may_be_given_by_address(jit):
    triple = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: 3 * x)
    text = """
declare i64 @triple(i64)
define i64 @f(i64 %x) {
  %y = call i64 @triple(i64 %x)
  ret i64 %y
}
"""
    symbols = {"triple": ctypes.cast(triple, ctypes.c_void_p).value}
    assert callable_at(jit.load(jit.compile_object(text), ["f"], symbols)["f"])(14) == 42


def test_a_name_that_is_not_defined_is_an_error(jit):
    code = jit.compile_object(adder(1))
    with pytest.raises(RuntimeError, match="subtract"):
        jit.load(code, ["subtract"])


@pytest.mark.parametrize(
    "text",
    [
        "define i64 @f() {\n  ret i32 0\n}",
        "define i64 @f(i64 %x) {\na:\n  br label %b\nb:\n  %y = phi i64 [%x, %b]\n  ret i64 %y\n}",
    ],
    ids=["does not parse", "does not verify"],
)
def test_text_that_is_no_module_is_refused(jit, text):
    with pytest.raises(AssertionError, match="generated LLVM text"):
        jit.compile_object(text)


def test_code_outlives_the_instance_that_loaded_it():
    jit = Jit()
    function = callable_at(jit.load(jit.compile_object(adder(3)), ["add"])["add"])
    del jit
    assert function(4) == 7


@pytest.mark.parametrize("target", CROSS_TARGETS, ids=lambda t: f"{t.triple} {t.cpu}")
def test_object_code_is_generated_for_every_platform(jit, target):
    code = jit.compile_object(adder(1), target)
    magic = {"darwin": b"\xcf\xfa\xed\xfe", "windows": b"\x64\x86"}.get(target.system, b"\x7fELF")
    assert code.startswith(magic)


def test_the_same_text_gives_the_same_object_code(jit):
    assert jit.compile_object(adder(5)) == Jit().compile_object(adder(5))


def test_statistics_count_compiles_and_loads():
    jit = Jit()
    assert (jit.statistics.compiled, jit.statistics.loaded) == (0, 0)
    code = jit.compile_object(adder(1))
    jit.load(code, ["add"])
    jit.load(code, ["add"])
    seen = jit.statistics
    assert (seen.compiled, seen.loaded, seen.loaded_bytes) == (1, 2, 2 * len(code))
    assert seen.compile_ms > 0


def test_threads_may_compile_and_load_at_once(jit):
    results = {}

    def work(constant: int) -> None:
        code = jit.compile_object(adder(constant))
        results[constant] = callable_at(jit.load(code, ["add"])["add"])(100)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {k: 100 + k for k in range(8)}


def test_llvm_is_not_imported_by_making_an_instance():
    program = (
        "import sys; from runmat_jit.backends.llvm.jit import Jit; Jit(); "
        "assert not any(name.startswith('llvmlite') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="lays out its address space with Linux's mmap")
def test_code_and_constants_stay_near_where_free_memory_is_far_apart():
    """One free page above 6 GiB of mappings: what is placed there needs the rest beside it."""
    program = """
import ctypes
from runmat_jit.backends.llvm.jit import Jit

PAGE, FAR = 4096, 6 << 30
ADDRESS, NOTHING, PRIVATE_UNRESERVED = ctypes.c_void_p, 0, 0x4022
libc = ctypes.CDLL(None)
libc.mmap.restype = ADDRESS
libc.mmap.argtypes = [ADDRESS, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ADDRESS, ctypes.c_size_t]
text = '''
@table = private constant [4 x i64] [i64 11, i64 22, i64 33, i64 44]
define i64 @f(i64 %x) {
  %place = getelementptr [4 x i64], ptr @table, i64 0, i64 %x
  %y = load i64, ptr %place
  ret i64 %y
}
'''
jit = Jit()
code = jit.compile_object(text)
jit.load(code, ["f"])  # whatever loading needs once is there
far = libc.mmap(None, FAR, NOTHING, PRIVATE_UNRESERVED, -1, 0)
above = None
while (page := libc.mmap(None, PAGE, NOTHING, PRIVATE_UNRESERVED, -1, 0)) > far:
    above = page
assert above is not None, "no page is free above"
libc.munmap(above, PAGE)
function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(jit.load(code, ["f"])["f"])
print([function(k) for k in range(4)])
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout.strip() == "[11, 22, 33, 44]", done.stderr[-500:]


def test_an_exception_while_llvm_is_being_locked_leaves_it_unlocked():
    """Found by handlers of signals that raise at any point: other threads waited for ever."""

    once = [KeyboardInterrupt]

    def interrupt():
        for error in once:
            once.clear()
            raise error

    def nothing():
        pass

    jit, lock = Jit(), ffi.lib._lock
    lock.register(interrupt, nothing)
    try:
        with pytest.raises(KeyboardInterrupt):
            jit.functions("define i32 @one() { ret i32 1 }", ["one"])
    finally:
        lock.unregister(interrupt, nothing)
    assert not llvm_lock()._is_owned()
    assert jit.functions("define i32 @one() { ret i32 1 }", ["one"])["one"]


def test_no_handler_interrupts_llvm():
    """Found by handlers of signals that raise at any point: an object was released twice."""
    seen = set()
    text = "define i32 @two() { ret i32 2 }"
    sys.setprofile(lambda frame, *_: seen.add(frame.f_code.co_filename))
    try:
        jit = Jit()
        assert jit.functions(text, ["two"])["two"]
        assert jit.load(jit.compile_object(text), ["two"])["two"]
    finally:
        sys.setprofile(None)
    assert any("jit.py" in name for name in seen)
    assert not any("llvmlite" in name for name in seen)


def test_what_a_handler_raises_ends_the_waiting_for_llvm():
    started, go_on = threading.Event(), threading.Event()

    def work():
        started.set()
        go_on.wait(60)
        return 1

    def send():
        started.wait(60)
        os.kill(os.getpid(), signal.SIGUSR1)

    def stop(number, frame):
        raise KeyboardInterrupt

    LOADER.load(LLVM)
    before = signal.signal(signal.SIGUSR1, stop)
    try:
        threading.Thread(target=send).start()
        with pytest.raises(KeyboardInterrupt):
            with_llvm(work)
    finally:
        signal.signal(signal.SIGUSR1, before)
        go_on.set()
    assert with_llvm(lambda: 2) == 2


def test_errors_of_llvm_leave_nothing_for_a_collector(jit):
    """Found by processes that crashed: it released a context of LLVM's before the module in it."""
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            with pytest.raises(AssertionError, match="not valid"):
                jit.compile_object("define i64 @f() {\n  ret i32 0\n}")
        assert not [each for each in gc.get_objects() if type(each) is llvm.ContextRef]
    finally:
        gc.enable()
