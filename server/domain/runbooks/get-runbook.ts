import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { runbookVersions } from '#db/schema/index.ts';
import { allow, hasRole, hasScripts } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetRunbookInput, getRunbookInput, type RunbookVersionInput, runbookVersionInput } from './input.ts';
import { requireRunbook, requireRunbookVersion } from './rows.ts';
import { countRuns, noRuns, runCounts } from './run-counts.ts';
import { leadingVersion, newestFirst } from './runbook.ts';
import { runbookVersionSummary, summaryOf } from './shown-version.ts';

export const runbookDetails = z.object({
  name: z.string(),
  title: z.string(),
  /** The version that runs by default; null if none is published. */
  published: z.string().nullable().describe('The version that runs by default; null if none is published.'),
  versions: z.array(runbookVersionSummary).describe('Newest first.'),
  runs: runCounts.describe('The executions of the last 30 days.'),
});
export type RunbookDetails = z.infer<typeof runbookDetails>;

export const runbookVersionDetails = runbookVersionSummary.extend({
  plan: z
    .string()
    .nullable()
    .describe('The JSON text of the plan; null for callers who are neither operators nor have the grant `scripts`.'),
});
export type RunbookVersionDetails = z.infer<typeof runbookVersionDetails>;

/** Returns a runbook with its versions. Throws 404 `runbook_unknown`. */
export async function getRunbook(ctx: Context, input: GetRunbookInput): Promise<RunbookDetails> {
  allow(ctx.actor, 'viewer');
  const { name } = parse(getRunbookInput, input);
  await requireRunbook(ctx.db, name);
  const rows = await ctx.db.select().from(runbookVersions).where(eq(runbookVersions.runbook, name));
  const leading = leadingVersion(rows);
  const runs = await countRuns(ctx.db, ctx.now, [name]);
  return {
    name,
    title: leading?.title ?? name,
    published: leading?.state === 'published' ? leading.version : null,
    versions: newestFirst(rows).map(summaryOf),
    runs: runs.get(name) ?? noRuns,
  };
}

/** Returns a version with its plan. Throws 404 `runbook_unknown` | `runbook_version_unknown`. */
export async function getRunbookVersion(ctx: Context, input: RunbookVersionInput): Promise<RunbookVersionDetails> {
  allow(ctx.actor, 'viewer');
  const row = await requireRunbookVersion(ctx.db, parse(runbookVersionInput, input));
  const maySee = hasRole(ctx.actor, 'operator') || hasScripts(ctx.actor);
  return { ...summaryOf(row), plan: maySee ? row.plan : null };
}
