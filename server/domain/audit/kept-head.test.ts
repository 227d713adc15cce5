import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { deriveKeys } from '#server/platform/keys.ts';
import { adoptionFile, endAdoption, noteUpgrade, readAdoption } from './adoption.ts';
import { type KeptHead, keptHeadFile, readKeptHead, writeKeptHead } from './kept-head.ts';

const keys = deriveKeys(randomBytes(32));
const head: KeptHead = { position: 5, hash: 'abc', at: '2030-01-01T00:00:00.000Z', accepted: null };

let home: { keys: typeof keys; config: { dataDir: string } };
beforeEach(async () => {
  home = { keys, config: { dataDir: join(await mkdtemp(join(tmpdir(), 'annex-head-')), 'data') } };
});

const path = () => join(home.config.dataDir, keptHeadFile);
const document = async () => JSON.parse(await readFile(path(), 'utf8')) as Record<string, unknown>;

describe('the head in DATA_DIR', () => {
  test('does not exist at first', async () => {
    expect(await readKeptHead(home)).toBeNull();
  });

  test.each<[string, KeptHead]>([
    ['before the first act', { ...head, position: 0, hash: '' }],
    ['of a chain', head],
    ['with an acceptance without faults', { ...head, accepted: { at: head.at, faults: [] } }],
    [
      'with accepted faults',
      { ...head, accepted: { at: head.at, faults: [{ kind: 'altered', id: 3, position: 3, row: 'digest' }] } },
    ],
    [
      'with an accepted row that has no number',
      { ...head, accepted: { at: head.at, faults: [{ kind: 'inserted', id: 9, position: null, row: null }] } },
    ],
  ])('%s is read as it was written', async (_, written) => {
    await writeKeptHead(home, written);
    expect(await readKeptHead(home)).toEqual(written);
  });

  test('is replaced as a whole, readable by its user only, and leaves no other file', async () => {
    await writeKeptHead(home, head);
    await writeKeptHead(home, { ...head, position: 6 });
    expect(await readKeptHead(home)).toMatchObject({ position: 6 });
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect((await readdir(home.config.dataDir)).toSorted()).toEqual([adoptionFile, keptHeadFile].toSorted());
  });

  test.each<[string, (written: Record<string, unknown>) => unknown]>([
    ['another position', (written) => ({ ...written, position: 4 })],
    ['another hash', (written) => ({ ...written, hash: 'abd' })],
    ['another time', (written) => ({ ...written, at: '2029-01-01T00:00:00.000Z' })],
    ['an acceptance', (written) => ({ ...written, accepted: { at: head.at, faults: [] } })],
    ['no digest', ({ digest: _, ...written }) => written],
    ['an empty digest', (written) => ({ ...written, digest: '' })],
    ['a missing field', ({ hash: _, ...written }) => written],
    ['a position that is none', (written) => ({ ...written, position: -1 })],
    [
      'a fault of an unknown kind',
      (written) => ({ ...written, accepted: { at: head.at, faults: [{ kind: 'fine', id: 1, position: 1 }] } }),
    ],
  ])('with %s is rejected, and the message says what to do', async (_, change) => {
    await writeKeptHead(home, head);
    await writeFile(path(), JSON.stringify(change(await document())));
    const reading = readKeptHead(home);
    await expect(reading).rejects.toThrow(`${path()} was not written by this portal`);
    await expect(reading).rejects.toThrow('npm run accept-activity');
  });

  test('of another key is rejected', async () => {
    await writeKeptHead({ ...home, keys: deriveKeys(randomBytes(32)) }, head);
    await expect(readKeptHead(home)).rejects.toThrow('was not written by this portal');
  });

  test('is the same if its fields are in another order', async () => {
    await writeKeptHead(home, head);
    await writeFile(path(), JSON.stringify(Object.fromEntries(Object.entries(await document()).toReversed())));
    expect(await readKeptHead(home)).toEqual(head);
  });

  test('that cannot be read is an error, not an absent head', async () => {
    await writeKeptHead(home, head);
    const folder = { keys, config: { dataDir: path() } };
    await expect(readKeptHead(folder)).rejects.toThrow('ENOTDIR');
  });
});

describe('whether acts of the first release may be adopted', () => {
  test.each<[migrations: number, state: string]>([
    [0, 'unknown'],
    [1, 'adopting'],
    [18, 'adopting'],
    [19, 'unknown'],
    [500, 'unknown'],
  ])('after a start with %i migrations: %s', async (migrations, state) => {
    await noteUpgrade(home, migrations);
    expect(await readAdoption(home)).toBe(state);
  });

  test('only until the head is written', async () => {
    await noteUpgrade(home, 18);
    await writeKeptHead(home, head);
    expect(await readAdoption(home)).toBe('begun');
    await noteUpgrade(home, 18);
    expect(await readAdoption(home)).toBe('begun');
  });

  test('is recorded once: a second start of the same upgrade changes nothing', async () => {
    await noteUpgrade(home, 18);
    await noteUpgrade(home, 3);
    expect(await readAdoption(home)).toBe('adopting');
  });

  test('counts only with the key of this portal', async () => {
    await noteUpgrade({ ...home, keys: deriveKeys(randomBytes(32)) }, 18);
    expect(await readAdoption(home)).toBe('begun');
  });

  test.each(['', '{}', '{"state":"adopting"}', 'not JSON'])('is not allowed by a file that says %j', async (text) => {
    await endAdoption(home);
    await writeFile(join(home.config.dataDir, adoptionFile), text);
    expect(await readAdoption(home)).toBe('begun');
  });
});
