"""A client of one service of AWS, for whatever here sends there: off the loop, one try at a time.

Keys, profiles, roles and an endpoint of one's own are found as every program of AWS finds them
(AWS_ACCESS_KEY_ID, AWS_PROFILE, a pod's or a machine's role, AWS_ENDPOINT_URL). What fails is tried
again by the runner, not in here; the next try looks for keys anew, which may have been renewed.
botocore is an extra (`aws`), loaded at the first call.
"""

import asyncio
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from loopforge.errors import SendFailed
from loopforge.runtime.installation.extras import require_extra
from loopforge.runtime.plugins.setting_declarations import setting
from loopforge.sinks.sink_plugin import OutletChoice

CONNECT, READ = 5.0, 20.0
"""Seconds until a call that is not answered is given up."""
REFUSING = frozenset({"InvalidMessageContents", "InvalidParameterValue", "ValidationException"})
"""Codes that speak of what was sent (a message too long is an InvalidParameterValue); the others
speak of the service, the place or rights."""


@dataclass(frozen=True, kw_only=True)
class AwsChoice(OutletChoice):
    """What is chosen of places at AWS."""

    region: str = setting(
        "",
        "Region of AWS in which that is. Its variable is AWS_REGION.",
        shown="as AWS's own files say",
        variable="AWS_REGION",
    )


class AwsClient:
    """Calls to one service in one region."""

    def __init__(self, service: str, region: str) -> None:
        self._service, self._region = service, region
        self._lock = threading.Lock()
        self._made: Any = None

    async def call(
        self, operation: str, arguments: dict[str, Any], *, known: Collection[str] = ()
    ) -> dict[str, Any]:
        """What an operation answers; what it says of that where it is one of the `known` codes.

        Raises SendFailed, NotInstalled.
        """
        return await asyncio.to_thread(self.called, operation, arguments, known)

    def called(
        self, operation: str, arguments: dict[str, Any], known: Collection[str] = ()
    ) -> dict[str, Any]:
        """The same, for who has a thread to wait in."""
        require_extra("aws", "Queues and tables of AWS need")
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            found: dict[str, Any] = getattr(self._client(), operation)(**arguments)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in known:
                return dict(error.response)
            if not (final := code in REFUSING):
                self.close()
            said = f"{self._service} said {code}: {error}"
            raise SendFailed(said, final=final) from error
        except (BotoCoreError, ValueError) as error:  # ValueError: AWS_ENDPOINT_URL is no address
            self.close()
            raise SendFailed(f"{self._service}: {error}") from error
        return found

    def _client(self) -> Any:
        with self._lock:
            if self._made is None:
                from botocore.config import Config
                from botocore.session import get_session

                config = Config(
                    connect_timeout=CONNECT,
                    read_timeout=READ,
                    retries={"total_max_attempts": 1, "mode": "standard"},
                )
                self._made = get_session().create_client(
                    self._service, region_name=self._region or None, config=config
                )
            return self._made

    def close(self) -> None:
        """Let the connections go."""
        with self._lock:
            if self._made is not None:
                self._made.close()
                self._made = None
