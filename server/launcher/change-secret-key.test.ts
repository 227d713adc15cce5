import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { installation, totpFactors, users } from '#db/schema/index.ts';
import { sealSecret } from '#server/auth/factors/totp.ts';
import { beginActivity, readKeptHead, verifyActivity } from '#server/domain/audit/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { enrollAgent, registerVm } from '#server/domain/enrollment/index.ts';
import { getGoalState, setExtension } from '#server/domain/goal-states/index.ts';
import { grantWireAccess } from '#server/domain/stock-agents/index.ts';
import { openTenantKey } from '#server/domain/stock-agents/tenant-key.ts';
import { deriveKeys, unseal } from '#server/platform/keys.ts';
import { existingKey } from '#server/platform/secret-key.ts';
import { openInstallation } from '#server/process/installation.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { longTest } from '#server/testing/long.ts';

const root = join(import.meta.dirname, '..', '..');
const oldKey = 'the-old-key-of-this-test-has-many-characters';
const newKey = 'the-new-key-of-this-test-has-many-characters';

let services: Services;
let ctx: Context;
let vmId: string;
let stockId: string;

const settings = { publicSettings: {}, protectedSettings: { word: 'hunter2' } };
const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const, settings };

/** Creates a database with one row of each kind of encrypted data. */
beforeEach(async () => {
  services = { ...(await testServices({ config: { wire: true } })), keys: deriveKeys(Buffer.from(oldKey)) };
  await openInstallation(services.db, services.keys.check);
  await beginActivity(services, new Date());
  ctx = await testContext({ role: 'operator', services });
  await givenVersion(services.db);
  ({ id: vmId } = await registerVm(ctx, { name: 'sealed' }));
  await setExtension(ctx, { vmId, name: 'probe', goal });
  ({ id: stockId } = await registerVm(ctx, { name: 'stock' }));
  await grantWireAccess(ctx, { vmId: stockId });
  await services.db.insert(users).values({ id: 'ada', name: 'Ada', email: 'ada@example.test' });
  const secret = sealSecret(services, 'ada', 'JBSWY3DPEHPK3PXP');
  await services.db
    .insert(totpFactors)
    .values({ userId: 'ada', secret, lastStep: 0, createdAt: new Date(), lastUsedAt: new Date() });
});

interface Run {
  process: ChildProcess;
  ended: Promise<{ code: number | null; output: string }>;
}

function run(env: Record<string, string>): Run {
  const { DATA_DIR = services.config.dataDir } = env;
  const child = spawn(
    process.execPath,
    ['--import', './server/platform/quick-imports.ts', 'scripts/change-secret-key.ts'],
    {
      cwd: root,
      env: { ...process.env, DATABASE_URL: services.db.$client.options.connectionString ?? '', DATA_DIR, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { process: child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, output })) };
}

const withKeys = { ANNEX_SECRET_KEY: oldKey, ANNEX_NEW_SECRET_KEY: newKey };

/** Checks that everything decrypts with this key, and that the activity log verifies with it. */
async function expectSealedUnder(key: Buffer): Promise<void> {
  const keys = deriveKeys(key);
  const own = { ...services, keys };
  const [known] = await services.db.select().from(installation);
  expect(known?.keyCheck).toBe(keys.check);
  const { rows } = await services.db.$client.query<{ id: string; vm_id: string; sealed: Buffer }>(
    'select id, vm_id, sealed from secrets',
  );
  expect(rows.map(({ id, vm_id, sealed }) => unseal(keys.sealing, sealed, `${vm_id}/${id}`).toString())).toEqual([
    JSON.stringify(settings.protectedSettings),
  ]);
  const stock = await services.db.$client.query<{ tenant_key: Buffer }>('select tenant_key from stock_agents');
  expect(openTenantKey(keys, stockId, stock.rows[0]?.tenant_key ?? Buffer.alloc(0)).byteLength).toBeGreaterThan(1_000);
  const [factor] = await services.db.select().from(totpFactors);
  expect(unseal(keys.totp, factor?.secret ?? Buffer.alloc(0), 'totp ada').toString()).toBe('JBSWY3DPEHPK3PXP');
  const kept = await readKeptHead(own);
  const verdict = await verifyActivity(own, kept);
  expect(verdict.faults).toEqual([]);
  expect(verdict.numbered).toBeGreaterThan(3);
}

test('everything is encrypted with the new key, the log verifies, and equal secrets count as kept', async () => {
  const { code, output } = await run(withKeys).ended;
  expect({ code, output }).toMatchObject({
    code: 0,
    output: expect.stringContaining('1 protected settings, 1 tenant keys'),
  });
  await expectSealedUnder(Buffer.from(newKey));
  const own = { ...ctx, keys: deriveKeys(Buffer.from(newKey)) };
  expect(await setExtension(own, { vmId, name: 'probe', goal })).toMatchObject({ sequenceNumber: 1 });
  const { enrollmentToken } = await registerVm(own, { name: 'later' });
  await enrollAgent(own, {
    enrollmentToken,
    certificate: newKeyPair().certificate,
    agent: { name: 'a', version: '1' },
  });
  expect((await getGoalState(own, { vmId })).extensions).toEqual([]);
  const again = await run(withKeys).ended;
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining('The change is complete') });
}, 120_000);

longTest(
  'a run killed before the commit changes nothing, and the next run completes',
  async () => {
    const killed = run(withKeys);
    await services.db.transaction(async (tx) => {
      // The key change waits for this row after it has encrypted other rows.
      await tx.select().from(totpFactors).for('update');
      const waiting = async () => {
        const { rows } = await services.db.execute(sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
        return rows.length;
      };
      await expect.poll(waiting, { timeout: 60_000 }).toBe(1);
      killed.process.kill('SIGKILL');
      await killed.ended;
    });
    await expectSealedUnder(Buffer.from(oldKey));
    expect((await run(withKeys).ended).code).toBe(0);
    await expectSealedUnder(Buffer.from(newKey));
  },
  120_000,
);

longTest(
  'secret.key: if a run is killed between the database and the files, the next run finishes',
  async () => {
    const { dataDir } = services.config;
    const [present, head] = [join(dataDir, 'secret.key'), join(dataDir, 'activity-head.json')];
    await writeFile(present, `${oldKey}\n`, { mode: 0o600 });
    await copyFile(present, `${present}.before`);
    await copyFile(head, `${head}.before`);
    expect((await run({}).ended).code).toBe(0);
    const made = await existingKey({ secretKey: null, dataDir });
    expect(made.toString()).not.toBe(oldKey);
    await expectSealedUnder(made);
    // Restores the files to their state after the commit and before the second step.
    await copyFile(present, `${present}.next`);
    await copyFile(`${present}.before`, present);
    await copyFile(`${head}.before`, head);
    await expect(openInstallation(services.db, services.keys.check)).rejects.toThrow(
      'npm run change-secret-key was interrupted',
    );
    await expect(readKeptHead({ ...services, keys: deriveKeys(made) })).rejects.toThrow(
      'npm run change-secret-key was interrupted',
    );
    expect((await run({}).ended).code).toBe(0);
    expect(await readFile(present, 'utf8')).toBe(`${made}\n`);
    await expectSealedUnder(made);
  },
  120_000,
);

test.each<[string, Record<string, string>, string]>([
  [
    'another key than the database’s',
    { ANNEX_SECRET_KEY: newKey, ANNEX_NEW_SECRET_KEY: `${newKey}2` },
    'does not belong to this database',
  ],
  ['no new key', { ANNEX_SECRET_KEY: oldKey }, 'ANNEX_NEW_SECRET_KEY must have 32 characters'],
  ['the same key', { ANNEX_SECRET_KEY: oldKey, ANNEX_NEW_SECRET_KEY: oldKey }, 'is the same as the current one'],
])(
  'is rejected, and nothing changes: %s',
  async (_, env, sentence) => {
    const { code, output } = await run(env).ended;
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(sentence) });
    await expectSealedUnder(Buffer.from(oldKey));
  },
  60_000,
);

longTest(
  'is rejected while Annex is running, or if the activity log has a fault',
  async () => {
    const portal = await services.db.$client.connect();
    await portal.query(`set application_name = 'annex-gateway'`);
    expect(await run(withKeys).ended).toMatchObject({ code: 1, output: expect.stringContaining('Stop it first') });
    await portal.query(`set application_name = 'test'`);
    portal.release();
    await services.db.execute(sql`update audit_entries set actor_name = 'Eve' where action = 'vm.create'`);
    expect(await run(withKeys).ended).toMatchObject({ code: 1, output: expect.stringContaining('has errors') });
  },
  120_000,
);
