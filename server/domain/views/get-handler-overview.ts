import { and, count, eq, gt, gte, type SQL, sql } from 'drizzle-orm';
import { extensionHealth, type SettingsSchema, versionCounts } from '#db/schema/index.ts';
import { type FormulaManifest, isHandlerManifest } from '#protocol/formula.ts';
import type { Context } from '#server/domain/context.ts';
import { getCoverage, type LanguageCoverage } from '#server/domain/localization/index.ts';
import {
  type GetHandlerInput,
  getHandler,
  getVersion,
  type HandlerDetails,
  type VersionSummary,
} from '#server/domain/packages/index.ts';
import { countVmsByFormula } from '#server/domain/services/index.ts';

/** How many VMs use a version, and how often it fails on them. */
export interface VersionUse {
  /** Number of VMs with this version in their goal state. */
  vms: number;
  /** Number of VMs that last reported this version. */
  running: number;
  /** Number of VMs with a failed extension that has this version in its goal. */
  failed: number;
  /**
   * For each of the last 14 days (UTC), today last, the average share of the version's VMs on which an extension
   * failed; null for days without a count. Empty if no day has a count.
   */
  failures: (number | null)[];
}

export interface HandlerOverview extends Omit<HandlerDetails, 'versions'> {
  /** Number of VMs with the handler in their goal state, or with a unit of the formula, in any version. */
  vms: number;
  /** All versions, the highest first. */
  versions: (VersionSummary & VersionUse)[];
  /**
   * The version that represents the handler: the highest published version, otherwise the highest draft, otherwise the
   * highest withdrawn version.
   */
  newest: {
    version: string;
    reportHeartbeat: boolean;
    supportsMultipleExtensions: boolean;
    /** Null if this is a handler. */
    formula: FormulaManifest | null;
    /** The settings schema of a formula; null for handlers. */
    settingsSchema: SettingsSchema | null;
    languages: LanguageCoverage[];
  } | null;
}

const failureDays = 14;
const day = 86_400_000;

/**
 * Returns a handler with its versions, the VMs that use them, and the coverage of its languages. Throws 404 like
 * `getHandler`.
 */
export async function getHandlerOverview(ctx: Context, input: GetHandlerInput): Promise<HandlerOverview> {
  const details = await getHandler(ctx, input);
  const { handler, versions } = details;
  const [wanted, running, failed, failures, newest, withUnits] = await Promise.all([
    vmsBy(ctx, handler, 'goalVersion'),
    vmsBy(ctx, handler, 'version'),
    vmsBy(ctx, handler, 'goalVersion', eq(extensionHealth.health, 'failed')),
    failuresByDay(ctx, handler),
    newestOf(ctx, handler, versions),
    countVmsByFormula(ctx, details.kind === 'formula' ? [handler] : []),
  ]);
  return {
    ...details,
    // All extensions of one handler on a VM have the same version, so each VM counts once.
    vms: withUnits.get(handler) ?? wanted.values().reduce((sum, each) => sum + each, 0),
    versions: versions.map((row) => ({
      ...row,
      vms: wanted.get(row.version) ?? 0,
      running: running.get(row.version) ?? 0,
      failed: failed.get(row.version) ?? 0,
      failures: failures.get(row.version) ?? [],
    })),
    newest,
  };
}

/**
 * Counts VMs by version of the handler's extensions that meet the condition, either in the goal state or as reported. A
 * VM with several versions counts once for each version.
 */
async function vmsBy(
  ctx: Context,
  handler: string,
  what: 'goalVersion' | 'version',
  condition?: SQL,
): Promise<Map<string | null, number>> {
  const { [what]: value, vmId } = extensionHealth;
  const each = ctx.db
    .selectDistinct({ vmId, value })
    .from(extensionHealth)
    .where(and(eq(extensionHealth.handler, handler), condition))
    .as('each');
  const rows = await ctx.db.select({ value: each.value, vms: count() }).from(each).groupBy(each.value);
  return new Map(rows.map((row) => [row.value, row.vms]));
}

/** Returns the mean share of failures by version and day. Versions without a count are omitted. */
async function failuresByDay(ctx: Context, handler: string): Promise<Map<string, (number | null)[]>> {
  const today = Math.floor(ctx.now.getTime() / day);
  const first = new Date((today - failureDays + 1) * day);
  const { version, hour, failed, vms: counted } = versionCounts;
  const place = sql<number>`floor(extract(epoch from ${hour}) / 86400)`.mapWith(Number);
  const rows = await ctx.db
    .select({ version, day: place, share: sql<number>`sum(${failed})::float / sum(${counted})`.mapWith(Number) })
    .from(versionCounts)
    .where(and(eq(versionCounts.handler, handler), gte(hour, first), gt(counted, 0)))
    .groupBy(version, place);
  const found = new Map<string, (number | null)[]>();
  for (const row of rows) {
    const days = found.get(row.version) ?? Array.from({ length: failureDays }, () => null);
    days[row.day - today + failureDays - 1] = row.share;
    found.set(row.version, days);
  }
  return found;
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
  const [{ manifest, settingsSchema }, { languages }] = await Promise.all([
    getVersion(ctx, { handler, version }),
    getCoverage(ctx, { handler, version }),
  ]);
  const facts = isHandlerManifest(manifest) ? manifest.handlerManifest : null;
  return {
    version,
    reportHeartbeat: facts?.reportHeartbeat === true,
    supportsMultipleExtensions: facts?.supportsMultipleExtensions === true,
    formula: isHandlerManifest(manifest) ? null : manifest,
    settingsSchema: facts === null ? settingsSchema : null,
    languages,
  };
}
