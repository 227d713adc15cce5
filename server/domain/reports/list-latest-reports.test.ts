import { and, eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { reportHistory } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { listLatestReports } from './list-latest-reports.ts';
import { listReportHistory } from './list-report-history.ts';

let services: Services;

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
});

const status = (code: number) => ({
  extension: 'probe',
  sequenceNumber: 1,
  ageSeconds: 0,
  readSecondsAgo: 0,
  file: [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'transitioning', code } }],
});

async function vmThatReported() {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.deliver();
  const receivedAt = new Date();
  const send = async (report: unknown) =>
    ingestReport(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt });
  await send({ handlers: [{ extension: 'probe', version: '1.0.0.0', sequenceNumber: 1, state: 'enabled' }] });
  await send({ statuses: [status(1)] });
  await send({ statuses: [status(2)] });
  return vm.vmId;
}

test('returns the newest document of each kind as it was sent', async () => {
  const vmId = await vmThatReported();
  const ctx = await testContext({ services, role: 'operator' });
  const latest = await listLatestReports(ctx, { vmId, extension: 'probe' });
  expect(latest.map(({ kind }) => kind)).toEqual(['handler', 'status']);
  expect(latest[1]?.document).toMatchObject({ file: [{ status: { code: 2 } }] });
  expect(await listLatestReports(ctx, { vmId, extension: 'other' })).toEqual([]);
});

test('shows the parsed document after the raw one has expired', async () => {
  const vmId = await vmThatReported();
  const { db } = services;
  await db.delete(reportHistory).where(and(eq(reportHistory.vmId, vmId), eq(reportHistory.kind, 'status')));
  const ctx = await testContext({ services, role: 'operator' });
  const latest = await listLatestReports(ctx, { vmId, extension: 'probe' });
  expect(latest.map(({ kind, asRead, sequenceNumber }) => [kind, asRead, sequenceNumber])).toEqual([
    ['handler', false, 1],
    ['status', true, 1],
  ]);
  expect(latest[1]?.document).toMatchObject({ status: 'transitioning', code: 2 });
});

test('filters the history by kind', async () => {
  const vmId = await vmThatReported();
  const ctx = await testContext({ services, role: 'operator' });
  const { items } = await listReportHistory(ctx, { vmId, kind: 'status' });
  expect(items.map(({ kind }) => kind)).toEqual(['status', 'status']);
});

test('only operators can read raw documents', async () => {
  const vmId = await vmThatReported();
  const viewer = await testContext({ services, role: 'viewer' });
  await expect(listLatestReports(viewer, { vmId, extension: 'probe' })).rejects.toMatchObject({ kind: 'forbidden' });
});
