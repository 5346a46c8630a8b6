"""The cache of the Hugging Face hub's library, which other programs use, too: what of it can be served."""

from dataclasses import dataclass, replace
from pathlib import Path

from huggingface_hub import CachedRepoInfo, HFCacheInfo, constants, scan_cache_dir
from huggingface_hub.errors import CacheNotFound

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.hub import is_servable


@dataclass(frozen=True, slots=True)
class HubEntry:
    """A model of the hub, by its id. `used` is the time when a file of it was last read, in seconds since the epoch."""

    repository: CachedRepoInfo
    cache: HFCacheInfo

    source = "Hugging Face hub"
    in_use = None
    """The library doesn't know who uses a model."""

    @property
    def name(self) -> str:
        return self.repository.repo_id

    @property
    def path(self) -> Path:
        return self.repository.repo_path

    @property
    def bytes(self) -> int:
        return self.repository.size_on_disk

    @property
    def used(self) -> float:
        return self.repository.last_accessed

    def remove(self) -> bool:
        """Removes all its revisions, as `hf cache rm` does. Raises OSError."""
        alone = replace(self.cache, repos=frozenset({self.repository}))  # a mirror of it has the same commits
        alone.delete_revisions(*(revision.commit_hash for revision in self.repository.revisions)).execute()
        if self.path.exists():  # the library logs why, and goes on
            raise OSError(0, f"the Hugging Face library left files in {self.path}")
        return True


def hub_cache_folder() -> Path:
    """Returns the library's cache folder; the environment variable HF_HUB_CACHE moves it."""
    return Path(constants.HF_HUB_CACHE)


def hub_entries() -> list[HubEntry]:
    """Returns the models in OpenVINO's format or in GGUF files, the most recently used first. Raises ModelLoadError."""
    folder = hub_cache_folder()
    try:
        cache = scan_cache_dir(folder)
    except CacheNotFound:
        return []
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it isn't a folder"
        raise ModelLoadError(f"the Hugging Face cache {folder} can't be read: {reason}") from error
    models = [HubEntry(repository, cache) for repository in cache.repos if _is_servable(repository)]
    return sorted(models, key=lambda entry: -entry.used)


def _is_servable(repository: CachedRepoInfo) -> bool:
    files = [file.file_name for revision in repository.revisions for file in revision.files]
    return repository.repo_type == "model" and is_servable(files)
