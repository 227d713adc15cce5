import type { AgentLayout } from '../folder/layout.ts';
import type { Caller } from '../portal/call.ts';

/** Free space on a file system. */
export interface Space {
  freeBytes: number;
  /** Free inodes, and all of them; 0 in total if the file system does not count them. */
  freeFiles: number;
  allFiles: number;
}

/** The machine, as far as the doctor may examine it. */
export interface ExaminedMachine {
  layout: AgentLayout;
  /** Sends requests to the portal. */
  call: Caller;
  /** The portal to check while the folder is not enrolled. */
  portal?: string;
  /** The fault of the settings, or null. */
  configurationFault: string | null;
  /** Settings of the agent for restarts of the machine. */
  rebootCommand?: string;
  bootIdFile?: string;
  /** The PATH of handlers, if it is not the usual one. */
  path?: string;
  /** Free space on the file system of a path. */
  space(path: string): Promise<Space>;
  /** Whether a file may be executed; it ends immediately. */
  mayRun(path: string): Promise<boolean>;
}
