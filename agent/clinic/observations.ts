import type { CommandName, HandlerManifest, HeartbeatDocument, StatusDocument } from '#protocol/index.ts';

/** The stages of a trial, in order. */
export const stages = [
  'install',
  'enable again',
  'new settings',
  'previous version',
  'update',
  'disable',
  'uninstall',
  'install again',
  'end',
] as const;
export type TrialStage = (typeof stages)[number];

/** A command that ran. */
export interface CommandSeen {
  stage: TrialStage;
  command: CommandName;
  /** It belongs to the previous version, whose faults do not count. */
  ofPrevious: boolean;
  /** Null if it was terminated. */
  exitCode: number | null;
  timedOut: boolean;
  seconds: number;
  /** The end of its output, secrets masked. */
  output: string;
  /** Its complete output as stored; empty if nothing ran. */
  outputFile: string;
}

/** A status file after an enable. */
export interface StatusSeen {
  stage: TrialStage;
  file: string;
  /** Seconds from the start of the enable; null: it never appeared. */
  seconds: number | null;
  /** Why it cannot be read, one sentence each; empty if it can. */
  faults: string[];
  raw: unknown;
  document: StatusDocument | null;
}

/** A heartbeat file. */
export interface HeartbeatSeen {
  seconds: number | null;
  faults: string[];
  document: HeartbeatDocument | null;
  /** Whether it was renewed within the contract's minute; null: not checked. */
  isRenewed: boolean | null;
}

/** All observations of a package, the only input of the checks. */
export interface Observations {
  /** Faults of the package itself; then nothing ran. */
  packageFaults: string[];
  manifest: HandlerManifest | null;
  /** Stages that succeeded, in order. */
  through: TrialStage[];
  commands: CommandSeen[];
  statuses: StatusSeen[];
  /** Null if the manifest says that there are none. */
  heartbeat: HeartbeatSeen | null;
  /** Stages after which the unpacked package was missing although the agent had not deleted it. */
  folderGone: TrialStage[];
  /**
   * Services of the handler after the first and the second enable; everything that runs after disable and uninstall.
   */
  processes: { once: string[]; twice: string[]; afterDisable: string[]; afterUninstall: string[] };
  /** Files left after the uninstall, except logs. */
  left: string[];
  /** Calls of programs that reboot the machine or set its clock. */
  reboots: string[];
  clocks: string[];
  /** Places where protected settings were found in plain text; null: there were none. */
  secretPlaces: string[] | null;
}

export function noObservations(): Observations {
  return {
    packageFaults: [],
    manifest: null,
    through: [],
    commands: [],
    statuses: [],
    heartbeat: null,
    folderGone: [],
    processes: { once: [], twice: [], afterDisable: [], afterUninstall: [] },
    left: [],
    reboots: [],
    clocks: [],
    secretPlaces: null,
  };
}
