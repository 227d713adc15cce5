import type { Layout } from '../folder/layout.ts';
import type { Caller } from '../portal/call.ts';

/** Room on a file system. */
export interface Space {
  freeBytes: number;
  /** Files that may still be made, and in all; 0 in all where the file system does not count them. */
  freeFiles: number;
  allFiles: number;
}

/** A machine, as far as the doctor may look at it. */
export interface Patient {
  layout: Layout;
  /** The way to the portal. */
  call: Caller;
  /** Where to look while the folder is not enrolled. */
  portal?: string;
  /** What is wrong with the settings, or null. */
  configurationFault: string | null;
  /** Settings of the agent that concern restarts of the machine. */
  rebootCommand?: string;
  bootIdFile?: string;
  /** The PATH that handlers get, where it is not the usual one. */
  path?: string;
  /** Room on the file system of a path. */
  space(path: string): Promise<Space>;
  /** Whether a file may be run; it ends at once. */
  mayRun(path: string): Promise<boolean>;
}
