import { posix } from 'node:path';
import type { PackageFile } from '#db/schema/index.ts';
import { type CommandName, commandNames, manifestFileName } from '#protocol/manifest.ts';
import type { Fault } from '#server/domain/error.ts';

/** Returns the first word of a command line, without quotes; null if a quote is not closed. */
export function programOf(line: string): string | null {
  const trimmed = line.trim();
  const quote = trimmed[0];
  if (quote !== '"' && quote !== "'") return trimmed.split(/\s/, 1)[0] ?? '';
  const end = trimmed.indexOf(quote, 1);
  return end < 0 ? null : trimmed.slice(1, end);
}

/** Returns a command's program as a path in the package, or the reason why it is invalid (AZ-P4). */
export function placeOf(program: string): { path: string } | { code: 'command_absolute' | 'command_escapes' } {
  const forward = program.replaceAll('\\', '/');
  if (forward.startsWith('/') || /^[A-Za-z]:/.test(forward)) return { code: 'command_absolute' };
  const path = posix.normalize(forward);
  return path === '..' || path.startsWith('../') ? { code: 'command_escapes' } : { path };
}

export interface CommandFindings {
  faults: Fault[];
  warnings: Fault[];
}

/** Returns the command lines that are strings, even if the rest of the manifest is invalid. */
export function commandLinesOf(manifestFile: unknown): Partial<Record<CommandName, string>> {
  const element: unknown = Array.isArray(manifestFile) ? manifestFile[0] : undefined;
  const fields = fieldsOf(fieldsOf(element).handlerManifest);
  return Object.fromEntries(
    commandNames.flatMap((name) => {
      const line = fields[`${name}Command`];
      return typeof line === 'string' && line.trim() !== '' ? [[name, line] as const] : [];
    }),
  );
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/**
 * Checks the programs of commands. An unclosed quote, an absolute path and a path that leaves the package are faults; a
 * program that is missing or not executable is a warning (AZ-P4). Several commands may use the same line (AZ-P5).
 */
export function checkCommands(
  lines: Partial<Record<CommandName, string>>,
  files: readonly PackageFile[],
): CommandFindings {
  const found: CommandFindings = { faults: [], warnings: [] };
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const name of commandNames) {
    const line = lines[name];
    if (line === undefined) continue;
    const path = `${manifestFileName}#/0/handlerManifest/${name}Command`;
    const program = programOf(line);
    if (program === null || program === '') {
      found.faults.push({ path, code: 'command_quotes' });
      continue;
    }
    const place = placeOf(program);
    if ('code' in place) {
      found.faults.push({ path, code: place.code, params: { program } });
      continue;
    }
    const file = byName.get(place.path);
    if (file === undefined) {
      found.warnings.push({ path, code: 'command_program_absent', params: { program: place.path } });
    } else if (file.mode !== null && (file.mode & 0o111) === 0) {
      found.warnings.push({ path, code: 'command_not_executable', params: { program: place.path } });
    }
  }
  return found;
}
