/** Limits on execution plans and on what their executions send (docs/execution-plans.md). Sizes are in bytes. */
export const executionLimits = {
  planBytes: 4 * 1024 * 1024,
  /** Levels of arrays and objects in a plan. */
  planDepth: 64,
  scripts: 100,
  files: 200,
  parametersBytes: 256 * 1024,
  /** Length of the plan's `Name` and `Service`, in UTF-16 code units. */
  nameLength: 256,
  fileNameBytes: 1024,
  /** Size of a file that a machine fetches. */
  fileBytes: 512 * 1024 * 1024,
  /** Length of a plan's ID, and of the ID of a file. */
  idBytes: 256,
  timeoutSeconds: { least: 1, usual: 3_600, most: 604_800 },
  validForSeconds: { least: 60, usual: 86_400, most: 2_592_000 },
  /** Number of executions that can wait for one VM. */
  waiting: 100,
  resultBytes: 16 * 1024 * 1024,
  /** Levels of arrays and objects in a result. */
  resultDepth: 1_000,
  transcriptBytes: 64 * 1024 * 1024,
  logMessageBytes: 64 * 1024,
  /** Log messages in one request. */
  messages: 100,
  /** Calls that the Body of one execution can make. */
  calls: 10_000,
  /** Output of one call that the Body receives, for each of stdout and stderr. */
  capturedBytes: 1024 * 1024,
  /** Size of a frame between the agent and the Body. */
  frameBytes: 16 * 1024 * 1024,
  bodyMemoryBytes: 1024 * 1024 * 1024,
  journalBytes: 64 * 1024 * 1024,
  stateBytes: 16 * 1024 * 1024,
  stateValueBytes: 1024 * 1024,
  /** The highest X in `api.setExitCode(X)`: the error code is 100 + X. */
  userExitCode: 2_147_483_547,
} as const;
