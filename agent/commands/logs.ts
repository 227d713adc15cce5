import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { entriesBelow, readTextBelow } from '../folder/shared-files.ts';
import { indented } from '../terminal.ts';

export interface LogsOptions {
  dir: string;
  /** Number of lines to print from the end of each log; 0 for all. */
  lines: number;
  json?: boolean;
}

/** The maximum size of an output, plus room for the notes that the agent adds. */
const maxOutputBytes = 66 * 1024 * 1024;

const entry = z.looseObject({ level: z.string(), time: z.string(), msg: z.string() });
type Entry = z.infer<typeof entry>;

interface KeptOutput {
  handler: string;
  command: string;
  sequenceNumber: number;
  attempt: number;
  /** Modification time. */
  at: string;
  path: string;
}

/** Prints the agent's journal. For an extension, prints its journal entries and the output of its commands. */
export function logs(extension: string | undefined, options: LogsOptions, print: (line: string) => void): void {
  const layout = layoutOf(options.dir);
  if (!existsSync(layout.logs)) throw new AgentError(`${layout.root} has no logs. Check --dir.`);
  const journal = journalOf(layout, extension).slice(-options.lines);
  const outputs = extension === undefined ? [] : outputsOf(layout, extension);
  if (extension !== undefined && journal.length === 0 && outputs.length === 0) {
    throw new AgentError(
      `${layout.logs} has no entries about an extension ${extension}. To list extensions: status --dir DIR`,
    );
  }
  if (options.json) {
    const read = outputs.map((one) => ({ ...one, output: lastLines(one.path, options.lines).text }));
    print(JSON.stringify({ journal, outputs: read }, null, 2));
    return;
  }
  for (const { level, time, msg } of journal) {
    print(`${time.slice(0, 19).replace('T', ' ')}  ${level === 'info' ? '' : '! '}${indented(msg, 21)}`);
  }
  for (const { handler, command, sequenceNumber, attempt, at, path } of outputs) {
    const { text, left } = lastLines(path, options.lines);
    print(
      `\n── ${command}, sequence ${sequenceNumber}, attempt ${attempt}, ${handler}, ${at.slice(0, 19).replace('T', ' ')}`,
    );
    if (left > 0) print(`[Earlier lines: ${left}. To see all: --lines 0, or ${path}]`);
    print(text === '' ? '[No output.]' : text);
  }
}

/** Returns journal entries, oldest first; if `extension` is given, only the entries about that extension. */
function journalOf({ logs: folder }: AgentLayout, extension: string | undefined): Entry[] {
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
        // A line that a crash truncated.
        return [];
      }
    });
}

/**
 * Whether an entry is about the extension. Such an entry starts with the names of the extensions, separated by commas
 * and followed by a colon.
 */
function isAbout(line: string, extension: string | undefined): boolean {
  return extension === undefined || (line.split(': ')[0] ?? '').split(', ').includes(extension);
}

function outputsOf({ logs: folder }: AgentLayout, extension: string): KeptOutput[] {
  const found: KeptOutput[] = [];
  for (const handler of readdirSync(folder)) {
    const root = join(folder, handler);
    if (!lstatSync(root).isDirectory()) continue;
    for (const { path, time } of outputFilesIn(root)) {
      const match = /^(.+)\.(\d+)\.([a-z]+)\.(\d+)\.log$/.exec(basename(path));
      if (match?.[1] !== extension) continue;
      const at = new Date(time).toISOString();
      const [sequenceNumber, attempt] = [Number(match[2]), Number(match[4])];
      found.push({ handler, command: match[3] ?? '', sequenceNumber, attempt, at, path });
    }
  }
  return found.sort((a, b) => a.at.localeCompare(b.at));
}

/**
 * Returns the outputs in a handler's log folder. The handler's service may own the folder, so links are not followed.
 */
function outputFilesIn(root: string): { path: string; time: number }[] {
  const commands = join(root, 'commands');
  return entriesBelow(root, commands).flatMap(({ name, facts }) =>
    facts?.isFile() ? [{ path: join(commands, name), time: facts.mtimeMs }] : [],
  );
}

function lastLines(path: string, lines: number): { text: string; left: number } {
  const all = outputAt(path).trimEnd().split('\n');
  const shown = all.slice(-lines);
  return { text: shown.join('\n'), left: all.length - shown.length };
}

/** Returns the text of an output, or why it cannot be shown. */
function outputAt(path: string): string {
  try {
    return readTextBelow(dirname(dirname(path)), path, maxOutputBytes) ?? '[The output was removed.]';
  } catch (error) {
    return `[${sentenceOf(error)}.]`;
  }
}
