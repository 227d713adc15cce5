import { compareVersions, type ResourceFile } from '#protocol/index.ts';
import type { Patience } from './watch-files.ts';

export interface TrialSettings {
  publicSettings?: Record<string, unknown>;
  protectedSettings?: unknown;
}

export interface Trial {
  /** The trial's folder, which contains everything of it. */
  work: string;
  zip: string;
  handler: string;
  version: string;
  /** The previous version; without it the package is updated from itself. */
  previous?: { zip: string; version: string };
  settings: TrialSettings;
  /** The second configuration; by default the same. */
  newSettings?: TrialSettings;
  resources: ResourceFile[];
  patience: Patience;
  /** The timeout of each command. */
  commandSeconds: number;
  /** The environment, of which handlers get the documented part. */
  environment: Record<string, string | undefined>;
  /** Where it finds keys as with Azure's own agent. */
  waagentFolder?: string;
  /** Called for each stage and command while it runs. */
  say(line: string): void;
}

/** A version lower than another, for a package that is updated from itself. */
export function versionBefore(version: string): string {
  return compareVersions('0.0.0.1', version) < 0 ? '0.0.0.1' : '0.0.0.0';
}
