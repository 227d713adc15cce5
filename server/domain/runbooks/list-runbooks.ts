import { asc } from 'drizzle-orm';
import { z } from 'zod';
import { runbookVersions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListRunbooksInput, listRunbooksInput } from './input.ts';
import { countRuns, noRuns, runCounts } from './run-counts.ts';
import { leadingVersion, versionStates } from './runbook.ts';

/** A runbook in lists: its newest published version, or its newest version if none is published. */
export const runbookEntry = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  version: z.string(),
  state: z.enum(versionStates),
  publishedBy: z.string().nullable(),
  versions: count,
  /** The newest draft other than `version`; null if there is none. */
  draft: z.string().nullable(),
  runs: runCounts.describe('The executions of the last 30 days.'),
});
export type RunbookEntry = z.infer<typeof runbookEntry>;

/** Lists the runbooks, by title. */
export async function listRunbooks(ctx: Context, input: ListRunbooksInput): Promise<{ items: RunbookEntry[] }> {
  allow(ctx.actor, 'viewer');
  const { q } = parse(listRunbooksInput, input);
  const { runbook, version, state, title, description, publishedBy } = runbookVersions;
  const rows = await ctx.db
    .select({ runbook, version, state, title, description, publishedBy })
    .from(runbookVersions)
    .orderBy(asc(runbook));
  const byName = Map.groupBy(rows, (row) => row.runbook);
  const runs = await countRuns(ctx.db, ctx.now, [...byName.keys()]);
  const items = [...byName].flatMap(([name, versions]): RunbookEntry[] => {
    const shown = leadingVersion(versions);
    if (shown === undefined || !includes(`${name}\n${shown.title}\n${shown.description}`, q)) return [];
    const drafts = versions.filter((one) => one.state === 'draft' && one !== shown);
    return [
      {
        ...{ name, title: shown.title, description: shown.description, version: shown.version, state: shown.state },
        publishedBy: shown.publishedBy,
        versions: versions.length,
        draft: leadingVersion(drafts)?.version ?? null,
        runs: runs.get(name) ?? noRuns,
      },
    ];
  });
  return { items: items.toSorted((a, b) => a.title.localeCompare(b.title) || (a.name < b.name ? -1 : 1)) };
}

const includes = (text: string, q: string | undefined): boolean =>
  q === undefined || text.toLowerCase().includes(q.trim().toLowerCase());
