"""Oracle: the errors of wgpu for text that is no shader."""

import pytest

from runmat_jit.backends.wgpu.adapter import errors_of
from runmat_jit.backends.wgpu.shader_module import create_module
from runmat_jit.core.errors import BackendError
from tests.backends.wgpu.shaders import device

pytestmark = pytest.mark.usefixtures("adapter")


@pytest.mark.parametrize("trusted", [False, True])
def test_text_that_is_no_shader_is_refused(trusted):
    with pytest.raises(BackendError), errors_of(device().info):
        create_module(device().handle, "fn main( {", trusted=trusted)


def test_a_wgpu_without_trusted_modules_checks_its_shaders(monkeypatch):
    api = pytest.importorskip("wgpu.backends.wgpu_native._api")
    monkeypatch.delattr(api, "to_c_string_view")
    module = "@compute @workgroup_size(1) fn main() {}"
    with pytest.raises(NameError):  # wgpu's own call needs it too: it was asked instead
        create_module(device().handle, module, trusted=True)
