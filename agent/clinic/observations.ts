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

/** A command that ran in a trial. */
export interface CommandSeen {
  stage: TrialStage;
  command: CommandName;
  /** Whether the command belongs to a separate previous package, whose failures only the check `previous` reports. */
  ofPrevious: boolean;
  /** Null if the command was terminated or could not start. */
  exitCode: number | null;
  timedOut: boolean;
  seconds: number;
  /** The end of the output, with secrets masked. */
  output: string;
  /** Path of the complete output; empty if there is none. */
  outputFile: string;
}

/** The status file after an enable, as observed in a trial. */
export interface StatusSeen {
  stage: TrialStage;
  file: string;
  /** Seconds from the start of enable until the file appeared; null if it never did. */
  seconds: number | null;
  /** Why the file is invalid, one sentence per fault; empty if it is valid. */
  faults: string[];
  raw: unknown;
  document: StatusDocument | null;
}

/** The heartbeat file, as observed in a trial. */
export interface HeartbeatSeen {
  seconds: number | null;
  faults: string[];
  document: HeartbeatDocument | null;
  /** Whether the file was written again in time; null if not checked. */
  isRenewed: boolean | null;
}

/** Everything observed about a package in a trial. */
export interface Observations {
  /** Faults in the package itself. If there are any, nothing ran. */
  packageFaults: string[];
  manifest: HandlerManifest | null;
  /** Stages that succeeded, in order. */
  through: TrialStage[];
  commands: CommandSeen[];
  statuses: StatusSeen[];
  /** Null if not checked, for example because the manifest declares no heartbeat. */
  heartbeat: HeartbeatSeen | null;
  /** Stages after which the unpacked package was missing although the agent had not deleted it. */
  folderGone: TrialStage[];
  /**
   * The handler's services after the first and the second enable, and all its processes that still run after disable
   * and after uninstall.
   */
  processes: { once: string[]; twice: string[]; afterDisable: string[]; afterUninstall: string[] };
  /** Files left after the uninstall, except logs and the agent's own files. */
  left: string[];
  /** Calls to programs that reboot the machine; `clocks` has the calls to programs that set its clock. */
  reboots: string[];
  clocks: string[];
  /** Files that contain protected settings, or in which the agent masked them; null if no files were searched. */
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
