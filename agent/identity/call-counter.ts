import { randomUUID } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { z } from 'zod';
import type { Layout } from '../folder/layout.ts';
import { isOutOfRoom, readJson, writeJson } from '../folder/write-file.ts';

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
    keep(layout, calls);
    return `${calls.instance}; ${calls.counter}`;
  };
}

function keep(layout: Layout, calls: z.infer<typeof file>): void {
  try {
    writeJson(layout.calls, calls);
  } catch (error) {
    if (!isOutOfRoom(error)) throw error;
    overwrite(layout.calls, `${JSON.stringify(calls, null, 2)}\n`);
  }
}

/** A full disk has no room for another file, but keeps that of this one: whoever is asked can still be told why. */
function overwrite(path: string, text: string): void {
  const open = openSync(path, 'r+');
  try {
    writeSync(open, text, 0);
    ftruncateSync(open, Buffer.byteLength(text));
  } finally {
    closeSync(open);
  }
}
