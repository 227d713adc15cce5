import type { SettingsSchema } from '#db/schema/index.ts';
import type { Fault } from '#server/domain/error.ts';
import { KeptWorker } from '#server/platform/kept-worker.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import type { Limits } from '#server/platform/limits.ts';
import { runInWorker, type WorkerLimits, type WorkerResult } from '#server/platform/worker-task.ts';
import type { HalvesToCheck } from './settings-worker.ts';

const schemaWorker = new URL('./schema-worker.ts', import.meta.url);
const settingsWorker = new URL('./settings-worker.ts', import.meta.url);

/** Threads that are kept, each for one schema, and for how long after their last question. */
const most = 4;
const idleMs = 30_000;
type Checker = KeptWorker<HalvesToCheck, Fault[]>;
/** The longest unused first. */
const kept = new Map<string, { checker: Checker; idle: NodeJS.Timeout }>();

/** Every fault of a publisher's schemas themselves, found in a worker under the limits of settings. */
export async function checkSchema(schema: SettingsSchema, limits: Limits): Promise<Fault[]> {
  return outcome(await runInWorker<Fault[]>(schemaWorker, schema, workerLimits(limits)), limits);
}

/**
 * Checks values against a publisher's schema in a worker under the limits of settings. The worker stays for a while
 * for the next settings of the same schema, and for no other's.
 */
export async function checkValues(schema: SettingsSchema, values: HalvesToCheck, limits: Limits): Promise<Fault[]> {
  const key = sha256Hex(JSON.stringify([schema, limits.settings]));
  const entry = kept.get(key);
  if (entry !== undefined) {
    clearTimeout(entry.idle);
    kept.delete(key);
  }
  const checker = entry?.checker ?? new KeptWorker(settingsWorker, schema, workerLimits(limits));
  const idle = setTimeout(() => drop(key), idleMs).unref();
  kept.set(key, { checker, idle });
  for (const [other, { checker: unused }] of kept) {
    if (kept.size > most && !unused.busy && other !== key) drop(other);
  }
  return outcome(await checker.ask(values), limits);
}

function drop(key: string): void {
  const entry = kept.get(key);
  if (entry === undefined) return;
  clearTimeout(entry.idle);
  if (entry.checker.busy) {
    entry.idle = setTimeout(() => drop(key), idleMs).unref();
    return;
  }
  kept.delete(key);
  void entry.checker.close();
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
