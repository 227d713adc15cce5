import { randomUUID } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { z } from 'zod';
import type { AgentLayout } from '../folder/layout.ts';
import { isDiskFull, readJson, writeJson } from '../folder/write-file.ts';

const file = z.object({ instance: z.string().min(1), counter: z.int().nonnegative() });

/**
 * Returns a function that returns the next value of the `Annex-Agent` header. The counter is stored before each call,
 * so a copy of this disk repeats a value, which shows the portal that there are two machines.
 */
export function openCallCounter(layout: AgentLayout): () => string {
  const parsed = file.safeParse(readJson(layout.calls));
  const calls = parsed.success ? parsed.data : { instance: randomUUID(), counter: 0 };
  return () => {
    calls.counter += 1;
    keep(layout, calls);
    return `${calls.instance}; ${calls.counter}`;
  };
}

function keep(layout: AgentLayout, calls: z.infer<typeof file>): void {
  try {
    writeJson(layout.calls, calls);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    overwrite(layout.calls, `${JSON.stringify(calls, null, 2)}\n`);
  }
}

/**
 * Overwrites the file in place, so that the agent can still call the portal if the disk has no space for a new file.
 */
function overwrite(path: string, text: string): void {
  const open = openSync(path, 'r+');
  try {
    writeSync(open, text, 0);
    ftruncateSync(open, Buffer.byteLength(text));
  } finally {
    closeSync(open);
  }
}
