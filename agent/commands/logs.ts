import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { AgentError } from '../agent-error.ts';
import { type Layout, layoutOf } from '../folder/layout.ts';

export interface LogsOptions {
  dir: string;
  /** How many lines at the end of each log; 0 for all. */
  lines: number;
  json?: boolean;
}

const entry = z.looseObject({ level: z.string(), time: z.string(), msg: z.string() });
type Entry = z.infer<typeof entry>;

/** What a command wrote, as it is kept. */
interface KeptOutput {
  handler: string;
  command: string;
  sequenceNumber: number;
  attempt: number;
  /** When it was last written to. */
  at: string;
  path: string;
}

/** Prints the agent's journal; for an extension what the journal says of it, and what its commands wrote. */
export function logs(extension: string | undefined, options: LogsOptions, print: (line: string) => void): void {
  const layout = layoutOf(options.dir);
  if (!existsSync(layout.logs)) throw new AgentError(`${layout.root} holds no logs. Check --dir.`);
  const journal = journalOf(layout, extension).slice(-options.lines);
  const outputs = extension === undefined ? [] : outputsOf(layout, extension);
  if (extension !== undefined && journal.length === 0 && outputs.length === 0) {
    throw new AgentError(`${layout.logs} says nothing of an extension ${extension}. Its names: status --dir DIR`);
  }
  if (options.json) {
    const read = outputs.map((one) => ({ ...one, output: lastLines(one.path, options.lines).text }));
    print(JSON.stringify({ journal, outputs: read }, null, 2));
    return;
  }
  for (const { level, time, msg } of journal) {
    print(`${time.slice(0, 19).replace('T', ' ')}  ${level === 'info' ? '' : '! '}${msg}`);
  }
  for (const { handler, command, sequenceNumber, attempt, at, path } of outputs) {
    const { text, left } = lastLines(path, options.lines);
    print(
      `\n── ${command}, sequence ${sequenceNumber}, attempt ${attempt}, ${handler}, ${at.slice(0, 19).replace('T', ' ')}`,
    );
    if (left > 0) print(`[${left} lines before; all of them: --lines 0, or ${path}]`);
    print(text === '' ? '[It wrote nothing.]' : text);
  }
}

/** Entries of the journal, oldest first; those about an extension where one is named. */
function journalOf({ logs: folder }: Layout, extension: string | undefined): Entry[] {
  const files = readdirSync(folder)
    .map((name) => ({ name, number: Number(/^agent\.log(?:\.(\d+))?$/.exec(name)?.[1] ?? 0) }))
    .filter(({ name }) => /^agent\.log(\.\d+)?$/.test(name))
    .sort((a, b) => b.number - a.number);
  return files.flatMap(({ name }) => entriesIn(join(folder, name))).filter(({ msg }) => isAbout(msg, extension));
}

function entriesIn(path: string): Entry[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [entry.parse(JSON.parse(line))];
      } catch {
        // A line that a crash cut in half.
        return [];
      }
    });
}

/** The journal names extensions before a colon, several with commas between. */
function isAbout(line: string, extension: string | undefined): boolean {
  return extension === undefined || (line.split(': ')[0] ?? '').split(', ').includes(extension);
}

function outputsOf({ logs: folder }: Layout, extension: string): KeptOutput[] {
  const found: KeptOutput[] = [];
  for (const handler of readdirSync(folder)) {
    const commands = join(folder, handler, 'commands');
    if (!existsSync(commands)) continue;
    for (const name of readdirSync(commands)) {
      const match = /^(.+)\.(\d+)\.([a-z]+)\.(\d+)\.log$/.exec(name);
      if (match?.[1] !== extension) continue;
      const path = join(commands, name);
      const at = statSync(path).mtime.toISOString();
      const [sequenceNumber, attempt] = [Number(match[2]), Number(match[4])];
      found.push({ handler, command: match[3] ?? '', sequenceNumber, attempt, at, path });
    }
  }
  return found.sort((a, b) => a.at.localeCompare(b.at));
}

function lastLines(path: string, lines: number): { text: string; left: number } {
  const all = readFileSync(path, 'utf8').trimEnd().split('\n');
  const shown = all.slice(-lines);
  return { text: shown.join('\n'), left: all.length - shown.length };
}
