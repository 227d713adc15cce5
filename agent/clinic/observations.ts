import type { CommandName, HandlerManifest, HeartbeatDocument, StatusDocument } from '#protocol/index.ts';

/** The stages of a handler's life, in the order in which a try goes through them. */
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
export type Stage = (typeof stages)[number];

/** A command that ran. */
export interface CommandSeen {
  stage: Stage;
  command: CommandName;
  /** It belongs to the previous version, whose faults are not this package's. */
  ofPrevious: boolean;
  /** Null where it was ended, or ended by a signal. */
  exitCode: number | null;
  timedOut: boolean;
  seconds: number;
  /** The end of what it wrote, secrets masked. */
  output: string;
  /** All that it wrote, as it is kept; empty where nothing ran. */
  outputFile: string;
}

/** What a status file said after an enable. */
export interface StatusSeen {
  stage: Stage;
  file: string;
  /** Seconds from the start of the enable; null: it never came. */
  seconds: number | null;
  /** Why it cannot be read, one sentence each; empty where it can. */
  faults: string[];
  raw: unknown;
  document: StatusDocument | null;
}

/** What a heartbeat file said. */
export interface HeartbeatSeen {
  seconds: number | null;
  faults: string[];
  document: HeartbeatDocument | null;
  /** It was written again within the minute that the contract gives; null: nobody waited for it. */
  isRenewed: boolean | null;
}

/** Everything that was seen of a package; the checks judge nothing else. */
export interface Observations {
  /** What is wrong with the package itself; then nothing was run. */
  packageFaults: string[];
  manifest: HandlerManifest | null;
  /** Stages that went through, in order. */
  through: Stage[];
  commands: CommandSeen[];
  statuses: StatusSeen[];
  /** Null where the manifest says that there are none. */
  heartbeat: HeartbeatSeen | null;
  /** Stages after which the unpacked package was gone although nobody deleted it. */
  folderGone: Stage[];
  /** Services of the handler after the first enable and after the second; all that runs after disable and uninstall. */
  processes: { once: string[]; twice: string[]; afterDisable: string[]; afterUninstall: string[] };
  /** What is there after the uninstall that was not there before, logs excepted. */
  left: string[];
  /** Calls of programs that reboot the machine, or set its clock. */
  reboots: string[];
  clocks: string[];
  /** Where values of the protected settings were found in plain text; null: none were given. */
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
