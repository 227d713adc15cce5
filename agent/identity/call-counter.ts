import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Layout } from '../folder/layout.ts';
import { readJson, writeJson } from '../folder/write-file.ts';

const file = z.object({ instance: z.string().min(1), counter: z.int().nonnegative() });

/**
 * The value of the next `Annex-Agent` header. The count is on disk before the call is made: a copy of this disk counts
 * from where it was copied, and so the portal sees that there are two.
 */
export function openCallCounter(layout: Layout): () => string {
  const parsed = file.safeParse(readJson(layout.calls));
  const calls = parsed.success ? parsed.data : { instance: randomUUID(), counter: 0 };
  return () => {
    calls.counter += 1;
    writeJson(layout.calls, calls);
    return `${calls.instance}; ${calls.counter}`;
  };
}
