"""Profiles that are kept between processes: of a processor, or of an adapter and its driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from runmat_jit.backends.llvm.object_cache import PROFILE, ObjectCache
from runmat_jit.plan.profile import VERSION, Profile, from_dict, to_dict

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_BYTES: Final = 1 << 20
"""Of all profiles; one has a thousand bytes."""


class Profiles:
    """The profiles in a directory; what is damaged, foreign or of other versions is not there.

    Args:
        directory: Where they lie; None: nowhere.

    """

    def __init__(self, directory: Path | None) -> None:
        self._cache = None if directory is None else ObjectCache(directory, LIMIT_BYTES)

    def find(self, *identity: object) -> Profile | None:
        """The profile of what these texts and numbers identify; None where there is none."""
        if self._cache is None:
            return None
        text = self._cache.get(_key(identity), PROFILE)
        if text is None:
            return None
        import json  # noqa: PLC0415  (few processes have a profile)

        try:
            return from_dict(json.loads(text))
        except ValueError as error:  # also of what is no JSON
            self._cache.tell(error)
            return None

    def keep(self, profile: Profile, *identity: object) -> bool:
        """Keep a profile; whether it could be written."""
        if self._cache is None:
            return False
        import json  # noqa: PLC0415  (likewise)

        self._cache.put(_key(identity), json.dumps(to_dict(profile)).encode(), PROFILE)
        return self.find(*identity) == profile


def _key(identity: tuple[object, ...]) -> str:
    return ObjectCache.key("profile", VERSION, *identity)
