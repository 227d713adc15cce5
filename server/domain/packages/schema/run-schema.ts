import type { Fault } from '#server/domain/error.ts';
import type { Limits } from '#server/platform/limits.ts';
import { runInWorker } from '#server/platform/worker-task.ts';
import type { SchemaTask } from './schema-worker.ts';

const module = new URL('./schema-worker.ts', import.meta.url);

/** Runs publishers' schemas in a worker under the limits of settings; what does not come to an end is a fault. */
export async function runSchemas(tasks: SchemaTask, limits: Limits): Promise<Fault[]> {
  if (tasks.length === 0) return [];
  const { checkMs, checkHeapMiB } = limits.settings;
  const result = await runInWorker<Fault[]>(module, tasks, { timeoutMs: checkMs, heapMiB: checkHeapMiB });
  if (result.ended === 'done') return result.value;
  return result.ended === 'time'
    ? [{ path: '', code: 'schema_slow', params: { seconds: checkMs / 1000 } }]
    : [{ path: '', code: 'schema_heavy' }];
}
