"""Language models behind the `Models` port: tiers, providers, the embedded one, tapes, scripts.

    tiers      which models there are, in what order, and why some cannot be used (pure)
    router     TieredModels: tries, waits, goes on to the tier's next model, counts tokens
    provider   one attempt at one model over the network
    local      the small model that comes along, served inside the process
    scripted   a model that answers by script, without a network
    tape       record and replay
    prices     what an answer cost

Heavy libraries are imported where they are used; importing any module here is cheap.
"""
