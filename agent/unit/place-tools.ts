import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeAtomically } from '../folder/write-file.ts';
import { toolNames } from '../unit-tools/tool-names.ts';

/** The commands' program, which the build adds to the agent's file. Undefined if the agent runs from its sources. */
declare const ANNEX_UNIT_TOOLS: string | undefined;

const sourceProgram = join(import.meta.dirname, '../unit-tools/main.ts');

/**
 * Writes the commands for hooks into a folder, which comes first in a hook's PATH: small scripts that run Node with the
 * commands' program. A link `current` beside the folder is for people.
 */
export function placeTools(
  folder: string,
  program: string | undefined = typeof ANNEX_UNIT_TOOLS === 'string' ? ANNEX_UNIT_TOOLS : undefined,
): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = program === undefined ? sourceProgram : join(folder, 'unit-tools.mjs');
  if (program !== undefined) writeAtomically(file, program);
  for (const name of toolNames) {
    const line = ['exec', quoted(process.execPath), quoted(file), name, '"$@"'].join(' ');
    writeAtomically(join(folder, name), `#!/bin/sh\n${line}\n`, 0o755);
  }
  const link = join(dirname(folder), 'current');
  rmSync(`${link}.new`, { force: true });
  symlinkSync(basename(folder), `${link}.new`);
  renameSync(`${link}.new`, link);
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
