import pytest

from runmat_jit.backends.llvm.jit import Jit

# Kernels with the signature of all kernels. args[0] is an int64 array with a count an element.
KERNELS = """
define void @count(ptr %args, i64 %lo, i64 %hi) {
entry:
  %counts = load ptr, ptr %args
  %is_some = icmp slt i64 %lo, %hi
  br i1 %is_some, label %each, label %out
each:
  %i = phi i64 [%lo, %entry], [%next, %each]
  %p = getelementptr i64, ptr %counts, i64 %i
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %hi
  br i1 %more, label %each, label %out
out:
  ret void
}
define void @bounds(ptr %args, i64 %lo, i64 %hi) {  ; counts[lo] = hi, one chunk an entry
  %ends = load ptr, ptr %args
  %p = getelementptr i64, ptr %ends, i64 %lo
  store i64 %hi, ptr %p
  ret void
}
define void @slow(ptr %args, i64 %lo, i64 %hi) {    ; some 2 us of work, then as count
  br label %each
each:
  %i = phi i64 [0, %0], [%next, %each]
  fence seq_cst
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, 1000
  br i1 %more, label %each, label %out
out:
  call void @count(ptr %args, i64 %lo, i64 %hi)
  ret void
}
define void @add(ptr %args, i64 %lo, i64 %hi) {     ; args: out, x, y of float64
  %p_x = getelementptr i64, ptr %args, i64 1
  %p_y = getelementptr i64, ptr %args, i64 2
  %out = load ptr, ptr %args
  %x = load ptr, ptr %p_x
  %y = load ptr, ptr %p_y
  br label %each
each:
  %i = phi i64 [%lo, %0], [%next, %each]
  %p_xi = getelementptr double, ptr %x, i64 %i
  %p_yi = getelementptr double, ptr %y, i64 %i
  %p_oi = getelementptr double, ptr %out, i64 %i
  %xi = load double, ptr %p_xi
  %yi = load double, ptr %p_yi
  %sum = fadd double %xi, %yi
  store double %sum, ptr %p_oi
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %hi
  br i1 %more, label %each, label %done
done:
  ret void
}
define void @empty(ptr %args, i64 %lo, i64 %hi) {
  ret void
}
"""


@pytest.fixture(scope="session")
def jit():
    return Jit()


@pytest.fixture(scope="session")
def kernels(jit):
    return jit.load(jit.compile_object(KERNELS), ["count", "bounds", "slow", "add", "empty"])
