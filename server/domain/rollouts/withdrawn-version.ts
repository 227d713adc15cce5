import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { handlerVersions, runbookVersions } from '#db/schema/index.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';

/** Returns the version of a handler or runbook that a rollout gives its members, if it is withdrawn; otherwise null. */
export async function withdrawnVersion(
  tx: Transaction,
  { change: { handler, version, run } }: Definition,
): Promise<{ handler: string; version: string } | null> {
  const name = run?.runbook ?? handler;
  if (name === null || version === null) return null;
  const of = run === undefined ? handlerVersions : runbookVersions;
  const ofName = run === undefined ? eq(handlerVersions.handler, name) : eq(runbookVersions.runbook, name);
  const [found] = await tx
    .select({ version: of.version })
    .from(of)
    .where(and(ofName, eq(of.version, version), eq(of.state, 'withdrawn')));
  return found === undefined ? null : { handler: name, version };
}
