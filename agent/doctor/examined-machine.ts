import type { AgentLayout } from '../folder/layout.ts';
import type { Caller } from '../portal/call.ts';

/** Free space on a file system. */
export interface Space {
  freeBytes: number;
  /** Free inodes, and their total number, which is 0 if the file system does not count them. */
  freeFiles: number;
  allFiles: number;
}

/** A machine and how the doctor may examine it. */
export interface ExaminedMachine {
  layout: AgentLayout;
  /** Sends requests to the portal. */
  call: Caller;
  /** The portal to check if the folder is not enrolled. */
  portal?: string;
  /** The fault in the settings, or null. */
  configurationFault: string | null;
  /** The agent's settings for restarts of the machine. */
  rebootCommand?: string;
  bootIdFile?: string;
  /** PATH of handlers, if it is not the usual one. */
  path?: string;
  /** Returns the free space on the file system of a path. */
  space(path: string): Promise<Space>;
  /** Whether a file may be executed. The program must end immediately. */
  mayRun(path: string): Promise<boolean>;
}
