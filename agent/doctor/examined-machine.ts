import type { AmqpSettings } from '../channel/amqp-settings.ts';
import type { AgentLayout } from '../folder/layout.ts';
import type { Caller } from '../portal/call.ts';

/** Free space on a file system. */
export interface Space {
  freeBytes: number;
  /** Free inodes. `allFiles` is the number of all inodes; 0 if the file system does not count them. */
  freeFiles: number;
  allFiles: number;
}

/** The machine to examine, and the means to examine it. */
export interface ExaminedMachine {
  layout: AgentLayout;
  call: Caller;
  /** URL of the portal to check. Used only if the folder is not enrolled. */
  portal?: string;
  /** Why the settings cannot be used; null if they can. */
  configurationFault: string | null;
  /** The agent's settings for restarts of the machine. */
  rebootCommand?: string;
  bootIdFile?: string;
  /** The broker from which the machine takes execution plans; null if there is none. */
  amqp?: AmqpSettings | null;
  /** Whether the machine's owner allows execution plans. */
  executionPlans?: 'on' | 'off';
  /** PATH of handlers, if it is not the default. */
  path?: string;
  /** Returns the free space on the file system of a path. */
  space(path: string): Promise<Space>;
  /** Whether a file can be executed. Runs it, so the program must end immediately. */
  mayRun(path: string): Promise<boolean>;
}
