import { compareVersions, type ResourceFile } from '#protocol/index.ts';
import type { Patience } from './watch-files.ts';

export interface TrialSettings {
  publicSettings?: Record<string, unknown>;
  protectedSettings?: unknown;
}

export interface Trial {
  /** The trial's folder. Only copies of keys are placed outside it, in `waagentFolder`. */
  work: string;
  zip: string;
  handler: string;
  version: string;
  /** The previous version. If absent, the trial uses the same package under a lower version number. */
  previous?: { zip: string; version: string };
  settings: TrialSettings;
  /** Settings for the stage `new settings` and all later stages; by default the same as `settings`. */
  newSettings?: TrialSettings;
  resources: ResourceFile[];
  patience: Patience;
  /** Timeout of each command, in seconds. */
  commandSeconds: number;
  /** The agent's environment. Handlers get only the documented part of it. */
  environment: Record<string, string | undefined>;
  /** Folder in which handlers written for the stock agent look for keys. */
  waagentFolder?: string;
  /** Prints progress: called for each stage. */
  say(line: string): void;
}

/** Returns a version lower than the given version; `0.0.0.0` if there is none. */
export function versionBefore(version: string): string {
  return compareVersions('0.0.0.1', version) < 0 ? '0.0.0.1' : '0.0.0.0';
}
