import { and, countDistinct, eq, isNull, sql } from 'drizzle-orm';
import { extensionLatest, extensions, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { getResources } from '#server/domain/localization/index.ts';
import {
  type GetHandlerInput,
  getHandler,
  getVersion,
  type HandlerDetails,
  type VersionSummary,
} from '#server/domain/packages/index.ts';

export interface LanguageCoverage {
  lang: string;
  translated: number;
  total: number;
  /** Ids without a text, at most 100 of them; `total - translated` is their number. */
  missing: string[];
}

export interface HandlerOverview extends Omit<HandlerDetails, 'versions'> {
  /** VMs that should have it now, in whatever version. */
  vms: number;
  /** The highest version first; `vms` should have it, `running` reported it last. */
  versions: (VersionSummary & { vms: number; running: number })[];
  /** The newest version that speaks for the handler: published, else a draft, else what was withdrawn. */
  newest: {
    version: string;
    reportHeartbeat: boolean;
    supportsMultipleExtensions: boolean;
    languages: LanguageCoverage[];
  } | null;
}

const listedMissing = 100;

/** A handler with its versions, where they are, and how complete its languages are. Throws 404. */
export async function getHandlerOverview(ctx: Context, input: GetHandlerInput): Promise<HandlerOverview> {
  const details = await getHandler(ctx, input);
  const { handler, versions } = details;
  const [counts, running, [total], newest] = await Promise.all([
    onVms(ctx, handler),
    runningOn(ctx, handler),
    ctx.db
      .select({ vms: countDistinct(extensions.vmId) })
      .from(extensions)
      .innerJoin(vms, and(eq(vms.id, extensions.vmId), isNull(vms.deletedAt)))
      .where(eq(extensions.handler, handler)),
    newestOf(ctx, handler, versions),
  ]);
  return {
    ...details,
    vms: total?.vms ?? 0,
    versions: versions.map((row) => ({
      ...row,
      vms: counts.get(row.version) ?? 0,
      running: running.get(row.version) ?? 0,
    })),
    newest,
  };
}

async function onVms(ctx: Context, handler: string): Promise<Map<string, number>> {
  const rows = await ctx.db
    .select({ version: extensions.version, vms: countDistinct(extensions.vmId) })
    .from(extensions)
    .innerJoin(vms, and(eq(vms.id, extensions.vmId), isNull(vms.deletedAt)))
    .where(eq(extensions.handler, handler))
    .groupBy(extensions.version);
  return new Map(rows.map((row) => [row.version, row.vms]));
}

async function runningOn(ctx: Context, handler: string): Promise<Map<string, number>> {
  const reported = sql<string | null>`${extensionLatest.handlerState}->>'version'`;
  const rows = await ctx.db
    .select({ version: reported, vms: countDistinct(extensions.vmId) })
    .from(extensions)
    .innerJoin(vms, and(eq(vms.id, extensions.vmId), isNull(vms.deletedAt)))
    .innerJoin(
      extensionLatest,
      and(eq(extensionLatest.vmId, extensions.vmId), eq(extensionLatest.name, extensions.name)),
    )
    .where(eq(extensions.handler, handler))
    .groupBy(reported);
  return new Map(rows.map((row) => [row.version ?? '', row.vms]));
}

async function newestOf(
  ctx: Context,
  handler: string,
  versions: readonly VersionSummary[],
): Promise<HandlerOverview['newest']> {
  const chosen =
    versions.find(({ state }) => state === 'published') ??
    versions.find(({ state }) => state === 'draft') ??
    versions[0];
  if (chosen === undefined) return null;
  const { version } = chosen;
  const [{ manifest }, { languages }] = await Promise.all([
    getVersion(ctx, { handler, version }),
    getResources(ctx, { handler, version }),
  ]);
  return {
    version,
    reportHeartbeat: manifest.handlerManifest.reportHeartbeat,
    supportsMultipleExtensions: manifest.handlerManifest.supportsMultipleExtensions === true,
    languages: languages.map(({ lang, translated, total, missing }) => ({
      lang,
      translated,
      total,
      missing: missing.slice(0, listedMissing),
    })),
  };
}
