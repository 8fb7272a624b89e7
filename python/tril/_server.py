"""tril.serve."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Sequence, Union

from . import _tril
from ._common import Option, options_of, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ServeOptions

Path = Union[str, "os.PathLike[str]"]


class Server:
    """A running server. As a context manager, it ends with its block."""

    def __init__(self, native: _tril.Server, host: str, scheme: str):
        self._native = native
        self._host = host
        self._scheme = scheme

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._native.port

    @property
    def url(self) -> str:
        """``http://127.0.0.1:8080``."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{self._scheme}://{host}:{self.port}"

    def reload(self) -> None:
        """Loads the models again, without dropping a request."""
        self._native.reload()

    def wait(self) -> None:
        """Waits until the server ends; Ctrl-C raises KeyboardInterrupt."""
        self._native.wait()

    def close(self) -> None:
        """Ends the server after the requests that have come."""
        self._native.end()
        self._native.wait()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def serve(models: Union[Path, Sequence[Path]], **options: "Unpack[ServeOptions]") -> Server:
    """Serves models over HTTP, in threads of this process, as ``tril serve`` does.

    Parameters
    ----------
    models
        A model, or several as ``"NAME=PATH"``: directories, files, or OWNER/NAME on the hub.
    options
        Those of `serve_options()`, for example ``port=0`` for any free port, ``precision="int8"``, ``api_key_file="keys"``.

    Returns
    -------
    The server, which accepts connections; its models may still be loading.

    Raises
    ------
    tril.Error
        If the port is taken, or an option is unknown or does not fit. `Server.wait()` and `Server.close()` raise it for a model
        that cannot be loaded.

    Examples
    --------
    >>> with tril.serve("models/en-de", port=0) as server:
    ...     print(server.url)
    """
    given = [models] if isinstance(models, (str, os.PathLike)) else list(models)
    native = _tril.Server({"model": given, **plain(options)})
    return Server(native, options.get("host", "127.0.0.1"), "https" if options.get("tls_certificate") else "http")


def serve_options() -> list[Option]:
    """The options of serve(), with their help."""
    return options_of(_tril.serve_options())
