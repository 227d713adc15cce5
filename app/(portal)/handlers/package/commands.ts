/**
 * Returns the names of the manifest's commands, grouped by the program that they start; empty if the manifest cannot be
 * read.
 */
export function commandsOf(manifestText: string | null): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [field, line] of fieldsOf(manifestText)) {
    if (!field.endsWith('Command') || typeof line !== 'string') continue;
    const program = programOf(line);
    found.set(program, [...(found.get(program) ?? []), field.slice(0, -'Command'.length)]);
  }
  return found;
}

function fieldsOf(text: string | null): [string, unknown][] {
  try {
    const parsed: unknown = JSON.parse(text ?? 'null');
    const first: unknown = Array.isArray(parsed) ? parsed[0] : null;
    if (typeof first !== 'object' || first === null || !('handlerManifest' in first)) return [];
    return Object.entries(first.handlerManifest ?? {});
  } catch {
    return [];
  }
}

/** Returns the first word of a command line as a path within the package. */
function programOf(line: string): string {
  const [, quoted, bare] = /^\s*(?:"([^"]*)"|(\S*))/.exec(line) ?? [];
  return (quoted ?? bare ?? '').replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
}
