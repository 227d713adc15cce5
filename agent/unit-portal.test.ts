import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { handlerVersions, units } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import {
  addRelation,
  getDue,
  getRelationSettings,
  getUnit,
  listRuns,
  removeUnit,
} from '#server/domain/services/index.ts';
import { raiseHeads } from '#server/domain/services/relations/index.ts';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { formulaEntries, metadataOf } from '#server/testing/formula.ts';
import { buildZip } from '#server/testing/zip.ts';
import { enroll } from './commands/enroll.ts';
import { layoutOf } from './folder/layout.ts';
import { openCaller } from './portal/call.ts';
import { type AgentInProcess, agentInProcess } from './testing/agent-in-process.ts';

/** A real portal, and two machines with real agents: one runs a unit of a database, the other a unit of a blog. */
const root = mkdtempSync(join(tmpdir(), 'annex-units-'));
const agents: AgentInProcess[] = [];
let stage: UnitStage;
let mysql: StagedUnit;
let blog: StagedUnit;

const mysqlHooks = {
  'hooks/install': '#!/bin/sh\necho installing; echo careful >&2\n',
  'hooks/start': '#!/bin/sh\nopen-port 3306\n',
  'hooks/db-relation-joined': '#!/bin/sh\nrelation-set host=10.0.0.4 password=correct-horse\n',
};
const blogHooks = {
  'hooks/config-changed': '#!/bin/sh\nconfig-get title || true\n',
  'hooks/db-relation-changed': `#!/bin/sh
[ "$ENSEMBLE_MEMBERS" = mysql/0 ] || exit 5
host=$(relation-get host) || exit 0
relation-get password
relation-set "uses=$host"
`,
  'hooks/stop': '#!/bin/sh\n:\n',
};

/** Deploys a service, with the bytes of its formula. */
async function deploy(name: string, metadata: Record<string, unknown>, files: Record<string, string>): Promise<string> {
  const hooks = Object.keys(files).map((file) => file.slice('hooks/'.length));
  const service = await stage.service(name, { hooks: hooks.sort(), metadata });
  const zip = buildZip(formulaEntries(metadataOf(), files));
  const sha256 = createHash('sha256').update(zip).digest('hex');
  const { blobs, db } = stage.ctx;
  const path = await blobs.temporaryPath();
  writeFileSync(path, zip);
  await blobs.putFile(path, sha256);
  await db
    .update(handlerVersions)
    .set({ sha256, size: zip.length })
    .where(eq(handlerVersions.handler, `Acme.Lab.${name}`));
  return service;
}

/** Enrolls a machine, and places a unit on it. Returns the unit; `start` starts the agent. */
async function machineWith(service: string): Promise<StagedUnit> {
  const layout = layoutOf(join(root, `machine-${agents.length}`));
  const call = openCaller({ environment: {} });
  const { id: vmId, enrollmentToken } = await registerVm(stage.admin, { name: `vm-${agents.length}` });
  const portal = stage.door.url.replace('/agent/v1', '');
  await enroll({ portal, token: enrollmentToken, dir: layout.root, call }, () => {});
  agents.push(agentInProcess(layout, call));
  const none = () => Promise.reject(new Error('the agent makes the calls'));
  return await stage.unit(service, {
    agent: { vmId, credential: '', authorization: { authorization: '' }, call: none },
  });
}

const now = (): Context => ({ ...stage.ctx, now: new Date() });
const named = (unit: StagedUnit) => ({ model: 'prod', unit: unit.name });
const runsOf = async (unit: StagedUnit) =>
  (await listRuns(stage.ctx, named(unit))).items.map(({ hook, outcome }) => `${hook} ${outcome}`).reverse();

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await isTrue())) {
    if (Date.now() > end) {
      const heard = [
        ...(await runsOf(mysql)),
        ...(await runsOf(blog)),
        ...agents.flatMap(({ lines }) => lines.slice(-8)),
      ];
      throw new Error(`never seen: ${what}; ${heard.join('\n')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

beforeAll(async () => {
  stage = await UnitStage.open();
  mysql = await machineWith(await deploy('mysql', { provides: { db: { interface: 'mysql' } } }, mysqlHooks));
  blog = await machineWith(await deploy('blog', { requires: { db: { interface: 'mysql' } } }, blogHooks));
  await addRelation(now(), { model: 'prod', endpoints: ['blog', 'mysql'] });
});
afterAll(async () => {
  for (const agent of agents) await agent.stop();
  await stage.close();
  rmSync(root, { recursive: true, force: true });
});

test('EN-28 EN-34 units on two machines start, join their relation, and learn of each other', {
  timeout: 60_000,
}, async () => {
  await Promise.all(agents.map((agent) => agent.start()));
  await until('what the blog set', async () => (await settingsOf(blog)).uses !== undefined);
  expect(await settingsOf(mysql)).toMatchObject({ host: '"10.0.0.4"' });
  expect(await settingsOf(blog)).toEqual({ uses: '"10.0.0.4"' });
  expect((await runsOf(mysql)).slice(0, 3)).toEqual([
    'install succeeded',
    'start succeeded',
    'db-relation-joined succeeded',
  ]);
  // EN-23: the output is at the portal, with a level for each stream.
  const [install] = (await listRuns(stage.ctx, { ...named(mysql), hook: 'install' })).items;
  expect(install).toMatchObject({ number: 1, attempt: 1, exitCode: 0 });
  // EN-32: the portal expects nothing that the agents have not done.
  await until('nothing is due', async () => {
    const due = await Promise.all([mysql, blog].map((unit) => getDue(now(), named(unit))));
    return due.every(({ items }) => items.length === 0);
  });
});

test('EN-71 changed settings of a service arrive with the next hook', async () => {
  await stage.settings(blog.serviceId, 2, '{"title":"My blog"}');
  await stage.ctx.db.update(units).set({ settingsVersion: 2 }).where(eq(units.id, blog.id));
  await stage.ctx.db.transaction((tx) => raiseHeads(tx, now(), [blog.vmId]));
  await until(
    'config-changed',
    async () => (await runsOf(blog)).filter((run) => run.startsWith('config')).length === 2,
  );
  await until('it is stored', async () => (await getDue(now(), named(blog))).items.length === 0);
});

test('EN-51 a unit that is removed leaves its machine, and nothing stays due for the related unit', async () => {
  await removeUnit(now(), { ...named(blog), force: false });
  await until('it is gone', async () => (await getUnit(stage.ctx, named(blog))).stage === 'removed');
  expect((await runsOf(blog)).at(-1)).toBe('stop succeeded');
  expect(existsSync(join(root, 'machine-1', 'units', 'blog-1'))).toBe(false);
  await until('mysql knows', async () => (await getDue(now(), named(mysql))).items.length === 0);
});

async function settingsOf(unit: StagedUnit): Promise<Record<string, string>> {
  const { nodes } = await getRelationSettings(stage.ctx, { model: 'prod', number: 1 });
  const node = nodes.find((one) => one.unit === unit.name);
  return Object.fromEntries((node?.settings ?? []).map(({ key, value }) => [key, String(value)]));
}
