import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { changes } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { ActivityWatch, recordAudit } from '#server/domain/audit/index.ts';
import { systemOrigin } from '#server/domain/context.ts';
import { readAnchorTargets } from '#server/platform/anchors.ts';
import type { OpenServices } from '#server/process/services.ts';
import { testServices } from '#server/testing/context.ts';
import type { Job } from '../job.ts';
import { followActivityJob } from './follow-activity.ts';
import { sendAnchorsJob } from './send-anchors.ts';

let services: OpenServices;
let lines: Record<string, unknown>[];
let now = new Date();

beforeEach(async () => {
  lines = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) });
  services = { ...(await testServices()), log, close: async () => {} };
});

const write = (vmId: string | null) =>
  services.db.transaction((tx) => {
    const ctx = { keys: services.keys, actor: systemActor, origin: systemOrigin, now, requestId: randomUUID() };
    return recordAudit(tx, ctx, {
      action: 'vm.update',
      target: { kind: 'vm', id: 'x' },
      ...(vmId === null ? {} : { vmId }),
    });
  });

const newFollow = () =>
  followActivityJob(new ActivityWatch((fault) => services.log.error({ fault }, 'the activity was tampered with')));

const soon = (job: Job) => {
  now = new Date(now.getTime() + 60_000);
  return job.run({ ...services, now, signal: AbortSignal.timeout(60_000) });
};

test('open pages are notified once of new entries, and of a fault', async () => {
  const follow = newFollow();
  const vmId = randomUUID();
  const hints = async () => {
    const rows = await services.db.select({ key: changes.key }).from(changes).orderBy(changes.id);
    await services.db.delete(changes);
    return rows.map(({ key }) => key);
  };
  await soon(follow);
  await hints();
  await write(vmId);
  await soon(follow);
  expect(await hints()).toEqual([vmId]);
  await soon(follow);
  expect(await hints()).toEqual([]);
  await services.db.execute(sql`delete from audit_entries where position = 2`);
  await soon(follow);
  expect(await hints()).toEqual(['']);
  await soon(follow);
  expect(await hints()).toEqual([]);
  expect(lines).toMatchObject([{ msg: 'the activity was tampered with', fault: { kind: 'truncated', position: 2 } }]);
});

test('a changed head is sent to every target, and again to a target that did not accept it', async () => {
  const good = join(services.config.dataDir, 'anchors.jsonl');
  const bad = join(services.config.dataDir, 'file', 'anchors.jsonl');
  services = {
    ...services,
    config: { ...services.config, auditAnchors: readAnchorTargets(`file:${good},file:${bad}`) },
  };
  const follow = newFollow();
  const send = sendAnchorsJob();
  await writeFile(join(services.config.dataDir, 'file'), 'not a folder');
  await soon(follow);
  await soon(send);
  await soon(send);
  const places = async (path: string) =>
    (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { position: number }).position);
  expect(await places(good)).toEqual([1]);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'an anchor of the activity was not delivered',
    'activity anchor',
    'an anchor of the activity was not delivered',
  ]);
  await rm(join(services.config.dataDir, 'file'));
  await write(null);
  await soon(follow);
  await soon(send);
  expect([await places(good), await places(bad)]).toEqual([[1, 2], [2]]);
});
