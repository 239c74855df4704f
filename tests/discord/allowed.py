"""Known deviations from Discord's schemas, each with its reason. Anything else fails a test.

A key is a pattern (`*` is anything) over `where at /path: what the schema says`.
"""

ALLOWED: dict[str, str] = {
    "* request at *id: [0-9]* is not of type 'string'": (
        "discord.py sends ids as numbers in places; the spec's README says both are taken"
    ),
    "* at */message_reference/type: 0 was expected": (
        "1 is a forward, as documented; the spec's package knows replies alone"
    ),
    "MESSAGE_CREATE at /message_snapshots/*": (
        "the generator makes whole messages of a forward's fields (a mapped type)"
    ),
    "* response at /errors/*/_errors: *": (
        "inner codes are words (BASE_TYPE_REQUIRED), as Discord's documentation shows; its OpenAPI "
        "document says numbers"
    ),
    "* at *interaction_metadata: Additional properties are not allowed ('command_type', 'name' *": (
        "Discord sends both; discord-api-types does not know them yet"
    ),
    "RESUMED at /: {} should not be valid under {}": (
        "the types say it has no data; Discord sends an object (`_trace`)"
    ),
    "op 2 at /presence: * ('game' was unexpected)": "hikari's, an old name for activities",
    "op 2 at /presence: 'activities' is a required property": "likewise",
    "* request at /messages/*: [0-9]* is not of type 'string'": "likewise",
    "op 3 at /activities/*: Additional properties *": (
        "discord.py sends an activity's empty assets and timestamps; Discord ignores them"
    ),
    "* request at /allow: '*' is not of type 'number', 'null'": (
        "permissions are strings since v8; the spec's package has numbers"
    ),
    "* request at /deny: '*' is not of type 'number', 'null'": "likewise",
    "* request at /permissions: '*' is not of type 'number', 'null'": "likewise",
    "PUT /channels/{channel_id}/permissions/{overwrite_id} request at /: * ('id' was unexpected)": (
        "discord.py says the id in the body too"
    ),
    "GUILD_AUDIT_LOG_ENTRY_CREATE at *": "SimCord's entries are rough; nothing here reads them",
    "op 8 at /guild_id: [0-9]* is not of type 'string'": "likewise on the gateway",
}
