import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the hooks of one unit wrote down: the value that the unit set last, and the last value of each unit it read. */
export interface HookRecord {
  written: string | null;
  seen: Map<string, string>;
}

/** Reads what the hooks of the units on a machine wrote down, by unit. `folder` is the agent's folder. */
export function readHookRecords(folder: string): Map<string, HookRecord> {
  const units = join(folder, 'units');
  const names = existsSync(units) ? readdirSync(units) : [];
  return new Map(names.map((name) => [name.replace(/-(\d+)$/, '/$1'), recordIn(join(units, name))]));
}

function recordIn(folder: string): HookRecord {
  const written = textOf(join(folder, 'written'));
  const all = join(folder, 'seen');
  const names = existsSync(all) ? readdirSync(all) : [];
  return { written, seen: new Map(names.map((name) => [name, textOf(join(all, name)) ?? ''])) };
}

const textOf = (file: string): string | null => (existsSync(file) ? readFileSync(file, 'utf8').trim() : null);

/**
 * Compares what the hooks wrote down with the settings that the portal has for each unit. Returns one sentence per
 * difference: a value that was lost, or a change that another unit never read.
 */
export function judgeNodes(
  nodes: ReadonlyMap<string, string | null>,
  records: ReadonlyMap<string, HookRecord>,
  readers: readonly string[],
): string[] {
  const faults: string[] = [];
  for (const [unit, value] of nodes) {
    const record = records.get(unit);
    if (record === undefined) faults.push(`${unit} has no folder`);
    else if (record.written !== value) faults.push(`${unit} wrote ${record.written}, and the portal has ${value}`);
    for (const reader of readers) {
      const seen = records.get(reader)?.seen.get(unit.replace('/', '-')) ?? null;
      if (seen !== value) faults.push(`${reader} read ${seen} of ${unit}, and the portal has ${value}`);
    }
  }
  return faults;
}
