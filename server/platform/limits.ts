const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits on external input. Sizes are in bytes and times in milliseconds, unless the name says otherwise. */
export interface Limits {
  package: {
    packedBytes: number;
    unpackedBytes: number;
    entries: number;
    ratio: number;
    entryNameBytes: number;
    /** Maximum size of a manifest. Larger manifests are rejected without being read. */
    manifestBytes: number;
    inspectMs: number;
    inspectHeapMiB: number;
  };
  settings: { halfBytes: number; schemaBytes: number; checkMs: number; checkHeapMiB: number };
  resources: { fileBytes: number; messages: number };
  jsonDepth: number;
  report: {
    bytes: number;
    entries: number;
    substatuses: number;
    substatusDepth: number;
    messageBytes: number;
    paramBytes: number;
    outputBytes: number;
  };
  /**
   * `outputBytes` limits one command's output, and `archiveBytes` one log archive. `vmBytes` limits a VM's stored
   * outputs and, separately, its stored archives. `arrivingBytes` limits a VM's uploads that are not stored yet.
   */
  logs: { outputBytes: number; vmBytes: number; archiveBytes: number; arrivingBytes: number };
  /**
   * Limits per VM: bytes of reports and number of certificate renewals (each per hour and process), bytes of new goal
   * states per hour, and bytes of stored past reports in total.
   */
  vm: { reportBytesPerHour: number; renewalsPerHour: number; goalStateBytesPerHour: number; historyBytes: number };
  tags: { count: number; bytes: number };
  http: { headerBytes: number; requestMs: number; uploadBytesPerSecond: number; bodyBytes: number };
  heldPolls: number;
  /** Maximum number of open live streams per session, per member and per process. */
  streams: { perSession: number; perMember: number; perProcess: number };
  /**
   * Maximum number of agents that a process caches, at about 0.3 KiB each. At least `heldPolls` agents are always
   * allowed.
   */
  rememberedAgents: number;
  /** Limits on rollouts: members of one, open ones, and the bytes of a definition as JSON. */
  rollouts: { members: number; open: number; definitionBytes: number };
  /** Maximum number of queued reports, and maximum bytes of their bodies, including those being received. */
  waiting: { reports: number; bytes: number };
}

export const defaultLimits: Limits = {
  package: {
    packedBytes: 512 * MiB,
    unpackedBytes: 2048 * MiB,
    entries: 20_000,
    ratio: 200,
    entryNameBytes: 1024,
    manifestBytes: 1 * MiB,
    inspectMs: 60_000,
    inspectHeapMiB: 128,
  },
  settings: { halfBytes: 256 * KiB, schemaBytes: 256 * KiB, checkMs: 2_000, checkHeapMiB: 64 },
  resources: { fileBytes: 2 * MiB, messages: 20_000 },
  jsonDepth: 64,
  report: {
    bytes: 1 * MiB,
    entries: 200,
    substatuses: 1_000,
    substatusDepth: 4,
    messageBytes: 16 * KiB,
    paramBytes: 1 * KiB,
    outputBytes: 64 * KiB,
  },
  logs: { outputBytes: 64 * MiB, vmBytes: 512 * MiB, archiveBytes: 256 * MiB, arrivingBytes: 320 * MiB },
  vm: {
    reportBytesPerHour: 256 * MiB,
    renewalsPerHour: 12,
    goalStateBytesPerHour: 256 * MiB,
    historyBytes: 1024 * MiB,
  },
  tags: { count: 64, bytes: 256 },
  http: {
    headerBytes: 16 * KiB,
    requestMs: 30_000,
    uploadBytesPerSecond: 1 * KiB,
    bodyBytes: 1 * MiB,
  },
  heldPolls: 19_000,
  streams: { perSession: 20, perMember: 100, perProcess: 2_000 },
  rememberedAgents: 250_000,
  rollouts: { members: 1_000_000, open: 1_000, definitionBytes: 512 * KiB },
  waiting: { reports: 5_000, bytes: 64 * MiB },
};
