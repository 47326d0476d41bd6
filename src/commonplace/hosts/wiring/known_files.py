"""The files that versions of ours wrote without a hash in them, each as `ownership.fingerprint` returns it.

Append to this table, and never take anything out: a file whose fingerprint is missing is taken for the user's own, and
can then be neither renewed nor removed. A test says which one is missing when the shape of a JSON file changes.
"""

FINGERPRINTS = frozenset(
    (
        "32c9ba2cb9f79f13e479f6b1dbdb51fa",  # agents-md, cline, kiro, windsurf: the rules
        "6a641a29c8db8a5dcd80d56ae16b9fa1",  # amazonq: commonplace.json
        "55bd5e5559e7e7793b4028f1ff7b8c18",  # claude-code: .mcp.json
        "5193e3555998ce55a9fff03838ff8ebc",  # claude-code, codex, gemini, opencode: SKILL.md
        "4394fc0cc18b77ca22cba600414b9962",  # claude-code: hooks.json
        "37abf5ce60215d3c456e0dbe315a6e33",  # claude-code: hooks.json with --protocol
        "592acc101378ed5e8943d0273cb3c7b2",  # claude-code: plugin.json
        "1fa72be0b156bda7110784e7184636cd",  # cline: PreCompact
        "bc8b5bbff95d636be25775857833bee2",  # cline: PreCompact.ps1
        "47604072ae62183d54c5677f376e515b",  # cline: TaskComplete
        "91be262221e66f07720f91ae0beb7575",  # cline: TaskComplete.ps1
        "a1dd886eac5fce6c244e68839d301dce",  # cline: TaskStart
        "9b008db12923750f7239bf8a8ac5f90c",  # cline: TaskStart.ps1
        "51c84130ba5633c3cc2d3e09389e5b15",  # cline: UserPromptSubmit
        "a4da9ec2aeedaadd9f40565588db9b6b",  # cline: UserPromptSubmit.ps1
        "fca9b7be90cbf15d9cee4e45236d454d",  # copilot: commonplace.json
        "736235087b8efc53b9ef4ec2f1e893ed",  # cursor: commonplace.mdc
        "36cd88b6ca03c9b3f45fd04e9c0c5a62",  # gemini: gemini-extension.json
        "c874f595ec7051bb18671910a4e0dfb1",  # gemini: hooks.json
        "97f577720657279276c428259d8411d9",  # goose: hooks.json, with Stop
        "ad99671a7479b1a70ef0394a8847dad7",  # goose: hooks.json
        "78dae061ae43911e3757503cd37414bf",  # goose: plugin.json
        "8fa9435e1daf50515e8b9aeb934258a8",  # kiro: commonplace.json, with Stop
        "eae82a5c9e78548d3fd337222b230633",  # kiro: commonplace.json
        "47844903eb482129c2d94537c6d9aeb5",  # kiro2: commonplace.json, with Stop
        "7716a31535532a212c6a82d43363650d",  # kiro2: commonplace.json
        "485081c184a1db720516131c7e6d5f94",  # opencode: commonplace.js
        "15af04263e59c3c29ac01ea40c69416b",  # vscode: commonplace-vscode.json
        "96a11a54b2186e0d852c29ab8d0c7fc6",  # windsurf: commonplace.md
    )
)
