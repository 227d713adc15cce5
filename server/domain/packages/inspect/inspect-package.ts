import type { Limits } from '#server/platform/limits.ts';
import { type ProcessMemory, slot } from '#server/platform/process-memory.ts';
import { WorkerTasks } from '#server/platform/worker-task.ts';
import type { ExpectedPackage, Inspection } from './finding.ts';

const inspections = slot(() => new WorkerTasks<Inspection>(new URL('./inspect-worker.ts', import.meta.url)));

/** Inspects the package at this path in a worker. Rejects a package that takes too much time or memory. */
export async function inspectPackage(
  memory: ProcessMemory,
  path: string,
  limits: Limits,
  expected: ExpectedPackage = { kind: null, name: null },
): Promise<Inspection> {
  const { inspectMs, inspectHeapMiB } = limits.package;
  const bounds = { timeoutMs: inspectMs, heapMiB: inspectHeapMiB };
  const result = await memory.of(inspections).run({ path, limits, expected }, bounds);
  if (result.ended === 'done') return result.value;
  const fault =
    result.ended === 'time'
      ? ({ path: '', code: 'package_slow', params: { seconds: inspectMs / 1000 } } as const)
      : ({ path: '', code: 'package_heavy' } as const);
  return { ok: false, faults: [fault] };
}
