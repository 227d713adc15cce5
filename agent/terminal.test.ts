import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { agentProgram } from '#server/testing/agent-program.ts';
import { longTest } from '#server/testing/long.ts';
import { layoutOf } from './folder/layout.ts';
import { writeJson } from './folder/write-file.ts';
import { openJournal } from './journal.ts';
import { escapeControls, escapeLine } from './terminal.ts';
import { zipOf } from './testing/fake-handler.ts';

const main = agentProgram();
/** Clears the terminal, sets its title and reverses text. */
const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp.exe';
const raw = /(?![\n\t])[\p{Cc}\u202a-\u202e]/u;
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'annex-terminal-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function agent(...args: string[]): Promise<{ out: string; error: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd: dir }, (_, out, error) => resolve({ out, error }));
  });
}

test.each<[string, string, string]>([
  ['an escape sequence', 'a\u001b[31mb', 'a\\u001b[31mb'],
  ['a control of the second set', '\u009b31m', '\\u009b31m'],
  ['a change of direction', '\u202egnp\u2069', '\\u202egnp\\u2069'],
  ['a return to the start of the line', 'good\rbad', 'good\\u000dbad'],
  ['line ends of Windows', 'one\r\ntwo', 'one\ntwo'],
  ['lines and tabs', 'one\n\ttwo', 'one\n\ttwo'],
  ['other text', 'Grüße 你好 👍', 'Grüße 你好 👍'],
])('%s', (_, text, shown) => {
  expect(escapeControls(text)).toBe(shown);
});

test('text for one line has no line breaks', () => {
  expect(escapeLine('one\n\u001b[31m\ttwo')).toBe('one\\n\\u001b[31m\\ttwo');
});

test('text in the journal cannot begin another line', () => {
  const lines: string[] = [];
  const journal = openJournal(join(dir, 'logs'), (line) => lines.push(line));
  journal.warn('echo failed: first\n12:00:00  all is well');
  expect(lines.join('\n')).toMatch(/first\n {10}12:00:00 {2}all is well$/);
});

test('logs prints no control characters of a journal or an output, and no foreign file', async () => {
  const { logs } = layoutOf(dir);
  openJournal(logs, () => {}).warn(`echo: its status file cannot be read: ${evil}`);
  const commands = join(logs, 'Acme.Test.Echo-1.0', 'commands');
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, 'echo.1.enable.1.log'), `working ${evil}\n`);
  writeFileSync(join(dir, 'shadow'), 'root-only-words');
  symlinkSync(join(dir, 'shadow'), join(commands, 'echo.1.enable.2.log'));
  for (const args of [[], ['--json']]) {
    const { out } = await agent('logs', 'echo', '--dir', dir, ...args);
    expect(out).not.toMatch(raw);
    expect(out).toContain('\\u001b[2J');
    expect(out).not.toContain('root-only-words');
  }
  const { out } = await agent('logs', 'echo', '--dir', dir, '--json');
  expect(JSON.parse(out).outputs[0].output).toBe(`working ${evil}`);
});

longTest('status and doctor print no control characters of the state on disk', async () => {
  const layout = layoutOf(dir);
  const identity = { portal: `http://127.0.0.1:9/${evil}`, name: 'a', thumbprint: 'A'.repeat(40), vmId: evil };
  writeJson(layout.identity, { ...identity, enrolledAt: null, pollSeconds: 30 });
  for (const command of ['status', 'doctor']) {
    for (const args of [[], ['--json']]) {
      const { out, error } = await agent(command, '--dir', dir, ...args);
      expect(out + error).not.toMatch(raw);
      expect(out).toContain('owned');
    }
  }
});

test('try prints no control characters of a package', async () => {
  const handlerManifest = { installCommand: `${evil}.sh`, rebootAfterInstall: evil };
  const zip = await zipOf({ 'HandlerManifest.json': JSON.stringify([{ version: 1.0, handlerManifest }]) });
  writeFileSync(join(dir, `Acme.Test.Echo-1.0.zip`), zip);
  const { out, error } = await agent('try', 'Acme.Test.Echo-1.0.zip', '--network', '--heartbeat-seconds', '0');
  expect(out).toContain('Acme.Test.Echo 1.0');
  expect(out + error).not.toMatch(raw);
});
