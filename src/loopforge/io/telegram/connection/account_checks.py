"""Checks: from what Telegram says of a bot to what is wrong with it, and what to do.

Pure: account_setup.py asks, this judges. Does not cover in which groups a bot is: Telegram does not
say that.
"""

import telegram
from loopforge.io.platforms.surface_plugin import AccountFinding

FATHER = "https://t.me/BotFather"


def private_chat_link(username: str) -> str:
    """The address of a private talk with the bot."""
    return f"https://t.me/{username}"


def bot_invite_link(username: str) -> str:
    """The address by which the bot is brought into a group."""
    return f"https://t.me/{username}?startgroup=true"


def bot_findings(me: telegram.User, webhook: str) -> list[AccountFinding]:
    """Everything that was looked at; `webhook` is the host that gets its messages, "" for none."""
    name = f"@{me.username}"
    found = [AccountFinding("ok", f"the token is good: this is {name}.")]
    if webhook:
        said = f"its messages go to {webhook} (a webhook is set), and never reach this home."
        mend = "End the program there, and connect again with --take-over, which takes its webhook "
        mend += "away; or let the bot have a new token: /revoke at "
        found.append(AccountFinding("bad", said, f"{mend}{FATHER}"))
    if not me.can_join_groups:
        said = "it may not be brought into groups; in private it can talk."
        mend = f"For groups: send /setjoingroups to {FATHER}, choose {name}, then Enable."
        found.append(AccountFinding("warn", said, mend))
    if me.can_read_all_group_messages:
        said = "its privacy mode is off: in groups it hears every line, as a mate should."
        found.append(AccountFinding("ok", said))
    else:
        said = (
            "its privacy mode is on: in groups it hears only commands, replies to it and lines "
            "that mention it, unless it is an administrator there."
        )
        mend = (
            f"Send /setprivacy to {FATHER}, choose {name}, then Disable; and bring it anew into "
            "the groups that it is in already."
        )
        found.append(AccountFinding("warn", said, mend))
    return found
