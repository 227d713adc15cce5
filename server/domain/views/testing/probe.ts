import { agentPresence } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { setResources } from '#server/domain/localization/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { getInstanceView } from '../get-instance-view.ts';

export const start = new Date();
export const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

export const ages = { ageSeconds: 4, readSecondsAgo: 0 };

/** Reports about the extension `probe`. */
export const heartbeat = (word: string, extra: object = {}) => ({
  heartbeats: [{ extension: 'probe', ...ages, file: [{ version: 1, heartbeat: { status: word } }], ...extra }],
});
export const status = (file: unknown, extra: object = {}) => ({
  statuses: [{ extension: 'probe', sequenceNumber: 1, ...ages, file, ...extra }],
});
export const statusFile = (word: string, extra: object = {}) => [
  { version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { status: word, ...extra } },
];

/** Helpers for tests of VMs with the extension `probe`. Tests specify what the agents of these VMs report. */
export interface ProbeStage {
  services: Services;
  /** Returns a VM whose agent called at `start` and is expected to call again within a minute. */
  vmWithProbe(handler?: string): Promise<GivenVm>;
  send(vm: GivenVm, report: unknown, receivedAt?: Date): ReturnType<typeof ingestReport>;
  view(
    vm: GivenVm,
    acceptLanguage?: string,
    terms?: { now?: Date; role?: 'viewer'; chosen?: string },
  ): ReturnType<typeof getInstanceView>;
  resources(file: unknown, lang: string, version?: string, handler?: string): ReturnType<typeof setResources>;
}

export async function openProbeStage(): Promise<ProbeStage> {
  const services = await testServices();
  await givenVersion(services.db);
  await givenVersion(services.db, { version: '2.0.0.0' });
  await givenVersion(services.db, { handler: 'Acme.Lab.Quiet', reportHeartbeat: false });
  return {
    services,
    async vmWithProbe(handler = 'Acme.Lab.Probe') {
      const vm = await givenVm(services);
      await vm.declare('probe', { handler });
      await vm.deliver(start);
      await services.db.insert(agentPresence).values({ vmId: vm.vmId, lastSeenAt: start, nextExpectedAt: later(60) });
      return vm;
    },
    send: async (vm, report, receivedAt = start) =>
      ingestReport(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt }),
    view: async (vm, acceptLanguage, { now = start, role = 'viewer', chosen = '' } = {}) =>
      getInstanceView(await testContext({ services, role, now }), {
        vmId: vm.vmId,
        acceptLanguage,
        chosenLanguage: chosen || null,
      }),
    resources: async (file, lang, version = '1.0.0.0', handler = 'Acme.Lab.Probe') =>
      setResources(await testContext({ services }), { handler, version, lang, file }),
  };
}
