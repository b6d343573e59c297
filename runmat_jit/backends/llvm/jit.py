"""Compilation of LLVM IR to object code, and loading of object code."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runmat_jit.backends.llvm.host import Host, find_host
from runmat_jit.backends.llvm.object_cache import ObjectCache
from runmat_jit.backends.llvm.object_loader import UnknownObjectError, load_object
from runmat_jit.backends.llvm.target import Target
from runmat_jit.core.frozen import frozen
from runmat_jit.core.loading import LLVM, LOADER
from runmat_jit.core.locks import new_lock
from runmat_jit.core.uninterrupted import with_llvm

if TYPE_CHECKING:
    import llvmlite.binding as llvm

    from runmat_jit.core.status_line import CompileProgress


SEQUENTIAL: Final = "; sequential"
"""First line of the text of loops over single numbers: LLVM's standard pipeline runs over it."""


@frozen
class JitStatistics:
    """Counters of one ``Jit``; times in milliseconds, sizes in bytes."""

    compiled: int = 0
    compile_ms: float = 0.0
    loaded: int = 0
    loaded_bytes: int = 0


class Jit:
    """Compiles LLVM IR and loads object code into this process; owned by a session.

    Safe to call from several threads. Loaded code stays until the process ends: a worker of the
    thread pool may be executing it at any time, and so may an array's deallocator. LLVM is
    imported by the first call that compiles something: a process whose kernels are all kept runs
    without.

    Args:
        cache: Keeps object code between processes; None: every process compiles for itself.
        progress: Called when a module is compiled.

    """

    codegen_level: ClassVar[int] = 2
    """Of LLVM, 0 to 3; 0 and 1 compile faster and run up to 4 % slower."""

    def __init__(
        self, cache: ObjectCache | None = None, progress: CompileProgress | None = None
    ) -> None:
        self.cache, self.progress = cache, progress
        self._lock = new_lock()
        self._host: Host | None = None
        self._linker: Any = None
        self._library_numbers = itertools.count()
        self._statistics = JitStatistics()

    @property
    def host(self) -> Host:
        """The machine of this process, and the version of LLVM."""
        if self._host is None:
            self._host = find_host(self.cache)
        return self._host

    @property
    def target(self) -> Target:
        """The machine of this process."""
        return self.host.target

    @property
    def statistics(self) -> JitStatistics:
        """Counts since this instance was made."""
        return self._statistics

    def compile_object(
        self, text: str, target: Target | None = None, codegen_level: int | None = None
    ) -> bytes:
        """Compile LLVM IR to relocatable object code.

        Args:
            text: A module whose vectors, loops and hoisting are already as wanted; only
                instruction combining and control-flow simplification run over it.
            target: The machine to generate for, by default this one.
            codegen_level: Another than the usual one.

        Raises:
            AssertionError: The IR is not a valid module, which is a defect of the generator.

        """
        target = target or self.target
        codegen_level = self.codegen_level if codegen_level is None else codegen_level
        key = self.key(text, target, codegen_level)
        kept = None if self.cache is None else self.cache.get(key)
        return self._compile(key, text, target, codegen_level) if kept is None else kept

    def functions(
        self,
        text: str,
        names: Sequence[str],
        symbols: Mapping[str, int] | None = None,
        target: Target | None = None,
        codegen_level: int | None = None,
    ) -> dict[str, int]:
        """Addresses of the functions of a module, compiled or kept by the cache, by name.

        Takes what :meth:`compile_object` and :meth:`load` take. What is kept but cannot be linked
        is compiled anew.
        """
        target = target or self.target
        codegen_level = self.codegen_level if codegen_level is None else codegen_level
        key = self.key(text, target, codegen_level)
        kept = None if self.cache is None else self.cache.get(key)
        if self.cache is not None and kept is not None:
            try:
                return self.load(kept, names, symbols)
            except RuntimeError as error:
                self.cache.tell(error)
        return self.load(self._compile(key, text, target, codegen_level), names, symbols)

    def kept_functions(self, key: str, names: Sequence[str]) -> dict[str, int]:
        """Addresses of the functions of a module of which the cache has the object code.

        Raises:
            KeyError: it has none, or none that can be loaded.

        """
        kept = None if self.cache is None else self.cache.get(key)
        if self.cache is None or kept is None:
            raise KeyError(key)
        try:
            return self.load(kept, names)
        except RuntimeError as error:
            self.cache.tell(error)
            raise KeyError(key) from error

    def _compile(self, key: str, text: str, target: Target, codegen_level: int) -> bytes:
        LOADER.load(LLVM)
        start = time.perf_counter()
        with self.progress or nullcontext():
            code = with_llvm(lambda: _object_code(text, target, codegen_level))
        if self.cache is not None:
            self.cache.put(key, code)
        self._count(compiled=1, compile_ms=1e3 * (time.perf_counter() - start))
        return code

    def load(
        self,
        object_code: bytes,
        names: Sequence[str],
        symbols: Mapping[str, int] | None = None,
    ) -> dict[str, int]:
        """Link object code of this machine into the process; addresses of its functions by name.

        Args:
            object_code: Relocatable code, from ``compile_object`` or from a cache of it.
            names: Functions whose addresses are wanted.
            symbols: Addresses for functions that the code declares; others are looked up among
                the symbols of the process.

        Raises:
            RuntimeError: A name or an external symbol cannot be found.

        """
        try:
            addresses = load_object(object_code, names, symbols)
        except UnknownObjectError:
            addresses = self._load_by_llvm(object_code, names, symbols or {})
        self._count(loaded=1, loaded_bytes=len(object_code))
        return addresses

    def _load_by_llvm(
        self, object_code: bytes, names: Sequence[str], symbols: Mapping[str, int]
    ) -> dict[str, int]:
        """The same by LLVM's own loader, which knows the object files of every system."""
        LOADER.load(LLVM)
        return with_llvm(lambda: self._linked(object_code, names, symbols))

    def _linked(
        self, object_code: bytes, names: Sequence[str], symbols: Mapping[str, int]
    ) -> dict[str, int]:
        import llvmlite.binding as llvm  # noqa: PLC0415 - on first use, it takes 30 ms

        builder = llvm.JITLibraryBuilder().add_object_img(object_code).add_current_process()
        for name, address in symbols.items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        with self._lock:
            if self._linker is None:
                self._linker = _create_linker(self.target)
            library = builder.link(self._linker, f"library{next(self._library_numbers)}")
        addresses = {name: int(library[name]) for name in names}
        library.detach()  # never unloaded: see the class
        return addresses

    def key(self, text: str, target: Target, codegen_level: int | None = None) -> str:
        """Cache key of the object code of a module."""
        codegen_level = self.codegen_level if codegen_level is None else codegen_level
        return ObjectCache.key(text, target, codegen_level, self.host.llvm_version)

    def _count(
        self,
        *,
        compiled: int = 0,
        compile_ms: float = 0.0,
        loaded: int = 0,
        loaded_bytes: int = 0,
    ) -> None:
        with self._lock:
            old = self._statistics
            self._statistics = JitStatistics(
                compiled=old.compiled + compiled,
                compile_ms=old.compile_ms + compile_ms,
                loaded=old.loaded + loaded,
                loaded_bytes=old.loaded_bytes + loaded_bytes,
            )


def _object_code(text: str, target: Target, codegen_level: int) -> bytes:
    """The work of LLVM: all that it makes on the way is released in the end."""
    machine = _target_machine(target, codegen_level)
    module = _parse(text, machine)
    (_optimize if text.startswith(SEQUENTIAL) else _simplify)(module, machine)
    code: bytes = machine.emit_object(module)
    return code


def _target_machine(target: Target, codegen_level: int) -> llvm.TargetMachine:
    import llvmlite.binding as llvm  # noqa: PLC0415 - on first use, it takes 30 ms

    if target.triple.startswith(llvm.get_process_triple()):
        llvm.initialize_native_target()  # a millisecond less than all
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=codegen_level,
        reloc="pic",
        codemodel="small",
    )


def _create_linker(target: Target) -> llvm.orcjit.LLJIT:
    """Create a linker that loads all sections of a library into one mapping.

    LLVM's older one maps each by itself. Code reaches its constants by 32-bit offsets, so where
    free addresses lie more than 2 GiB apart, as they may beside large arrays, that one stops the
    process or, in builds of LLVM without assertions, loads other numbers.
    """
    import llvmlite.binding as llvm  # noqa: PLC0415 - on first use, it takes 30 ms

    linker = llvm.create_lljit_compiler(_target_machine(target, 2), use_jit_link=True)
    # Disposing the linker would free the code of everything it has loaded: see the class.
    linker._owned = True
    return linker


def _parse(text: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    import llvmlite.binding as llvm  # noqa: PLC0415 - on first use, it takes 30 ms

    try:
        # A context of its own: types and constants of LLVM's global one are never given back.
        module = llvm.parse_assembly(text, context=llvm.create_context())
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise AssertionError(f"generated LLVM text is not valid: {error}") from error
    return module


def _optimize(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Run the standard pipeline: what single numbers need, and vector code has by construction."""
    import llvmlite.binding as llvm  # noqa: PLC0415 - on first use, it takes 30 ms

    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _simplify(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Run two passes; on vector code the standard pipeline takes 8 times longer, for nothing."""
    import llvmlite.binding as llvm  # noqa: PLC0415 - on first use, it takes 30 ms

    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    passes.run(module, llvm.create_pass_builder(machine, options))
