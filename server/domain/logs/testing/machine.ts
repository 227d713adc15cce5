import { Readable } from 'node:stream';
import { and, asc, eq, gt } from 'drizzle-orm';
import { auditEntries, changes, outputPieces } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { defaultLimits, type Limits } from '#server/platform/limits.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { listOutputs, type Output, receiveOutput } from '../index.ts';
import type { ReceiveOutputInput } from '../input.ts';

/** Creates test services with these limits and with Acme.Lab.Probe published. */
export async function logServices(limits: Partial<Limits['logs']> = {}): Promise<Services> {
  const logs = { ...defaultLimits.logs, ...limits };
  const services = await testServices({ config: { limits: { ...defaultLimits, logs } } });
  await givenVersion(services.db);
  return services;
}

/** Returns a body that arrives in these chunks. */
export const body = (...chunks: (string | Uint8Array)[]): AsyncIterable<Uint8Array> =>
  Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

/** A part of an output as `[start, until, total]`; undefined for the complete output. */
export type Range = readonly [start: number, until: number, total?: number | null];

/** A VM with the extension `probe`, and an operator who reads its logs. */
export interface Machine extends GivenVm {
  operator: Context;
  /** Sends a part of the output of the first attempt of enable, sequence 1, unless `run` overrides these values. */
  send(text: string | Uint8Array, range?: Range, run?: Partial<ReceiveOutputInput>, now?: Date): Promise<number>;
  outputs(): Promise<Output[]>;
  /** Returns the id of the newest output. */
  newest(): Promise<string>;
  /** Returns the stored pieces of all outputs as `[start, until]`. */
  pieces(): Promise<[number, number][]>;
}

/** Creates the VM and declares the extension. */
export async function givenMachine(services: Services): Promise<Machine> {
  const vm = await givenVm(services);
  await vm.declare('probe');
  const operator = await testContext({ services, role: 'operator' });
  const { vmId } = vm;
  const outputs = async () => (await listOutputs(operator, { vmId })).items;
  return {
    ...vm,
    operator,
    outputs,
    send: async (text, range, run = {}, now = new Date()) => {
      const [start = 0, until = 0, total = null] = range ?? [];
      const given = { vmId, extension: 'probe', command: 'enable', attempt: 1, sequence: 1, ...run } as const;
      const part = { ...given, range: range === undefined ? null : { start, until, total } };
      return (await receiveOutput(await vm.agent(now), part, body(text))).received;
    },
    newest: async () => (await outputs())[0]?.id ?? '',
    pieces: async () => {
      const { start, until } = outputPieces;
      const rows = await services.db
        .select({ start, until })
        .from(outputPieces)
        .where(eq(outputPieces.vmId, vmId))
        .orderBy(asc(outputPieces.outputId), asc(start));
      return rows.map((row) => [row.start, row.until]);
    },
  };
}

/** Returns a VM's activity entries whose action begins with `logs.`, in order. */
export async function actsOf({ db }: Services, vmId: string) {
  const rows = await db.select().from(auditEntries).where(eq(auditEntries.vmId, vmId)).orderBy(asc(auditEntries.id));
  return rows.filter(({ action }) => action.startsWith('logs.'));
}

/** Returns how many changes `run` announces to pages that show the VM's logs. */
export async function outputChanges({ db }: Services, vmId: string, run: () => Promise<unknown>): Promise<number> {
  const last = (await db.select({ id: changes.id }).from(changes).orderBy(asc(changes.id))).at(-1)?.id ?? 0;
  await run();
  const its = and(gt(changes.id, last), eq(changes.topic, 'output'), eq(changes.key, vmId));
  return db.$count(changes, its);
}

/** Returns the digests of all stored blobs. */
export const storedBlobs = ({ blobs }: Services): Promise<string[]> => blobs.list(new Date(Date.now() + 60_000));
