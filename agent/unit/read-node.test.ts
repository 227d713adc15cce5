import { expect, test } from 'vitest';
import { UnitStage } from '../testing/unit-stage.ts';
import { type NodeName, patientReader, type ReadNode } from './read-node.ts';
import { unitError } from './unit-error.ts';

const node: NodeName = { relation: 3, unit: 'mysql/0' };

/** A reader whose portal is away until `backAt` seconds; the clock moves when the reader waits. */
function awayUntil(backAt: number): { read: ReadNode; tries: number[] } {
  let now = 0;
  const tries: number[] = [];
  const read = patientReader(
    async () => {
      tries.push(now);
      if (now < backAt) throw new Error('ECONNREFUSED');
      return { version: 1, settings: {} };
    },
    {
      now: () => now,
      random: () => 1,
      pause: async (seconds) => {
        now += seconds;
      },
    },
  );
  return { read, tries };
}

test('EN-60 a first touch waits for the portal', async () => {
  const { read, tries } = awayUntil(20);
  expect(await read(node)).toEqual({ version: 1, settings: {} });
  expect(tries.at(-1)).toBeLessThanOrEqual(25);
});

test('EN-60 after 30 seconds, a first touch fails with PortalAway', async () => {
  const { read, tries } = awayUntil(31);
  await expect(read(node)).rejects.toMatchObject({ code: 'PortalAway' });
  expect(tries.at(-1)).toBe(30);
});

test('a node that the portal rejects is not read again', async () => {
  let tries = 0;
  const read = patientReader(async () => {
    tries += 1;
    throw unitError('NoSuchUnit', 'none');
  });
  await expect(read(node)).rejects.toMatchObject({ code: 'NoSuchUnit' });
  expect(tries).toBe(1);
});

test('EN-60 a node that could not be read is read by the next command, and no value is invented', async () => {
  const stage = new UnitStage();
  const hook = stage.begin('run-1');
  const [content] = [stage.nodes.get('3 mysql/0')!];
  stage.nodes.delete('3 mysql/0');
  await expect(stage.get(hook, 'host')).rejects.toMatchObject({ code: 'NoSuchUnit' });
  stage.nodes.set('3 mysql/0', content);
  expect(await stage.get(hook, 'host')).toBe('"10.0.0.4"');
});
