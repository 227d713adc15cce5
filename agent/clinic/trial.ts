import { compareVersions, type ResourceFile } from '#protocol/index.ts';
import type { Patience } from './watch-files.ts';

export interface Settings {
  publicSettings?: Record<string, unknown>;
  protectedSettings?: unknown;
}

export interface Trial {
  /** A folder of its own; everything of the try is below it. */
  work: string;
  zip: string;
  handler: string;
  version: string;
  /** The version before; without it the package takes over from itself. */
  previous?: { zip: string; version: string };
  settings: Settings;
  /** What the second configuration says; the same again where it is absent. */
  newSettings?: Settings;
  resources: ResourceFile[];
  patience: Patience;
  /** The time that each command has. */
  commandSeconds: number;
  /** The environment of which handlers get the documented part. */
  environment: Record<string, string | undefined>;
  /** Where it finds keys as with Azure's own agent. */
  waagentFolder?: string;
  /** Hears of each stage and command while it runs. */
  say(line: string): void;
}

/** A version that is lower than another, for a package that takes over from itself. */
export function versionBefore(version: string): string {
  return compareVersions('0.0.0.1', version) < 0 ? '0.0.0.1' : '0.0.0.0';
}
