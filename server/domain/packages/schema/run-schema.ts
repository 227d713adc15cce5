import type { SettingsSchema } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import type { Fault } from '#server/domain/error.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import type { Limits } from '#server/platform/limits.ts';
import { slot } from '#server/platform/process-memory.ts';
import { WorkerPool } from '#server/platform/worker-pool.ts';
import { type WorkerLimits, type WorkerResult, WorkerTasks } from '#server/platform/worker-task.ts';
import type { HalvesToCheck } from './settings-worker.ts';

const schemaWorker = new URL('./schema-worker.ts', import.meta.url);
const settingsWorker = new URL('./settings-worker.ts', import.meta.url);

const schemaChecks = slot(() => new WorkerTasks<Fault[]>(schemaWorker));

/** Each worker thread runs only one schema. */
const settingsCheckers = slot(
  () => new WorkerPool<HalvesToCheck, Fault[]>(settingsWorker, { most: 4, idleMs: 30_000 }),
);

/** Returns every fault of a publisher's schemas. Runs in a worker, within the limits for settings. */
export async function checkSchema(
  { config: { limits }, memory }: Pick<Services, 'config' | 'memory'>,
  schema: SettingsSchema,
): Promise<Fault[]> {
  return outcome(await memory.of(schemaChecks).run(schema, workerLimits(limits)), limits);
}

/**
 * Checks values against a publisher's schema in a worker, within the limits for settings. The worker is reused for the
 * same schema for a while, but never for another schema.
 */
export async function checkValues(
  { config: { limits }, memory }: Pick<Services, 'config' | 'memory'>,
  schema: SettingsSchema,
  values: HalvesToCheck,
): Promise<Fault[]> {
  const key = sha256Hex(JSON.stringify([schema, limits.settings]));
  const result = await memory.of(settingsCheckers).ask(key, schema, workerLimits(limits), values);
  return outcome(result, limits);
}

function workerLimits({ settings }: Limits): WorkerLimits {
  return { timeoutMs: settings.checkMs, heapMiB: settings.checkHeapMiB };
}

function outcome(result: WorkerResult<Fault[]>, { settings }: Limits): Fault[] {
  if (result.ended === 'done') return result.value;
  return result.ended === 'time'
    ? [{ path: '', code: 'schema_slow', params: { seconds: settings.checkMs / 1000 } }]
    : [{ path: '', code: 'schema_heavy' }];
}
