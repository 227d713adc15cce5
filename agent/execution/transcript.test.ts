import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { maskedTexts } from '../handler/mask.ts';
import { Lines } from './lines.ts';
import { Transcript } from './transcript.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'annex-transcript-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (limit?: number) => new Transcript(join(dir, 't'), () => 7, limit);
const rows = () => readFileSync(join(dir, 't'), 'utf8').trimEnd().split('\n');

test('rows keep their numbers when the agent is started again', () => {
  const first = open();
  first.add('begin', { run: 1, why: 'first' });
  first.add('out', 0, 'a');
  first.close();
  const second = open();
  expect(second.rows).toBe(2);
  second.add('begin', { run: 2, why: 'agent' });
  second.finish();
  expect(rows()).toEqual([
    '[7,"begin",{"run":1,"why":"first"}]',
    '[7,"out",0,"a"]',
    '[7,"begin",{"run":2,"why":"agent"}]',
  ]);
});

test('a row that was cut off stays a separate row', () => {
  appendFileSync(join(dir, 't'), '[1,"out",0,"a"]\n[2,"ou');
  const transcript = open();
  expect(transcript.rows).toBe(2);
  transcript.add('note', 'x');
  transcript.finish();
  expect(rows()).toEqual(['[1,"out",0,"a"]', '[2,"ou', '[7,"note","x"]']);
});

test('beyond the limit, the start, a note and the last MiB are kept', () => {
  const limit = 3 * 1024 * 1024;
  const transcript = open(limit);
  for (let index = 0; index < 500; index += 1) transcript.add('out', 1, `${index} ${'x'.repeat(10_000)}`);
  const before = transcript.rows;
  transcript.finish();
  const all = rows();
  expect(readFileSync(join(dir, 't')).length).toBeLessThanOrEqual(limit);
  expect(all[before]).toMatch(/^\[7,"note","Cut: \d+ bytes are missing here\."\]$/);
  expect(all.at(-1)).toContain('499 x');
  expect(all[0]).toContain('0 x');
});

test('rows beyond the limit get their final numbers when the transcript is finished', () => {
  const transcript = open(3 * 1024 * 1024);
  const places = new Map<string, number>();
  for (let index = 0; index < 500; index += 1) {
    places.set(String(index), transcript.place);
    transcript.add('out', 1, `${index} ${'x'.repeat(10_000)}`);
  }
  expect([transcript.rowAt(places.get('3') ?? -1), transcript.rowAt(places.get('499') ?? -1)]).toEqual([3, null]);
  transcript.finish();
  const all = rows();
  const numbers = [...places].map(([index, place]) => {
    const row = transcript.rowAt(place) ?? -1;
    return all[row]?.includes('"note"') ? 'note' : all[row]?.includes(`"${index} x`) ? 'same' : `${index} is at ${row}`;
  });
  expect(new Set(numbers)).toEqual(new Set(['same', 'note']));
  expect([numbers.at(0), numbers.at(300), numbers.at(-1)]).toEqual(['same', 'note', 'same']);
});

test('lines are cut, joined over chunks, and free of secrets', async () => {
  const seen: [string, boolean][] = [];
  const lines = new Lines(maskedTexts('swordfish-in-the-sea'), (text, goesOn) => seen.push([text, goesOn]));
  lines.write(Buffer.from('a sword'));
  lines.write(Buffer.from('fish-in-the-sea\r\nb'));
  lines.write(Buffer.from([0xff, 0x0a]));
  lines.write(Buffer.from('y'.repeat(20_000)));
  lines.end();
  expect(seen.map(([text]) => text.slice(0, 20))).toEqual(['a [masked]\r', 'b\uFFFD', 'y'.repeat(20), 'y'.repeat(20)]);
  expect(seen.map(([, goesOn]) => goesOn)).toEqual([false, false, true, false]);
});

test('case 22: a secret written byte by byte, over three lines or in base64 is masked', () => {
  const secret = 'swordfish-in-the-sea';
  for (const text of [secret, 'swordfi\nsh-in-t\nhe-sea', Buffer.from(`x${secret}`).toString('base64')]) {
    const seen: string[] = [];
    const lines = new Lines(maskedTexts(secret), (line) => seen.push(line));
    for (const byte of Buffer.from(`a ${text} b\n`)) lines.write(Buffer.from([byte]));
    lines.end();
    expect(seen, text).toEqual([expect.stringMatching(/^a .{0,4}\[masked\].{0,4} b$/)]);
  }
});

test('a line without its end is written after a second of quiet', async () => {
  const seen: [string, boolean][] = [];
  const lines = new Lines([], (text, goesOn) => seen.push([text, goesOn]));
  lines.write(Buffer.from('waiting'));
  await expect.poll(() => seen, { timeout: 10_000 }).toEqual([['waiting', true]]);
  lines.end();
});
