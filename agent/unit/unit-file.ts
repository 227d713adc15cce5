import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { newUnitRecord, skippedHooks, unitName, unitRecord } from '#protocol/index.ts';
import type { AgentLayout } from '../folder/layout.ts';
import { discard, readJson } from '../folder/write-file.ts';

/** What the agent keeps of a unit on disk. */
const unitFile = z.object({
  unit: unitName,
  record: unitRecord,
  /** SHA-256 of the package of each version of the formula that is unpacked. */
  formulas: z.record(z.string(), z.string()),
  /** The ports that the unit's hooks opened. */
  ports: z.array(z.string()),
  /** Hooks that counted as done without a run, and that the portal does not know of. */
  skipped: z.array(skippedHooks.shape.skipped.element),
  /** Whether the unit left and its folder was deleted. The file is kept until the portal knows. */
  isRemoved: z.boolean(),
});
export type UnitFile = z.output<typeof unitFile>;

export function newUnitFile(unit: string, boot: string): UnitFile {
  return { unit, record: newUnitRecord(boot), formulas: {}, ports: [], skipped: [], isRemoved: false };
}

/** Reads the file of a unit; null if there is none, or if it cannot be read. */
export function readUnitFile(path: string): UnitFile | null {
  const parsed = unitFile.safeParse(readJson(path));
  return parsed.success ? parsed.data : null;
}

/** Reads the files of all units, including those that the portal no longer names. */
export function readUnitFiles({ unitRecords }: AgentLayout): UnitFile[] {
  return jsonFilesIn(unitRecords)
    .map((name) => readUnitFile(join(unitRecords, name)))
    .filter((file) => file !== null);
}

/** Returns the names of the JSON files in a folder, sorted. */
export function jsonFilesIn(folder: string): string[] {
  return namesIn(folder).filter((name) => name.endsWith('.json'));
}

/** Deletes files that the agent was writing when it was killed. */
export function sweepUnfinished(folder: string): void {
  for (const name of namesIn(folder)) if (name.endsWith('.json.next')) discard(join(folder, name));
}

/** Returns the names in a folder, sorted; none if there is no folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
