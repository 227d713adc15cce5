import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '#db/schema/auth.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testActor, testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { countAttention, listAttention } from './attention/index.ts';
import { type CompareVersionsInput, compareVersions } from './compare-versions.ts';
import { exportFleet } from './export-fleet.ts';
import { readFleetRows } from './fleet-rows.ts';
import { getAdoption } from './get-adoption.ts';
import { getHandlerOverview } from './get-handler-overview.ts';
import { getInstanceView } from './get-instance-view.ts';
import { getTimeline } from './get-timeline.ts';
import { getVmFacts } from './get-vm-facts.ts';
import type { SearchInput, TimelineInput } from './input.ts';
import { listCatalogue } from './list-catalogue.ts';
import { listFleet } from './list-fleet.ts';
import {
  getFleetMap,
  getFleetSummary,
  getMapCell,
  listDeadlines,
  listFailingTogether,
  listFleetEvents,
  listHealthChanges,
} from './overview/index.ts';
import { findByName } from './search.ts';

let services: Services;
let vmId: string;
const [handler, version] = ['Acme.Lab.Probe', '1.0.0.0'];
const [from, to] = ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'];

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db, { handler, version });
  ({ vmId } = await givenVm(services));
});

const reads: Readonly<Record<string, (ctx: Context) => Promise<unknown>>> = {
  getInstanceView: (ctx) => getInstanceView(ctx, { vmId }),
  getTimeline: (ctx) => getTimeline(ctx, { vmId, from, to }),
  getVmFacts: (ctx) => getVmFacts(ctx, { vmId }),
  listFleet: (ctx) => listFleet(ctx, {}),
  readFleetRows: (ctx) => readFleetRows(ctx, { vmIds: [vmId] }),
  exportFleet: (ctx) => exportFleet(ctx, {}),
  findByName: (ctx) => findByName(ctx, { q: 'a' }),
  compareVersions: (ctx) => compareVersions(ctx, { handler, a: version, b: version }),
  getAdoption: (ctx) => getAdoption(ctx, { handler, range: '7d' }),
  getHandlerOverview: (ctx) => getHandlerOverview(ctx, { handler }),
  listCatalogue: (ctx) => listCatalogue(ctx),
  getFleetMap: (ctx) => getFleetMap(ctx, {}),
  getMapCell: (ctx) => getMapCell(ctx, { groupBy: 'none', revision: 'r', group: 0, index: 0 }),
  getFleetSummary,
  listFailingTogether: (ctx) => listFailingTogether(ctx),
  listFleetEvents,
  listHealthChanges,
  listDeadlines,
  listAttention: (ctx) => listAttention(ctx),
  countAttention,
};

describe.each(Object.entries(reads))('%s', (name, read) => {
  test.each<Role>(['viewer', 'publisher', 'operator', 'admin'])('answers a person with the role %s', async (role) => {
    // The test packages contain no files, so `compareVersions` may fail, but not with 403.
    const answer = read(await testContext({ services, role })).catch((error: unknown) => error);
    if (name === 'compareVersions') return expect(await answer).not.toHaveProperty('kind', 'forbidden');
    expect(await answer).not.toBeInstanceOf(Error);
  });

  test.each<[string, Actor, string]>([
    ['without a session', testActor(null), 'unauthenticated'],
    ['without a required second factor', { ...testActor('admin'), role: null }, 'factor_required'],
    ['that is an agent', { kind: 'agent', id: 'x', name: 'vm', role: null, namespaces: [] }, 'factor_required'],
  ])('rejects a caller %s', async (_, actor, code) => {
    await expect(read(await testContext({ services, actor }))).rejects.toMatchObject({ code });
  });
});

const x = (length: number) => 'x'.repeat(length);

/** Inputs that are rejected, with the path and the code of each fault. */
const faults: readonly [string, (ctx: Context) => Promise<unknown>, string, string][] = [
  ['an instance view of a name', (ctx) => getInstanceView(ctx, { vmId: 'db-1' }), '/vmId', 'field_format'],
  ['a timeline of a name', (ctx) => getTimeline(ctx, { vmId: 'db-1', from, to }), '/vmId', 'field_format'],
  ['a timeline from a day', (ctx) => getTimeline(ctx, { vmId, from: '2026-03-01', to }), '/from', 'field_format'],
  ['a timeline without an end', (ctx) => getTimeline(ctx, { vmId, from } as TimelineInput), '/to', 'field_missing'],
  ['a search for nothing', (ctx) => findByName(ctx, { q: '' }), '/q', 'field_empty'],
  ['a search for spaces', (ctx) => findByName(ctx, { q: '   ' }), '/q', 'field_empty'],
  ['a search for a novel', (ctx) => findByName(ctx, { q: x(201) }), '/q', 'field_too_long'],
  ['a search with more', (ctx) => findByName(ctx, { q: 'a', limit: 9 } as SearchInput), '/limit', 'field_unknown'],
  ['a page of no VMs', (ctx) => listFleet(ctx, { limit: 0 }), '/limit', 'field_too_small'],
  ['a page of 201 VMs', (ctx) => listFleet(ctx, { limit: 201 }), '/limit', 'field_too_big'],
  ['an unknown order', (ctx) => listFleet(ctx, { sort: 'size' as 'name' }), '/sort', 'field_choice'],
  ['a negative offset', (ctx) => listFleet(ctx, { at: -1 }), '/at', 'field_too_small'],
  ['a long cursor', (ctx) => listFleet(ctx, { cursor: x(1_001) }), '/cursor', 'field_too_long'],
  ['adoption of a decade', (ctx) => getAdoption(ctx, { handler, range: '10y' as '1y' }), '/range', 'field_choice'],
  ['adoption of a novel', (ctx) => getAdoption(ctx, { handler: x(193), range: '7d' }), '/handler', 'field_too_long'],
  [
    'a comparison with one',
    (ctx) => compareVersions(ctx, { handler, a: version } as CompareVersionsInput),
    '/b',
    'field_missing',
  ],
  ['a map by anything', (ctx) => getFleetMap(ctx, { groupBy: 'name' as 'none' }), '/groupBy', 'field_invalid'],
];

test.each(faults)('%s is rejected', async (_, read, path, code) => {
  const viewer = await testContext({ services, role: 'viewer' });
  await expect(read(viewer)).rejects.toMatchObject({
    kind: 'unprocessable',
    code: 'invalid',
    faults: [expect.objectContaining({ path, code })],
  });
});

const unknown = '00000000-0000-4000-8000-00000000dead';

test.each<[string, (ctx: Context) => Promise<unknown>, string]>([
  ['an instance view', (ctx) => getInstanceView(ctx, { vmId: unknown }), 'vm_unknown'],
  ['a timeline', (ctx) => getTimeline(ctx, { vmId: unknown, from, to }), 'vm_unknown'],
  ['facts', (ctx) => getVmFacts(ctx, { vmId: unknown }), 'vm_unknown'],
  ['a handler', (ctx) => getHandlerOverview(ctx, { handler: 'No.Such.Handler' }), 'handler_unknown'],
  ['a comparison of versions', (ctx) => compareVersions(ctx, { handler, a: version, b: '9.9' }), 'version_unknown'],
])('%s of what does not exist is not found', async (_, read, code) => {
  const viewer = await testContext({ services, role: 'viewer' });
  await expect(read(viewer)).rejects.toMatchObject({ kind: 'not_found', code });
});

test.each([
  [0, false],
  [1, true],
  [8 * 86_400_000, true],
  [8 * 86_400_000 + 1, false],
  [-1, false],
])('a timeline of %d ms is accepted: %s', async (length, isAccepted) => {
  const viewer = await testContext({ services, role: 'viewer' });
  const end = new Date(Date.parse(from) + length).toISOString();
  const read = getTimeline(viewer, { vmId, from, to: end });
  if (isAccepted) await expect(read).resolves.toMatchObject({ from, to: end });
  else await expect(read).rejects.toMatchObject({ code: 'invalid' });
});
